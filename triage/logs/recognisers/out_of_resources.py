"""A kernel needs more of a resource than a block can have, which only loading it detects.

``out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes…``; inductor
writes the kernel's name instead of the resource, and no commas.
"""

import re
from dataclasses import replace
from itertools import islice

from triage.ir.locations import users_location
from triage.logs.diagnostic_lines import parse
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

_NUMBERS = regex(
    r"(?:out of resources?|OutOfResources): (?P<resource>[^,:]{1,200}?),?\s{0,4}Required: ?(?P<required>\d{1,15})\.?,?"
    r"\s{0,4}Hardware limit(?:ation)?: ?(?P<limit>\d{1,15})",
    re.IGNORECASE,
)
_BEGINS = regex(r"(?:out of resources?|OutOfResources):", re.IGNORECASE)
# Cut off before a number, or in a sentence of Chinese, which has no spaces; XLA's words for a kernel that JAX's
# Pallas writes, and Ascend's for its unified buffer.
_CUT = regex(
    r"out of resource: (?P<resource>shared memory|tensor memory|threads|registers),?"
    r"(?: R[a-z]{0,7}:?(?: (?P<required>\d{1,12})(?:, ?(?:H[a-z]{0,7}(?: [a-z]{1,5})?:?)?)?)?)?"
    r"(?:\s{0,2}[\s`'\"|.…]{0,4}$|(?=[^\x00-\x7f])|(?= \|))"
    r"|\b[Ss]hared memory (?:requested exceeds device resources|size limit exceeded)"
    r"|\b(?P<buffer>ub|UB) overflow\b|out of resource: shared(?: mem?o?r?)?$"
)
# The exception's name without its text: in a title, as torch passes on what a thread of its own raised, or cut off.
_NAMED = regex(
    r"(?:^|\bCaught |[\]:] |\] - )(?:triton\.(?:\w{1,40}\.){1,4})?OutOfResources"
    r"(?::?$| in replica \d|: [a-z ]{0,30}(?:\.\.\.|\u2026)$)"
    r"|\bNo valid triton configs\. OutOf\w{0,12}$"
)
#: Lines after the first that the numbers may stand in.
_MOST_WRAPPED = 3
# Ascend's compiler: its unified buffer is what shared memory is elsewhere.
_OVERFLOW = regex(
    r"(?P<resource>\w{1,20}) overflow, requires (?P<required>\d{1,15}) bits while (?P<limit>\d{1,15}) bits ava\w{4,8}"
)
#: Threads of a block on every GPU of NVIDIA's.
MAX_THREADS = 1024
#: What Triton counts; any other text there is a kernel's name, and the resource is shared memory.
RESOURCES = ("shared memory", "tensor memory", "threads", "registers")


def out_of_resources(resource: str, required: int, limit: int, message: str) -> Diagnosis:
    """The diagnosis for a resource of which ``required`` is needed and ``limit`` available."""
    headline = f"Out of {resource}: {required} required, the hardware's limit is {limit}"
    numbers = {"resource": resource, "required": required, "limit": limit}
    return bounded_diagnosis(Kind.OUT_OF_RESOURCES, headline, message, stage="load", **numbers)


def _read(window: Window) -> Finding | None:
    result = _stated(window) or _cut(window) or _named(window)
    # Compilers of vendors report it as an error at an operation.
    diagnostic = parse(window.line) if result else None
    if result is None or diagnostic is None or not diagnostic.locations:
        return result
    located = replace(result.diagnosis, source=users_location(diagnostic.locations))
    return replace(result, diagnosis=located, locations=diagnostic.locations)


def _stated(window: Window) -> Finding | None:
    """A failure with its numbers."""
    overflow = _OVERFLOW.search(window.line)
    stated = window.line.strip()
    match = overflow or _NUMBERS.search(stated)
    if match is None and _BEGINS.search(stated):
        # Wrapped by whoever pasted it.
        stated = " ".join([stated, *(line.strip() for line in islice(window.after, _MOST_WRAPPED))])
        match = _NUMBERS.search(stated)
    if match is None:
        return None
    named = match["resource"].removeprefix("out of resource: ").strip()
    resource = named.lower() if overflow else named if named in RESOURCES else "shared memory"
    diagnosis = out_of_resources(resource, int(match["required"]), int(match["limit"]), stated)
    # Some vendors' back ends raise it with zeros for any failure of theirs.
    has_numbers = diagnosis.limit != 0
    return Finding(diagnosis, Specificity.DIAGNOSTIC if has_numbers else Specificity.TAIL, window.position)


def _cut(window: Window) -> Finding | None:
    """A failure whose numbers are not in the text."""
    cut = _CUT.search(window.line)
    if cut is None:
        return None
    resource = cut["resource"] or (cut["buffer"] or "shared memory").lower()
    missing = "the hardware's limit" if cut["required"] else "how much is required"
    headline = f"Out of {resource}; {missing} is not in this text"
    facts = {"stage": "load", "resource": resource, "required": int(cut["required"]) if cut["required"] else None}
    diagnosis = bounded_diagnosis(Kind.OUT_OF_RESOURCES, headline, window.line.strip(), **facts)
    return Finding(diagnosis, Specificity.DIAGNOSTIC, window.position)


def _named(window: Window) -> Finding | None:
    """A failure of which only the exception's name is in the text."""
    line = window.line.strip()
    if _NAMED.search(line) is None:
        return None
    headline = "Out of a resource that is not in this text"
    return Finding(
        bounded_diagnosis(Kind.OUT_OF_RESOURCES, headline, line, stage="load"), Specificity.TAIL, window.position
    )


RECOGNISER = Recogniser(
    anchors=(
        "out of resource",
        "OutOfResources",
        "No valid triton configs. ",
        " overflow",
        "hared memory requested",
        "hared memory size",
    ),
    read=_read,
    examples=dict.fromkeys(
        (
            "out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing",
            "OutOfResources: shared memory, Required: 65792, Hardware limit: 65536",
            "# outofresources: out of resource: shared memory, required: 294912, hardware limit: 49152.",
            "out of resource: shared memory,\nRequired: 131074, Hardware limit: 101376",
            "out of resource: shared memoryRequired: 110592Hardware limit: 101376",
            "out of resource: shared memory, Required: 163842, Hardware limitation: 101376.",
            "triton.runtime.errors.OutOfResources: out of resource: shared memory,",
            "FAILED test_k.py::test_k[64] - runtime.errors.OutOfResources: out of resource: shared memory, Requi...",
            "FAILED test_k.py::test_k[64] - triton.runtime.errors.OutOfResources: out of reso...",
            "| b2 | OutOfResources: out of resource: shared memory, Required: 180224, Har | 3.1 ms |",
            "triton.runtime.autotuner.OutOfResources",
            "triton.runtime.errors.OutOfResources: out of resource: shared me",
            "也会出现triton.runtime.errors.OutOfResources: out of resource: shared memory的报错",
            "SKIPPED [2] tests/test_k.py:50: Caught OutOfResources in replica 0 on device 0.",
            "the kernel fails with UB overflow",
            "XlaRuntimeError: INTERNAL: failed: Shared memory requested exceeds device resources",
            "ub overflow, requires 2097152 bits while 1572864 bits available",
            "RuntimeError: No valid triton configs. OutOfResources: out of resource: triton_flex_attention "
            "Required: 262144 Hardware limit:232448 Reducing block sizes or `num_stages` may help.",
        ),
        Kind.OUT_OF_RESOURCES,
    ),
)
