"""What the legality rules say of a configuration before it is compiled: matrix operations, launches, barriers,
registers, asynchronous copies, tensor maps, by the calls of the source.

A reading rests on the text, so it may be wrong: a prediction moves a neighbour in the order. It excludes one only where
the failure confirms the reading: the case breaks a rule at the very line that fails, and the neighbour does too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from triage.harness.worker.cute import grammar
from triage.legality import blocks, dtypes, registers, vector_copy
from triage.legality.algebra.layout import StridedLayout
from triage.legality.mma import operations
from triage.legality.tma.strided import strided_violations
from triage.legality.violation import Violation, require
from triage.model.errors import InputError
from triage.model.target import Target
from triage.suggest.cute.scene import CuteScene
from triage.suggest.cute.values import StaticValues
from triage.suggest.proposal import Proposal

_BROKEN_ANEW = 2.0
_STILL_BROKEN = 0.5
_REPAIRED = -0.6
_SHAPE, _GROUP = "shape", "cta_group"
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "warp.MmaF16BF16Op": ("a", "d", _SHAPE),
    "warp.MmaFP8Op": ("a", "d", _SHAPE),
    "warpgroup.MmaF16BF16Op": ("a", "d", _SHAPE, "a_from", "a_major", "b_major"),
    "warpgroup.MmaF8Op": ("a", "b", "d", _SHAPE, "a_from", "a_major", "b_major"),
    "warpgroup.MmaI8Op": ("a", "b", "d", _SHAPE, "a_from", "a_major", "b_major"),
    "tcgen05.MmaF16BF16Op": ("a", "d", _SHAPE, _GROUP, "a_from", "a_major", "b_major"),
    "tcgen05.MmaFP8Op": ("a", "d", _SHAPE, _GROUP, "a_from", "a_major", "b_major"),
    "tcgen05.MmaI8Op": ("a", _SHAPE, _GROUP, "a_from", "a_major", "b_major"),
    "tcgen05.MmaF8F6F4Op": ("a", "b", "d", _SHAPE, _GROUP, "a_from", "a_major", "b_major"),
    "tcgen05.MmaMXF8Op": ("a", _SHAPE, _GROUP, "a_from", "a_major", "b_major"),
    "tcgen05.MmaMXF8F6F4Op": ("a", "b", _SHAPE, _GROUP, "a_from", "a_major", "b_major"),
}
"""Positional arguments of the constructors (CuTe DSL 4.8.1, cutlass/cute/nvgpu)."""
_MEANT = {
    "ab_dtype": "a", "a_dtype": "a", "b_dtype": "b", "acc_dtype": "d", "shape_mnk": _SHAPE, "instruction_shape": _SHAPE,
    "a_src": "a_from", "a_major_mode": "a_major", "b_major_mode": "b_major",
}  # fmt: skip
_HELPER = "make_trivial_tiled_mma"
_HELPED: Mapping[str, Mapping[str, str]] = {
    "warpgroup": {"f16": "MmaF16BF16Op", "bf16": "MmaF16BF16Op", "f8e4m3": "MmaF8Op", "f8e5m2": "MmaF8Op",
                  "i8": "MmaI8Op", "u8": "MmaI8Op"},
    "tcgen05": {"f16": "MmaF16BF16Op", "bf16": "MmaF16BF16Op"},
}  # fmt: skip
_FALLBACK = {"warpgroup": "MmaF16BF16Op"}
"""Of a type that no operation of the level takes: one that refuses it."""
_GROUPS = {"ONE": 1, "TWO": 2}
_DATA = ("a", "b", "d")
_REGISTER_COUNTS = (
    "setmaxregister_increase",
    "setmaxregister_decrease",
    "warpgroup_reg_alloc",
    "warpgroup_reg_dealloc",
)
PTX = "PTX ISA, cp.async: cp-size"
_DIMENSIONS = ("grid", "block", "cluster")


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call whose arguments the text shows, at a line of the source, and the rules that it breaks."""

    line: int
    broken: frozenset[str]


@dataclass(frozen=True)
class CallPredictions:
    """The refusals of the neighbours of one failing case."""

    scene: CuteScene

    @cached_property
    def broken(self) -> frozenset[int]:
        """The lines at which the case breaks a rule."""
        return frozenset(call.line for call in self._judged({}) if call.broken)

    @cached_property
    def confirmed(self) -> frozenset[int]:
        """Of those, the lines that fail."""
        return self.broken & frozenset(self.scene.lines)

    def weight(self, proposal: Proposal) -> float:
        """How much later (or, negative, earlier) a proposal should be tried."""
        broken, unrepaired = self._after(proposal)
        change = _STILL_BROKEN if unrepaired else _REPAIRED if self.broken else 0.0
        return _BROKEN_ANEW * len(broken - self.broken) + change

    def excludes(self, proposal: Proposal) -> bool:
        """The proposal cannot compile: it leaves broken what the failure has confirmed."""
        return bool(self._after(proposal)[1] & self.confirmed)

    def _after(self, proposal: Proposal) -> tuple[frozenset[int], frozenset[int]]:
        """The lines that break a rule, and those of them that the case breaks as well. A call that cannot be read any
        more is as good as one that still breaks its rule."""
        judged = self._judged(proposal.changes)
        broken = frozenset(call.line for call in judged if call.broken)
        return broken, self.broken & (broken | (self.broken - {call.line for call in judged}))

    def _judged(self, changes: Mapping[str, Any]) -> list[JudgedCall]:
        case = self.scene.case.with_changes(changes)
        types = {name: parsed for name, text in case.signature.items() if (parsed := _tensor(text)) is not None}
        values = StaticValues(self.scene.flow, {**case.construct, **case.constexprs})
        arch = str(case.options.get("arch") or _architecture(case.target))
        return [
            JudgedCall(call.lineno, frozenset(violation.rule for violation in broken))
            for call, broken in _judgements(values, types, case.target, arch, case.cute)
        ]


