"""Tuples among a kernel's arguments: a case names arguments one by one, so a tuple's elements become arguments.

They replace the tuple in the kernel's parameters, and its body starts by building the tuple again."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Set, Tuple

Path = Tuple[int, ...]


class Split:
    """One tuple argument. ``types`` and ``constants`` of its elements, by their new names; ``divisible``: elements
    known to be divisible by 16."""

    def __init__(self, name: str, index: int, type_: Any, source: "TupleSource") -> None:
        self.types: Dict[str, str] = {}
        self.constants: Dict[str, Any] = {}
        self.divisible: Set[str] = set()
        self._tree = self._walk(name, (index,), type_, source)

    @property
    def names(self) -> List[str]:
        """Its elements in order, including those of nested tuples."""
        return list(_leaves(self._tree))

    def expression(self, class_name: Callable[[Any], str]) -> str:
        """Source that builds the tuple from its elements. ``class_name`` returns the text that names a class; it may
        raise."""
        return _expression(self._tree, class_name)

    def _walk(self, name: str, path: Path, type_: Any, source: "TupleSource") -> Any:
        if isinstance(type_, tuple):
            parts = [
                self._walk("%s_%d" % (name, index), (*path, index), inner, source) for index, inner in enumerate(type_)
            ]
            return (type(type_), parts)
        name = source.free(name)
        if path in source.constants:
            self.constants[name] = source.constants[path]
        else:
            self.types[name] = type_
            if path in source.divisible:
                self.divisible.add(name)
        return name


class TupleSource:
    """Facts about arguments by path: constants in tuples, and divisible elements. ``taken``: names already in use."""

    def __init__(self, constants: Dict[Any, Any], divisible: Set[Any], taken: List[str]) -> None:
        self.constants, self.divisible = constants, divisible
        self._taken = set(taken)

    def free(self, name: str) -> str:
        """The name, or a longer one if it is in use."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    else:
        for part in tree[1]:
            yield from _leaves(part)


def _expression(tree: Any, class_name: Callable[[Any], str]) -> str:
    if isinstance(tree, str):
        return tree
    kind, parts = tree
    inner = ", ".join(_expression(part, class_name) for part in parts)
    if hasattr(kind, "_fields"):
        return "%s(%s)" % (class_name(kind), inner)
    return "(%s%s)" % (inner, "," if len(parts) == 1 else "")
