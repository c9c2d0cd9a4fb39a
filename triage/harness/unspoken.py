"""What a CuTe kernel's traced module shows to be wrong, and no verifier of the DSL says: a tensor map that the driver
will not encode, and inline PTX of which more or fewer outputs are taken than it states, which kills libNVVM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from triage.model.document import decode
from triage.model.outcome import Suspicion
from triage.model.target import Target

EVENTS = frozenset({"tensor_map", "inline_asm"})


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


def parse(event: Mapping[str, Any]) -> TensorMap | InlineAssembly:
    """The fact of one of ``EVENTS``. Raises InputError."""
    fields = {name: value for name, value in event.items() if name != "ev"}
    if event["ev"] == "tensor_map":
        return decode(TensorMap, fields, "tensor_map", exact=True)
    return decode(InlineAssembly, fields, "inline_asm", exact=True)


def refused_map(events: Iterable[Mapping[str, Any]], target: Target) -> Suspicion | None:
    """The first tensor map that a launch would not get. The swizzle is not stated in the module: what holds for each is
    judged."""
    from triage.legality.tma import tensor_map

    for event in events:
        if event["ev"] != "tensor_map" or not isinstance(stated := parse(event), TensorMap):
            continue
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
    for event in events:
        if event["ev"] != "inline_asm" or not isinstance(stated := parse(event), InlineAssembly):
            continue
        if stated.outputs != stated.results:
            text = f"Inline PTX states {stated.outputs} outputs in its constraints, and {stated.results} taken"
            return Suspicion(text, stated.file, stated.line)
    return None
