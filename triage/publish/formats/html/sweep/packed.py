"""The cells of a map as short texts: one code a cell, resources of compiled cells as numbers of distinct values.

Numbers are stored as planes of bytes, the lowest first: deflate shortens what repeats along an axis, which neighbouring
bytes of one meaning do.
"""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from enum import Enum
from functools import partial
from math import floor
from typing import Any
from zlib import compress

from triage.model.outcome import Resources
from triage.publish.compose.sweep import SweepView
from triage.publish.compose.sweep_layout import layout
from triage.publish.compose.sweep_parts import CellLook
from triage.sweeps.grid import CellSet, SweepAxis, cells_of, set_of
from triage.sweeps.observation import CellObservation, CellState

_MOST = 400_000
"""Characters for the cells: a page of 500 kB has 100 kB for texts, script and style."""
_PROBABILITIES = (100, 20, 1)
"""Steps that probabilities are rounded down to, for as long as the cells do not fit: 1 %, 5 %, none."""


@dataclass(frozen=True, slots=True)
class _Column:
    """One resource of the compiled cells; ``read`` returns None for a cell without it."""

    name: str
    unit: str
    read: Callable[[CellObservation], Any]


def _resource(field: Field[Any], seen: CellObservation) -> Any:
    """A resource; None where it is the default, which says that there is nothing of it."""
    value = getattr(seen.resources, field.name, None)
    return None if value == field.default else value.value if isinstance(value, Enum) else value


_UNITS = {
    "shared_bytes": "bytes a block",
    "registers": "a thread",
    "spill_bytes": "bytes a thread",
    "threads": "a block",
}
_COLUMNS = (
    *(_Column(field.name, _UNITS.get(field.name, ""), partial(_resource, field)) for field in fields(Resources)),
    _Column("resource", "", lambda seen: seen.resource),
    _Column("required", "", lambda seen: seen.required),
    _Column("limit", "", lambda seen: seen.limit),
    _Column("stage", "", lambda seen: seen.stage),
    _Column("headline", "", lambda seen: seen.headline),
    _Column("reason", "", lambda seen: seen.reason),
)


def packed(view: SweepView) -> dict[str, Any]:
    """What the page's script reads. ``omitted``: names of columns that there was no room for."""
    shape = layout(view)
    # A screen has more room beside than below: the axis with more values goes across.
    down, across = (-1, -1, *sorted(shape.panels, key=lambda axis: len(view.axes[axis].values)))[-2:]
    codes, cells = _cells(view)
    columns = list(_columns(view))
    rules = [_text(rule.cells.to_bytes((view.grid.size + 7) // 8, "little")) for rule in view.map.rules]
    room, omitted = _MOST - _length(cells) - _length(rules), []
    for column in sorted(columns, key=lambda column: _length(column["planes"])):
        room -= _length(column["planes"])
        if room < 0:
            omitted.append(column["name"])
    return {
        "axes": [
            {
                "name": axis.name,
                "values": axis.values,
                "inert": axis.inert,
                "words": [view.text(shlex.join(words)) for words in _words(view, of)],
            }
            for axis, of in zip(view.axes, view.grid.axes, strict=True)
        ],
        "failures": [{"letter": failure.letter, "headline": failure.headline} for failure in view.failures],
        "codes": codes,
        "cells": cells,
        "columns": [column for column in columns if column["name"] not in omitted],
        "rules": rules,
        "omitted": omitted,
        "command": view.text(shlex.join(view.commands.check)),
        "layout": {"rows": _axis(shape.rows), "columns": _axis(shape.columns), "down": down, "across": across},
    }


def _words(view: SweepView, axis: SweepAxis) -> Iterator[Sequence[str]]:
    """For each value of an axis the words of the command that set it."""
    return (view.commands.words(view.map.case, axis, position) for position in range(len(axis.values)))


def _axis(number: int | None) -> int:
    return -1 if number is None else number


def _cells(view: SweepView) -> tuple[list[dict[str, Any]], list[str]]:
    """What the codes mean, from 0, which is outside of the space; and each cell's code."""
    letters = {failure.letter: number for number, failure in enumerate(view.failures)}
    for steps in _PROBABILITIES:
        sets = _coded(view, steps)
        planes = [
            _text(_plane([(cells, number >> shift & 255) for number, cells in enumerate(sets.values(), 1)], view))
            for shift in range(0, max(len(sets).bit_length(), 1), 8)
        ]
        if _length(planes) <= _MOST:
            break
    codes: list[dict[str, Any]] = [{"state": "outside"}]
    for look, probability in sets:
        codes.append({"state": look.state.value if look.state else "unseen", "sign": look.sign, "words": look.words})
        codes[-1] |= {"failure": letters[look.letter]} if look.letter else {}
        codes[-1] |= {"probability": probability} if probability is not None else {}
    return codes, planes


def _coded(view: SweepView, steps: int) -> Mapping[tuple[CellLook, float | None], CellSet]:
    predicted = (CellState.PREDICTED_LEGAL, CellState.PREDICTED_ILLEGAL)
    sets: dict[tuple[CellLook, float | None], CellSet] = {
        (look, None): cells for look, cells in view.looks.items() if look.state not in predicted
    }
    for look, probability, cells in view.predictions():
        # Rounded down: 99.5 % is not certain.
        key = look, floor(round(probability * steps, 6)) / steps if steps > 1 else None
        sets[key] = sets.get(key, 0) | cells
    return sets


def _plane(sets: Iterable[tuple[CellSet, int]], view: SweepView) -> bytes:
    """A byte for each cell: that of the set which has it, else 0."""
    plane = 0
    for cells, byte in sets:
        spread = f"{cells:b}".encode()[::-1].translate(bytes.maketrans(b"01", bytes((0, byte))))
        plane |= int.from_bytes(spread, "little")
    return plane.to_bytes(view.grid.size, "little")


def _columns(view: SweepView) -> Iterator[dict[str, Any]]:
    """The columns that some compiled cell has a value of: distinct values, and for each compiled cell in the order of
    the cells the number of its value, from 1."""
    observed = set_of(view.map.observations) & view.grid.allowed
    observations = [view.map.observations[cell] for cell in cells_of(observed)]
    headlines = {failure.signature: failure.headline for failure in view.map.failures}
    for column in _COLUMNS:
        numbers: dict[Any, int] = {None: 0}
        of_cells = []
        for seen in observations:
            value = column.read(seen)
            if column.name == "headline" and value == headlines.get(seen.signature or ""):
                value = None  # It is beside the letter.
            of_cells.append(numbers.setdefault(value, len(numbers)))
        if len(numbers) > 1:
            values = [view.line(value) if isinstance(value, str) else value for value in numbers if value is not None]
            planes = [_text(plane) for plane in _planes(of_cells, len(numbers) - 1)]
            yield {"name": column.name, "unit": column.unit, "values": values, "planes": planes}


def _planes(numbers: Sequence[int], largest: int) -> Iterator[bytes]:
    for shift in range(0, max(largest.bit_length(), 1), 8):
        yield bytes(number >> shift & 255 for number in numbers)


def _text(data: bytes) -> str:
    return b64encode(compress(data, 9)).decode()


def _length(texts: Iterable[str]) -> int:
    return sum(map(len, texts))
