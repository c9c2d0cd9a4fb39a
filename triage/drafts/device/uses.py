"""Uses of a kernel's parameters, and of the elements behind its pointers, each with the line that shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Use(Enum):
    """A use of a parameter, which shows what it is."""

    ADDRESS = "address"
    DESCRIPTOR = "descriptor"
    INTEGER = "integer"
    FLOAT = "float"
    SHAPE = "shape"
    DTYPE = "element type"
    CONDITION = "condition"
    OPTIONAL = "comparison with None"
    UNROLLED = "bound of a loop that is unrolled"
    REFUSED = "assertion that it is not set"
    POINTER_CAST = "cast to a pointer"
    SEED = "seed"


class ElementUse(Enum):
    """What a kernel does with the elements behind a pointer."""

    ADDRESS = "part of an address"
    INTEGER = "integer operation"
    FLOAT32 = "function of 32-bit floats"
    WIDENED = "conversion to 32-bit floats"
    FLOAT = "float operation"
    MASK = "mask"
    STORED = "store"
    DOT = "dot"
    ATOMIC = "atomic addition"
    TO_INT64 = "conversion to 64-bit integers"


@dataclass(slots=True)
class Uses:
    """Lines of the uses of each parameter. ``equal``: constants that it is compared with. ``blocks``: the block that a
    descriptor is loaded with. ``dots``: pairs of types that are multiplied. ``copies``: pointers whose elements are
    stored unchanged behind another. ``carried``: types that a variable has before and after a pass of a loop.
    ``integer_sums``: where integers are summed up to which something is added that is taken for a float: a dot."""

    kinds: dict[str, dict[Use, str]] = field(default_factory=dict)
    elements: dict[str, dict[ElementUse, str]] = field(default_factory=dict)
    stored: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    equal: dict[str, list[Any]] = field(default_factory=dict)
    weak_floats: dict[str, set[str]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    dots: list[tuple[str, str, str]] = field(default_factory=list)
    copies: list[tuple[str, str, str]] = field(default_factory=list)
    carried: list[tuple[str, str, str]] = field(default_factory=list)
    integer_sums: list[str] = field(default_factory=list)
    element_casts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, kind: Use, where: str) -> None:
        self.kinds.setdefault(name, {}).setdefault(kind, where)

    def element(self, name: str, use: ElementUse, where: str) -> None:
        self.elements.setdefault(name, {}).setdefault(use, where)

    def has(self, name: str, kind: Use) -> str | None:
        """Where a parameter is used so; None where it is not."""
        return self.kinds.get(name, {}).get(kind)
