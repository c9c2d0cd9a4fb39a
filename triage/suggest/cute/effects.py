"""What a change of a CuTe case means beside compiling: for its results, and for the caller."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from triage.harness.worker.cute import grammar
from triage.model.case import Case
from triage.model.report import LOSSY
from triage.source.module import called
from triage.suggest.cute.choices import are_constraints, expressions
from triage.suggest.cute.elements import is_dtype, lost, short
from triage.suggest.cute.flow import SourceFlow
from triage.suggest.effects import Effects

_MOVES = frozenset(
    {
        "make_layout", "make_ordered_layout", "make_composed_layout", "make_swizzle", "tile_to_shape", "copy",
        "autovec_copy", "make_copy_atom", "make_tiled_copy", "make_tiled_copy_tv", "make_fragment_like",
        "make_rmem_tensor_like", "make_fragment", "make_rmem_tensor", "cp_async_commit_group", "cp_async_wait_group",
        "CopyUniversalOp", "CopyG2SOp", "sync_threads", "const_expr",
    }
)  # fmt: skip
"""Functions that say where values lie and how they get there, not what they are."""


def effects(case: Case, flow: SourceFlow, changes: Mapping[str, Any]) -> Effects:
    """What a change of configuration means. ``changes`` are as ``Case.with_changes`` takes them."""
    results = list(dict.fromkeys(_results(case, flow, changes)))
    passed = [f"{name} as {value}" for name, value in changes.items() if name in case.signature]
    caller = [f"pass {', '.join(passed)}"] if passed else []
    if "target" in changes:
        caller.append(f"runs on {changes['target']} only")
    return Effects("; ".join(results), "; ".join(caller))


def _results(case: Case, flow: SourceFlow, changes: Mapping[str, Any]) -> Iterator[str]:
    for name, after in changes.items():
        if name in case.signature:
            yield from _argument(name, str(case.signature[name]), str(after))
            continue
        before = {**case.construct, **case.constexprs}.get(name)
        if before is None and name not in case.constexprs:
            continue
        if is_dtype(after) and is_dtype(before):
            old, new = short(str(before)), short(str(after))
            yield f"precision: {name} is {new} in place of {old}{_lost(old, new)}"
        elif are_constraints(after):
            continue
        elif isinstance(after, bool | str) and not only_moves(flow, name):
            yield f"algorithm: {name} is {after!r} in place of {before!r}, which may choose another branch"
        elif isinstance(after, int | list) and not isinstance(after, bool) and not only_copies(flow, name):
            yield f"size: {name} is {after} in place of {before}; see that the launch and the caller agree with it"


def _argument(name: str, before: str, after: str) -> Iterator[str]:
    old, new = grammar.parse(before), grammar.parse(after)
    if not isinstance(old, grammar.Tensor) or not isinstance(new, grammar.Tensor):
        yield f"data: {name} is {after} in place of {before}"
        return
    if old.dtype != new.dtype:
        yield f"data: {name} holds {new.dtype} in place of {old.dtype}{_lost(old.dtype, new.dtype)}"
    static = zip((*old.shape, *old.stride), (*new.shape, *new.stride), strict=True)
    if any(isinstance(extent, int) and extent != other for extent, other in static):
        yield f"data: {name} is {_layout(new)} in place of {_layout(old)}"


def _layout(tensor: grammar.Tensor) -> str:
    return str(grammar.Tensor("f32", tensor.shape, tensor.stride)).partition(", ")[2].removesuffix(">")


def _lost(before: str, after: str) -> str:
    return f" ({LOSSY}: {what})" if (what := lost(before, after)) else ""


def only_moves(flow: SourceFlow, name: str) -> bool:
    """A parameter that only chooses between layouts and ways to copy: values are the same wherever they lie."""
    branches = [
        node
        for node in ast.walk(flow.tree)
        if isinstance(node, ast.If | ast.IfExp) and any(flow.origin(part) == name for part in expressions(node.test))
    ]
    calls = [
        called(node)
        for branch in branches
        for part in (branch.body, branch.orelse)
        for root in (part if isinstance(part, list) else [part])
        for node in ast.walk(root)
        if isinstance(node, ast.Call)
    ]
    arithmetic = any(isinstance(node, ast.BinOp) for branch in branches for node in ast.walk(branch))
    return bool(branches) and bool(calls) and not arithmetic and _MOVES.issuperset(calls)


def only_copies(flow: SourceFlow, name: str) -> bool:
    """A parameter that is only the bits of a copy atom."""
    return name in flow.passed_as("num_bits_per_copy")
