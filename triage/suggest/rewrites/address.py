"""A tensor of pointers, ``p + i[:, None] * s + j[None, :]``: what was a column becomes a row, and back.

Everything in such an address and its mask must be a number, or get its two dimensions from ``[:, None]`` and
``[None, :]`` alone: then exchanging those exchanges the tile. A vector without an index is broadcast as a row, and a
call may make anything, so that neither is followed.
"""

import ast
from dataclasses import dataclass, field

from triage.source.module import Edit, argument, assignments, called, calls
from triage.suggest.rewrites.recipe import Subject
from triage.suggest.rewrites.scope import binders, is_method, read_only_in

_SCALARS = ("program_id", "num_programs", "cdiv", "min", "max", "minimum", "maximum")
"""Functions that give a number where they are given numbers."""


@dataclass(slots=True)
class _Flip:
    """What is to be exchanged: indices, and the names of two dimensions."""

    subject: Subject
    axes: dict[int, ast.Subscript] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def dimensions(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> int | None:
        """2 for a value whose axes are noted for exchange, 0 for a number; None for what may be anything else."""
        match node:
            case ast.Constant():
                return 0
            case ast.Subscript() if _axis(node) is not None:
                self.axes[id(node)] = node
                return 2
            case ast.Name(id=name):
                return self._name(name, seen)
            case ast.BinOp(left=left, right=right):
                return self._joined([left, right], seen)
            case ast.Compare(left=left, comparators=others):
                return self._joined([left, *others], seen)
            case ast.UnaryOp(operand=operand):
                return self.dimensions(operand, seen)
            case ast.Call(func=ast.Attribute(value=value, attr="to")) if is_method(self.subject.module, node):
                return self.dimensions(value, seen)
            case ast.Call(args=args, keywords=[]) if called(node) in _SCALARS:
                return 0 if self._joined(args, seen) == 0 else None
        return None

    def _joined(self, nodes: list[ast.expr], seen: frozenset[str]) -> int | None:
        dimensions = [self.dimensions(node, seen) for node in nodes]
        return None if None in dimensions else max(filter(None, dimensions), default=0)

    def _name(self, name: str, seen: frozenset[str]) -> int | None:
        if name in seen:
            return 0  # ``p += step``: what p is, its other statements say.
        kernel, case = self.subject.kernel, self.subject.scene.case
        values = binders(kernel, name)
        if not values:
            return 0 if name in case.signature or name in case.constexprs else None
        loops = {id(node.iter) for node in ast.walk(kernel) if isinstance(node, ast.For)}
        statements = assignments(kernel, name)
        plain = {id(node.value) for node in statements if isinstance(node, ast.Assign | ast.AugAssign)}
        if any(id(value) not in plain | loops for value in values):
            return None  # A part of a tuple may be anything.
        dimensions = self._joined([value for value in values if id(value) not in loops], seen | {name})
        if dimensions == 2:
            self.names.add(name)
        return dimensions


def flipped(subject: Subject, load: ast.Call) -> tuple[tuple[Edit, ...], tuple[ast.Call, ...]] | None:
    """The edits, and all loads that give the exchanged tile then: every one that shares an address or a mask of two
    dimensions with this one. None where anything else shares one."""
    flip = _Flip(subject)
    loads: dict[int, ast.Call] = {}
    waiting = [load]
    while waiting:
        node = waiting.pop()
        if id(node) in loads:
            continue
        loads[id(node)] = node
        if not _takes(flip, node):
            return None
        waiting += _sharing(subject, flip)
    values = [value for name in flip.names for value in binders(subject.kernel, name)]
    if not all(read_only_in([*loads.values(), *values], subject.kernel, name) for name in flip.names):
        return None
    edits = tuple(subject.module.replace(axis.slice, _axis(axis) or "") for axis in flip.axes.values())
    return edits, tuple(loads.values())


def _takes(flip: _Flip, load: ast.Call) -> bool:
    """The load's address is of two dimensions, and its mask and other value follow the address."""
    pointer = argument(load, 0, "pointer")
    if pointer is None or flip.dimensions(pointer) != 2:
        return False
    others = [argument(load, 1, "mask"), argument(load, 2, "other")]
    return all(other is None or flip.dimensions(other) is not None for other in others)


def _sharing(subject: Subject, flip: _Flip) -> list[ast.Call]:
    """Loads that read one of the names that are exchanged."""
    return [
        node
        for node in calls(subject.kernel, "load")
        if not is_method(subject.module, node)
        if any(isinstance(child, ast.Name) and child.id in flip.names for child in ast.walk(node))
    ]


def _axis(node: ast.Subscript) -> str | None:
    """``[:, None]`` for ``[None, :]`` and the reverse; None for any other index."""
    match node.slice:
        case ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), ast.Constant(value=None)]):
            return "None, :"
        case ast.Tuple(elts=[ast.Constant(value=None), ast.Slice(lower=None, upper=None, step=None)]):
            return ":, None"
    return None
