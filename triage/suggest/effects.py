"""Effects of a change beyond compiling: how results differ, and what the caller must do differently.

Nothing that changes results is offered without saying so. What the source does not show is reported as a doubt:
a constexpr of unknown use may be a size of the problem, and a flag may choose another algorithm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triage.model.case import Case
from triage.model.report import LOSSY
from triage.source.descriptors import extents
from triage.source.dtypes import dtype_text, element_type, loss
from triage.source.parameters import KernelSource
from triage.source.roles import RoleKind
from triage.suggest.layout_text import parse

_SIZE = "size:"
_PRECISION_OPTIONS = frozenset(
    {"default_dot_input_precision", "allow_tf32", "enable_fp_fusion", "max_num_imprecise_acc_default"}
)
_SAME_RESULTS = frozenset({RoleKind.TILE, RoleKind.GROUP, RoleKind.PIPELINE, RoleKind.LAYOUT, RoleKind.UNUSED})
"""Parameters that order or shape the work, and do not say how much of it there is."""


@dataclass(frozen=True, slots=True)
class Effects:
    """``results``: how results differ or may differ. ``caller``: what the caller must do. Empty: nothing."""

    results: str = ""
    caller: str = ""


def effects(case: Case, source: KernelSource, changes: Mapping[str, Any]) -> Effects:
    """What a change of configuration means. ``changes`` are as ``Case.with_changes`` takes them."""
    results = list(dict.fromkeys(_results(case, source, changes)))
    passed = [f"{name} as {value}" for name, value in changes.items() if name in case.signature]
    caller = f"pass {', '.join(passed)}" if passed else ""
    if "target" in changes:
        caller = "; ".join(filter(None, [caller, f"runs on {changes['target']} only"]))
    return Effects("; ".join(results), caller)


def alters(case: Case, source: KernelSource, changes: Mapping[str, Any]) -> bool:
    """The change makes another program: other data, another precision, another branch. A size of unknown use may."""
    return any(not result.startswith(_SIZE) for result in _results(case, source, changes))


def _results(case: Case, source: KernelSource, changes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in changes.items():
        if name in case.signature:
            before, after = element_type(case.signature[name]), element_type(value)
            if before == after and extents(value):
                continue  # A descriptor's block follows the tiles.
            yield f"data: {name} holds {after} in place of {before}{_lost(before, after)}"
        elif name in case.constexprs:
            yield from _constexpr(name, case.constexprs[name], value, source)
        elif name in _PRECISION_OPTIONS:
            yield f"precision: {name}={value}"


def _lost(before: str, after: str) -> str:
    return f" ({LOSSY}: {lost})" if (lost := loss(before, after)) else ""


def _constexpr(name: str, before: Any, after: Any, source: KernelSource) -> Iterator[str]:
    kind = source.kind(name)
    if dtype_text(after) is not None:
        old, new = dtype_text(before) or str(before), dtype_text(after) or str(after)
        yield f"precision: {name} is {new} in place of {old}{_lost(old, new)}"
    elif parse(after) is not None:
        return  # A layout says who holds an element, not what it is.
    elif "input_precision" in source.keywords.get(name, ()) or name.upper().endswith("PRECISION"):
        yield f"precision: {name} is {after} in place of {before}"
    elif kind in _SAME_RESULTS and not (kind is RoleKind.PIPELINE and name in source.decides):
        return
    elif isinstance(after, bool) or isinstance(before, bool):
        yield f"algorithm: {name} may choose another branch of the kernel"
    elif isinstance(after, str):
        yield f"algorithm: {name} is {after!r} in place of {before!r}"
    elif kind is RoleKind.FLAG:
        yield f"algorithm: {name} is {after} in place of {before}, which the kernel tests for"
    elif not (kind is RoleKind.PROBLEM and source.roles[name].masked_by and after > before):
        yield f"{_SIZE} no loop and no grid steps by {name}; see that {after} still covers what {before} did"
