"""Tuples among a kernel's arguments: a case names arguments one by one, so a tuple's elements become arguments.

They replace the tuple in the kernel's parameters, and its body starts by building the tuple again."""

from typing import Any, Callable, Dict, List, Set, Tuple

Path = Tuple[int, ...]


class Split:
    """One tuple argument. ``names`` of its elements in order, including those of nested tuples; ``types`` and
    ``constants`` of its elements by name; ``divisible``: elements known to be divisible by 16.

    ``constants`` and ``divisible`` are given by path. ``taken``: names in use, to which its own are added."""

    def __init__(
        self, name: str, index: int, type_: Any, constants: Dict[Any, Any], divisible: Set[Path], taken: Set[str]
    ) -> None:
        self.names: List[str] = []
        self.types: Dict[str, str] = {}
        self.constants: Dict[str, Any] = {}
        self.divisible: Set[str] = set()

        def walk(name: str, path: Path, type_: Any) -> Any:
            if isinstance(type_, tuple):
                parts = [walk("%s_%d" % (name, index), (*path, index), inner) for index, inner in enumerate(type_)]
                return type(type_), parts
            while name in taken:
                name += "_"
            taken.add(name)
            self.names.append(name)
            if path in constants:
                self.constants[name] = constants[path]
            else:
                self.types[name] = type_
                if path in divisible:
                    self.divisible.add(name)
            return name

        self._tree = walk(name, (index,), type_)

    def expression(self, class_name: Callable[[Any], str]) -> str:
        """Source that builds the tuple from its elements. ``class_name`` returns the text that names a class; it may
        raise."""

        def build(tree: Any) -> str:
            if isinstance(tree, str):
                return tree
            kind, parts = tree
            inner = ", ".join(map(build, parts))
            if hasattr(kind, "_fields"):
                return "%s(%s)" % (class_name(kind), inner)
            return "(%s%s)" % (inner, "," if len(parts) == 1 else "")

        return build(self._tree)
