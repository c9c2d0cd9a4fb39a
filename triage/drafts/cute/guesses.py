"""Values for parameters that no launch states, by how the host function and its kernels use them; the likeliest first.

Each is a guess, and marked as one: a compile that refuses it says nothing of the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from triage.drafts.cute.layouts import row_major
from triage.drafts.cute.symbols import Facts, Symbol
from triage.drafts.cute.values import ElementType
from triage.drafts.host.values import Foreign
from triage.drafts.model import Basis, Value
from triage.drafts.names import Role, role, usual_size
from triage.harness.worker.cute import grammar
from triage.harness.worker.cute.grammar import DTYPES

_EXTENTS = {1: (1024,), 2: (128, 128), 3: (128, 128, 4), 4: (2, 256, 8, 64)}
"""Shapes by rank: multiples of the tiles that kernels use, and few enough elements for any memory."""
_SMALL = {1: (128,), 2: (64, 64), 3: (64, 64, 1), 4: (1, 64, 1, 64)}
"""Shapes of a single tile, for kernels that have only one."""
_MOST_LITERAL = 2
_DIVIDES = frozenset({"zipped_divide", "tiled_divide", "logical_divide", "flat_divide", "local_tile"})
_TMA = frozenset({"make_tiled_tma_atom", "make_tiled_tma_atom_A", "make_tiled_tma_atom_B", "tma_partition"})
_ELEMENT_TYPES = re.compile(r"Mma\w*Op$|make_trivial_tiled_mma$|make_smem_layout\w*$|get_smem_layout_atom$")
"""Functions that take types of elements among other arguments."""
_TYPED = {
    "allocate_tensor": 0, "allocate_array": 0, "make_fragment": 1, "make_rmem_tensor": 1, "make_copy_atom": 1,
    "make_fragment_like": 1, "to": 0, "recast_tensor": 1, "recast_ptr": 1, "full": 2, "zeros_like": 1, "alloc_smem": 0,
    "make_smem_layout_atom": 1,
}  # fmt: skip
"""The argument of a function that is a type of elements."""
_USUAL_NUMBERS = {
    "num_bits_per_copy": 128, "byte_alignment": 16, "num_threads": 128, "barrier_id": 1, "number_of_threads": 128,
}  # fmt: skip
"""Numbers that arguments with these names usually are."""
_LAUNCHED = {"grid": [1, 1, 1], "block": [128, 1, 1], "cluster": [1, 1, 1]}


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What a whole source shows. ``matrix``: it uses matrix instructions; ``blackwell``: those of 10.0. ``shapes``: its
    literal tuples that are as large as tiles, the largest first."""

    matrix: bool
    blackwell: bool
    shapes: tuple[tuple[int, ...], ...]


def tensor(facts: Facts, dtypes: Sequence[str], source: SourceFacts) -> list[Value]:
    """Types of a tensor, by its types of elements and its shapes."""
    rank, why = _rank(facts, source.matrix)
    at = f"rank {rank}: {why}"
    shape, small = _EXTENTS.get(rank, (2,) * rank), _SMALL.get(rank, (2,) * rank)
    tiled = any(function in _DIVIDES or function in _TMA for function, _, _ in facts.passed)
    # What is not cut into tiles is one.
    sizes = (shape, small) if tiled or not source.matrix else (small, shape)
    literal = [each for each in source.shapes if len(each) == rank and each not in sizes][:_MOST_LITERAL]
    first, second = sizes
    texts = [(dtypes[0], first), (dtypes[1], first), *((dtypes[0], each) for each in literal), (dtypes[0], second)]
    texts += [*((dtype, first) for dtype in dtypes[2:]), (dtypes[1], second)]
    values = [
        Value(_tensor_type(dtype, extents, source.matrix), Basis.USE, at, exact=False) for dtype, extents in texts
    ]
    others = [other for other in (1, 2, 3) if other != rank]
    return values + [
        Value(_tensor_type(dtypes[0], _EXTENTS[other], source.matrix), Basis.ASSUMED, "of another rank", exact=False)
        for other in others
    ]


def _tensor_type(dtype: str, shape: tuple[int, ...], gemm: bool) -> str:
    strides = row_major(shape)
    if gemm and len(shape) == 3:
        # (M, K, L): the last dimension is the batch.
        strides = (shape[1], 1, shape[0] * shape[1])
    return str(grammar.Tensor(dtype, shape, strides, "gmem", 16))


def _rank(facts: Facts, gemm: bool) -> tuple[int, str]:
    """How many dimensions a tensor has, and what shows that."""
    if several := [count for count in facts.indices if count > 1]:
        return max(several), f"indexed by {max(several)} coordinates"
    for function, at, others in facts.passed:
        if function in _DIVIDES and at == 0:
            # Of a projection each place that is not None belongs to a dimension of the tensor.
            shown = others.get("proj") or others.get(3) or others.get("tiler") or others.get(1)
            modes = [each for each in shown if each is not None] if isinstance(shown, tuple | list) else []
            if len(modes) > 1:
                return len(modes), f"tiled in {function}"
        if function in _TMA and gemm:
            return 3, f"operand of {function}"
    if facts.length > 1:
        return facts.length, f"has {facts.length} dimensions at least"
    if facts.indices and not facts.passed:
        return 1, "indexed by one coordinate"
    return 2, "by default"


