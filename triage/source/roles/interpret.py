"""Abstract execution of a kernel: every expression becomes a :class:`Value`, and uses of parameters are recorded.

Both branches of a condition are taken and joined. A loop's body is executed once, with the variables that it advances
(``ptr += BK``) as their first value plus the loop's turns times the advance. Functions of the same file are executed
where they are called. Nothing that is not understood is an error: it is an atom that depends on its operands.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from triage.source.functions import parameters
from triage.source.module import argument, called
from triage.source.roles.symbols import (
    GRID,
    LOADED,
    LOOP,
    NAME,
    NUMBER,
    OTHER,
    RANGE,
    ZERO,
    Atom,
    Sum,
    TensorBlock,
    Value,
    added,
    atoms,
    broadcast,
    elementwise,
    every,
    moves,
    name,
    names,
    one_name,
    opaque,
    product,
    ranges,
    single,
    text,
)
from triage.source.roles.uses import LoopStart, MemoryAccess, ParameterUse, ParameterUses

_MOST_STEPS = 60_000
"""Expressions that are executed; far above any kernel, below what a recursion of helpers can reach."""
_DEEPEST = 8
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
_SAME = frozenset(
    {"multiple_of", "max_contiguous", "max_constancy", "assume", "constexpr", "to_tensor", "debug_barrier",
     "convert_layout", "set_auto_layout", "float", "int", "abs_index", "cast", "to", "relax_layout"}
)  # fmt: skip
"""Functions that return their first argument as far as indices go."""
_RANGE = (("arg1", "start"), ("arg2", "end"), ("step",))
"""Arguments of ``tl.range`` and ``tl.static_range``."""
_REDUCE = frozenset({"sum", "max", "min", "argmax", "argmin", "reduce", "xor_sum", "reduce_or"})
_SCAN = frozenset({"cumsum", "cumprod", "associative_scan", "sort", "softmax", "flip", "topk", "histogram"})
_ATOMICS = "atomic_"
_BUILTINS = frozenset(dir(builtins))


class Interpreter:
    """Executes one kernel of a file."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef], uses: ParameterUses) -> None:
        self.functions, self.uses = functions, uses
        self._steps = self._depth = self._serial = 0
        self._line = 0
        self._path: frozenset[tuple[int, bool]] = frozenset()
        self._returned: list[Value] = []

    def run(self, kernel: ast.FunctionDef) -> None:
        """Record all uses of the kernel's parameters."""
        self._block(kernel.body, {parameter.arg: Value(name(parameter.arg)) for parameter in parameters(kernel)})

    def _parameter(self, node: ast.AST | None, env: Mapping[str, Value]) -> str | None:
        """The parameter that a plain name stands for."""
        return one_name(env[node.id].terms) if isinstance(node, ast.Name) and node.id in env else None

    # Statements.

    def _block(self, body: Sequence[ast.stmt], env: dict[str, Value]) -> None:
        for statement in body:
            self._steps += 1
            if self._steps < _MOST_STEPS:
                self._statement(statement, env)

    def _statement(self, node: ast.stmt, env: dict[str, Value]) -> None:
        if self._depth == 0:
            self._line = node.lineno
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self._value(value, env)
                for target in targets:
                    self._assign(target, result, env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value, env), env)
            case ast.AugAssign(target=ast.Name(id=variable), op=operator, value=value):
                env[variable] = self._binary(operator, env.get(variable, Value()), self._value(value, env))
            case ast.For():
                self._for(node, env)
            case ast.While():
                self._condition(node.test, env)
                self._loop(node.body, self._turns(node, None, NUMBER, None), env, node.test)
            case ast.If():
                self._condition(node.test, env)
                other = dict(env)
                path = self._path
                self._path = path | {(id(node), True)}
                self._block(node.body, env)
                self._path = path | {(id(node), False)}
                self._block(node.orelse, other)
                self._path = path
                for variable, result in other.items():
                    env[variable] = env[variable].joined(result) if variable in env else result
            case ast.With():
                for item in node.items:
                    self._value(item.context_expr, env)
                self._block(node.body, env)
            case ast.Return(value=ast.expr() as value):
                self._returned.append(self._value(value, env))
            case ast.Expr(value=value):
                self._value(value, env)
            case ast.Assert(test=test):
                self._value(test, env)

    def _assign(self, target: ast.expr, value: Value, env: dict[str, Value]) -> None:
        match target:
            case ast.Name(id=variable):
                env[variable] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = value.items if value.items is not None and len(value.items) == len(elements) else None
                for index, element in enumerate(elements):
                    part = Value(opaque(f"item{index}", value.terms), None, value.reduced, data=value.data)
                    self._assign(element, items[index] if items else part, env)
            case ast.Starred(value=inner):
                self._assign(inner, Value(), env)

    def _condition(self, test: ast.expr, env: dict[str, Value]) -> Value:
        value = self._value(test, env)
        for child in ast.walk(test):
            if parameter := self._parameter(child, env):
                self.uses.add([parameter], ParameterUse.CONDITION, self._line)
        return value

    # Loops.

    def _turns(self, node: ast.stmt, extent: Sum | None, unit: Sum, begins: Sum | None, ends: Sum = ZERO) -> Atom:
        self._serial += 1
        inner = frozenset(atom for part in (begins or ZERO, ends) for atom in atoms(part))
        return Atom(f"turns@{node.lineno}.{self._serial}", LOOP, extent, unit, begins, ends, inner)

    def _for(self, node: ast.For, env: dict[str, Value]) -> None:
        if not isinstance(node.iter, ast.Call):
            self._value(node.iter, env)
            self._loop(node.body, self._turns(node, None, NUMBER, None), env)
            return
        self._keywords(node.iter, env)
        parts = [argument(node.iter, index, *words) for index, words in enumerate(_RANGE)]
        first, second, third = (self._value(part, env).terms if part is not None else None for part in parts)
        begins, ends = (ZERO, first or ZERO) if second is None else (first or ZERO, second)
        step = NUMBER if third is None else third
        whole = ends - begins if begins <= ends and ends else None
        turns = self._turns(node, whole if whole and not moves(whole) else None, step, begins, ends)
        if parameter := one_name(step):
            # A persistent kernel starts at its own number in the grid and skips those of the others.
            own = any(atom.kind == GRID for atom in atoms(begins)) and not names(begins)
            self.uses.add([parameter], ParameterUse.SHARES if own else ParameterUse.STEP_LOOP, self._line)
        elif step != NUMBER:
            self.uses.add(names(step), ParameterUse.STEP_LOOP, self._line)
        if whole is not None and not moves(whole):
            exact = one_name(whole)
            self.uses.add([exact] if exact else (), ParameterUse.TRIPS, self._line)
        elif whole is None:
            # From the block's start to its end, or to the end of the data: the loop stays inside the block.
            for term in begins:
                position = tuple(atom for atom in term if atom.kind != NAME)
                sizes = {atom.key for atom in term if atom.kind == NAME} & names(ends)
                if sizes and any(atom.moves for atom in position):
                    self.uses.starts.append(LoopStart(frozenset(sizes), position, self._line))
        if isinstance(node.target, ast.Name):
            advanced = product(single(turns), step)
            env[node.target.id] = Value(added(begins, advanced))
        self._loop(node.body, turns, env)

    def _loop(self, body: list[ast.stmt], turns: Atom, env: dict[str, Value], test: ast.expr | None = None) -> None:
        before = dict(env)
        for variable, changes in _assigned(body).items():
            if variable not in before:
                continue
            if turns.extent and any(_reads(change, variable) for change in changes):
                # What one turn leaves to the next depends on where the loop begins.
                env[variable] = replace(env[variable], reduced=env[variable].reduced | {turns.extent})
            advances = [_advance(variable, change) for change in changes]
            if all(advance is not None for advance in advances):
                for advance in advances:
                    if advance is not None:
                        env[variable] = self._advanced(env[variable], advance, turns, before)
            else:
                read = [before[word] for change in changes for word in _words(change) if word in before]
                inner = frozenset(atom for value in read for atom in atoms(value.terms))
                if before[variable].dims == () and not before[variable].data and before[variable].terms - {()}:
                    carried = single(Atom(f"{variable}@{turns.key}", OTHER, inner=inner | {turns}))
                    env[variable] = before[variable].with_terms(added(before[variable].terms, carried))
        if test is not None:
            self._value(test, env)
        self._block(body, env)
        for variable, value in before.items():
            env[variable] = value.joined(env[variable]) if variable in env else value

    def _advanced(self, value: Value, advance: tuple[str, ast.expr], turns: Atom, env: dict[str, Value]) -> Value:
        kind, expression = advance
        step = self._value(expression, env)
        if kind == "advance":
            if value.block is None or value.block.offsets is None or step.items is None:
                return value
            offsets = tuple(
                added(offset, product(single(turns), item.terms))
                for offset, item in zip(value.block.offsets, step.items, strict=False)
            )
            return replace(value, block=replace(value.block, offsets=offsets))
        if (parameter := one_name(step.terms)) and value.dims == () and not value.data:
            self.uses.add([parameter], ParameterUse.STEP_LOOP, self._line)
        return value.with_terms(added(value.terms, product(single(turns), step.terms)))

    # Expressions.

    def _value(self, node: ast.expr, env: dict[str, Value]) -> Value:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return Value(dims=None)
        match node:
            case ast.Name(id=variable):
                return env.get(variable, Value(NUMBER))
            case ast.Constant(value=constant):
                return Value(NUMBER if constant != 0 else ZERO)
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
                return Value(opaque(attribute, value.terms), ())
            case ast.Call():
                return self._call(node, env)
        return Value(dims=None)

    def _subscript(self, value: Value, index: ast.expr, env: dict[str, Value]) -> Value:
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

    def _binary(self, operator: ast.operator, left: Value, right: Value) -> Value:
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

    def _divided(self, remainder: bool, left: Value, right: Value, both: Value) -> Value:
        parameter = one_name(right.terms)
        blocks = ranges(left.terms)
        if parameter is not None:
            inside = any(parameter in names(block.extent or ZERO) for block in blocks)
            if blocks and not inside:
                self.uses.add([parameter], ParameterUse.DIVIDES, self._line)
            elif moves(left.terms) and not inside and parameter not in _factors(left.terms):
                self.uses.add([parameter], ParameterUse.DIVIDES_POSITION, self._line)
            elif not remainder and not moves(left.terms):
                self.uses.add([parameter], ParameterUse.COUNT, self._line)
        elif blocks and not moves(right.terms):
            self.uses.add(names(right.terms) - names(frozenset((b,) for b in blocks)), ParameterUse.DIVIDES, self._line)
        if remainder and blocks:
            return replace(both, terms=left.terms)  # ``offsets % M`` keeps a block inside the data: the same block.
        if remainder and len(both.terms) == 1:
            return replace(both, terms=single(replace(_only(both.terms), ends=right.terms)))
        return both

    def _compare(self, node: ast.Compare, env: dict[str, Value]) -> Value:
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

    # Calls.

    def _call(self, node: ast.Call, env: dict[str, Value]) -> Value:
        function = called(node)
        self._keywords(node, env)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions and self._depth < _DEEPEST:
            return self._inlined(self.functions[node.func.id], node, env)
        if function == "warp_specialize":
            self._partitions(node, env)
        if (special := _SPECIAL.get(function)) is not None:
            return special(self, node, env)
        if function.startswith(_ATOMICS):
            return self._memory(node, env, store=False)
        values = self._arguments(node, env)
        if function in _SAME:
            return values[0] if values else Value()
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

    def _arguments(self, node: ast.Call, env: dict[str, Value]) -> list[Value]:
        """The positional arguments, that of a method first; keywords are executed and added behind."""
        values = [self._value(value, env) for value in node.args if not isinstance(value, ast.Starred)]
        if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value, env):
            values.insert(0, self._value(node.func.value, env))
        return values + [self._value(word.value, env) for word in node.keywords]

    def _keywords(self, node: ast.Call, env: dict[str, Value]) -> None:
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

    def _partitions(self, node: ast.Call, env: dict[str, Value]) -> None:
        """Gluon's partitions: ``[(function, (a, b)), …]``, or the arguments before the functions they go to."""
        arguments: list[ast.expr] = []
        for child in (inner for value in node.args for inner in _nested(value)):
            match child:
                case ast.Tuple(elts=[ast.Name(id=function), ast.Tuple(elts=values)]) if function in self.functions:
                    self._inlined(self.functions[function], ast.Call(child.elts[0], values, []), env)
                case ast.Tuple(elts=values):
                    arguments = values
                case ast.Name(id=function) if function in self.functions and arguments:
                    self._inlined(self.functions[function], ast.Call(child, arguments, []), env)

    def _inlined(self, function: ast.FunctionDef, node: ast.Call, env: dict[str, Value]) -> Value:
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
        result = results[0] if results else Value()
        for other in results[1:]:
            result = result.joined(other)
        return result

    def _limited(self, function: str, values: list[Value]) -> Value:
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

    def _reduced(self, function: str, node: ast.Call, values: list[Value]) -> Value:
        if not values:
            return Value()
        result = elementwise(function, values[0])
        method = isinstance(node.func, ast.Attribute) and not _is_language(node.func.value)
        axis = argument(node, 0 if method else 1, "axis", "dim")
        dims = values[0].dims
        if dims is None:
            return result
        at = _number(axis)
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

    # Memory.

    def _program(self, node: ast.Call, _env: dict[str, Value]) -> Value:
        axis = _number(argument(node, 0, "axis"))
        return Value(single(Atom(f"{called(node)}{'?' if axis is None else axis}", GRID)))

    def _arange(self, node: ast.Call, env: dict[str, Value]) -> Value:
        values = self._arguments(node, env)
        if len(values) < 2:
            return Value(dims=None)
        begins, ends = values[0].terms, values[1].terms
        extent = ends if begins == ZERO else ends - begins or ends
        self.uses.add(names(extent), ParameterUse.TENSOR, self._line)
        return Value(added(begins, single(Atom(f"arange[{text(extent)}]", RANGE, extent))), (extent,))

    def _cdiv(self, node: ast.Call, env: dict[str, Value]) -> Value:
        values = self._arguments(node, env)
        if len(values) == 2:
            parameter = one_name(values[1].terms)
            if parameter is not None and not ranges(values[0].terms):
                self.uses.add([parameter], ParameterUse.COUNT, self._line)
            return Value(opaque("cdiv", values[0].terms, values[1].terms))
        return elementwise("cdiv", *values)

    def _shape(self, node: ast.Call, env: dict[str, Value]) -> Value:
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
        first = values[0] if values and called(node) in ("reshape", "view", "broadcast_to") else Value()
        return replace(first.with_terms(first.terms), dims=dims)

    def _allocated(self, node: ast.Call, env: dict[str, Value]) -> Value:
        """Shared or tensor memory: all but the last two extents count buffers."""
        values = [self._value(value, env) for value in node.args] + [
            self._value(word.value, env) for word in node.keywords
        ]
        shape = next((value.items for value in values if value.items is not None), None) or ()
        barriers = len(shape) == 2 and shape[1].terms == NUMBER
        for index, extent in enumerate(shape):
            buffers = index < len(shape) - 2 or (barriers and index == 0)
            self.uses.add(names(extent.terms), ParameterUse.BUFFERS if buffers else ParameterUse.TENSOR, self._line)
        if layout := self._parameter(argument(node, 2, "layout"), env):
            self.uses.add([layout], ParameterUse.LAYOUT, self._line)
        return Value(dims=None)

    def _layout(self, node: ast.Call, env: dict[str, Value]) -> Value:
        for value in (*node.args, *(word.value for word in node.keywords)):
            if parameter := self._parameter(value, env):
                self.uses.add([parameter], ParameterUse.LAYOUT, self._line)
        return Value()

    def _memory(self, node: ast.Call, env: dict[str, Value], store: bool) -> Value:
        """``tl.load(pointer, mask)``, ``descriptor.load(offsets)`` and their like; stores too."""
        method = isinstance(node.func, ast.Attribute) and not _is_language(node.func.value)
        owner = self._value(node.func.value, env) if method and isinstance(node.func, ast.Attribute) else None
        values = [self._value(value, env) for value in node.args]
        words = {word.arg: self._value(word.value, env) for word in node.keywords}
        if owner is not None:
            offsets = next((value.items for value in values if value.items is not None), None)
            return self._through(owner, offsets, values, True, store)
        if not values:
            return Value(dims=None)
        pointer = values[0]
        if pointer.block is not None:
            offsets = next((value.items for value in values[1:] if value.items is not None), None)
            checked = offsets is not None or "boundary_check" in words
            return self._through(pointer, offsets, values[1:], checked, store)
        mask_at = 1 if not store else 2
        mask = words.get("mask") or (values[mask_at] if len(values) > mask_at else Value())
        bounds = mask.compared | pointer.compared
        self.uses.accesses.append(MemoryAccess(pointer.terms, self._line, bounds, self._path))
        if store and len(values) > 1:
            self._stored(values[1])
        return self._loaded(pointer.terms, broadcast(pointer.dims, mask.dims))

    def _through(
        self, value: Value, offsets: Sequence[Value] | None, values: Sequence[Value], checked: bool, store: bool
    ) -> Value:
        """An access through a descriptor or a block pointer."""
        block = value.block or TensorBlock(value.terms)
        places = tuple(offset.terms for offset in offsets) if offsets is not None else block.offsets
        if places is None:
            return self._loaded(value.terms, None)
        for axis, place in enumerate(places):
            extent = block.block[axis] if block.block is not None and axis < len(block.block) else None
            terms = added(block.base, place)
            bounds: frozenset[tuple[Sum, Sum]] = frozenset()
            if extent is not None:
                covered = single(Atom(f"arange[{text(extent)}]", RANGE, extent))
                terms = added(terms, covered)
                if checked and axis < len(block.shape):
                    bounds = frozenset({(covered, block.shape[axis])})
                elif checked:
                    bounds = frozenset({(covered, name("the tensor"))})
            elif parameter := next((word for term in place for word in _stepped(term)), None):
                # The host made the descriptor: the step is all there is to see.
                self.uses.add(
                    [parameter], ParameterUse.STEP_LOOP if _turning(place) else ParameterUse.STEP_GRID, self._line
                )
                continue
            self.uses.accesses.append(MemoryAccess(terms, self._line, bounds, self._path))
        if store:
            for stored in values[-1:]:
                self._stored(stored)
        return self._loaded(block.base, block.block)

    def _stored(self, value: Value) -> None:
        for extent in value.reduced:
            self.uses.add(names(extent), ParameterUse.REDUCED, self._line)

    def _loaded(self, address: Sum, dims: tuple[Sum, ...] | None) -> Value:
        return Value(single(replace(_only(opaque("load", address)), kind=LOADED)), dims, data=True)

    def _load(self, node: ast.Call, env: dict[str, Value]) -> Value:
        return self._memory(node, env, store=False)

    def _store(self, node: ast.Call, env: dict[str, Value]) -> Value:
        return self._memory(node, env, store=True)

    def _descriptor(self, node: ast.Call, env: dict[str, Value]) -> Value:
        parts = [
            self._value(part, env) if (part := argument(node, index, *words)) is not None else Value()
            for index, words in enumerate((("base",), ("shape",), ("strides",), ("block_shape",)))
        ]
        base, shape, strides, block = parts
        for value in (shape, strides):
            for item in value.items or ():
                self.uses.add(names(item.terms), ParameterUse.SHAPE, self._line)
        for item in block.items or ():
            self.uses.add(names(item.terms), ParameterUse.TENSOR, self._line)
        return Value(base.terms, (), block=TensorBlock(base.terms, _terms(shape), None, _terms(block) or None))

    def _block_pointer(self, node: ast.Call, env: dict[str, Value]) -> Value:
        words = (("base",), ("shape",), ("strides",), ("offsets",), ("block_shape",))
        parts = [
            self._value(part, env) if (part := argument(node, index, *word)) is not None else Value()
            for index, word in enumerate(words)
        ]
        base, shape, strides, offsets, block = parts
        for value in (shape, strides):
            for item in value.items or ():
                self.uses.add(names(item.terms), ParameterUse.SHAPE, self._line)
        for item in block.items or ():
            self.uses.add(names(item.terms), ParameterUse.TENSOR, self._line)
        return Value(
            base.terms, (), block=TensorBlock(base.terms, _terms(shape), _terms(offsets), _terms(block) or None)
        )

    def _advance(self, node: ast.Call, env: dict[str, Value]) -> Value:
        pointer, step = self._arguments(node, env)[:2]
        if pointer.block is None or pointer.block.offsets is None or step.items is None:
            return pointer
        offsets = tuple(
            added(offset, item.terms) for offset, item in zip(pointer.block.offsets, step.items, strict=False)
        )
        return replace(pointer, block=replace(pointer.block, offsets=offsets))

    def _swizzle(self, node: ast.Call, env: dict[str, Value]) -> Value:
        values = self._arguments(node, env)
        if len(values) > 4:
            self.uses.add(names(values[4].terms), ParameterUse.ORDER, self._line)
        items = tuple(Value(opaque(f"swizzle{index}", *(v.terms for v in values[:4]))) for index in range(2))
        return Value(items=items)

    def _cast(self, node: ast.Call, env: dict[str, Value]) -> Value:
        values = self._arguments(node, env)
        method = isinstance(node.func, ast.Attribute) and not _is_language(node.func.value)
        if dtype := self._parameter(argument(node, 0 if method else 1, "dtype"), env):
            self.uses.add([dtype], ParameterUse.DTYPE, self._line)
        return values[0] if values else Value()


