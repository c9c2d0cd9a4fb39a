"""Gluon layouts as constexprs spell them: ``gl.NVMMASharedLayout(128, 16, 2)``.

The text is parsed to a name and its arguments and printed back; it is never evaluated. Arguments are literals, other
layouts (``gl.SliceLayout(1, gl.BlockedLayout(…))``), or expressions kept as they are written.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "BlockedLayout": ("size_per_thread", "threads_per_warp", "warps_per_cta", "order"),
    "NVMMASharedLayout": ("swizzle_byte_width", "element_bitwidth", "rank", "transposed", "fp4_padded"),
    "NVMMADistributedLayout": ("version", "warps_per_cta", "instr_shape"),
    "SwizzledSharedLayout": ("vec", "per_phase", "max_phase", "order"),
    "TensorMemoryLayout": ("block", "col_stride"),
    "SliceLayout": ("dim", "parent"),
    "DotOperandLayout": ("operand_index", "parent", "k_width"),
    "AMDMFMALayout": ("version", "instr_shape", "transposed", "warps_per_cta"),
    "AMDWMMALayout": ("version", "transposed", "warps_per_cta"),
}
"""Positional names, as in ``triton.experimental.gluon.language`` of release 3.9; the AMD ones since 3.5. Arguments of
other classes are numbered."""


class Expression(str):
    """An argument that is neither a literal nor a layout, as written (``gl.float16``)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout: ``path`` as written, ``fields`` in the order written, the first ``positional`` without a name."""

    path: str
    fields: Mapping[str, Any]
    positional: int = field(default=0)

    @property
    def kind(self) -> str:
        """The class: the last component of the path that names one (a classmethod may stand behind it)."""
        return next((part for part in reversed(self.path.split(".")) if part.endswith("Layout")), "")

    @property
    def root(self) -> str:
        """The text before the first dot: the name under which the kernel knows Gluon's language."""
        return self.path.split(".", 1)[0]

    def get(self, name: str) -> Any:
        """A field's value, None where it is not written."""
        return self.fields.get(name)

    def with_fields(self, **changes: Any) -> Layout:
        """The same layout with other values; a field that was not written is added by name."""
        return replace(self, fields={**self.fields, **changes})

    def __str__(self) -> str:
        values = [str(v) if isinstance(v, Layout) else repr(v) for v in self.fields.values()]
        names = list(self.fields)
        written = values[: self.positional]
        written += [f"{name}={value}" for name, value in zip(names, values, strict=True)][self.positional :]
        return f"{self.path}({', '.join(written)})"


def parse(value: Any) -> Layout | None:
    """A text as a layout, or None for anything that is not the call of a layout class."""
    if not isinstance(value, str) or not value.rstrip().endswith(")"):
        return None
    try:
        return _layout(ast.parse(value.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _layout(node: ast.expr) -> Layout | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
        return None
    layout = Layout(ast.unparse(node.func), {}, len(node.args))
    if not layout.kind:
        return None
    called = layout.path.rsplit(".", 1)[-1]
    names = [*_FIELDS.get(called, ()), *map(str, range(len(node.args)))]
    written = [*zip(names, node.args, strict=False), *((word.arg or "**", word.value) for word in node.keywords)]
    return replace(layout, fields={name: _value(argument) for name, argument in written})


def _value(node: ast.expr) -> Any:
    if (layout := _layout(node)) is not None:
        return layout
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return Expression(ast.unparse(node))


def make(root: str, kind: str, *values: Any) -> Layout:
    """A layout of one of the classes that live directly in Gluon's language module."""
    return Layout(f"{root}.{kind}", dict(zip(_FIELDS[kind], values, strict=False)), len(values))


def block_like(like: Any, rows: int, columns: int) -> Any:
    """Two extents as a tuple or a list, as the layout has them written."""
    return (rows, columns) if isinstance(like, tuple) else [rows, columns]
