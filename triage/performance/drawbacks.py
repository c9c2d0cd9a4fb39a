"""What is bad about a compile that is legal, as in "compiles, but …".

Read from what the compiler itself wrote, never from names: its report on registers, TTIR for what the kernel asks, and
TTGIR and assembly for what became of that. Only what the target could do and this binary does not is a drawback, so a
kernel without a matrix product, an fp32 product that asks for IEEE precision, and a tile that is too small for AMD's
instructions have none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from triage.legality.amd import mfma, tile, wmma
from triage.legality.dtypes import DType, find, parse
from triage.legality.mma import triton as mma
from triage.legality.mma.forms import FORMS, NO_SCALE
from triage.model.gpus import TensorCore
from triage.model.outcome import Outcome, Resources
from triage.model.target import Target

SERIOUS_SPILL = 256
"""Bytes a thread. Below, spills live in L1 and are seldom seen; above, they are memory traffic in the inner loop: a
block of 256 threads has 64 KB of them, as much as most of the L1 caches that it shares."""


_SPILLS, _SCALAR = "spills ", "multiplies without tensor cores"
"""Clauses of drawbacks that other tiles or numbers of warps may not have."""


@dataclass(frozen=True, slots=True)
class IndexedArray:
    """Bytes of a thread's arrays in local memory, and where they are indexed with what is not constant, if that is
    known."""

    bytes: int
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Lowering:
    """Lines of a compile's IR, as the worker sends them (``harness/worker/lowering.py``), and arrays in local memory
    (``harness/worker/cute/local_memory.py``)."""

    asked: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    block_scaled: bool = False
    indexed: IndexedArray | None = None


@dataclass(frozen=True, slots=True)
class Drawback:
    """``clause`` completes "compiles, but …"; ``note`` is a sentence with the numbers."""

    clause: str
    note: str


def drawbacks(resources: Resources, lowering: Lowering, target: Target) -> Iterator[Drawback]:
    """The drawbacks of a compiled kernel, the worst first."""
    if (spilled := resources.spill_bytes or 0) >= SERIOUS_SPILL:
        yield Drawback(
            f"{_SPILLS}{spilled} B a thread",
            f"{spilled} B of a thread's registers are spilled to memory; from {SERIOUS_SPILL} B on that is traffic in "
            "the inner loop: expect a large slowdown",
        )
    if (array := lowering.indexed) is not None:
        where = f" ({PurePath(array.file).name}:{array.line})" if array.file and array.line else ""
        yield Drawback(
            "keeps a register tensor in local memory",
            f"{array.bytes} B of a thread's register tensors are in local memory: registers have no index, and one is "
            f"used that is not constant{where}; in a loop, cutlass.range_constexpr makes it constant",
        )
    if products := [asked for asked in _products(lowering.asked) if asked.has_instruction(target)]:
        remaining = {product.shape for product in _products(lowering.products) if product.scalar}
        for product in products:
            if product.shape in remaining:
                matrix = target.gpu.matrix.value if target.gpu else TensorCore.MMA_SYNC.value
                yield Drawback(
                    _SCALAR,
                    f"tl.dot {product} became multiply-adds, though {target} has {matrix} for such operands: expect a "
                    "large slowdown",
                )
                break
    if any("tt.dot_scaled" in line for line in lowering.asked) and not lowering.block_scaled:
        have = "was not used" if _scales_blocks(target) else f"{target} does not have"
        yield Drawback(
            "emulates tl.dot_scaled",
            f"tl.dot_scaled needs an instruction that scales blocks, which {have}: its operands are converted and "
            "scaled first, and multiplied by an ordinary tl.dot",
        )
    if any("tt.warp_specialize" in line for line in lowering.asked) and not resources.warp_specialized:
        yield Drawback(
            "is not warp-specialized",
            "warp_specialize=True had no effect: the compiler did not split the warps, and did not say so",
        )


def depends_on_configuration(outcome: Outcome) -> bool:
    """Whether a compile has a drawback that other tiles or numbers of warps may not have."""
    return any(clause.startswith((_SPILLS, _SCALAR)) for clause in outcome.drawbacks)


_TENSOR = re.compile(r"tensor<((?:\d{1,9}x){1,8})(\w+)(?:, #(\w+))?")
_PRECISION = re.compile(r"\binputPrecision = (\w+)")
_FIRST_WITH_FP32 = {"tf32": ("tf32",), "tf32x3": ("tf32",), "bf16x3": ("bf16",), "bf16x6": ("bf16",)}
"""The type in which an fp32 product of some precision is computed on tensor cores."""


@dataclass(frozen=True, slots=True)
class _Product:
    """A ``tt.dot``: its batch (empty for most), M, N and K, operand type and precision. ``scalar``: its result has the
    layout of elementwise operations, which becomes multiply-adds."""

    batch: tuple[int, ...]
    m: int
    n: int
    k: int
    element: DType
    precision: str
    scalar: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.batch, self.m, self.n, self.k)

    def __str__(self) -> str:
        return f"of {'x'.join(map(str, self.shape))} {self.element}"

    def has_instruction(self, target: Target) -> bool:
        """Whether the target's matrix instructions take such a product."""
        types: tuple[DType, ...] = (self.element,)
        if self.element.name == "f32":
            computed = _FIRST_WITH_FP32.get(self.precision, ())
            # AMD has instructions for fp32 itself.
            types = tuple(parse(name) for name in (*computed, *(("f32",) if target.backend == "hip" else ())))
        if target.backend == "hip":
            return any(tile.chosen(m=self.m, n=self.n, k=self.k, a=type_, target=target) for type_ in types)
        return any(_on_nvidia(type_.name, target) for type_ in types)


def _on_nvidia(name: str, target: Target) -> bool:
    """Below 8.0, where Triton 3.9 has multiply-adds for everything, what the instructions take; their tile is padded
    everywhere."""
    capability = target.capability or 0
    if capability >= 80:
        return mma.chosen(name, target) is not None
    return any((name, name) in form.pairs and form.documented and form.since <= capability for form in FORMS)


def _products(lines: tuple[str, ...]) -> Iterator[_Product]:
    for line in lines:
        tensors = _TENSOR.findall(line)
        if not line.startswith("tt.dot ") or len(tensors) != 3:
            continue
        (left, element, _), _, (result, _, layout) = tensors
        operand, shape = find(element), tuple(map(int, result.rstrip("x").split("x")))
        if operand is None or len(shape) < 2:
            continue
        *batch, m, n = shape
        k = int(left.rstrip("x").rpartition("x")[2])
        precision = _PRECISION.search(line)
        scalar = layout.startswith("blocked")
        yield _Product(tuple(batch), m, n, k, operand, precision[1].lower() if precision else "ieee", scalar)


def _scales_blocks(target: Target) -> bool:
    """Whether the target has a matrix instruction that scales blocks of its operands."""
    if target.backend == "hip":
        return any(row.scaled for row in (*mfma.instructions(target), *wmma.instructions(target)))
    if target.gpu is not None and target.gpu.matrix is TensorCore.TCGEN05:
        return True
    return any(form.scales != (NO_SCALE,) and target.capability in form.only for form in FORMS)