_Handler = Callable[[Interpreter, ast.Call, dict[str, Value]], Value]

_SPECIAL: Mapping[str, _Handler] = {
    "program_id": Interpreter._program,
    "num_programs": Interpreter._program,
    "arange": Interpreter._arange,
    "cdiv": Interpreter._cdiv,
    **dict.fromkeys(("zeros", "full", "empty", "reshape", "view", "broadcast_to"), Interpreter._shape),
    **dict.fromkeys(("allocate_shared_memory", "allocate_tensor_memory"), Interpreter._allocated),
    **dict.fromkeys(("load", "load_tensor_descriptor", "_experimental_descriptor_load", "gather"), Interpreter._load),
    **dict.fromkeys(("store", "store_tensor_descriptor", "_experimental_descriptor_store"), Interpreter._store),
    **dict.fromkeys(("make_tensor_descriptor", "_experimental_make_tensor_descriptor"), Interpreter._descriptor),
    "make_block_ptr": Interpreter._block_pointer,
    "advance": Interpreter._advance,
    "swizzle2d": Interpreter._swizzle,
    "to": Interpreter._cast,
    "cast": Interpreter._cast,
    **dict.fromkeys(("SliceLayout", "DotOperandLayout"), Interpreter._layout),
}


def _nested(node: ast.expr) -> list[ast.expr]:
    """The entries of a list, or the node itself: what an argument of ``warp_specialize`` may be."""
    return list(node.elts) if isinstance(node, ast.List) else [node]


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