def element_types(facts: Facts, matrix: bool) -> list[str]:
    """Types of the elements behind a tensor or a pointer, the likeliest first."""
    if facts.bits:
        return ["i32", "u32", "i8"]
    if any(type(value) is int for value in facts.stored) and not any(type(value) is float for value in facts.stored):
        return ["i32", "f32", "f16"]
    if matrix and any(function == "partition_C" for function, _, _ in facts.passed):
        return ["f32", "f16", "bf16", "i32"]
    simple = facts.indices and max(facts.indices) == 1
    return ["f32", "f16", "bf16", "i32"] if simple or not matrix else ["f16", "bf16", "f32", "f8e4m3"]


def constant(symbol: Symbol, source: SourceFacts) -> list[Value]:
    """Values of a constant of the compile, or of an argument of a constructor."""
    return [
        Value(value, basis, where, exact=False, constant=True)
        for value, basis, where in _distinct(_constants(symbol, source.blackwell))
    ]


def _distinct(values: Iterator[tuple[Any, Basis, str]]) -> list[tuple[Any, Basis, str]]:
    unique: dict[str, tuple[Any, Basis, str]] = {}
    for value in values:
        unique.setdefault(repr(value[0]), value)
    return list(unique.values())


def _constants(symbol: Symbol, blackwell: bool) -> Iterator[tuple[Any, Basis, str]]:
    name, facts = symbol.name, symbol.facts
    for value in facts.compared:
        if isinstance(value, ElementType):
            yield f"cutlass.{DTYPES[value.name]}", Basis.USE, "a type that it is compared with"
        elif isinstance(value, str | int | float) or value is None:
            yield value, Basis.USE, "a value that it is compared with"
        elif isinstance(value, Foreign) and value.root == "cutlass":
            yield value.name.replace("cutlass.cute.", "cute.", 1), Basis.USE, "a value that it is compared with"
    for key in facts.keys:
        if isinstance(key, str | int):
            yield key, Basis.USE, "a key of a table that it selects from"
    if items := symbol.items:
        whole = any(function.startswith("make_smem_layout") for function, _, _ in facts.passed)
        count = max(max(items) + 1, 3 if whole else 1)
        yield [_item(symbol, index, blackwell) for index in range(count)], Basis.USE, f"indexed up to {max(items)}"
        return
    for function, at, _ in facts.passed:
        if function == "launch" and at in _LAUNCHED:
            yield _LAUNCHED[str(at)], Basis.USE, f"{at} of the launch"
        if _TYPED.get(function) == at or at in ("dtype", "element_type"):
            yield from _types(name, f"type of elements in {function}")
        if at in _USUAL_NUMBERS:
            yield _USUAL_NUMBERS[str(at)], Basis.USE, f"{at} of {function}"
    for function, at, _ in facts.passed:
        if function.endswith("Op") and "Mma" in function and isinstance(at, int) and at == 2:
            yield [16, 8, 16] if "F16BF16" in function else [16, 8, 8], Basis.USE, f"shape of {function}"
        elif _ELEMENT_TYPES.search(function) and (at in (0, 1) or "type" in str(at)):
            yield from _types(name, f"type of elements in {function}")
        elif function == "make_layout" and at == 0:
            yield [2, 2, 1] if "warp" in name.lower() or "atom" in name.lower() else [128, 1], Basis.NAME, "a shape"
    if facts.members & {"width", "is_float", "is_integer", "signed"} or re.search(r"dtype|_type$|^(AB|ACC)$", name):
        yield from _types(name, "named or used as a type of elements")
    if re.search(r"tile|tiler|shape_mnk?|_mnk?$", name, re.IGNORECASE) and not facts.counted:
        divides = any(function in _DIVIDES for function, _, _ in facts.passed)
        dimensions = 3 if name.endswith("mnk") or (name.isupper() and not divides) else 2
        yield [128, 128, 64][:dimensions], Basis.NAME, "named as a tile"
    if re.search("cluster", name, re.IGNORECASE) and not facts.counted:
        yield [1, 1, 1] if name.endswith("mnk") else [1, 1], Basis.NAME, "named as a cluster"
    rule = role(name)
    if facts.counted or (
        facts.passed and any(function in ("range", "range_constexpr") for function, _, _ in facts.passed)
    ):
        yield _number(name), Basis.NAME, "usual size"
        yield 128, Basis.ASSUMED, "a usual tile"
    elif facts.tested or (rule is not None and rule.role is Role.FLAG):
        yield False, Basis.USE, "a condition"
        yield True, Basis.USE, "a condition"
    elif rule is not None and rule.role is Role.FLOAT:
        yield 1.0, Basis.NAME, f"named as {rule.reason}"
    if not facts.called and not any(function == "inline_asm" for function, _, _ in facts.passed):
        yield _number(name), Basis.ASSUMED, "nothing shows what it is"


_THREADS = re.compile(r"thread", re.IGNORECASE)


def _number(name: str) -> int:
    return 128 if _THREADS.search(name) else usual_size(name)


def _item(symbol: Symbol, index: int, blackwell: bool) -> int:
    """An item of a tuple: of a tile 64, of a shape of warps or blocks 1. The matrix instructions of 10.0 have 128 rows
    at least."""
    if re.search(r"cluster|warp|atom|grid|stage", symbol.name, re.IGNORECASE):
        return 1
    return 128 if blackwell and index < 2 else 64


def _types(name: str, where: str) -> Iterator[tuple[str, Basis, str]]:
    accumulates = re.search("acc", name, re.IGNORECASE) is not None
    for short in ("f32", "f16") if accumulates else ("f16", "f32", "bf16"):
        yield f"cutlass.{DTYPES[short]}", Basis.USE, where
