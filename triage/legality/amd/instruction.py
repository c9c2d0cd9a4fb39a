"""A matrix instruction of AMD as a value, and why no instruction has the requested specification.

Shapes are in elements: D[m, n] += A[m, k] * B[k, n], ``blocks`` of them side by side in one instruction. Registers are
32-bit vector registers of one lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from triage.legality.dtypes import DType, parse
from triage.legality.violation import Value, Violation, refuse, spoken
from triage.model.gpus import TensorCore
from triage.model.target import Target


def known(target: Target) -> bool:
    """Whether the matrix instructions of a target are known; false for NVIDIA targets."""
    return target.backend == "cuda" or target.gpu is not None


def version(target: Target, family: TensorCore) -> int:
    """The version of a target's MFMA or WMMA instructions, 0 where it has none of them."""
    gpu = target.gpu
    return gpu.matrix_version if gpu is not None and gpu.matrix is family else 0


def has_instead(target: Target) -> str:
    """The matrix instructions of a target, as text for a message."""
    if target.backend == "cuda":
        return ": NVIDIA's are mma.sync, wgmma and tcgen05"
    matrix = target.gpu.matrix if target.gpu is not None else TensorCore.NONE
    return " and no other matrix instructions" if matrix is TensorCore.NONE else f": it has {matrix.name}"


@dataclass(frozen=True, slots=True)
class AmdInstruction:
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
class Specification:
    """An instruction without its name."""

    a: DType
    b: DType
    d: DType | None
    m: int
    n: int
    k: int
    blocks: int = 1
    sparse: bool = False
    scaled: bool = False

    @classmethod
    def of(cls, *, a: DType, b: DType | None = None, d: DType | None = None, **rest: Any) -> Specification:
        """``b`` defaults to ``a``; without ``d`` any accumulator meets the specification."""
        return cls(a, b or a, d, **rest)


def matching(rows: Iterable[AmdInstruction], spec: Specification) -> list[AmdInstruction]:
    """The rows that meet a specification; without ``d`` every accumulator is right."""
    return [row for row in rows if all(_agrees(row, spec, name) for name in _ASKED)]


def why_not(rule: str, rows: Sequence[AmdInstruction], spec: Specification, where: str, source: str) -> list[Violation]:
    """Why no row meets a specification; empty where one does. Parameters are looked at in the order in which they
    narrow the table (A, B, sparse and scaled, D, then the shape): the first that no row agrees with is named."""
    left = list(rows)
    for name in ("a", "b", "sparse", "scaled", "d"):
        agreeing = [row for row in left if _agrees(row, spec, name)]
        if not agreeing:
            return [_of_parameter(rule, name, spec, left, where, source)]
        left = agreeing
    if any(_shape(row) == _shape(spec) for row in left):
        return []
    for name in ("k", "m", "n", "blocks"):
        others = [row for row in left if all(_agrees(row, spec, other) for other in _SHAPE if other != name)]
        if others:
            return [_of_parameter(rule, name, spec, others, where, source)]
    left = [row for row in left if row.blocks == spec.blocks] or left
    allowed = tuple(dict.fromkeys(sorted((row.m, row.n, row.k) for row in left)))
    close = tuple(sorted(allowed, key=lambda shape: _distance(shape, (spec.m, spec.n, spec.k)))[:2])
    shape = f"{spec.m}x{spec.n}x{spec.k}" + (f" in {spec.blocks} blocks" if spec.blocks > 1 else "")
    message = f"{where} has no {_operands(spec)} {shape}: its shapes are {spoken(allowed)}"
    return [refuse(f"{rule}.shape", (spec.m, spec.n, spec.k), allowed, source, message, close, parameter="m")]


FLOATS_8_TO_4 = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
"""The types of ``f8f6f4``."""


def fp8(name: str) -> str:
    """An 8-bit float as mnemonics spell it."""
    return "fp8" if name.startswith("e4m3") else "bf8"


def lane_registers(row: AmdInstruction, lanes: int, copies: int, result_bits: int) -> tuple[int, int, int]:
    """32-bit registers a lane of A and B, each held in ``copies``, and of D with elements of ``result_bits``."""
    stored = row.k // 2 if row.sparse else row.k
    a = copies * row.m * stored * row.blocks * parse(row.a).bits
    b = copies * row.n * row.k * row.blocks * parse(row.b).bits
    d = row.m * row.n * row.blocks * result_bits
    return a // (32 * lanes), b // (32 * lanes), d // (32 * lanes)


_SHAPE = ("m", "n", "k", "blocks")
_ASKED = ("a", "b", "sparse", "scaled", "d", *_SHAPE)


def _agrees(row: AmdInstruction, spec: Specification, name: str) -> bool:
    specified = getattr(spec, name)
    if name == "d" and specified is None:
        return True
    return bool(getattr(row, name) == (specified.name if isinstance(specified, DType) else specified))


def _of_parameter(
    rule: str, name: str, spec: Specification, rows: Iterable[AmdInstruction], where: str, source: str
) -> Violation:
    allowed: tuple[Value, ...] = tuple(dict.fromkeys(getattr(row, name) for row in rows))
    specified = getattr(spec, name)
    value: Value = specified.name if isinstance(specified, DType) else specified
    close: tuple[Value, ...] | None = None
    if isinstance(specified, DType):
        types = [str(name) for name in allowed]
        alike = [other for other in types if _whole(other) == _whole(specified.name)] or types
        close = tuple(sorted(alike, key=lambda other: _unlikeness(specified, other))[:2])
    elif isinstance(value, bool):
        close = allowed[:2]
    else:
        allowed = tuple(sorted(allowed))
    subject = {
        "a": f"{where} multiplies no {value}",
        "b": f"{where} does not multiply {spec.a} with {value}",
        "sparse": f"{where} has {_operands(spec)} {'only dense' if value else 'only sparse'}",
        "scaled": f"{where} has {_operands(spec)} {'only without scales' if value else 'only with scales'}",
        "d": f"{where} does not accumulate {spec.a} products in {value}",
    }.get(name, f"{where} has no {_operands(spec)} {spec.m}x{spec.n}x{spec.k} with {name}={value}")
    if name in ("a", "b", "d", *_SHAPE):
        subject += f": {name} is {spoken(allowed)}"
    return refuse(f"{rule}.{name}", value, allowed, source, subject, close)


def _operands(spec: Specification) -> str:
    kind = "".join([" sparse" if spec.sparse else "", " scaled" if spec.scaled else ""])
    return (spec.a.name if spec.a == spec.b else f"{spec.a} x {spec.b}") + kind


def _shape(row: AmdInstruction | Specification) -> tuple[int, int, int, int]:
    return row.m, row.n, row.k, row.blocks


def _unlikeness(specified: DType, other: str) -> tuple[int, int]:
    """Distance of a type from another of its kind: the same width first, then the name's start."""
    common = next((index for index, (x, y) in enumerate(zip(specified.name, other, strict=False)) if x != y), 3)
    return abs(specified.bits - parse(other).bits), -common


def _whole(name: str) -> bool:
    return name[0] in "sub" and name != "bf16" and not name.startswith("ue")


def _distance(shape: tuple[int, ...], specified: tuple[int, ...]) -> tuple[int, int]:
    return sum(abs(ours - theirs) for ours, theirs in zip(shape, specified, strict=True)), -shape[0]
