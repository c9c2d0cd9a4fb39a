"""The work of one block: a tree of loops with what each turn of them does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_LEAST_REDUCED = 16
"""Elements that become one in a reduction of a block: passes of a norm and taps of a stencil read fewer for each that
they write. Independent of tiles, so that configurations of a kernel are compared on the same problem."""

TYPICAL = 4096
"""Extent of a problem along one axis where the case does not state it, in elements."""

_BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "index": 32}


def bits(element: str) -> int:
    """Width of an element type as TTIR prints it; a pointer's is 64."""
    if element.startswith("!tt.ptr"):
        return 64
    width = _BITS.get(element)
    return width if width is not None else 8 if element.startswith("f8") else 4 if element.startswith("f4") else 32


@dataclass(frozen=True, slots=True)
class Dot:
    """A matrix product of a block: extents in elements, and the operands' element types as TTIR names them."""

    m: int
    n: int
    k: int
    a: str
    b: str
    result: str
    tf32: bool
    batch: int = 1
    a_from_memory: bool = True
    scaled: bool = False

    @property
    def a_bytes(self) -> float:
        """Of the left operand."""
        return self.batch * self.m * self.k * bits(self.a) / 8

    @property
    def b_bytes(self) -> float:
        """Of the right operand."""
        return self.batch * self.k * self.n * bits(self.b) / 8


@dataclass(frozen=True, slots=True)
class BlockAccess:
    """A load or store of a block. ``feeds_dot``: what a pipeline prefetches; ``by_all``: every block reads the same;
    ``again``: the block read this array before; ``row_bytes``: bytes that lie side by side; ``array``: the argument."""

    bytes: float
    elements: int
    feeds_dot: bool = False
    by_all: bool = False
    again: bool = False
    by_descriptor: bool = False
    row_bytes: float = 128.0
    array: str = ""


@dataclass(slots=True)
class Body:
    """One turn of a loop, or the block outside of loops. ``lanes`` and ``special`` are operations on elements,
    ``reduced`` the elements of each reduction or scan and the extent of its axis, ``widest`` the bytes of the largest
    tensor that is computed."""

    dots: list[Dot] = field(default_factory=list)
    loads: list[BlockAccess] = field(default_factory=list)
    stores: list[BlockAccess] = field(default_factory=list)
    lanes: float = 0.0
    special: float = 0.0
    reduced: list[tuple[int, int]] = field(default_factory=list)
    widest: float = 0.0
    loops: list[WorkLoop] = field(default_factory=list)


@dataclass(slots=True)
class WorkLoop:
    """``trips``: turns, on average over the grid. ``stages`` where the loop states its own. ``carried_bytes``: of the
    tensors that live through it, a block's."""

    trips: float
    body: Body
    stages: int | None = None
    carried_bytes: float = 0.0


def bodies(body: Body, times: float = 1.0) -> Iterator[tuple[float, Body]]:
    """Every body with how often it runs."""
    yield times, body
    for loop in body.loops:
        yield from bodies(loop.body, times * loop.trips)


@dataclass(frozen=True, slots=True)
class BlockWork:
    """What one block does."""

    body: Body

    def _sum(self, amount: Callable[[Body], float]) -> float:
        return sum(times * amount(body) for times, body in bodies(self.body))

    @property
    def stored(self) -> float:
        """Elements that a block writes."""
        return self._sum(lambda body: sum(access.elements for access in body.stores))

    @property
    def stored_bytes(self) -> float:
        """Bytes that a block writes."""
        return self._sum(lambda body: sum(access.bytes for access in body.stores))

    @property
    def loaded(self) -> float:
        """Elements that a block reads."""
        return self._sum(lambda body: sum(access.elements for access in body.loads))

    @property
    def reduces(self) -> bool:
        """Whether it writes next to nothing of what it reads or multiplies: a sum, a maximum, a loss."""
        products = [dot.batch * dot.m * dot.n for _, body in bodies(self.body) for dot in body.dots]
        whole = min(products) if products else self.loaded
        return self.stored * _LEAST_REDUCED <= whole

    @property
    def footprint(self) -> float:
        """Bytes that a block may read again: each array once, without the tiles of matrix products."""
        by_array: dict[str, float] = {}
        for times, body in bodies(self.body):
            for access in body.loads:
                if not access.feeds_dot:
                    by_array[access.array] = max(by_array.get(access.array, 0.0), access.bytes * times)
        return sum(by_array.values())
