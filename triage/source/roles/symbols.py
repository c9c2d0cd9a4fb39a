"""Symbolic integers of a kernel: sums of products of atoms, without their numeric coefficients.

``ptr + (pid * BM + tl.arange(0, BM))[:, None] * K`` is ``ptr + G0·BM·K + A[BM]·K``. So whether a range of ``BM``
elements is moved on by ``BM`` is a question about the products of one sum. Numbers are dropped: a kernel that
addresses every second element asks the same questions. Each other expression (a quotient, a minimum, a loaded value)
is an atom that remembers its operands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeAlias

NAME, GRID, LOOP, RANGE, LOADED, OTHER = "name", "grid", "loop", "range", "loaded", "other"
"""Kinds of atoms: a parameter, an index of the grid, the turns of a loop, ``tl.arange``, a loaded value, the rest."""
_MOST_PRODUCTS = 40
"""A longer sum is one atom: it costs time, and no address is written so."""


@dataclass(frozen=True, slots=True)
class Atom:
    """Equal where ``key`` is. ``extent``: what a range or a loop covers; ``unit``: by which it advances; ``begins`` and
    ``ends``: of a loop; of a remainder, what it stays below; ``inner``: atoms that a quotient, a minimum or a loaded
    value was made of."""

    key: str
    kind: str = field(compare=False)
    extent: Sum | None = field(default=None, compare=False)
    unit: Sum | None = field(default=None, compare=False)
    begins: Sum | None = field(default=None, compare=False)
    ends: Sum | None = field(default=None, compare=False)
    inner: frozenset[Atom] = field(default=frozenset(), compare=False)

    @property
    def moves(self) -> bool:
        """It takes several values: over the grid, over a loop, over the elements of a block, or by what is loaded."""
        return self.kind in (GRID, LOOP, RANGE, LOADED) or any(atom.moves for atom in self.inner)


Product: TypeAlias = tuple[Atom, ...]
"""Sorted by key; empty for a number."""
Sum: TypeAlias = frozenset[Product]
"""Empty for zero."""

ZERO: Sum = frozenset()
NUMBER: Sum = frozenset({()})


def name(parameter: str) -> Sum:
    """A parameter."""
    return single(Atom(parameter, NAME))


def single(atom: Atom) -> Sum:
    """A sum of one atom."""
    return frozenset({(atom,)})


def product(left: Sum, right: Sum) -> Sum:
    """All products of the terms; one atom where they are too many."""
    if len(left) * len(right) > _MOST_PRODUCTS:
        return opaque("product", left, right)
    return frozenset(tuple(sorted((*a, *b), key=lambda atom: atom.key)) for a in left for b in right)


def added(left: Sum, right: Sum) -> Sum:
    """The sum, or one atom where it is too long."""
    return both if len(both := left | right) <= _MOST_PRODUCTS else opaque("sum", left, right)


def opaque(operation: str, *operands: Sum) -> Sum:
    """One atom for an operation that is not followed; equal for equal operands."""
    key = f"{operation}({', '.join(map(text, operands))})"
    if len(key) > 300:
        key = f"{operation}#{hash(key)}"
    return single(Atom(key, OTHER, inner=frozenset(atom for operand in operands for atom in atoms(operand))))


def atoms(terms: Sum) -> set[Atom]:
    """The atoms of a sum, not those inside others."""
    return {atom for term in terms for atom in term}


def every(terms: Sum) -> set[Atom]:
    """All atoms of a sum, and those that they were made of."""
    seen: set[Atom] = set()
    waiting = list(atoms(terms))
    while waiting:
        atom = waiting.pop()
        if atom not in seen:
            seen.add(atom)
            waiting += atom.inner
    return seen


def names(terms: Sum) -> set[str]:
    """All parameters that a value depends on."""
    return {atom.key for atom in every(terms) if atom.kind == NAME}


def moves(terms: Sum) -> bool:
    """The value changes over the grid, a loop or the elements of a block, or was loaded."""
    return any(atom.moves for atom in atoms(terms))


def ranges(terms: Sum) -> set[Atom]:
    """Every ``tl.arange`` that a value is made of."""
    return {atom for atom in every(terms) if atom.kind == RANGE}


def one_name(terms: Sum) -> str | None:
    """The parameter that a value is, but for a number; None for anything else."""
    if len(terms) == 1:
        (term,) = terms
        if len(term) == 1 and term[0].kind == NAME:
            return term[0].key
    return None


def without(term: Product, factors: Iterable[Atom]) -> Product | None:
    """A product divided by atoms; None where one of them is not a factor."""
    rest = list(term)
    for factor in factors:
        if factor not in rest:
            return None
        rest.remove(factor)
    return tuple(rest)


def text(terms: Sum) -> str:
    """For keys and messages."""
    return " + ".join(sorted("*".join(atom.key for atom in term) or "1" for term in terms)) or "0"


@dataclass(frozen=True, slots=True)
class TensorBlock:
    """A tensor descriptor or a block pointer. ``block`` is None where the host made it; ``base`` is the address that
    it starts from; ``checked``: accesses beyond the shape are masked."""

    base: Sum
    shape: tuple[Sum, ...] = ()
    offsets: tuple[Sum, ...] | None = None
    block: tuple[Sum, ...] | None = None


@dataclass(frozen=True, slots=True)
class Symbolic:
    """What an expression stands for.

    ``dims``: the extent of each axis, None where they are not known; ``reduced``: extents over which it was reduced,
    scanned or contracted; ``compared``: the comparisons that a mask consists of; ``data``: made of loaded values.
    """

    terms: Sum = ZERO
    dims: tuple[Sum, ...] | None = ()
    reduced: frozenset[Sum] = frozenset()
    compared: frozenset[tuple[Sum, Sum]] = frozenset()
    items: tuple[Symbolic, ...] | None = None
    block: TensorBlock | None = None
    data: bool = False

    def joined(self, other: Symbolic) -> Symbolic:
        """Either of two values, as after an ``if``."""
        if self == other:
            return self
        items = None
        if self.items is not None and other.items is not None and len(self.items) == len(other.items):
            items = tuple(a.joined(b) for a, b in zip(self.items, other.items, strict=True))
        return Symbolic(
            added(self.terms, other.terms),
            self.dims if self.dims else other.dims,
            self.reduced | other.reduced,
            self.compared | other.compared,
            items,
            self.block or other.block,
            self.data or other.data,
        )

    def with_terms(self, terms: Sum) -> Symbolic:
        """The same but for its terms."""
        return replace(self, terms=terms, items=None, block=None)


def elementwise(operation: str, *operands: Symbolic) -> Symbolic:
    """An operation that is not followed, element by element."""
    if not operands:
        return Symbolic(opaque(operation))
    return Symbolic(
        opaque(operation, *(operand.terms for operand in operands)),
        reduce(broadcast, (operand.dims for operand in operands)),
        frozenset().union(*(operand.reduced for operand in operands)),
        frozenset().union(*(operand.compared for operand in operands)),
        data=any(operand.data for operand in operands),
    )


def broadcast(left: tuple[Sum, ...] | None, right: tuple[Sum, ...] | None) -> tuple[Sum, ...] | None:
    """The axes of two tensors that are combined element by element."""
    if left is None or right is None:
        return None
    if len(left) < len(right):
        left, right = right, left
    if not right:
        return left
    if len(left) != len(right):
        return None
    return tuple(b if a == NUMBER else a for a, b in zip(left, right, strict=True))


def item_terms(value: Symbolic) -> tuple[Sum, ...]:
    """The sums of a tuple's items; empty for a value that is not a tuple."""
    return tuple(item.terms for item in value.items or ())


def only(terms: Sum) -> Atom:
    """The atom of a sum that is nothing else. Raises ValueError for other sums."""
    ((atom,),) = terms
    return atom


def factors(terms: Sum) -> set[str]:
    """The parameters that are factors of a sum's products."""
    return {atom.key for atom in atoms(terms) if atom.kind == NAME}
