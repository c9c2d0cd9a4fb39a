"""From the uses of a parameter to its role."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from triage.source.functions import parameters
from triage.source.module import Module, called, read_counts
from triage.source.roles.interpret import Interpreter
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
from triage.source.roles.uses import MemoryAccess, Note, ParameterUse, ParameterUses


class RoleKind(str, Enum):
    """What a parameter is."""

    TILE = "tile"
    """A dimension of the block that the grid or a loop steps by: another value computes the same."""
    PROBLEM = "problem"
    """A size of the data, or one that the data is laid out by: another value computes something else."""
    GROUP = "group"
    """Orders the blocks or divides the work among them."""
    FLAG = "flag"
    """Chooses a branch of the kernel."""
    DTYPE = "dtype"
    PIPELINE = "pipeline"
    """Steers the compiler: stages, unrolling, buffers."""
    LAYOUT = "layout"
    UNUSED = "unused"
    """The kernel never reads it."""
    UNKNOWN = "unknown"


class Axis(str, Enum):
    """What steps by a tile."""

    GRID = "grid"
    LOOP = "loop"
    BOTH = "both"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ParameterRole:
    """``why`` says in a few words how the kernel uses the parameter, ``line`` where (of the file, from 1; 0 where
    nothing shows it). ``masked_by``: the sizes that mask every access of a block of this size, so that a larger block
    computes the same; "" where one is not masked."""

    kind: RoleKind
    axis: Axis = Axis.NONE
    why: str = ""
    line: int = 0
    masked_by: str = ""


_OF_THE_DATA = (
    ParameterUse.SHAPE,
    ParameterUse.STRIDE,
    ParameterUse.BOUND,
    ParameterUse.DIVIDES,
    ParameterUse.ARITHMETIC,
    ParameterUse.NUMBERED,
    ParameterUse.RESULT,
    ParameterUse.COUNTED,
    ParameterUse.COVERS,
)
"""ParameterUses that make a parameter a size of the data whatever else it is used for."""
_PERHAPS_OF_THE_DATA = (
    ParameterUse.STRIDE_OF_POSITION,
    ParameterUse.TRIPS,
    ParameterUse.BOUND_OF_POSITION,
    ParameterUse.DIVIDES_POSITION,
    ParameterUse.OFFSET,
)
"""ParameterUses that make it one where nothing steps by it."""


@lru_cache(maxsize=32)
def roles(source: str, kernel: str) -> Mapping[str, ParameterRole]:
    """The role of each parameter of a kernel, from the text of its file; empty where it cannot be read."""
    module = Module.parse(source)
    if module is None:
        return {}
    functions = {node.name: node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)}
    if kernel not in functions:
        return {}
    annotated = parameters(functions[kernel])
    uses = ParameterUses(
        frozenset(one.arg for one in annotated if one.annotation and "constexpr" in ast.unparse(one.annotation))
    )
    Interpreter(functions, uses).run(functions[kernel])
    _declared(functions[kernel], module.tree, uses)
    _accesses(uses)
    read = read_counts(functions[kernel].body)
    return {
        name: _role(name, uses) if read[name] else ParameterRole(RoleKind.UNUSED, why="the kernel never reads it")
        for name in (parameter.arg for parameter in parameters(functions[kernel]))
    }


def _role(parameter: str, uses: ParameterUses) -> ParameterRole:
    def first(*kinds: ParameterUse) -> Note | None:
        return next((note for kind in kinds for note in uses.of(parameter, kind)), None)

    def role(kind: RoleKind, note: Note, axis: Axis = Axis.NONE, masked_by: str = "") -> ParameterRole:
        return ParameterRole(kind, axis, note.use.value, note.line, masked_by)

    for kind, evidence in (
        (RoleKind.LAYOUT, (ParameterUse.LAYOUT,)),
        (RoleKind.PIPELINE, (ParameterUse.PIPELINE, ParameterUse.BUFFERS)),
        (RoleKind.DTYPE, (ParameterUse.DTYPE,)),
    ):
        if note := first(*evidence):
            return role(kind, note)
    axis = _axis(uses, parameter)
    step = first(ParameterUse.STEP_GRID, ParameterUse.STEP_LOOP)
    if step and first(ParameterUse.TUNED):
        return role(RoleKind.TILE, step, axis)
    extents = uses.of(parameter, ParameterUse.EXTENT)
    if extents and not uses.moves and not first(*_OF_THE_DATA) and not all(note.by for note in extents):
        why = "one program computes the whole block, and nothing shows whether the data has more"
        return ParameterRole(RoleKind.UNKNOWN, why=why, line=extents[0].line)
    if extents:
        masks = [note.by for note in extents]
        masked_by = ", ".join(dict.fromkeys(masks)) if all(masks) else ""
        if note := first(*_OF_THE_DATA):
            masked_by = ""
        return role(RoleKind.PROBLEM, extents[0], masked_by=masked_by)
    if (note := first(ParameterUse.ORDER)) and not step:
        return role(RoleKind.GROUP, note)
    if note := first(*_OF_THE_DATA):
        return role(RoleKind.PROBLEM, note)
    if note := first(ParameterUse.SHARES):
        return role(RoleKind.GROUP, note)
    if step and axis is Axis.GRID and (note := first(ParameterUse.REDUCED)):
        return role(RoleKind.PROBLEM, note)
    if step and first(ParameterUse.TENSOR, ParameterUse.TRIPS, ParameterUse.COUNT):
        return role(RoleKind.TILE, step, axis)
    if note := first(*_PERHAPS_OF_THE_DATA):
        return role(RoleKind.PROBLEM, note)
    if step:
        return role(RoleKind.TILE, step, axis)
    if (note := first(ParameterUse.COUNT)) and first(ParameterUse.TENSOR):
        return role(RoleKind.TILE, note)
    if note := first(ParameterUse.CONDITION, ParameterUse.MODE):
        return role(RoleKind.FLAG, note)
    if note := first(ParameterUse.COUNT):
        return role(RoleKind.PROBLEM, note)
    return ParameterRole(RoleKind.UNKNOWN, why="the kernel does not show what it is used for")


def _axis(uses: ParameterUses, parameter: str) -> Axis:
    grid, loop = uses.of(parameter, ParameterUse.STEP_GRID), uses.of(parameter, ParameterUse.STEP_LOOP)
    return Axis.BOTH if grid and loop else Axis.GRID if grid else Axis.LOOP if loop else Axis.NONE


def _declared(kernel: ast.FunctionDef, tree: ast.Module, uses: ParameterUses) -> None:
    """What decorators say: names that an autotuner chooses, and sizes that the host rounds up."""
    for decorator in kernel.decorator_list:
        function = called(decorator)
        if not isinstance(decorator, ast.Call):
            continue
        if function == "autotune":
            written = [node for node in ast.walk(decorator) if called(node) == "Config"]
            for config in written or [node for node in ast.walk(tree) if called(node) == "Config"]:
                keys = (
                    config.args[0].keys
                    if isinstance(config, ast.Call) and config.args and isinstance(config.args[0], ast.Dict)
                    else []
                )
                tuned = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
                uses.add(tuned, ParameterUse.TUNED, decorator.lineno)
        elif function == "heuristics" and decorator.args and isinstance(decorator.args[0], ast.Dict):
            for key, value in zip(decorator.args[0].keys, decorator.args[0].values, strict=True):
                if isinstance(key, ast.Constant) and any(called(node) == "next_power_of_2" for node in ast.walk(value)):
                    uses.add([str(key.value)], ParameterUse.COVERS, value.lineno)


# What addresses show.


@dataclass(frozen=True, slots=True)
class _Step:
    """A range in an address and what moves it on by its extent."""

    extent: frozenset[str]
    movers: tuple[Atom, ...]
    axis: Axis


def _accesses(uses: ParameterUses) -> None:
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
    for mover in _movers(access.terms, term, atom, coefficient, extent):
        axis = _moved_by(mover)
        if axis is Axis.NONE:
            if not any(found.moves for found in mover):
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
