"""The operands of a kernel's matrix products: which loads they come from, and how their tiles lie in shared memory."""

import ast
from dataclasses import dataclass

from triage.source.module import argument, called, calls
from triage.suggest.rewrites.access import holder, is_load
from triage.suggest.rewrites.recipe import Subject
from triage.suggest.rewrites.scope import binders, root

_MOST_STEPS = 8
"""Names, transpositions and casts that are followed from a dot to the load."""


@dataclass(frozen=True, slots=True)
class DotOperand:
    """An operand of a dot: ``A`` or ``B``, the loads behind it (one for each way on which its name gets a value), and
    the transposition on the way, if any, of ``inner``. ``converted``: a cast to another type is on the way."""

    letter: str
    dot: ast.Call
    loads: tuple[ast.Call, ...]
    transposition: ast.expr | None = None
    inner: ast.expr | None = None
    converted: bool = False

    @property
    def k_major(self) -> bool:
        """True where the loaded tile's rows run along K. A load is contiguous along its last axis."""
        return (self.transposition is None) == (self.letter == "A")

    def by_descriptor(self, subject: Subject) -> bool:
        """Every load goes through a descriptor."""
        return all(holder(subject, load) is not None for load in self.loads)

    def argument(self, subject: Subject) -> str | None:
        """The kernel's argument whose memory is loaded; None where that is not one argument."""
        starts = (holder(subject, load) or argument(load, 0, "pointer") for load in self.loads)
        names = {root(subject, start) for start in starts}
        return names.pop() if len(names) == 1 else None


def operands(subject: Subject) -> list[DotOperand]:
    """The operands of every ``dot`` and ``dot_scaled`` of the kernel whose loads the text shows, each load once."""
    by_load: dict[int, DotOperand] = {}
    for dot in calls(subject.kernel, "dot", "dot_scaled"):
        positions = (("A", 0, ("input", "lhs")), ("B", 1 if called(dot) == "dot" else 3, ("other", "rhs")))
        for letter, position, names in positions:
            operand = _loaded(subject, letter, dot, argument(dot, position, *names))
            if operand is not None:
                by_load.setdefault(id(operand.loads[0]), operand)
    return list(by_load.values())


def _loaded(subject: Subject, letter: str, dot: ast.Call, value: ast.expr | None) -> DotOperand | None:
    """Follow names, transpositions and casts from a dot's operand to its loads."""
    transposition: ast.expr | None = None
    inner: ast.expr | None = None
    converted = False
    for _ in range(_MOST_STEPS):
        if value is None:
            return None
        if is_load(subject, value) and isinstance(value, ast.Call):
            return DotOperand(letter, dot, (value,), transposition, inner, converted)
        under = transposed(value)
        if under is not None:
            if transposition is not None:
                return None
            transposition, inner, value = value, under, under
        elif isinstance(value, ast.Name):
            values = binders(subject.kernel, value.id)
            if len(values) > 1:
                # Loaded before a loop and again in it, for example: by loads alone, or not at all.
                loads = tuple(bound for bound in values if isinstance(bound, ast.Call) and is_load(subject, bound))
                if len(loads) != len(values):
                    return None
                return DotOperand(letter, dot, loads, transposition, inner, converted)
            value = values[0] if values else None
        elif called(value) == "to" and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            converted, value = True, value.func.value
        else:
            return None
    return None


def transposed(node: ast.expr) -> ast.expr | None:
    """What is transposed by ``x.T``, ``x.trans()``, ``tl.trans(x)`` or ``tl.permute(x, (1, 0))``; else None."""
    match node:
        case ast.Attribute(value=value, attr="T"):
            return value
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr="trans"), args=[value]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="trans"), args=[]):
            return value
        case ast.Call(func=ast.Attribute(attr="permute" | "trans"), args=[value, *axes]):
            numbers = [child.value for axis in axes for child in ast.walk(axis) if isinstance(child, ast.Constant)]
            return value if numbers == [1, 0] else None
    return None