def _contracted(function: str, values: list[Value]) -> Value:
    """A product of matrices: rows of the first, columns of the second, reduced over what they share."""
    second = 2 if function == "dot_scaled" else 1
    if len(values) <= second:
        return Value(dims=None)
    a, b = values[0], values[second if len(values) < 4 or function != "dot_scaled" else 3]
    result = elementwise(function, a, b)
    dims, reduced = None, result.reduced
    if a.dims and b.dims and len(a.dims) == len(b.dims) >= 2:
        dims, reduced = (*a.dims[:-1], b.dims[-1]), reduced | {a.dims[-1]}
    return replace(result, dims=dims, reduced=reduced, data=True)


def _assigned(body: Sequence[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """The statements of a loop that give each variable a value, those of inner blocks too."""
    result: dict[str, list[ast.stmt]] = {}
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=targets):
                    for target in targets:
                        for child in ast.walk(target):
                            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                                result.setdefault(child.id, []).append(node)
                case ast.AugAssign(target=ast.Name(id=variable)):
                    result.setdefault(variable, []).append(node)
                case ast.For(target=ast.Name(id=variable)):
                    result.setdefault(variable, []).append(node)
    return result


def _advance(variable: str, statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """How a statement advances a variable: by what is added, or by which offsets; None where it does something else."""
    match statement:
        case ast.AugAssign(op=ast.Add() | ast.Sub(), value=value):
            return "add", value
        case ast.Assign(
            targets=[ast.Name()], value=ast.BinOp(left=ast.Name(id=left), op=ast.Add() | ast.Sub(), right=r)
        ):
            return ("add", r) if left == variable else None
        case ast.Assign(targets=[ast.Name()], value=ast.Call(args=[ast.Name(id=left), offsets]) as call):
            return ("advance", offsets) if left == variable and called(call) == "advance" else None
    return None


def _reads(statement: ast.stmt, variable: str) -> bool:
    return isinstance(statement, ast.AugAssign) or variable in _words(getattr(statement, "value", statement))


def _words(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _is_language(node: ast.expr) -> bool:
    """``tl``, ``gl``, ``tl.extra.cuda``: a module by its usual name."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in (
        "tl", "gl", "ttgl", "triton", "language", "libdevice", "tldevice", "tma", "async_copy", "math", "core",
        "hopper", "blackwell", "ampere", "mbarrier", "cdna3", "cdna4", "gfx1250", "experimental",
    )  # fmt: skip


def _is_module(node: ast.expr, env: Mapping[str, Value]) -> bool:
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id not in env


def _number(node: ast.expr | None) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


def _terms(value: Value) -> tuple[Sum, ...]:
    return tuple(item.terms for item in value.items or ())


def _only(terms: Sum) -> Atom:
    ((atom,),) = terms
    return atom


def _factors(terms: Sum) -> set[str]:
    return {atom.key for atom in atoms(terms) if atom.kind == NAME}


def _stepped(term: Sequence[Atom]) -> list[str]:
    """The one parameter that a product multiplies a position by."""
    words = [atom.key for atom in term if atom.kind == NAME]
    return words if len(words) == 1 and any(atom.moves for atom in term) else []


def _turning(terms: Sum) -> bool:
    return any(atom.kind == LOOP for atom in atoms(terms))
