"""Parameters of whose values nothing is stated: they stand for themselves while the functions that take them are
evaluated, and record how they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from triage.drafts.cute.values import UNKNOWN
from triage.drafts.host.values import Unknown


@dataclass(eq=False)
class Facts:
    """How a parameter is used.

    ``passed``: functions that it is passed to, each with the position or the name of the argument, and all arguments.
    ``compared``: what
    it is compared with. ``keys``: of dictionaries that are asked for it. ``indices``: numbers of coordinates by which
    it is indexed. ``length``: items of a tuple. ``members``: what is asked of it, such as ``element_type``.
    """

    passed: list[tuple[str, int | str, Mapping[int | str, Any]]] = field(default_factory=list)
    compared: list[Any] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)
    members: set[str] = field(default_factory=set)
    length: int = 0
    tested: bool = False
    counted: bool = False
    """An operand of an operation, or a bound of a loop."""
    called: bool = False
    bits: bool = False
    """Its elements are operands of operations on bits."""
    stored: list[Any] = field(default_factory=list)
    """What is stored in its elements."""


@dataclass(eq=False)
class Symbol:
    """A parameter, or an item of it (``of``)."""

    name: str
    facts: Facts = field(default_factory=Facts)
    items: dict[Any, Symbol] = field(default_factory=dict)
    of: Symbol | None = None

    def attribute(self, name: str) -> Any:
        """``symbol.name``"""
        self.facts.members.add(name)
        if name == "shape":
            return Extents(self)
        return Unknown()

    def item(self, index: Any) -> Any:
        """``symbol[index]``"""
        if isinstance(index, tuple):
            self.facts.indices.append(len(index))
            return SymbolElement(self)
        if type(index) is int:
            self.facts.length = max(self.facts.length, index + 1)
            return self.items.setdefault(index, Symbol(f"{self.name}[{index}]", of=self))
        if isinstance(index, slice):
            return Unknown()
        self.facts.indices.append(1)
        return SymbolElement(self)

    def unpacked(self, count: int) -> list[Any]:
        """``a, b = symbol``"""
        return [self.item(index) for index in range(count)]


@dataclass(eq=False)
class Extents:
    """The shape of a symbol."""

    symbol: Symbol

    def item(self, index: Any) -> Any:
        """``symbol.shape[index]``"""
        if type(index) is int and index >= 0:
            self.symbol.facts.length = max(self.symbol.facts.length, index + 1)
        return UNKNOWN

    def unpacked(self, count: int) -> list[Any]:
        """``m, n = symbol.shape``"""
        self.symbol.facts.indices.append(count)
        return [UNKNOWN] * count


@dataclass(eq=False)
class SymbolElement:
    """An element, or a part, of a symbol."""

    symbol: Symbol


Symbolic = Symbol | Extents | SymbolElement


def passed(function: str, positional: list[Any], words: dict[str, Any]) -> None:
    """Record the symbols among the arguments of a call of a function that is not the project's."""
    named: list[tuple[int | str, Any]] = [*enumerate(positional), *words.items()]
    others = dict(named)
    for at, value in named:
        if isinstance(value, Symbol):
            value.facts.passed.append((function.rpartition(".")[2], at, others))
        for symbol in _items(value):
            symbol.facts.counted = True  # An extent of a shape, a number of threads.


def _items(value: Any) -> list[Symbol]:
    """The symbols in a tuple."""
    if not isinstance(value, tuple | list):
        return []
    return [symbol for each in value for symbol in ([each] if isinstance(each, Symbol) else _items(each))]
