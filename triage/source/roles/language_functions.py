"""Functions of triton.language and Gluon whose result or use of parameters is known."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace

from triage.source.module import argument, called
from triage.source.roles.memory_calls import MemoryCalls
from triage.source.roles.symbols import (
    GRID,
    NUMBER,
    OTHER,
    RANGE,
    ZERO,
    Atom,
    Sum,
    Symbolic,
    added,
    atoms,
    broadcast,
    elementwise,
    names,
    one_name,
    opaque,
    ranges,
    single,
    text,
)
from triage.source.roles.syntax import is_language, literal_integer
from triage.source.roles.uses import ParameterUse

_SAME = frozenset(
    {"multiple_of", "max_contiguous", "max_constancy", "assume", "constexpr", "to_tensor", "debug_barrier",
     "convert_layout", "set_auto_layout", "float", "int", "abs_index", "relax_layout"}
)  # fmt: skip
"""Functions that return their first argument as far as indices go."""
_REDUCE = frozenset({"sum", "max", "min", "argmax", "argmin", "reduce", "xor_sum", "reduce_or"})
_SCAN = frozenset({"cumsum", "cumprod", "associative_scan", "sort", "softmax", "flip", "topk", "histogram"})
_ATOMICS = "atomic_"
_BUILTINS = frozenset(dir(builtins))


class LanguageFunctions(MemoryCalls):
    """Each method returns the value of one call."""

    def _language_call(self, node: ast.Call, function: str, env: dict[str, Symbolic]) -> Symbolic:
        """A call of a function that is not of this file."""
        if (special := _SPECIAL.get(function)) is not None:
            return special(self, node, env)
        if function.startswith(_ATOMICS):
            return self._memory(node, env, store=False)
        values = self._arguments(node, env)
        if function in _SAME:
            return values[0] if values else Symbolic()
        plain = node.func.id if isinstance(node.func, ast.Name) else None
        if function in ("minimum", "maximum", "clamp") or plain in ("min", "max"):
            return self._limited(function, values)
        if function in _REDUCE or function in _SCAN:
            return self._reduced(function, node, values)
        if function in ("dot", "dot_scaled", "warpgroup_mma", "dot_fma"):
            return _contracted(function, values)
        if function in ("trans", "permute") and values:
            return replace(
                values[0], dims=values[0].dims[::-1] if values[0].dims and len(values[0].dims) == 2 else None
            )
        if function == "where" and len(values) == 3:
            chosen = values[1].joined(values[2])
            dims = broadcast(broadcast(values[0].dims, values[1].dims), values[2].dims)
            return replace(chosen, dims=dims, compared=chosen.compared | values[0].compared)
        result = elementwise(function or "call", *values)
        if plain and plain not in _BUILTINS and not result.data:
            # A helper of another file: it may well read its place in the grid.
            atom = Atom(
                f"{function}@{node.lineno}", OTHER, inner=frozenset(atoms(result.terms)) | {Atom(f"{function}()", GRID)}
            )
            return replace(result, terms=single(atom))
        return result

    def _limited(self, function: str, values: list[Symbolic]) -> Symbolic:
        """A minimum or maximum: an index that it keeps inside the data stays that block's index."""
        for value in values:
            for other in values:
                self.uses.add(_last_group(one_name(value.terms), other.terms), ParameterUse.ORDER, self._line)
        blocks = [value for value in values if ranges(value.terms)]
        result = elementwise(function, *values)
        if len(blocks) != 1 or any(value.data for value in values):
            return result
        pairs = {(blocks[0].terms, value.terms) for value in values if value is not blocks[0]}
        return replace(result, terms=blocks[0].terms, compared=result.compared | pairs)

    def _reduced(self, function: str, node: ast.Call, values: list[Symbolic]) -> Symbolic:
        if not values:
            return Symbolic()
        result = elementwise(function, values[0])
        method = isinstance(node.func, ast.Attribute) and not is_language(node.func.value)
        axis = argument(node, 0 if method else 1, "axis", "dim")
        dims = values[0].dims
        if dims is None:
            return result
        at = literal_integer(axis)
        if at is None and (axis is None or function not in _SCAN):
            over = dims if axis is None and function in _REDUCE else dims[-1:]
            left: tuple[Sum, ...] = () if function in _REDUCE else dims
        elif at is None or not -len(dims) <= at < len(dims):
            return replace(result, dims=None)
        else:
            over = (dims[at],)
            left = dims if function in _SCAN else tuple(d for i, d in enumerate(dims) if i != at % len(dims))
        if any(word.arg == "keep_dims" for word in node.keywords):
            left = tuple(NUMBER if function in _REDUCE and d in over else d for d in dims)
        return replace(result, dims=left, reduced=result.reduced | {extent for extent in over if names(extent)})

    def _program(self, node: ast.Call, _env: dict[str, Symbolic]) -> Symbolic:
        axis = literal_integer(argument(node, 0, "axis"))
        return Symbolic(single(Atom(f"{called(node)}{'?' if axis is None else axis}", GRID)))

    def _arange(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        values = self._arguments(node, env)
        if len(values) < 2:
            return Symbolic(dims=None)
        begins, ends = values[0].terms, values[1].terms
        extent = ends if begins == ZERO else ends - begins or ends
        self.uses.add(names(extent), ParameterUse.TENSOR, self._line)
        return Symbolic(added(begins, single(Atom(f"arange[{text(extent)}]", RANGE, extent))), (extent,))

    def _cdiv(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        values = self._arguments(node, env)
        if len(values) == 2:
            parameter = one_name(values[1].terms)
            if parameter is not None and not ranges(values[0].terms):
                self.uses.add([parameter], ParameterUse.COUNT, self._line)
            return Symbolic(opaque("cdiv", values[0].terms, values[1].terms))
        return elementwise("cdiv", *values)

    def _shape(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        """A call that makes a tensor of a shape that is written out."""
        values = self._arguments(node, env)
        shape = next((value.items for value in values if value.items is not None), ())
        for extent in shape or ():
            self.uses.add(names(extent.terms), ParameterUse.TENSOR, self._line)
        if called(node) in ("zeros", "full", "empty") and (
            dtype := self._parameter(node.args[-1] if node.args else None, env)
        ):
            self.uses.add(
                [dtype] if len(node.args) > 1 + (called(node) == "full") else [], ParameterUse.DTYPE, self._line
            )
        dims = tuple(extent.terms for extent in shape or ()) or None
        first = values[0] if values and called(node) in ("reshape", "view", "broadcast_to") else Symbolic()
        return replace(first.with_terms(first.terms), dims=dims)

    def _layout(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        for value in (*node.args, *(word.value for word in node.keywords)):
            if parameter := self._parameter(value, env):
                self.uses.add([parameter], ParameterUse.LAYOUT, self._line)
        return Symbolic()

    def _swizzle(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        values = self._arguments(node, env)
        if len(values) > 4:
            self.uses.add(names(values[4].terms), ParameterUse.ORDER, self._line)
        items = tuple(Symbolic(opaque(f"swizzle{index}", *(v.terms for v in values[:4]))) for index in range(2))
        return Symbolic(items=items)

    def _cast(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        values = self._arguments(node, env)
        method = isinstance(node.func, ast.Attribute) and not is_language(node.func.value)
        if dtype := self._parameter(argument(node, 0 if method else 1, "dtype"), env):
            self.uses.add([dtype], ParameterUse.DTYPE, self._line)
        return values[0] if values else Symbolic()


_LanguageFunction = Callable[[LanguageFunctions, ast.Call, dict[str, Symbolic]], Symbolic]

_SPECIAL: Mapping[str, _LanguageFunction] = {
    "program_id": LanguageFunctions._program,
    "num_programs": LanguageFunctions._program,
    "arange": LanguageFunctions._arange,
    "cdiv": LanguageFunctions._cdiv,
    **dict.fromkeys(("zeros", "full", "empty", "reshape", "view", "broadcast_to"), LanguageFunctions._shape),
    **dict.fromkeys(("allocate_shared_memory", "allocate_tensor_memory"), LanguageFunctions._allocated),
    **dict.fromkeys(
        ("load", "load_tensor_descriptor", "_experimental_descriptor_load", "gather"), LanguageFunctions._load
    ),
    **dict.fromkeys(("store", "store_tensor_descriptor", "_experimental_descriptor_store"), LanguageFunctions._store),
    **dict.fromkeys(("make_tensor_descriptor", "_experimental_make_tensor_descriptor"), LanguageFunctions._descriptor),
    "make_block_ptr": LanguageFunctions._block_pointer,
    "advance": LanguageFunctions._advance,
    "swizzle2d": LanguageFunctions._swizzle,
    "to": LanguageFunctions._cast,
    "cast": LanguageFunctions._cast,
    **dict.fromkeys(("SliceLayout", "DotOperandLayout"), LanguageFunctions._layout),
}


def _last_group(parameter: str | None, left: Sum) -> list[str]:
    """``min(blocks - group * SIZE, SIZE)`` with ``group = pid // (SIZE * …)``: the height of the last group of a
    swizzled order."""
    numbered = (
        atom.kind == OTHER and parameter in names(single(atom))
        for term in left
        if any(factor.key == parameter for factor in term)
        for atom in term
    )
    return [parameter] if parameter is not None and any(numbered) else []


def _contracted(function: str, values: list[Symbolic]) -> Symbolic:
    """A product of matrices: rows of the first, columns of the second, reduced over what they share."""
    second = 2 if function == "dot_scaled" else 1
    if len(values) <= second:
        return Symbolic(dims=None)
    a, b = values[0], values[second if len(values) < 4 or function != "dot_scaled" else 3]
    result = elementwise(function, a, b)
    dims, reduced = None, result.reduced
    if a.dims and b.dims and len(a.dims) == len(b.dims) >= 2:
        dims, reduced = (*a.dims[:-1], b.dims[-1]), reduced | {a.dims[-1]}
    return replace(result, dims=dims, reduced=reduced, data=True)
