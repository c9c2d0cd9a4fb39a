"""What the addresses of a kernel's loads and stores show of its parameters: steps, strides, extents, bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from triage.source.roles.role import Axis
from triage.source.roles.symbols import (
    GRID,
    LOADED,
    LOOP,
    NAME,
    NUMBER,
    OTHER,
    RANGE,
    Atom,
    Product,
    Sum,
    every,
    names,
    one_name,
    without,
)
from triage.source.roles.uses import MemoryAccess, ParameterUse, ParameterUses


@dataclass(frozen=True, slots=True)
class _Step:
    """A range in an address and what moves it on by its extent."""

    extent: frozenset[str]
    movers: tuple[Atom, ...]
    axis: Axis


def record_addresses(uses: ParameterUses) -> None:
    """Steps first, by base: a block that a prologue reads at the start alone is still the loop's."""
    steps: list[_Step] = []
    stepped: dict[str, list[MemoryAccess]] = {}
    unstepped: list[tuple[MemoryAccess, Atom]] = []
    for access in uses.accesses:
        for term in access.terms:
            for atom in term:
                if atom.kind == RANGE or (atom.kind == LOOP and atom.extent):
                    step = _step(access, term, atom, uses)
                    if step is None:
                        unstepped.append((access, atom))
                    else:
                        steps.append(step)
                        for parameter in step.extent:
                            stepped.setdefault(parameter, []).append(access)
        _strides(access, uses)
    for index in uses.indices:
        for term in index.terms:
            for atom in term:
                if atom.kind == RANGE:
                    _step(index, term, atom, uses)
    for access, atom in unstepped:
        for parameter in names(atom.extent or NUMBER):
            others = stepped.get(parameter, ())
            if not any(other.base == access.base and not access.excludes(other) for other in others):
                uses.add([parameter], ParameterUse.EXTENT, access.line, access.masked_by(atom))
    for start in uses.starts:
        uses.add(start.sizes, ParameterUse.STEP_GRID, start.line)
        steps.append(_Step(start.sizes, start.position, _moved_by(start.position)))
    _results(steps, uses)


def _step(access: MemoryAccess, term: Product, atom: Atom, uses: ParameterUses) -> _Step | None:
    """What moves a range on by its extent, with the range's own coefficient; its use is recorded."""
    unit = next(iter(atom.unit)) if atom.unit is not None and len(atom.unit) == 1 else ()
    coefficient = without(term, (atom, *unit))
    extent = atom.extent or NUMBER
    if coefficient is None or not names(extent):
        return _Step(frozenset(), (), Axis.NONE)
    # As many rows as a row has elements: memory has rows of that length, whatever steps over them.
    if atom.kind == RANGE:
        uses.add(names(extent) & names(frozenset({coefficient})), ParameterUse.STRIDE, access.line)
    for mover in _movers(access.terms, term, atom, coefficient, extent):
        axis = _moved_by(mover)
        if axis is Axis.NONE:
            if not any(factor.moves for factor in mover):
                return _Step(frozenset(names(extent)), (), axis)  # What whole blocks leave at the end.
            uses.add(names(extent), ParameterUse.NUMBERED, access.line)
            continue
        if atom.kind == LOOP and not coefficient and not access.masked_by(atom):
            return None  # A row of this length looks the same.
        _counted(access, mover, extent, uses)
        use = ParameterUse.STEP_LOOP if axis is Axis.LOOP else ParameterUse.STEP_GRID
        uses.add(names(extent), use, access.line)
        for other in access.terms:
            rest = without(other, (*coefficient, *_single(extent))) if other != term else None
            if rest and any(a.kind == LOOP for a in rest) and (extra := [a.key for a in rest if a.kind == NAME]):
                uses.add(extra, ParameterUse.SHARES, access.line)
                uses.add(names(extent), ParameterUse.STEP_LOOP, access.line)
        return _Step(frozenset(names(extent)), mover, axis)
    return None


def _counted(access: MemoryAccess, mover: Product, extent: Sum, uses: ParameterUses) -> None:
    """``pid % BLOCKS * SIZE`` and a loop of ``BLOCKS`` turns: other sizes need another number of blocks. Not where the
    grid steps by both, as where a program unrolls several blocks."""
    own = names(extent)
    for atom in mover:
        count = one_name(atom.ends) if atom.ends and not atom.begins else None
        if count is None or count in own or count not in uses.constexprs or atom.unit not in (None, NUMBER):
            continue
        both = own | {count}
        others = (term for term in access.terms if atom not in term and any(a.moves for a in term))
        if not any(both <= names(frozenset({term})) for term in others):
            uses.add(own, ParameterUse.COUNTED, access.line)