def _architecture(target: Target) -> str:
    return f"sm_{target.arch}{'a' if int(target.arch) >= 90 else ''}"


def _tensor(text: object) -> grammar.Tensor | None:
    try:
        parsed = grammar.parse(str(text))
    except grammar.BadType:
        return None
    return parsed if isinstance(parsed, grammar.Tensor) else None


def _judgements(
    values: StaticValues, types: Mapping[str, grammar.Tensor], target: Target, arch: str, release: str | None
) -> Iterator[tuple[ast.Call, list[Violation]]]:
    for name, call, stated in _operations(values):
        yield call, operations.violations(operation=name, **stated, target=arch, release=release)
    for call, _, named in values.calls("launch"):
        extents = {name: named[name] for name in _DIMENSIONS if _extents(named.get(name))}
        if extents:
            yield call, blocks.violations(target, **extents)
    for call, positional, named in values.calls("barrier", "NamedBarrier"):
        numbers = [*positional, None, None]
        barrier = _number(named.get("barrier_id", numbers[0]))
        threads = _number(named.get("number_of_threads", named.get("num_threads", numbers[1])))
        if (barrier, threads) != (None, None):
            yield call, blocks.barrier_violations(barrier=barrier, threads=threads)
    for call, positional, named in values.calls(*_REGISTER_COUNTS):
        count = _number(named.get("reg_count", next(iter(positional), None)))
        if count is not None:
            yield call, registers.violations(target, setmaxnreg=count)
    for call, _, named in values.calls("make_copy_atom"):
        bits = _number(named.get("num_bits_per_copy"))
        if bits is not None and call.args and "CopyG2SOp" in ast.unparse(call.args[0]):
            yield call, require("cp-async.bits", bits, vector_copy.widths(target, asynchronous=True), PTX, "bits")
    yield from _maps(values, types, target)


def _maps(
    values: StaticValues, types: Mapping[str, grammar.Tensor], target: Target
) -> Iterator[tuple[ast.Call, list[Violation]]]:
    for call, positional, named in values.calls("make_tiled_tma_atom"):
        tensor = types.get(values.flow.origin(call.args[1]) or "") if len(call.args) > 1 else None
        tile = named.get("cta_tiler", positional[3] if len(positional) > 3 else None)
        shape, stride = (_static(entries) for entries in ((tensor.shape, tensor.stride) if tensor else ((), ())))
        if tensor is None or tile is None or shape is None or stride is None or not _extents(tile):
            continue
        with suppress(InputError):
            layout = StridedLayout(shape, stride)
            yield call, strided_violations(dtype=tensor.dtype, layout=layout, tile=tile, target=target)


def _operations(values: StaticValues) -> Iterator[tuple[str, ast.Call, dict[str, Any]]]:
    """Matrix operations that are made, whose types and shape the text shows."""
    names = {name.partition(".")[2] for name in _PARAMETERS}
    for call, positional, named in values.calls(*names):
        name = ".".join(ast.unparse(call.func).split(".")[-2:])
        if name not in _PARAMETERS:
            continue
        stated = dict(zip(_PARAMETERS[name], positional, strict=False))
        stated.update((_MEANT.get(word, word), value) for word, value in named.items())
        if (arguments := _arguments(stated)) is not None:
            yield name, call, arguments
    for call, positional, _ in values.calls(_HELPER):
        if len(positional) < 6:
            continue
        if positional[1] in grammar.DTYPES:
            a, b, a_major, b_major, d = positional[:5]
            level, tiler, group = "warpgroup", positional[6] if len(positional) > 6 else None, None
        else:
            a, a_major, b_major, d, group, tiler = positional[:6]
            level, b = "tcgen05", None
        operation = _HELPED[level].get(str(a), _FALLBACK.get(level))
        shape = (*tiler, None) if isinstance(tiler, tuple) and len(tiler) == 2 else None
        stated = {"a": a, "b": b, "d": d, _SHAPE: shape, _GROUP: group, "a_major": a_major, "b_major": b_major}
        arguments = _arguments(stated)
        if operation is not None and arguments is not None:
            yield f"{level}.{operation}", call, arguments


def _arguments(stated: Mapping[str, Any]) -> dict[str, Any] | None:
    """As ``operations.violations`` takes them; None where the type of A or the shape is not known."""
    shape = stated.get(_SHAPE)
    if not isinstance(shape, tuple) or len(shape) != 3 or not isinstance(stated.get("a"), str):
        return None
    arguments: dict[str, Any] = {"m": shape[0], "n": shape[1], "k": shape[2]}
    if any(type(size) is not int for size in shape[:2]):
        return None
    types = {name: stated[name] for name in _DATA if isinstance(stated.get(name), str)}
    if any(dtypes.find(dtype) is None for dtype in types.values()):
        return None
    arguments.update(types)
    majors = {name: stated[name] for name in ("a_major", "b_major") if stated.get(name) in ("K", "MN")}
    arguments.update((name, major.lower()) for name, major in majors.items())
    if stated.get(_GROUP) in _GROUPS:
        arguments[_GROUP] = _GROUPS[stated[_GROUP]]
    if stated.get("a_from") == "TMEM":
        arguments["a_from"] = "tmem"
    return arguments


def _static(entries: tuple[grammar.Extent, ...]) -> tuple[int, ...] | None:
    """Flat extents that are all known."""
    numbers = tuple(entry for entry in entries if isinstance(entry, int))
    return numbers if len(numbers) == len(entries) else None


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def _extents(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(type(extent) is int for extent in value)
