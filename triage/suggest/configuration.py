"""A configuration being edited: the case's values with some changes applied, and what follows from them.

Layouts, descriptors and element widths are tied to tile sizes and warps. A proposal that changes one of a tied pair
asks the same questions about the changed configuration as about the original one; they are answered here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triage.model.case import Case
from triage.model.target import Target
from triage.source.dtypes import element_bits
from triage.source.parameters import KernelSource
from triage.suggest.layout_text import Layout, parse

DEFAULT_WARPS = 4
"""``num_warps`` where a case does not state it: the default of both backends."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The values of a case under changes."""

    values: Mapping[str, Any]
    target: Target
    source: KernelSource

    @classmethod
    def of(cls, case: Case, source: KernelSource, changes: Mapping[str, Any] | None = None) -> Configuration:
        """The case's own configuration, or a neighbour's. ``changes`` must apply to the case."""
        changed = case.with_changes(changes or {})
        return cls({**changed.options, **changed.constexprs, **changed.signature}, changed.target, source)

    @property
    def num_warps(self) -> int:
        """Warps a block."""
        value = self.values.get("num_warps", DEFAULT_WARPS)
        return value if isinstance(value, int) else DEFAULT_WARPS

    def layout(self, name: str) -> Layout | None:
        """A parameter's value as a layout."""
        return parse(self.values.get(name))

    def layouts(self) -> dict[str, Layout]:
        """All parameters that are layouts."""
        return {name: layout for name in self.values if (layout := self.layout(name)) is not None}

    def shape(self, name: str) -> tuple[int, int] | None:
        """The two extents of the tensor that a layout parameter lays out, where the source and values tell."""
        axes = self.source.shapes.get(name, {})
        extents = tuple(self.values.get(axes.get(axis, "")) for axis in (0, 1))
        return extents if all(isinstance(e, int) for e in extents) else None  # type: ignore[return-value]

    def operand_bits(self) -> int | None:
        """Element width of the kernel's first loaded pointer: the operands of its matrix product."""
        pointers = [name for name, value in self.values.items() if isinstance(value, str) and value.startswith("*")]
        loaded = [name for name in pointers if name in self.source.loaded] or pointers
        return element_bits(self.values[loaded[0]]) if loaded else None


def dimension(name: str) -> str | None:
    """The dimension of a tile by its name: ``BLOCK_M``, ``BM``, ``M`` and ``BLOCK_SIZE_M`` are all ``M``."""
    match = re.search(r"(?:\A|_|\AB|BLOCK|TILE|SIZE)([MNK])(?:_?(?:SIZE|BLOCK|TILE))?\Z", name, re.IGNORECASE)
    return match[1].upper() if match else None