def _movers(terms: Sum, term: Product, atom: Atom, coefficient: Product, extent: Sum) -> Iterator[Product]:
    """Positions that are multiplied by the extent, those of the grid and of loops before loaded ones."""
    exact: list[Product] = []
    loose: list[Product] = []
    for other in terms:
        if other == term:
            continue
        rest = without(other, (*coefficient, *_single(extent))) if _single(extent) else None
        if rest and atom not in rest and all(a.kind != NAME for a in rest):
            exact.append(rest)
        rest = without(other, coefficient)
        alone = rest is not None and len(rest) == 1 and rest[0].kind == OTHER
        if rest is not None and alone and names(extent) <= names(frozenset({rest})):
            loose.append(rest)
    yield from sorted(exact, key=lambda rest: _moved_by(rest) is Axis.NONE)
    yield from loose


def _single(extent: Sum) -> Product:
    return next(iter(extent)) if len(extent) == 1 else ()


def _moved_by(mover: Product) -> Axis:
    if any(atom.kind == LOOP for atom in mover):
        return Axis.LOOP
    kinds = {atom.kind for atom in every(frozenset({mover}))}
    loaded_alone = all(atom.kind == LOADED for atom in mover)
    if GRID in kinds and not loaded_alone:
        return Axis.GRID
    return Axis.LOOP if LOOP in kinds and not loaded_alone else Axis.NONE


def _strides(access: MemoryAccess, uses: ParameterUses) -> None:
    """Parameters that multiply an index that is not their own."""
    explained = _explained(access)
    starts = {term for atom in _loops(access.terms) for term in atom.begins or ()}
    for term in access.terms:
        factors = [atom for atom in term if atom.kind == NAME]
        if not factors or len(term) == 1:
            if factors and len(term) == 1:
                uses.add([factors[0].key], ParameterUse.OFFSET, access.line)
            continue
        others = [atom for atom in term if atom.kind != NAME]
        if not others:
            uses.add({atom.key for atom in factors}, ParameterUse.OFFSET, access.line)
            continue
        own: list[Atom] = [a for product in explained.get(term, ()) for a in product]
        own += [a for atom in others if atom.unit is not None and len(atom.unit) == 1 for a in next(iter(atom.unit))]
        for start in starts:
            if without(term, start) is not None:
                own += [atom for atom in start if atom.kind == NAME]
        left = without(term, [atom for atom in own if atom in factors][: len(factors)]) if own else term
        strides = {atom.key for atom in factors if atom.key not in {a.key for a in own}}
        if left is not None:
            strides |= {atom.key for atom in left if atom.kind == NAME}
        by_block = any(ranged.kind == RANGE for ranged in others)
        uses.add(strides, ParameterUse.STRIDE if by_block else ParameterUse.STRIDE_OF_POSITION, access.line)


def _loops(terms: Sum) -> Iterator[Atom]:
    return (atom for term in terms for atom in term if atom.kind == LOOP)


def _explained(access: MemoryAccess) -> dict[Product, list[Product]]:
    """For each product that moves a range on, the extent that it does so by."""
    result: dict[Product, list[Product]] = {}
    for term in access.terms:
        for atom in term:
            if not (atom.kind == RANGE or (atom.kind == LOOP and atom.extent)) or not _single(atom.extent or NUMBER):
                continue
            unit = next(iter(atom.unit)) if atom.unit is not None and len(atom.unit) == 1 else ()
            coefficient = without(term, (atom, *unit))
            if coefficient is None:
                continue
            for other in access.terms:
                rest = without(other, (*coefficient, *_single(atom.extent or NUMBER)))
                if other != term and rest and any(a.moves for a in rest):
                    result.setdefault(other, []).append(_single(atom.extent or NUMBER))
    return result


def _results(steps: Iterable[_Step], uses: ParameterUses) -> None:
    """Memory with one element for each block: the position is an address without the block's size."""
    looped = {name for name in uses.notes if uses.of(name, ParameterUse.STEP_LOOP)}
    for step in steps:
        if len(step.movers) != 1:
            continue
        (mover,) = step.movers
        for access in uses.accesses:
            for term in access.terms:
                if mover not in term or (mover.kind == LOOP and mover.unit != NUMBER):
                    continue
                others = names(frozenset({without(term, (mover,)) or ()}))
                alone = step.extent - others - (looped if step.axis is Axis.GRID else set())
                if alone == step.extent:
                    uses.add(step.extent, ParameterUse.RESULT, access.line)
