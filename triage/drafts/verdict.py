"""What a failed compile of a drafted case says: a failure of the kernel, another draft to try, or nothing. Pure.

A failure is the kernel's only if no drafted value may have caused it: the compiler gave up, the kernel asks for what no
argument changes, or everything that the failure depends on is stated by a source. Each rule below is a function that
answers, or leaves the answer to the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from triage.drafts.corrections import LEAST_TILE, corrections, guessed_pointers
from triage.drafts.draft import Draft
from triage.drafts.kernel_names import is_bound
from triage.drafts.model import Basis, Value
from triage.drafts.refusal import UNDEFINED, Refusal
from triage.knowledge.missing_api import missing_api
from triage.model.diagnosis import Kind, Trait
from triage.model.outcome import Stage
from triage.model.visible import shortened

MOST_CORRECTIONS = 6
"""Of one draft. A refusal by the front end takes a tenth of a second; a kernel that more than these would fix mostly
needs sizes that fit each other, which no single change gives it."""
_MOST_REASON = 300
"""Characters of a headline in a reason."""


@dataclass(frozen=True, slots=True)
class KernelFails:
    """The kernel, or the compiler, fails."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Compile again with these values."""

    changes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Unclear:
    """The failure may come from a drafted value."""

    reason: str


Judgement: TypeAlias = KernelFails | Retry | Unclear


def judge(refusal: Refusal) -> Judgement:
    """The answer of the first rule that has one; no correction that was tried before."""
    for rule in _RULES:
        if (judgement := rule(refusal)) is not None:
            return judgement
    return KernelFails()


def unclear(refusal: Refusal) -> str:
    """Why a refusal that no correction fixes says nothing about the kernel."""
    return f"drafted arguments were refused: {shown_headline(refusal)}{_line(refusal)}"


def _import_failed(refusal: Refusal) -> Judgement | None:
    """The module failed as it was imported. Only an API that the release lacks, or a decorator that Triton refuses,
    says something about the kernel."""
    if refusal.outcome.imported:
        return None
    of_triton = missing_api(refusal.outcome) or refusal.raised_by_triton
    return KernelFails() if of_triton else Unclear(f"importing it fails: {shown_headline(refusal)}")


def _of_the_compiler(refusal: Refusal) -> Judgement | None:
    """The compiler crashed, or gave up in its own code: no argument of the right kind may do that."""
    return KernelFails() if refusal.diagnosis.kind.has(Trait.GAVE_UP) else None


def _exhausted(refusal: Refusal) -> Judgement | None:
    """Time or memory ran out, as unrealistic sizes may cause."""
    if not refusal.diagnosis.kind.has(Trait.EXHAUSTED):
        return None
    large = {
        name: _USUAL_TILE for name, size in refusal.sizes(list(refusal.draft.values)).items() if size > _USUAL_TILE
    }
    if (retry := _retry(refusal, large, "smaller: the compile took too long")) is not None:
        return retry
    return _unless_sized(refusal, "the compile was given up")


def _out_of_resources(refusal: Refusal) -> Judgement | None:
    """More of a resource than there is: smaller tiles, or narrower elements, where they are not stated."""
    if refusal.diagnosis.kind is not Kind.OUT_OF_RESOURCES:
        return None
    sizes = refusal.sizes(list(refusal.draft.values))
    halved = {name: size // 2 for name, size in sizes.items() if size > LEAST_TILE}
    narrowed = {name: element for name, type_ in guessed_pointers(refusal) if (element := _NARROWER.get(type_))}
    for changes in (halved, narrowed):
        if changes and (retry := _retry(refusal, changes, "smaller: out of resources")) is not None:
            return retry
    return _unless_sized(refusal, "with drafted sizes it is out of resources")


def _not_of_arguments(refusal: Refusal) -> Judgement | None:
    """The front end refuses what no argument changes: a statement, a global, a part of the API that there is not."""
    if not refusal.in_front_end:
        return None
    exceptions = {refusal.diagnosis.exception, *(error.type for error in refusal.outcome.errors)}
    if missing_api(refusal.outcome) or "UnsupportedLanguageConstruct" in exceptions:
        return KernelFails()
    if "NotImplementedError" in exceptions and refusal.raised_by_triton:
        return KernelFails()  # What a release does not have any more, such as block pointers from 3.9 on.
    if (name := UNDEFINED.search(refusal.message)) is not None and refusal.unassigned is None:
        if is_bound(refusal.whole, name[1]):
            return Unclear(f"{name[1]}, which its file has, was not found: {shown_headline(refusal)}")
        return KernelFails()
    return KernelFails() if _UNSUPPORTED.search(refusal.message) else None


def _front_end(refusal: Refusal) -> Judgement | None:
    """The front end refuses values or types. Values that a source states may be refused; guesses are corrected."""
    in_ttir = refusal.outcome.stage is Stage.TTIR and refusal.diagnosis.kind is Kind.MLIR_DIAGNOSTIC
    if not refusal.in_front_end and not in_ttir:
        return None
    if not refusal.guessed:
        return None
    if len(refusal.tried) < MOST_CORRECTIONS:
        for changes in corrections(refusal):
            if (retry := _retry(refusal, changes, f"corrected: {shortened(shown_headline(refusal), 80)}")) is not None:
                return retry
    return Unclear(unclear(refusal))


_RULES: tuple[Callable[[Refusal], Judgement | None], ...] = (
    _import_failed,
    _of_the_compiler,
    _exhausted,
    _out_of_resources,
    _not_of_arguments,
    _front_end,
)
"""In this order."""

_UNSUPPORTED = re.compile(
    r"Cannot access global variable|unsupported AST node|is not supported in Triton|Unsupported function"
)
_NARROWER = {"*fp64": "*fp32", "*fp32": "*fp16", "*i64": "*i32"}
_USUAL_TILE = 64
"""With several tiles of this size kernels compile in seconds; a dozen of 1,024 elements a side take minutes."""


def _retry(refusal: Refusal, changes: Mapping[str, object], where: str) -> Retry | None:
    """Unless it changes nothing, or was tried."""
    values = {
        name: Value(value, Basis.ASSUMED, where)
        for name, value in changes.items()
        if repr(value) != repr(refusal.draft.values[name].value)
    }
    draft = refusal.draft.changed(values)
    known = [_values(tried) for tried in (*refusal.tried, refusal.draft)]
    return Retry(values) if values and _values(draft) not in known else None


def _values(draft: Draft) -> list[tuple[str, str]]:
    return [(name, repr(value.value)) for name, value in draft.values.items()]


def _unless_sized(refusal: Refusal, reason: str) -> Judgement:
    """A failure, unless it has a size that is not stated."""
    sizes = refusal.sizes(list(refusal.draft.values))
    names = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return Unclear(f"{reason} ({names}): {shown_headline(refusal)}") if sizes else KernelFails()


def shown_headline(refusal: Refusal) -> str:
    """The headline of a refusal, shortened for a reason."""
    return shortened(refusal.diagnosis.headline, _MOST_REASON)


def _line(refusal: Refusal) -> str:
    return f" ({refusal.draft.function.file.name}:{refusal.line})" if refusal.line else ""
