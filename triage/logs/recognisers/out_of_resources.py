"""A kernel that needs more of something than a block may have; found only when it is loaded.

``out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes…``; inductor
writes the kernel's name in the place of the resource and no commas.
"""

from __future__ import annotations

import re

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

_STATED = re.compile(
    r"(?:out of resources?|OutOfResources): (?P<resource>[^,:]{1,200}?),? Required: ?(?P<required>\d{1,15}),? "
    r"Hardware limit: ?(?P<limit>\d{1,15})"
)
# Ascend's compiler: its unified buffer takes shared memory's place.
_OVERFLOW = re.compile(
    r"(?P<resource>\w{1,20}) overflow, requires (?P<required>\d{1,15}) bits while (?P<limit>\d{1,15}) bits available"
)
#: What Triton counts; anything else in the resource's place is a kernel's name, and shared memory is meant.
RESOURCES = ("shared memory", "tensor memory", "threads", "registers")


def out_of_resources(resource: str, required: int, limit: int, message: str) -> Diagnosis:
    """The diagnosis for a resource of which ``required`` is wanted and ``limit`` is there."""
    return Diagnosis(
        kind=Kind.OUT_OF_RESOURCES,
        headline=text.headline(f"Out of {resource}: {required} required, the hardware's limit is {limit}"),
        message=text.message(message),
        resource=resource,
        required=required,
        limit=limit,
        stage="load",
    )


def _read(window: Window) -> Finding | None:
    if overflow := _OVERFLOW.search(window.line):
        numbers = int(overflow["required"]), int(overflow["limit"])
        return Finding(
            out_of_resources(overflow["resource"], *numbers, window.line.strip()),
            Specificity.DIAGNOSTIC,
            window.position,
        )
    match = _STATED.search(window.line)
    if match is None:
        return None
    named = match["resource"].removeprefix("out of resource: ").strip()
    resource = named if named in RESOURCES else "shared memory"
    diagnosis = out_of_resources(resource, int(match["required"]), int(match["limit"]), window.line.strip())
    return Finding(diagnosis, Specificity.DIAGNOSTIC, window.position)


RECOGNISER = Recogniser("out-of-resources", ("out of resource", "OutOfResources: ", " overflow, requires "), _read)
