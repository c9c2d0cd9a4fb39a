"""A matrix instruction of AMD as a value, and what is wrong with a wish that none fulfils.

Shapes are in elements: D[m, n] += A[m, k] * B[k, n], ``blocks`` of them side by side in one instruction. Registers are
32-bit vector registers of one lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triage.legality import dtypes
from triage.legality.dtypes import DType
from triage.legality.violation import Value, Violation, nearest, spoken
from triage.model.errors import InputError


@dataclass(frozen=True, slots=True)
class Instruction:
    """``a``, ``b``, ``d`` and ``c`` (the accumulator that is read) are names of dtypes.py. ``sparse``: of every four
    elements along K, A holds two and an index says which. ``scaled``: A and B carry a scale (e8m0) a block of K.
    ``mnemonic`` is what the assembler of the generation calls it."""

    mnemonic: str
    a: str
    b: str
    c: str
    d: str
    m: int
    n: int
    k: int
    blocks: int = 1
    sparse: bool = False
    scaled: bool = False

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of one instruction; a sparse one counts the products it skips, as data sheets do."""
        return self.m * self.n * self.k * self.blocks


@dataclass(frozen=True, slots=True)
class Wish:
    """What a rule is asked about: an instruction but for its name."""

    a: DType
    b: DType
    d: DType | None
    m: int
    n: int
    k: int
    blocks: int = 1
    sparse: bool = False
    scaled: bool = False


def matching(rows: Iterable[Instruction], wish: Wish) -> list[Instruction]:
    """The rows that are what is wished for; without ``d`` every accumulator is right."""
    return [row for row in rows if all(_agrees(row, wish, name) for name in _ASKED)]


def complaints(rule: str, rows: Sequence[Instruction], wish: Wish, where: str, source: str) -> list[Violation]:
    """Why no row is what is wished for; empty where one is. Parameters are looked at in the order in which they narrow
    the table (A, B, sparse and scaled, D, then the shape), so the first that no row agrees with is the one named."""
    left = list(rows)
    for name in ("a", "b", "sparse", "scaled", "d"):
        agreeing = [row for row in left if _agrees(row, wish, name)]
        if not agreeing:
            return [_of_parameter(rule, name, wish, left, where, source)]
        left = agreeing
    if any(_shape(row) == _shape(wish) for row in left):
        return []
    for name in ("k", "m", "n", "blocks"):
        others = [row for row in left if all(_agrees(row, wish, other) for other in _SHAPE if other != name)]
        if others:
            return [_of_parameter(rule, name, wish, others, where, source)]
    left = [row for row in left if row.blocks == wish.blocks] or left
    allowed = tuple(dict.fromkeys(sorted((row.m, row.n, row.k) for row in left)))
    close = tuple(sorted(allowed, key=lambda shape: _distance(shape, (wish.m, wish.n, wish.k)))[:2])
    shape = f"{wish.m}x{wish.n}x{wish.k}" + (f" in {wish.blocks} blocks" if wish.blocks > 1 else "")
    message = f"{where} has no {_operands(wish)} {shape}: its shapes are {spoken(allowed)}"
    return [Violation(f"{rule}.shape", "m", (wish.m, wish.n, wish.k), allowed, close, source, message)]


def dtype(name: str) -> DType:
    """An element type of the tables by its name there."""
    found = dtypes.find(name)
    if found is None:
        raise InputError(f"type {name!r} is in no table")
    return found


def operands(a: DType, b: DType | None) -> tuple[DType, DType]:
    """Both operand types: B is A's type where it is not given."""
    return a, a if b is None else b


_SHAPE = ("m", "n", "k", "blocks")
_ASKED = ("a", "b", "sparse", "scaled", "d", *_SHAPE)


def _agrees(row: Instruction, wish: Wish, name: str) -> bool:
    wished = getattr(wish, name)
    if name == "d" and wished is None:
        return True
    return bool(getattr(row, name) == (wished.name if isinstance(wished, DType) else wished))


def _of_parameter(rule: str, name: str, wish: Wish, rows: Iterable[Instruction], where: str, source: str) -> Violation:
    allowed: tuple[Value, ...] = tuple(dict.fromkeys(getattr(row, name) for row in rows))
    wished = getattr(wish, name)
    given: Value = wished.name if isinstance(wished, DType) else wished
    close: tuple[Value, ...] = allowed[:2]
    if isinstance(wished, DType):
        alike = [str(value) for value in allowed if _whole(str(value)) == _whole(wished.name)] or list(
            map(str, allowed)
        )
        close = tuple(sorted(alike, key=lambda other: _unlikeness(wished, other))[:2])
    if isinstance(given, int) and not isinstance(given, bool):
        numbers = sorted(value for value in allowed if isinstance(value, int))
        allowed, close = tuple(numbers), nearest(given, numbers)
    subject = {
        "a": f"{where} multiplies no {given}",
        "b": f"{where} does not multiply {wish.a} with {given}",
        "sparse": f"{where} has {_operands(wish)} {'only dense' if given else 'only sparse'}",
        "scaled": f"{where} has {_operands(wish)} {'only without scales' if given else 'only with scales'}",
        "d": f"{where} does not accumulate {wish.a} products in {given}",
    }.get(name, f"{where} has no {_operands(wish)} {wish.m}x{wish.n}x{wish.k} with {name}={given}")
    if name in ("a", "b", "d", *_SHAPE):
        subject += f": {name} is {spoken(allowed)}"
    return Violation(f"{rule}.{name}", name, given, allowed, close, source, subject)


def _operands(wish: Wish) -> str:
    kind = "".join([" sparse" if wish.sparse else "", " scaled" if wish.scaled else ""])
    return (wish.a.name if wish.a == wish.b else f"{wish.a} x {wish.b}") + kind


def _shape(one: Instruction | Wish) -> tuple[int, int, int, int]:
    return one.m, one.n, one.k, one.blocks


def _unlikeness(wished: DType, other: str) -> tuple[int, int]:
    """How far a type is from another of its kind: the same width first, then the name's start."""
    common = next((place for place, (x, y) in enumerate(zip(wished.name, other, strict=False)) if x != y), 3)
    return abs(wished.bits - dtype(other).bits), -common


def _whole(name: str) -> bool:
    return name[0] in "sub" and name != "bf16" and not name.startswith("ue")


def _distance(shape: tuple[int, ...], wished: tuple[int, ...]) -> tuple[int, int]:
    return sum(abs(ours - theirs) for ours, theirs in zip(shape, wished, strict=True)), -shape[0]
