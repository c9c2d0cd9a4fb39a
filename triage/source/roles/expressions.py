"""Execution of expressions: operators, comparisons and calls."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from triage.source.functions import parameters
from triage.source.module import called
from triage.source.roles.language_functions import LanguageFunctions
from triage.source.roles.state import MOST_STEPS
from triage.source.roles.symbols import (
    NUMBER,
    ZERO,
    Symbolic,
    added,
    elementwise,
    every,
    factors,
    moves,
    names,
    one_name,
    only,
    opaque,
    product,
    ranges,
    single,
)
from triage.source.roles.syntax import entries
from triage.source.roles.uses import MemoryAccess, ParameterUse

_DEEPEST = 8
"""Functions of a file that call one another; a deeper call is an atom of its arguments."""
_STEERING = frozenset(
    {
        "num_stages", "num_warps", "loop_unroll_factor", "warp_specialize", "flatten", "disallow_acc_multi_buffer",
        "disable_licm", "worker_num_warps", "worker_num_regs", "cache_modifier", "eviction_policy", "volatile",
        "num_buffers", "max_num_imprecise_acc", "num_ctas", "k_width", "kWidth", "instr_shape",
    }
)  # fmt: skip
"""Keywords of ``triton.language`` and Gluon that leave the result alone."""
_CHOICES = frozenset(
    {"input_precision", "lhs_format", "rhs_format", "sem", "scope", "padding_option", "fp_downcast_rounding",
     "allow_tf32", "rounding"}
)  # fmt: skip


class RoleExpressions(LanguageFunctions):
    """Executes expressions."""

    @abstractmethod
    def _block(self, body: Sequence[ast.stmt], env: dict[str, Symbolic]) -> None:
        """Execute statements."""

    def _value(self, node: ast.expr, env: dict[str, Symbolic]) -> Symbolic:
        self._steps += 1
        if self._steps > MOST_STEPS:
            return Symbolic(dims=None)
        match node:
            case ast.Name(id=variable):
                return env.get(variable, Symbolic(NUMBER))
            case ast.Constant(value=constant):
                return Symbolic(NUMBER if constant != 0 else ZERO)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._binary(operator, self._value(left, env), self._value(right, env))
            case ast.UnaryOp(operand=operand, op=operator):
                value = self._value(operand, env)
                return value if isinstance(operator, ast.USub | ast.UAdd) else elementwise("not", value)
            case ast.Compare():
                return self._compare(node, env)
            case ast.BoolOp(values=values):
                return elementwise("and", *(self._condition(operand, env) for operand in values))
            case ast.IfExp(test=test, body=body, orelse=other):
                self._condition(test, env)
                return self._value(body, env).joined(self._value(other, env))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = tuple(self._value(element, env) for element in elements)
                return replace(elementwise("tuple", *items), items=items, dims=())
            case ast.Subscript(value=inner, slice=index):
                return self._subscript(self._value(inner, env), index, env)
            case ast.Attribute(value=inner, attr=attribute):
                value = self._value(inner, env)
                if attribute == "T":
                    return replace(value, dims=value.dims[::-1] if value.dims else None)
                return Symbolic(opaque(attribute, value.terms), ())
            case ast.Call():
                return self._call(node, env)
        return Symbolic(dims=None)

    def _condition(self, test: ast.expr, env: dict[str, Symbolic]) -> Symbolic:
        value = self._value(test, env)
        for child in ast.walk(test):
            if parameter := self._parameter(child, env):
                self.uses.add([parameter], ParameterUse.CONDITION, self._line)
        return value

    def _subscript(self, value: Symbolic, index: ast.expr, env: dict[str, Symbolic]) -> Symbolic:
        match index:
            case ast.Constant(value=int(at)) if value.items is not None and -len(value.items) <= at < len(value.items):
                return value.items[at]
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if all(
            isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None) for part in parts
        ):
            if value.dims is None:
                return value
            left = list(value.dims)
            dims = tuple(
                NUMBER if isinstance(part, ast.Constant) else (left.pop(0) if left else NUMBER) for part in parts
            )
            return replace(value, dims=(*dims, *left))
        return elementwise(
            "item", value, *(self._value(part, env) for part in parts if not isinstance(part, ast.Slice))
        )

    def _binary(self, operator: ast.operator, left: Symbolic, right: Symbolic) -> Symbolic:
        both = elementwise(type(operator).__name__, left, right)
        match operator:
            case ast.Add() | ast.Sub():
                return replace(both, terms=added(left.terms, right.terms))
            case ast.Mult():
                return replace(both, terms=product(left.terms, right.terms))
            case ast.FloorDiv() | ast.Mod():
                return self._divided(isinstance(operator, ast.Mod), left, right, both)
            case ast.Div():
                if left.data and not moves(right.terms):
                    self.uses.add(names(right.terms), ParameterUse.ARITHMETIC, self._line)
        return both

    def _divided(self, remainder: bool, left: Symbolic, right: Symbolic, both: Symbolic) -> Symbolic:
        parameter = one_name(right.terms)
        blocks = ranges(left.terms)
        if parameter is not None:
            inside = any(parameter in names(block.extent or ZERO) for block in blocks)
            if blocks and not inside:
                self.uses.add([parameter], ParameterUse.DIVIDES, self._line)
            elif moves(left.terms) and not inside and parameter not in factors(left.terms):
                self.uses.add([parameter], ParameterUse.DIVIDES_POSITION, self._line)
            elif not remainder and not moves(left.terms):
                self.uses.add([parameter], ParameterUse.COUNT, self._line)
        elif blocks and not moves(right.terms):
            self.uses.add(names(right.terms) - names(frozenset((b,) for b in blocks)), ParameterUse.DIVIDES, self._line)
        if remainder and blocks:
            return replace(both, terms=left.terms)  # ``offsets % M`` keeps a block inside the data: the same block.
        if remainder and len(both.terms) == 1:
            return replace(both, terms=single(replace(only(both.terms), ends=right.terms)))
        return both

    def _compare(self, node: ast.Compare, env: dict[str, Symbolic]) -> Symbolic:
        values = [self._value(side, env) for side in (node.left, *node.comparators)]
        result = elementwise("compare", *values)
        self.uses.indices += [MemoryAccess(value.terms, self._line) for value in values if ranges(value.terms)]
        pairs = list(pairwise(values))
        for left, right in pairs:
            for side, other in ((left, right), (right, left)):
                if moves(side.terms) and not moves(other.terms) and not side.data:
                    use = ParameterUse.BOUND if ranges(side.terms) else ParameterUse.BOUND_OF_POSITION
                    counted = {atom for atom in every(other.terms) if atom.key.startswith("cdiv(")}
                    if not counted:
                        self.uses.add(names(other.terms), use, self._line)
                if (parameter := one_name(side.terms)) and not names(other.terms):
                    self.uses.add([parameter], ParameterUse.MODE, self._line)
        return replace(result, compared=result.compared | {(a.terms, b.terms) for a, b in pairs})

    def _call(self, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        function = called(node)
        self._keywords(node, env)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions and self._depth < _DEEPEST:
            return self._inlined(self.functions[node.func.id], node, env)
        if function == "warp_specialize":
            self._partitions(node, env)
        return self._language_call(node, function, env)

    def _keywords(self, node: ast.Call, env: dict[str, Symbolic]) -> None:
        for word in node.keywords:
            if word.arg in _STEERING:
                inside = (self._parameter(child, env) for child in ast.walk(word.value))
                self.uses.add(filter(None, inside), ParameterUse.PIPELINE, self._line)
            parameter = self._parameter(word.value, env)
            if parameter is None or word.arg is None:
                continue
            if word.arg in _CHOICES:
                self.uses.add([parameter], ParameterUse.MODE, self._line)
            elif word.arg.endswith("dtype"):
                self.uses.add([parameter], ParameterUse.DTYPE, self._line)
            elif word.arg.endswith("layout"):
                self.uses.add([parameter], ParameterUse.LAYOUT, self._line)

    def _partitions(self, node: ast.Call, env: dict[str, Symbolic]) -> None:
        """Gluon's partitions: ``[(function, (a, b)), …]``, or the arguments before the functions they go to."""
        arguments: list[ast.expr] = []
        for child in (inner for value in node.args for inner in entries(value)):
            match child:
                case ast.Tuple(elts=[ast.Name(id=function), ast.Tuple(elts=values)]) if function in self.functions:
                    self._inlined(self.functions[function], ast.Call(child.elts[0], values, []), env)
                case ast.Tuple(elts=values):
                    arguments = values
                case ast.Name(id=function) if function in self.functions and arguments:
                    self._inlined(self.functions[function], ast.Call(child, arguments, []), env)

    def _inlined(self, function: ast.FunctionDef, node: ast.Call, env: dict[str, Symbolic]) -> Symbolic:
        words = [parameter.arg for parameter in parameters(function)]
        local = dict(zip(words, (self._value(value, env) for value in node.args), strict=False))
        local |= {word.arg: self._value(word.value, env) for word in node.keywords if word.arg}
        outer, self._returned = self._returned, []
        self._depth += 1
        try:
            self._block(function.body, local)
        finally:
            self._depth -= 1
            results, self._returned = self._returned, outer
        result = results[0] if results else Symbolic()
        for other in results[1:]:
            result = result.joined(other)
        return result
