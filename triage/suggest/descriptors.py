"""Descriptors that the caller passes: their blocks follow the tiles that step along them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from triage.model.case import Case
from triage.source.descriptors import Axis, extents, steps, with_extents


def followed(case: Case, source: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """``changes`` of a case, with the types of the descriptors that they ask for."""
    all_changes = dict(changes)
    for name, type_ in case.signature.items():
        if not (block := extents(type_)):
            continue
        wanted = tuple(_extent(case, source, changes, (name, axis), extent) for axis, extent in enumerate(block))
        if wanted != block:
            all_changes[name] = with_extents(str(changes.get(name, type_)), wanted)
    return all_changes


def _extent(case: Case, source: str, changes: Mapping[str, Any], axis: Axis, extent: int) -> int:
    for name in _steps(source, case.name).get(axis, ()):
        before, after = case.constexprs.get(name), changes.get(name)
        if type(before) is int and type(after) is int and before > 0 and not extent * after % before:
            extent = extent * after // before
    return extent


def fixed(case: Case, source: str) -> frozenset[str]:
    """Constexprs that may be the extent of a descriptor of which the source does not show what steps along it."""
    known = _steps(source, case.name)
    unknown = {
        extent
        for name, type_ in case.signature.items()
        for axis, extent in enumerate(extents(type_))
        if len(known.get((name, axis), "??")) > 1
    }
    return frozenset(name for name, value in case.constexprs.items() if type(value) is int and value in unknown)


@cache
def _steps(source: str, kernel: str) -> Mapping[Axis, frozenset[str]]:
    return steps(source, kernel)
