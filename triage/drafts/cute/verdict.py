"""What a failed compile of a drafted CuTe case says: a failure of the kernel, another draft to try, or nothing. Pure.

As for Triton, a failure is the kernel's only if no guessed value may have caused it. Guessed types of tensors are
changed together, as a kernel that copies or multiplies them needs the same type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from triage.drafts.draft import STATED
from triage.drafts.model import Basis, Parameter, Value
from triage.drafts.refusal import Refusal
from triage.drafts.verdict import Judgement, KernelFails, Retry, Unclear, shown_headline, unclear
from triage.harness.worker.cute import grammar
from triage.knowledge.missing_api import missing_api
from triage.model.diagnosis import Diagnosis, Trait

MOST_CORRECTIONS = 10
"""Of one draft. A refusal while the function is traced takes a tenth of a second."""
_OF_THE_SOURCE = re.compile(r"error\[(?:(?:UNSUP|PHASE|TYPE_UNSTABLE|CALL)_\w+|ARG_BIND_FAILED)\]")
"""Codes of what no value of an argument changes: a statement that the DSL does not have, a loop-carried variable whose
type changes, a call that does not fit a kernel's parameters."""

_OF_THE_GPU = re.compile(r"LLVM: unsupported operation|expects arch to be|not supported on|requires \.?target sm_")
"""As libNVVM, the DSL and ptxas refuse an instruction."""


def judge(refusal: Refusal) -> Judgement:
    """What the failure says."""
    if not refusal.outcome.imported:
        is_api = missing_api(refusal.outcome) is not None
        return KernelFails() if is_api else Unclear(f"importing it fails: {shown_headline(refusal)}")
    guessed = [name for name, value in refusal.draft.values.items() if not is_stated(value)]
    kind = refusal.diagnosis.kind
    if not guessed:
        return KernelFails()
    if kind.has(Trait.EXHAUSTED):
        return Unclear(f"with guessed values the compile was given up: {shown_headline(refusal)}")
    of_the_kernel = kind.has(Trait.GAVE_UP)
    if _OF_THE_SOURCE.search(refusal.message):
        of_the_kernel = True
        # But a condition may leave the statement out.
        guessed = [name for name in guessed if isinstance(refusal.draft.values[name].value, bool)]
        if not guessed:
            return KernelFails()
    known = [_values(tried.values) for tried in (*refusal.tried, refusal.draft)]
    if len(refusal.tried) < MOST_CORRECTIONS:
        first = refusal.tried[0] if refusal.tried else refusal.draft
        for changes in _alternatives(refusal, first.values, guessed):
            values = {name: _corrected(value) for name, value in changes.items()}
            if _values({**refusal.draft.values, **values}) not in known:
                return Retry(values)
    return KernelFails() if of_the_kernel else Unclear(unclear(refusal))


def lacks_part_of_gpu(diagnosis: Diagnosis | None) -> bool:
    """Whether a kernel uses what the GPU that it is compiled for does not have."""
    return diagnosis is not None and _OF_THE_GPU.search(f"{diagnosis.headline}\n{diagnosis.message}") is not None


def is_stated(value: Value) -> bool:
    """Whether a source or the user states the whole of a value."""
    return value.basis in STATED and value.exact


def _corrected(value: Value) -> Value:
    return replace(value, where=f"{value.where}, corrected", exact=False)


def _values(values: Mapping[str, Value]) -> list[tuple[str, str]]:
    return [(name, repr(value.value)) for name, value in values.items()]


def _alternatives(refusal: Refusal, first: Mapping[str, Value], guessed: list[str]) -> Iterator[dict[str, Value]]:
    """Changes to the first draft: of all tensors together, then of one constant after the other."""
    parameters = {parameter.name: parameter for parameter in refusal.draft.function.parameters}
    own = {name: first[name] for name in guessed}
    tensors = {name: parameters[name] for name in guessed if _is_type(first[name])}
    constants = [parameters[name] for name in guessed if name not in tensors]
    rounds = max((len(parameter.candidates) for parameter in tensors.values()), default=0)
    together = [{**own, **_nth(tensors, number)} for number in range(1, rounds)]
    singly = [{**own, parameter.name: candidate} for parameter in constants for candidate in parameter.candidates[1:3]]
    # Types first: of three failing guesses two are those of elements.
    for number in range(max(len(together), len(singly))):
        yield from together[number : number + 1]
        yield from singly[number : number + 1]


def _nth(parameters: Mapping[str, Parameter], number: int) -> dict[str, Value]:
    return {
        name: parameter.candidates[number]
        for name, parameter in parameters.items()
        if number < len(parameter.candidates)
    }


def _is_type(value: Value) -> bool:
    if value.constant or not isinstance(value.value, str) or value.basis is Basis.USER:
        return False
    try:
        grammar.parse(value.value)
    except grammar.BadType:
        return False
    return True
