"""What a CuTe kernel's traced module shows to be wrong, and no verifier of the DSL says: a tensor map that the driver
will not encode, inline PTX of which more or fewer outputs are taken than it states, which kills libNVVM, register
tensors of a dynamic size, and tiles that are not a multiple of the matrix operation that computes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from triage.model.document import decode
from triage.model.outcome import Suspicion
from triage.model.target import Target

if TYPE_CHECKING:
    from triage.legality.violation import Violation

_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tiled tensor map, outermost axis first: ``shape``, ``strides`` and ``box`` in elements, ``align`` in bytes."""

    dtype: str
    align: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class InlineAssembly:
    """Outputs that the constraints of inline PTX state, and results that are taken."""

    outputs: int
    results: int
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class MmaTile:
    """A tile that the warps of a matrix operation share. ``axes``: two of ``mnk``; along each the tile's extent, and
    what the operation's warps cover together."""

    axes: str
    extents: tuple[int, int]
    steps: tuple[int, int]
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class DynamicRegisters:
    """A register tensor of which an extent is known only at run time."""

    file: str | None = None
    line: int | None = None


Fact: TypeAlias = TensorMap | InlineAssembly | MmaTile | DynamicRegisters
EVENTS: Mapping[str, type[Fact]] = MappingProxyType(
    {
        "tensor_map": TensorMap,
        "inline_asm": InlineAssembly,
        "mma_tile": MmaTile,
        "dynamic_registers": DynamicRegisters,
    }
)


def parse(event: Mapping[str, Any]) -> Fact:
    """The fact of one of ``EVENTS``. Raises InputError."""
    fields = {name: value for name, value in event.items() if name != "ev"}
    return decode(EVENTS[event["ev"]], fields, event["ev"], exact=True)


def _facts(events: Iterable[Mapping[str, Any]], kind: type[_Kind]) -> Iterator[_Kind]:
    for event in events:
        if EVENTS.get(event["ev"]) is kind and isinstance(fact := parse(event), kind):
            yield fact


def refused_map(events: Iterable[Mapping[str, Any]], target: Target) -> Suspicion | None:
    """The first tensor map that a launch would not get. The swizzle is not stated in the module: what holds for each is
    judged."""
    from triage.legality.tma import tensor_map

    for stated in _facts(events, TensorMap):
        broken = tensor_map.violations(
            dtype=stated.dtype,
            box=stated.box,
            shape=stated.shape,
            strides=stated.strides,
            base_alignment=stated.align,
            target=target,
        )
        if broken:
            box = "x".join(map(str, stated.box))
            text = f"The driver will not encode the tensor map of the box {box} of {stated.dtype}: {broken[0].message}"
            return Suspicion(text, stated.file, stated.line)
    return None


def mismatched_outputs(events: Iterable[Mapping[str, Any]]) -> Suspicion | None:
    """The first inline PTX whose outputs are not its results."""
    for stated in _facts(events, InlineAssembly):
        if stated.outputs != stated.results:
            text = f"Inline PTX states {stated.outputs} outputs in its constraints, and {stated.results} taken"
            return Suspicion(text, stated.file, stated.line)
    return None


def dynamic_registers(events: Iterable[Mapping[str, Any]]) -> Suspicion | None:
    """The first register tensor of a dynamic size."""
    for tensor in _facts(events, DynamicRegisters):
        text = (
            "A register tensor has a size that is known only at run time: it is on the stack in local memory, of which "
            "a launch reserves nothing for it"
        )
        return Suspicion(text, tensor.file, tensor.line)
    return None


def partial_products(events: Iterable[Mapping[str, Any]]) -> Suspicion | None:
    """The first tile whose K is not a multiple of the operation's: what it sums includes products from beyond it."""
    for tile, broken in _overhanging(events):
        if broken.parameter == "k":
            text = f"The matrix product sums elements from beyond its tile: {broken.message}"
            return Suspicion(text, tile.file, tile.line)
    return None


def overhangs(events: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Notes on tiles whose M or N is not a multiple of the operation's, each axis once: a kernel may leave out what is
    beyond as it stores."""
    noted: set[str] = set()
    for tile, broken in _overhanging(events):
        if broken.parameter != "k" and broken.message not in noted:
            noted.add(broken.message)
            where = f" ({PurePath(tile.file).name}:{tile.line})" if tile.file and tile.line else ""
            yield f"{broken.message}{where}: its last warps read and compute what is beyond the tile"


def _overhanging(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[MmaTile, Violation]]:
    from triage.legality.tiling import tile_violations

    for tile in _facts(events, MmaTile):
        stated = dict(zip(tile.axes, zip(tile.extents, tile.steps, strict=True), strict=True))
        extents, steps = zip(*(stated.get(axis, (1, 1)) for axis in "mnk"), strict=True)
        yield from ((tile, broken) for broken in tile_violations(extents, steps))
