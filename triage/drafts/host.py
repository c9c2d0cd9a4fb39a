"""Launches of kernels, and what their arguments are: an abstract evaluation of the host functions around them.

Every expression has a few likely values (``values``). A function is read once, all its branches; its parameters are
what its callers in the project pass, its annotations and its defaults say. Sizes that nobody states are usual ones by
name, so that what is computed of them (``next_power_of_2(D)``) fits together, as it would in a run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triage.drafts.jitted import Jitted, JittedFunctions, dotted
from triage.drafts.operations import (
    any_float,
    comparison,
    computed,
    constant_value,
    converted,
    each_of,
    entry_at,
    foreign,
    integer_of,
    is_instance,
    item_of,
    key_of,
    operation,
    passed_on,
    product_of,
    shape_of,
    sliced,
    stated_dtype,
    stated_sizes,
    transposed,
    unary_operation,
    with_usual_size,
)
from triage.drafts.project import External, LocatedNode, ProjectFile, Scope
from triage.drafts.values import (
    FALSE,
    MOST_ALTERNATIVES,
    NONE,
    TORCH_TYPES,
    TRUE,
    UNKNOWN,
    Abstract,
    Alternatives,
    Class,
    Const,
    Descriptor,
    Dtype,
    Float,
    Foreign,
    Function,
    Instance,
    Int,
    Items,
    Kernel,
    Mapped,
    TensorValue,
    Unknown,
    certain,
    merged,
    truth,
)

_CALLERS = 2
"""Calls to follow backwards from a launch: the wrapper's caller states ``eps``."""
_MOST_CALLERS = 4
"""Callers of a function to read; the others seldom pass anything else."""
_INLINED = 3
"""Calls in one another that are read with the values of their arguments."""
_MOST_STATEMENTS = 60
"""Statements of a function that is read for each call of it; a larger one is read once."""
_MOST_STEPS = 30_000
"""Expressions to read of one function with what it calls."""

_SAME_TENSOR = frozenset({
    "contiguous", "detach", "clone", "cuda", "cpu", "requires_grad_", "data", "pin_memory", "to_local", "abs",
    "exp", "sqrt", "neg", "relu", "sigmoid", "tanh", "masked_fill", "masked_fill_", "fill_", "zero_", "copy_",
    "clamp", "clamp_", "add_", "mul_", "div_", "sub_", "nan_to_num", "roll", "flip", "wait", "type_as", "add",
    "mul", "sub", "div", "pow", "softmax", "log_softmax"
})  # fmt: skip
_RESHAPED = frozenset({
    "view", "reshape", "flatten", "unsqueeze", "squeeze", "expand", "narrow", "repeat", "repeat_interleave",
    "unflatten", "select", "index_select", "gather", "expand_as", "view_as", "sum", "mean", "amax", "amin", "max",
    "min", "norm", "prod", "cumsum", "diff", "diagonal", "tile", "movedim", "index_add_", "scatter_",
    "scatter_add_", "matmul", "mm", "bmm", "einsum", "pad", "cat", "stack", "take_along_dim"
})  # fmt: skip
_TRANSPOSED = frozenset(["t", "transpose", "permute", "mT", "T", "mH", "swapaxes", "adjoint"])
_TENSOR_USES = frozenset({
    "shape", "stride", "dtype", "device", "size", "contiguous", "view", "numel", "data_ptr", "is_contiguous",
    "to", "dim", "ndim", "reshape", "new_empty", "new_zeros", "is_cuda", "element_size", "transpose", "permute",
    "unsqueeze", "squeeze", "t", "mT", "T", "flatten", "requires_grad", "float", "half", "bfloat16", "double",
    "long", "amax", "sum"
})  # fmt: skip
"""Attributes by which a parameter is a tensor."""
_INDICES = frozenset(["argmax", "argmin", "argsort", "nonzero", "bincount", "searchsorted", "count_nonzero"])
_NEW = frozenset({
    "empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "tensor", "as_tensor",
    "empty_strided", "eye", "linspace"
})  # fmt: skip
_CASTS = {name: TORCH_TYPES[name] for name in ("float", "half", "double", "int", "long", "short", "bool")} | {
    "bfloat16": "bf16",
    "byte": "u8",
    "char": "i8",
}
_ANNOTATED = {
    "LongTensor": "i64", "IntTensor": "i32", "BoolTensor": "i1", "FloatTensor": "fp32", "HalfTensor": "fp16",
    "BFloat16Tensor": "bf16", "ByteTensor": "u8", "CharTensor": "i8", "DoubleTensor": "fp64",
}  # fmt: skip
_PLAIN: dict[str, Alternatives] = {"int": (Int(),), "float": (Float(),), "bool": (FALSE, TRUE), "dtype": (Dtype(),)}


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch in the source. ``arguments``: by parameter. ``options``: ``num_warps`` and the like."""

    kernel: Jitted
    scope: Scope
    node: ast.Call
    arguments: Mapping[str, Alternatives]
    options: Mapping[str, Alternatives]


@dataclass(slots=True)
class _Reading:
    """What reading a function gave: the values of its names at its end, what it returns, the arguments of its calls,
    what it stores in attributes of its first parameter."""

    names: dict[str, Alternatives] = field(default_factory=dict)
    returned: list[Alternatives] = field(default_factory=list)
    calls: dict[int, tuple[list[Alternatives], dict[str, Alternatives]]] = field(default_factory=dict)
    attributes: dict[str, Alternatives] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)


class Host:
    """The host functions of a project."""

    def __init__(self, functions: JittedFunctions) -> None:
        self.functions = functions
        self.project = functions.project
        self._readings: dict[tuple[Scope, int], _Reading | None] = {}
        self.inlined: dict[tuple[Any, ...], _Reading] = {}
        self._globals: dict[tuple[ProjectFile, str], Alternatives] = {}

    def launches(self, scopes: Iterable[Scope]) -> list[Launch]:
        """Every launch in these functions, in order."""
        launches: list[Launch] = []
        for scope in scopes:
            launches += self.reading(scope).launches
        return launches

    def reading(self, scope: Scope, depth: int = 0) -> _Reading:
        """What a function does with the arguments that its callers pass; ``depth``: how many calls it is away from the
        launch that is asked for."""
        key = (scope, min(depth, _CALLERS))
        if key not in self._readings:
            self._readings[key] = None
            frame = _HostRun(self, scope, depth)
            frame.names.update(self._parameters(scope, depth))
            frame.run()
            self._readings[key] = frame.reading
        # A function that calls itself has no reading yet.
        return self._readings[key] or _Reading()

    def _parameters(self, scope: Scope, depth: int) -> dict[str, Alternatives]:
        if isinstance(scope.node, ast.Module):
            return {}
        arguments = scope.node.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        defaults = _defaults(arguments)
        used = _tensors(scope)
        passed = self._passed(scope, depth) if depth < _CALLERS else []
        values: dict[str, Alternatives] = {}
        frame = _HostRun(self, scope.outer or scope, depth)
        for position, argument in enumerate(names):
            name = argument.arg
            if position == 0 and scope.owner is not None and not _is_static(scope.node):
                kind = Class if _is_class_method(scope.node) else Instance
                values[name] = (kind(scope.file, scope.owner),)
                continue
            if position == 0 and scope.owner is not None and scope.name in ("forward", "backward", "setup_context"):
                values[name] = (Instance(scope.file, scope.owner),)
                continue
            default = frame.value(defaults[name]) if name in defaults else ()
            annotated = self._annotated(argument.annotation)
            callers = merged(*(call[name] for call in passed if name in call))
            own: Alternatives = ()
            if name in used or (scope.name == "backward" and scope.owner is not None):
                own = (TensorValue(),)
            if isinstance(default, tuple) and default in ((FALSE,), (TRUE,)):
                default = (*default, TRUE if default == (FALSE,) else FALSE)
            values[name] = with_usual_size(_best(callers, annotated, own, default), name)
        if arguments.vararg:
            values[arguments.vararg.arg] = merged(
                *(call[arguments.vararg.arg] for call in passed if arguments.vararg.arg in call)
            )
        if arguments.kwarg:
            values[arguments.kwarg.arg] = merged(
                *(call[arguments.kwarg.arg] for call in passed if arguments.kwarg.arg in call)
            )
        return values

    def _passed(self, scope: Scope, depth: int) -> list[dict[str, Alternatives]]:
        """The arguments of each call of a function, by parameter."""
        name, first = scope.name, 0
        if scope.owner is not None and scope.name == "forward" and _is_static(scope.node):
            name, first = "apply", 1
        elif scope.owner is not None and scope.name == "__init__":
            name, first = scope.owner.name, 1
        elif scope.owner is not None:
            first = 0 if _is_static(scope.node) else 1
        passed: list[dict[str, Alternatives]] = []
        for caller, call in self.project.calls(name):
            if caller is scope or not self._calls(caller, call, scope, name):
                continue
            if self.functions.at(caller) is not None:
                continue
            arguments = self.reading(caller, depth + 1).calls.get(id(call))
            if arguments is not None:
                passed.append(_bound(scope.node, arguments[0], arguments[1], first))
            if len(passed) == _MOST_CALLERS:
                break
        return passed

    def _calls(self, caller: Scope, call: ast.Call, scope: Scope, name: str) -> bool:
        """Whether a call of that name may be one of this function."""
        full = dotted(call.func)
        if name == "apply":
            if full is None or scope.owner is None or scope.owner.name not in full.split("."):
                return False
            classes = self.project.lookup(caller.file, full.rpartition(".")[0])
            return not isinstance(classes, list) or any(each.node is scope.owner for each in classes)
        if full is None:
            return scope.owner is not None
        if scope.owner is not None and scope.name != "__init__":
            return "." in full
        located = self.project.lookup(caller.file, full)
        if isinstance(located, External):
            return False
        wanted = scope.owner if scope.owner is not None else scope
        return located is None or not located or any(each.node is wanted for each in located)

    def _annotated(self, node: ast.expr | None) -> Alternatives:
        """What an annotation says."""
        match node:
            case ast.Constant(value=str(text)):
                try:
                    return self._annotated(ast.parse(text, mode="eval").body)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return ()
            case ast.Constant(value=None):
                return (NONE,)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return _or_none((*self._annotated(left), *self._annotated(right)))
            case ast.Subscript(value=value, slice=index):
                outer = (dotted(value) or "").rpartition(".")[2]
                inner = index.elts if isinstance(index, ast.Tuple) else [index]
                match outer:
                    case "Optional":
                        return _or_none((*self._annotated(inner[0]), NONE))
                    case "Union":
                        return _or_none(tuple(value for each in inner for value in self._annotated(each)))
                    case "Literal":
                        return tuple(
                            Const(each.value)
                            if not isinstance(each.value, int) or isinstance(each.value, bool)
                            else Int(each.value, True)
                            for each in inner
                            if isinstance(each, ast.Constant)
                        )
                    case "list" | "List" | "tuple" | "Tuple" | "Sequence" | "Iterable":
                        return (Items((self._annotated(inner[0]) or UNKNOWN,), open=True),)
                    case "Annotated":
                        return self._annotated(inner[0])
                # As jaxtyping's Float[Tensor, "a b"].
                return self._annotated(inner[0]) if inner and (dotted(inner[0]) or "").endswith("Tensor") else ()
            case ast.Name() | ast.Attribute():
                name = (dotted(node) or "").rpartition(".")[2]
                if name in _ANNOTATED:
                    return (TensorValue(_ANNOTATED[name]),)
                if name.endswith("Tensor"):
                    return (TensorValue(),)
                return _PLAIN.get(name, ())
        return ()

    def attribute(self, owner: Instance | Class, name: str, depth: int) -> Alternatives:
        """An attribute of a class's objects: what its methods store, the class's own values, a method."""
        stored: list[Alternatives] = []
        methods = [scope for scope in owner.file.scopes if scope.owner is owner.node]
        for scope in methods:
            if scope.name == name:
                return (
                    Function(scope, (), ())
                    if _is_static(scope.node) or isinstance(owner, Class)
                    else Function(scope, ((owner,),)),
                )
        for scope in sorted(methods, key=lambda scope: scope.name not in ("__init__", "forward")):
            if scope.name in ("__init__", "forward", "setup_context") or not stored:
                reading = self.reading(scope, max(depth, 1)) if _stores(scope, name) else None
                if reading and name in reading.attributes:
                    stored.append(reading.attributes[name])
        for statement in owner.node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=id_)], value=value) if id_ == name:
                    stored.append(_HostRun(self, owner.file.scopes[0], depth).value(value))
                case ast.AnnAssign(target=ast.Name(id=id_), annotation=annotation, value=value_) if id_ == name:
                    default = _HostRun(self, owner.file.scopes[0], depth).value(value_) if value_ else ()
                    stored.append(_best((), self._annotated(annotation), (), default))
        return merged(*stored)

    def outside(self, file: ProjectFile, name: str, depth: int) -> Alternatives:
        """What a dotted name of a file stands for."""
        key = (file, name)
        if key not in self._globals:
            self._globals[key] = UNKNOWN
            self._globals[key] = self._located(self.project.lookup(file, name), name, depth)
        return self._globals[key]

    def _located(self, located: list[LocatedNode] | External | None, name: str, depth: int) -> Alternatives:
        if located is None:
            return (Foreign(f"builtins.{name}"),)
        if isinstance(located, External):
            return foreign(located.name)
        values: list[Alternatives] = []
        for each in located:
            match each.node:
                case Scope() as scope:
                    jitted = self.functions.at(scope)
                    values.append((Kernel(jitted) if jitted else Function(scope),))
                case ast.ClassDef() as node:
                    values.append((Class(each.file, node),))
                case ast.Constant(value=None):
                    continue  # What a function stores there later is not known.
                case ast.expr() as node:
                    values.append(_HostRun(self, each.file.scopes[0], depth).value(node))
        return merged(*values)


class _HostRun:
    """One run of a function: the names in it. ``inlined``: how many calls are read in one another."""

    def __init__(self, host: Host, scope: Scope, depth: int, inlined: int = 0, steps: list[int] | None = None) -> None:
        self.host, self.scope, self.depth, self.inlined = host, scope, depth, inlined
        self.names: dict[str, Alternatives] = {}
        self.reading = _Reading(self.names)
        self.steps = steps if steps is not None else [0]

    def run(self) -> None:
        self.block(self.scope.node.body)
        self.reading.names = self.names

    # Statements. Each returns whether what follows it in the block is reached.

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        return all(self.statement(statement) for statement in statements)

    def statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value)
                for target in targets:
                    self.bind(target, result)
                self.unpacked(targets[0], value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                if isinstance(target, ast.Name):
                    left = self.names.get(target.id, UNKNOWN)
                    self.bind(target, self.operation(left, op, self.value(value)))
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(test, body, orelse)
            case ast.For(target=target, iter=iterable, body=body):
                self.bind(target, each_of(self.value(iterable)))
                before = dict(self.names)
                self.block(body)
                self.names = _joined(self.names, before)
                self.block(node.orelse)
            case ast.While(test=test, body=body):
                self.value(test)
                before = dict(self.names)
                self.block(body)
                self.names = _joined(self.names, before)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    entered = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, entered)
                return self.block(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                reached = self.block(body) and self.block(orelse)
                after = self.names
                for handler in handlers:
                    self.names = dict(after)
                    if self.block(handler.body):
                        after = _joined(after, self.names)
                        reached = True
                self.names = after
                return self.block(final) and reached
            case ast.Return(value=value):
                if value is not None:
                    self.reading.returned.append(self.value(value))
                return False
            case ast.Raise() | ast.Continue() | ast.Break():
                return isinstance(node, ast.Continue | ast.Break)
            case ast.Expr(value=value):
                self.value(value)
                self.appended(value)
            case ast.Assert(test=test):
                self.refine(test, True)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for scope in self.scope.file.scopes:
                    if scope.node is node:
                        jitted = self.host.functions.at(scope)
                        self.names[node.name] = (Kernel(jitted) if jitted else Function(scope),)
            case ast.Match(cases=cases):
                for case_ in cases:
                    self.block(case_.body)
        return True

    def branch(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> bool:
        decided = self.value(test)
        before = dict(self.names)
        self.refine(test, True)
        reached = self.block(body)
        taken = self.names
        self.names = before
        self.refine(test, False)
        other_reached = self.block(orelse)
        other = self.names
        answer = certain(decided)
        likely = truth(decided[0]) is not False
        if not reached or not other_reached:
            self.names = taken if reached else other
            if answer is not None and (reached if answer else other_reached):
                self.names = taken if answer else other
                self.kernels(taken, other)
            return reached or other_reached
        if answer is not None:
            self.names = taken if answer else other
            self.kernels(taken, other)
        else:
            self.names = _joined(taken, other) if likely else _joined(other, taken)
        return True

    def kernels(self, *branches: dict[str, Alternatives]) -> None:
        """Keep the kernels of all branches: of a condition that always holds for the callers that were read, too."""
        for names in branches:
            for name, values in names.items():
                if name in self.names and any(isinstance(value, Kernel) for value in values):
                    self.names[name] = merged(self.names[name], values)

    def refine(self, test: ast.expr, holds: bool) -> None:
        """Drop alternatives that a condition rules out."""
        match test:
            case ast.BoolOp(op=ast.And(), values=values) if holds:
                for value in values:
                    self.refine(value, True)
            case ast.BoolOp(op=ast.Or(), values=values) if not holds:
                for value in values:
                    self.refine(value, False)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.refine(operand, not holds)
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]):
                is_none = isinstance(op, ast.Is | ast.Eq) == holds
                self.keep(name, lambda value: (value == NONE) == is_none, (NONE,) if is_none else ())
            case ast.Name(id=name):
                self.keep(name, lambda value: truth(value) is not (not holds), ())
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if holds:
                self.dimensions(left, right)

    def keep(self, name: str, holds: Callable[[Abstract], bool], fallback: Alternatives) -> None:
        values = self.names.get(name)
        if values:
            self.names[name] = tuple(value for value in values if holds(value)) or fallback or UNKNOWN

    def dimensions(self, left: ast.expr, right: ast.expr) -> None:
        """``assert x.dim() == 2`` and ``assert x.shape == (a, b)``."""
        match left:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="dim"))
                | ast.Attribute(value=ast.Name(id=name), attr="ndim")
            ):
                match self.value(right)[0]:
                    case Int(value=int(rank), exact=True) if rank <= 8:
                        self.resize(name, (Int(),) * rank)
            case ast.Attribute(value=ast.Name(id=name), attr="shape"):
                match self.value(right)[0]:
                    case Items(items=items, open=False):
                        self.resize(name, tuple(integer_of(item) for item in items))

    def resize(self, name: str, sizes: tuple[Int, ...]) -> None:
        values = self.names.get(name, UNKNOWN)
        self.names[name] = tuple(
            replace(value, sizes=sizes)
            if isinstance(value, TensorValue) and value.sizes in (None, (Int(),) * len(sizes))
            else value
            for value in values
        )

    def unpacked(self, target: ast.expr, value: ast.expr) -> None:
        """``B, T, H = x.shape``: the tensor has these dimensions."""
        match target, value:
            case ast.Tuple(elts=names), (
                ast.Attribute(value=ast.Name(id=tensor), attr="shape")
                | ast.Call(func=ast.Attribute(value=ast.Name(id=tensor), attr="size"), args=[])
            ) if all(isinstance(name, ast.Name) for name in names):
                sizes = [self.names.get(name.id, UNKNOWN) for name in names if isinstance(name, ast.Name)]
                self.resize(tensor, tuple(integer_of(size) for size in sizes))
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                for each, other in zip(names, values, strict=True):
                    self.unpacked(each, other)
            case ast.Tuple(elts=names), ast.Tuple(elts=[ast.Starred(value=first), *rest]):
                self.unpacked(ast.Tuple(names[: len(names) - len(rest)], ast.Store()), first)

    def bind(self, target: ast.expr, values: Alternatives) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = with_usual_size(values, name)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for index, each in enumerate(targets):
                    self.bind(each, merged(*(item_of(value, index, len(targets)) for value in values)))
            case ast.Starred(value=value):
                self.bind(value, UNKNOWN)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                if isinstance(self.names.get(owner, UNKNOWN)[0], Instance):
                    known = self.reading.attributes.get(name, ())
                    self.reading.attributes[name] = merged(known, values)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
                match self.names.get(name, UNKNOWN)[0]:
                    case Mapped(entries=entries):
                        kept = tuple(entry for entry in entries if entry[0] != key)
                        self.names[name] = (Mapped((*kept, (key, values))),)

    def appended(self, value: ast.expr) -> None:
        """``kwargs.update(…)`` and ``arguments.append(…)``."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="update"), args=arguments, keywords=words):
                match self.names.get(name, UNKNOWN)[0]:
                    case Mapped(entries=entries):
                        added = {word.arg: self.value(word.value) for word in words if word.arg}
                        for argument in arguments:
                            if isinstance(other := self.value(argument)[0], Mapped):
                                added.update(dict(other.entries))
                        self.names[name] = (Mapped(tuple({**dict(entries), **added}.items())),)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[argument]):
                match self.names.get(name, UNKNOWN)[0]:
                    case Items(items=items, open=False) if len(items) < 64:
                        self.names[name] = (Items((*items, self.value(argument))),)

    # Expressions

    def value(self, node: ast.expr) -> Alternatives:
        self.steps[0] += 1
        if self.steps[0] > _MOST_STEPS:
            return UNKNOWN
        match node:
            case ast.Name(id=name):
                return self.name(name)
            case ast.Constant(value=value):
                return (constant_value(value),)
            case ast.Attribute(value=value, attr=attr):
                return self.attribute(node, value, attr)
            case ast.Call():
                return self.call(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(self.value(left), op, self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return merged(unary_operation(op, value) for value in self.value(operand))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp(op=op, values=values):
                return self.boolean(op, [self.value(value) for value in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                decided = self.value(test)
                names = dict(self.names)
                self.refine(test, True)
                first = self.value(body)
                self.names = dict(names)
                self.refine(test, False)
                second = self.value(orelse)
                self.names = names
                answer = certain(decided)
                if answer is not None:
                    return first if answer else second
                return merged(first, second) if truth(decided[0]) is not False else merged(second, first)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return (self.items(elements),)
            case ast.Dict(keys=keys, values=values):
                entries: dict[Any, Alternatives] = {}
                for key, each in zip(keys, values, strict=True):
                    if key is None:
                        inner = self.value(each)[0]
                        entries.update(dict(inner.entries) if isinstance(inner, Mapped) else {})
                    else:
                        entries[key_of(self.value(key)[0])] = self.value(each)
                return (Mapped(tuple(entries.items())),)
            case ast.Subscript(value=value, slice=index):
                return self.subscript(self.value(value), index)
            case ast.Starred(value=value):
                return self.value(value)
            case ast.NamedExpr(target=target, value=value):
                result = self.value(value)
                self.bind(target, result)
                return result
            case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
                return self.comprehension(elt, generators)
            case ast.JoinedStr():
                return UNKNOWN
        return UNKNOWN

    def comprehension(self, elt: ast.expr, generators: list[ast.comprehension]) -> Alternatives:
        names = dict(self.names)
        match generators, self.value(generators[0].iter)[0]:
            case [ast.comprehension(target=target)], Items(items=items, open=False) if len(items) <= 16:
                values = []
                for item in items:
                    self.bind(target, item)
                    values.append(self.value(elt))
                self.names = names
                return (Items(tuple(values)),)
        for generator in generators:
            self.bind(generator.target, each_of(self.value(generator.iter)))
        value = self.value(elt)
        self.names = names
        return (Items((value,), open=True),)

    def items(self, elements: list[ast.expr]) -> Items:
        values: list[Alternatives] = []
        for element in elements:
            result = self.value(element)
            if not isinstance(element, ast.Starred):
                values.append(result)
                continue
            match result[0]:
                case Items(items=items, open=False):
                    values += items
                case _:
                    return Items((merged(*values, each_of(result)),), open=True)
        return Items(tuple(values))

    def name(self, name: str) -> Alternatives:
        if name in self.names:
            return self.names[name]
        outer = self.scope.outer
        while outer is not None and not isinstance(outer.node, ast.Module):
            names = self.host.reading(outer, self.depth).names
            if name in names:
                return names[name]
            outer = outer.outer
        return self.host.outside(self.scope.file, name, self.depth)

    def attribute(self, node: ast.Attribute, value: ast.expr, attr: str) -> Alternatives:
        full = dotted(node)
        if full is not None and full.partition(".")[0] not in self.names:
            located = self.host.project.lookup(self.scope.file, full)
            if located:
                return self.host.outside(self.scope.file, full, self.depth)
        return merged(*(self.attribute_of(each, attr) for each in self.value(value)))

    def attribute_of(self, value: Abstract, attr: str) -> Alternatives:
        match value:
            case TensorValue(dtype=dtype, sizes=sizes):
                if attr == "shape":
                    return (shape_of(value),)
                if attr == "dtype":
                    return (Dtype(dtype),)
                if attr == "ndim":
                    return (Int(len(sizes), True) if sizes is not None else Int(),)
                if attr in _TRANSPOSED:
                    return (transposed(value),)
                if attr in ("data", "grad", "real"):
                    return (value,)
                if attr == "is_cuda":
                    return (TRUE,)
            case Instance() | Class():
                return self.host.attribute(value, attr, self.depth)
            case Foreign(name=name):
                return foreign(f"{name}.{attr}")
            case Int() | Float() | Const() if attr == "value":
                return (value,)
            case Dtype(name=str(name)) if attr == "itemsize":
                return (Int(int("".join(filter(str.isdigit, name)) or 8) // 8, True),)
        return UNKNOWN

    def subscript(self, values: Alternatives, index: ast.expr) -> Alternatives:
        at = UNKNOWN if isinstance(index, ast.Slice) else self.value(index)
        results = []
        for value in values:
            match value:
                case Items(items=items, open=open_):
                    number = at[0].value if isinstance(at[0], Int) and at[0].exact else None
                    if isinstance(index, ast.Slice):
                        results.append(sliced(value, index))
                    elif number is not None and (open_ or -len(items) <= number < len(items)):
                        results.append(items[0] if open_ else items[number])
                    else:
                        results.append(merged(*items))
                case Mapped(entries=entries):
                    results.append(entry_at(entries, at[0]))
                case TensorValue():
                    results.append((replace(value, sizes=None),))
        return merged(*results)

    def operation(self, left: Alternatives, op: ast.operator, right: Alternatives) -> Alternatives:
        pairs = [
            (left[0], right[0]),
            *((each, right[0]) for each in left[1:]),
            *((left[0], each) for each in right[1:]),
        ]
        return merged(operation(one, op, other) for one, other in pairs[:MOST_ALTERNATIVES])

    def compare(self, node: ast.Compare) -> Alternatives:
        if len(node.ops) > 1:
            return UNKNOWN
        op, left, right = node.ops[0], self.value(node.left), self.value(node.comparators[0])
        answers: list[Abstract] = []
        for one in left:
            for other in right:
                answers += comparison(one, op, other)
        return merged(answers)

    def boolean(self, op: ast.boolop, values: list[Alternatives]) -> Alternatives:
        """``a and b``: the first that decides it."""
        stops = isinstance(op, ast.Or)
        results: list[Alternatives] = []
        for value in values:
            answer = certain(value)
            if answer is None or answer is stops or value is values[-1]:
                results.append(value)
            if answer is stops:
                break
        truths = [truth(value[0]) for value in results]
        # As a run with the likeliest values would go on.
        chosen = next((index for index, answer in enumerate(truths) if answer is stops), len(results) - 1)
        return merged(results[chosen], *results) if results else UNKNOWN

    # Calls

    def arguments(self, node: ast.Call) -> tuple[list[Alternatives], dict[str, Alternatives], bool]:
        """The arguments by position and by name; and whether all of them are there."""
        positional: list[Alternatives] = []
        words: dict[str, Alternatives] = {}
        whole = True
        for argument in node.args:
            value = self.value(argument)
            if not isinstance(argument, ast.Starred):
                if whole:
                    positional.append(value)
                continue
            match next((each for each in value if isinstance(each, Items)), None):
                case Items(items=items, open=False):
                    if whole:
                        positional += items
                case _:
                    whole = False
        for word in node.keywords:
            value = self.value(word.value)
            if word.arg:
                words[word.arg] = value
            else:
                for each in value[:1]:
                    words.update({str(key): item for key, item in each.entries} if isinstance(each, Mapped) else {})
        return positional, words, whole

    def call(self, node: ast.Call) -> Alternatives:
        if isinstance(node.func, ast.Subscript):
            launched = self.value(node.func.value)
            if any(isinstance(value, Kernel) for value in launched):
                self.launch(node, launched)
                return UNKNOWN
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value)
            if node.func.attr in ("run", "warmup") and any(isinstance(value, Kernel) for value in base):
                self.launch(node, base)
                return UNKNOWN
            method = self.method(node, node.func, base)
            if method is not None:
                return method
        positional, words, _ = self.arguments(node)
        self.reading.calls[id(node)] = (positional, words)
        results = []
        for callee in self.value(node.func):
            results.append(self.applied(node, callee, positional, words))
        return merged(*results)

    def launch(self, node: ast.Call, kernels: Alternatives) -> None:
        if len(kernels) > 1 and not self.inlined and self.is_parameter(node.func):
            return  # Which arguments belong to which kernel is seen where the function is called.
        positional, words, _ = self.arguments(node)
        words.pop("grid", None)
        words.pop("warmup", None)
        for value in kernels:
            if isinstance(value, Kernel):
                names = [argument.arg for argument in value.jitted.arguments]
                bound = dict(zip(names, positional, strict=False))
                bound.update((name, each) for name, each in words.items() if name in names)
                options = {name: each for name, each in words.items() if name not in names}
                self.reading.launches.append(Launch(value.jitted, self.scope, node, bound, options))

    def is_parameter(self, node: ast.expr) -> bool:
        """Whether what a launch begins with is a parameter of the function."""
        name = (dotted(node.value) if isinstance(node, ast.Subscript | ast.Attribute) else None) or ""
        scope = self.scope.node
        return not isinstance(scope, ast.Module) and any(name == argument.arg for argument in scope.args.args)

    def applied(
        self, node: ast.Call, callee: Abstract, positional: list[Alternatives], words: dict[str, Alternatives]
    ) -> Alternatives:
        match callee:
            case Function(scope=scope, bound=bound, words=preset):
                return self.function(scope, [*bound, *positional], {**dict(preset), **words})
            case Class(file=file, node=class_):
                return (Instance(file, class_),)
            case Foreign(name=name):
                return self.foreign(node, name, positional, words)
            case Instance():
                method = self.host.attribute(callee, "forward", self.depth)
                if isinstance(method[0], Function):
                    return self.applied(node, method[0], positional, words)
        return passed_on(positional)

    def function(self, scope: Scope, positional: list[Alternatives], words: dict[str, Alternatives]) -> Alternatives:
        """What a function of the project returns."""
        if self.host.functions.at(scope) is not None:
            return UNKNOWN
        has_kernel = any(isinstance(value, Kernel) for values in positional for value in values)
        small = scope.statements <= _MOST_STATEMENTS or has_kernel
        if not small or self.inlined >= _INLINED or self.steps[0] > _MOST_STEPS:
            if self.depth > _CALLERS or self.inlined:
                return UNKNOWN
            return merged(*self.host.reading(scope, _CALLERS).returned)
        key = (scope, tuple(positional), tuple(words.items()), self.inlined)
        reading = self.host.inlined.get(key)
        if reading is None:
            reading = self.host.inlined[key] = self.inline(scope, positional, words)
        if has_kernel:
            self.reading.launches += reading.launches
        return merged(*reading.returned)

    def inline(self, scope: Scope, positional: list[Alternatives], words: dict[str, Alternatives]) -> _Reading:
        """Read a function with the values of its arguments."""
        frame = _HostRun(self.host, scope, self.depth, self.inlined + 1, self.steps)
        bound = _bound(scope.node, positional, words, 0)
        assert not isinstance(scope.node, ast.Module)
        defaults = _defaults(scope.node.args)
        for argument in [*scope.node.args.posonlyargs, *scope.node.args.args, *scope.node.args.kwonlyargs]:
            name = argument.arg
            value = bound.get(name, UNKNOWN)
            if value == UNKNOWN and name in defaults and name not in bound:
                value = frame.value(defaults[name])
            if value == UNKNOWN:
                value = self.host._annotated(argument.annotation) or UNKNOWN
            frame.names[name] = with_usual_size(value, name)
        for variadic in (scope.node.args.vararg, scope.node.args.kwarg):
            if variadic is not None:
                frame.names[variadic.arg] = bound.get(variadic.arg, UNKNOWN)
        frame.run()
        return frame.reading

    def method(self, node: ast.Call, func: ast.Attribute, base: Alternatives) -> Alternatives | None:
        """The result of a method of a tensor, a dictionary, a context; None for other calls."""
        name = func.attr
        results: list[Alternatives] = []
        for value in base:
            match value:
                case TensorValue():
                    results.append(self.tensor_method(node, func, value))
                case Mapped(entries=entries) if name == "get" and node.args:
                    default = self.value(node.args[1]) if len(node.args) > 1 else (NONE,)
                    results.append(merged(entry_at(entries, self.value(node.args[0])[0]), default))
                case Mapped(entries=entries) if name == "values":
                    results.append((Items(tuple(each for _, each in entries)),))
                case Instance() if name == "save_for_backward":
                    self.reading.attributes["saved_tensors"] = (self.items(node.args),)
                    results.append(UNKNOWN)
                case Class() if name == "apply":
                    results.append(self.apply(node, value))
        if not results:
            return None
        return merged(*results)

    def apply(self, node: ast.Call, owner: Class) -> Alternatives:
        positional, words, _ = self.arguments(node)
        self.reading.calls[id(node)] = (positional, words)
        for scope in owner.file.scopes:
            if scope.owner is owner.node and scope.name == "forward":
                return self.function(scope, [(Instance(owner.file, owner.node),), *positional], words)
        return UNKNOWN

    def tensor_method(self, node: ast.Call, func: ast.Attribute, tensor: TensorValue) -> Alternatives:
        name = func.attr
        positional, words, _ = self.arguments(node)
        match name:
            case "stride":
                return self.stride(func, tensor, positional)
            case "size" if positional:
                return self.subscript((shape_of(tensor),), node.args[0])
            case "size":
                return (shape_of(tensor),)
            case "dim" | "ndimension":
                return (Int(tensor.rank, True) if tensor.rank is not None else Int(),)
            case "numel" | "nelement":
                return (product_of(tensor.sizes),)
            case "element_size":
                return (Int(),)
            case "data_ptr":
                return (Int(),)
            case "item":
                return (Float(),) if tensor.dtype in ("fp16", "bf16", "fp32", "fp64") else (Int(), Float())
            case "tolist" | "is_contiguous" | "get_device" | "all" | "any" | "equal":
                return UNKNOWN
            case "to" | "type" | "astype":
                for value in [*positional, *words.values()]:
                    match value[0]:
                        case Dtype(name=dtype):
                            return merged(replace(tensor, dtype=each.name) for each in value if isinstance(each, Dtype))
                        case TensorValue(dtype=dtype):
                            return (replace(tensor, dtype=dtype),)
                return (tensor,)
            case "view" if positional and isinstance(positional[0][0], Dtype):
                return (replace(tensor, dtype=positional[0][0].name),)
            case "new_empty" | "new_zeros" | "new_ones" | "new_full" | "new_tensor":
                sizes = stated_sizes(positional[:1] if name == "new_full" else positional, words)
                return (TensorValue(stated_dtype(words, tensor.dtype), sizes),)
            case "chunk" | "split" | "unbind" | "tensor_split":
                return (Items(((replace(tensor, sizes=tensor.sizes if name != "unbind" else None),),), open=True),)
            case "view" | "reshape":
                return (TensorValue(tensor.dtype, stated_sizes(positional, words)),)
            case "sort" | "topk" | "kthvalue":
                return (Items(((TensorValue(tensor.dtype),), (TensorValue("i64"),))),)
        if name in _CASTS:
            return (replace(tensor, dtype=_CASTS[name]),)
        if name in _TRANSPOSED:
            return (transposed(tensor),)
        if name in _INDICES:
            return (TensorValue("i64"),)
        if name in _RESHAPED:
            if name in ("max", "min") and (positional or "dim" in words):
                return (Items(((TensorValue(tensor.dtype),), (TensorValue("i64"),))),)
            return (TensorValue(stated_dtype(words, tensor.dtype)),)
        if name in _SAME_TENSOR:
            return (replace(tensor, transposed=tensor.transposed and name != "contiguous"),)
        return (TensorValue(tensor.dtype),)

    def stride(self, func: ast.Attribute, tensor: TensorValue, positional: list[Alternatives]) -> Alternatives:
        name = ast.unparse(func.value)
        if not positional:
            if tensor.rank is None:
                return UNKNOWN
            return (Items(tuple((Int(stride=name, inner=index == tensor.rank - 1),) for index in range(tensor.rank))),)
        match positional[0][0]:
            case Int(value=int(index), exact=True):
                pass
            case _:
                return (Int(stride=name),)
        outer, inner = Int(stride=name), Int(1, stride=name, inner=True)
        last = self.scope.last_strides.get(name, 0)
        if tensor.transposed:
            return (outer, inner)
        if index == -1 or (tensor.rank is not None and index == tensor.rank - 1):
            return (inner,)
        if index < 0 or tensor.rank is not None:
            return (outer,)
        # How many dimensions it has is not known: strides are asked for up to the last.
        return (inner, outer) if index == last and index > 0 else (outer,)

    def foreign(
        self, node: ast.Call, name: str, positional: list[Alternatives], words: dict[str, Alternatives]
    ) -> Alternatives:
        """What a function of another project returns."""
        last = name.rpartition(".")[2]
        first = positional[0] if positional else UNKNOWN
        if name.startswith("builtins."):
            return self.builtin(last, positional, words)
        if any(isinstance(value, Kernel) for value in first) and last != "partial":
            return tuple(value for value in first if isinstance(value, Kernel))
        if last == "partial":
            return merged(
                (
                    replace(each, bound=(*each.bound, *positional[1:]), words=(*each.words, *words.items()))
                    if isinstance(each, Function)
                    else each
                )
                for each in first
            )
        if last == "TensorDescriptor" or name.endswith("TensorDescriptor.from_tensor"):
            block = words.get(
                "block_shape",
                positional[1]
                if last == "from_tensor" and len(positional) > 1
                else positional[3]
                if len(positional) > 3
                else UNKNOWN,
            )
            tensor = next(
                (each for each in words.get("base", words.get("tensor", first)) if isinstance(each, TensorValue)),
                TensorValue(),
            )
            return (
                Descriptor(
                    tensor,
                    tuple(integer_of(item) for item in block[0].items)
                    if isinstance(block[0], Items) and not block[0].open
                    else None,
                ),
            )
        if last in (
            "cdiv",
            "next_power_of_2",
            "ceil",
            "floor",
            "sqrt",
            "log2",
            "prod",
            "gcd",
            "ceil_div",
            "log",
            "exp",
        ):
            return computed(last, positional)
        if last == "constexpr":
            return first
        if last in ("Parameter", "Buffer") and isinstance(first[0], TensorValue):
            # A module's own tensors get the type of the model that it is part of.
            return (TensorValue(None, first[0].sizes),)
        if name.startswith("torch."):
            return self.torch(name, last, positional, words)
        if name.startswith(("dataclasses.", "typing.", "os.", "sys.", "warnings.", "logging.", "functools.")):
            return UNKNOWN
        return passed_on(positional)

    def torch(
        self, name: str, last: str, positional: list[Alternatives], words: dict[str, Alternatives]
    ) -> Alternatives:
        first = positional[0][0] if positional else Unknown()
        if last.endswith("_like") and isinstance(first, TensorValue):
            return (replace(first, dtype=stated_dtype(words, first.dtype), transposed=False),)
        if last in _NEW and name.count(".") == 1:
            default = "i64" if last == "randint" or (last == "arange" and not any_float(positional)) else "fp32"
            if last in ("tensor", "as_tensor", "full"):
                default = "fp32" if any_float(positional) else "i64"
                filled = positional[-1] if positional else ()
                if any(isinstance(value, Const) and isinstance(value.value, bool) for value in filled):
                    default = "i1"
            if last in ("full", "empty_strided"):
                sizes = stated_sizes(positional[:1], words)
            elif last == "randint":
                sizes = stated_sizes([words.get("size", positional[-1] if positional else UNKNOWN)], {})
            else:
                line = last in ("arange", "tensor", "as_tensor", "linspace")
                sizes = (Int(),) if line else stated_sizes(positional, words)
            if isinstance(first, TensorValue):
                return (first,)
            return (TensorValue(stated_dtype(words, default), sizes),)
        if last in ("finfo", "iinfo", "device", "no_grad", "is_tensor", "is_floating_point"):
            return UNKNOWN
        if name.startswith(("torch.cuda", "torch.version", "torch.library", "torch.compiler", "torch.distributed")):
            return UNKNOWN if not isinstance(first, TensorValue) else (first,)
        if last in ("sort", "topk", "unique_consecutive") and isinstance(first, TensorValue):
            return (Items(((TensorValue(first.dtype),), (TensorValue("i64"),))),)
        if last in _INDICES:
            return (TensorValue("i64"),)
        tensors = [value for values in positional for value in values[:1] if isinstance(value, TensorValue)]
        for values in positional[:1]:
            if isinstance(values[0], Items):
                tensors += [value for item in values[0].items for value in item[:1] if isinstance(value, TensorValue)]
        if not tensors:
            return UNKNOWN
        if last in ("cat", "stack", "where", "matmul", "mm", "einsum") or last in _RESHAPED:
            return (TensorValue(stated_dtype(words, tensors[0].dtype)),)
        return (replace(tensors[0], dtype=stated_dtype(words, tensors[0].dtype)),)

    def builtin(self, last: str, positional: list[Alternatives], words: dict[str, Alternatives]) -> Alternatives:
        first = positional[0] if positional else UNKNOWN
        match last:
            case "len":
                match first[0]:
                    case Items(items=items, open=False):
                        return (Int(len(items), True),)
                return (Int(),)
            case "min" | "max":
                if len(positional) == 1 and isinstance(first[0], Items):
                    positional = list(first[0].items)
                return computed(last, positional)
            case "int" | "float" | "bool" | "abs" | "round":
                return merged(converted(last, value) for value in first)
            case "sum":
                return (Int(),)
            case "tuple" | "list":
                return first if isinstance(first[0], Items) else UNKNOWN
            case "dict":
                return (Mapped(tuple(words.items())),)
            case "range":
                match first[0] if len(positional) == 1 else None:
                    case Int(value=int(count), exact=True) if count <= 16:
                        return (Items(tuple((Int(index, True),) for index in range(count))),)
                return (Items(((Int(),),), open=True),)
            case "getattr":
                match positional[1][0] if len(positional) > 1 else None:
                    case Const(value=str(attr)):
                        found = merged(*(self.attribute_of(value, attr) for value in first))
                        return merged(found, positional[2]) if len(positional) > 2 else found
            case "isinstance" if len(positional) == 2:
                return merged(is_instance(value, positional[1][0]) for value in first)
            case "zip":
                return (Items(((Items(tuple(each_of(each) for each in positional)),),), open=True),)
            case "enumerate":
                return (Items(((Items(((Int(),), each_of(first))),),), open=True),)
            case "reversed" | "sorted" | "iter" | "next":
                return first
        return UNKNOWN


# Functions and their arguments


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    words = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {argument.arg: default for argument, default in [*pairs, *words] if default is not None}


def _bound(
    node: ast.AST, positional: list[Alternatives], words: Mapping[str, Alternatives], first: int
) -> dict[str, Alternatives]:
    """Arguments by parameter; the first parameters are left out that a call does not state (``self``)."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    names = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]][first:]
    known = {*names, *(argument.arg for argument in node.args.kwonlyargs)}
    bound = dict(zip(names, positional, strict=False))
    bound.update((name, value) for name, value in words.items() if name in known)
    if node.args.vararg:
        bound[node.args.vararg.arg] = (Items(tuple(positional[len(names) :])),)
    if node.args.kwarg:
        rest = tuple((name, value) for name, value in words.items() if name not in known)
        bound[node.args.kwarg.arg] = (Mapped(rest),)
    return bound


def _best(
    callers: Alternatives, annotated: Alternatives, own: Alternatives, default: Iterable[Abstract]
) -> Alternatives:
    """The values of a parameter: what callers pass first; None after what is not None."""
    default = tuple(default)
    callers = tuple(value for value in callers if _agrees(value, annotated))
    tensor = any(isinstance(value, TensorValue) for value in (*callers, *annotated, *own))
    if tensor:
        default = tuple(value for value in default if value == NONE)
    values = merged(callers, default if default != (NONE,) else (), annotated, own, default)
    if any(isinstance(value, Int) and value.exact for value in values):
        values = tuple(value for value in values if not isinstance(value, Int) or value.value is not None)
    if any(isinstance(value, Float) and value.exact for value in values):
        values = tuple(value for value in values if not isinstance(value, Float) or value.value is not None)
    return _or_none(values)


def _agrees(value: Abstract, annotated: Alternatives) -> bool:
    """Whether a value is of a kind that an annotation allows."""
    kinds = {type(each) for each in annotated if each != NONE}
    if not kinds or value == NONE or not isinstance(value, TensorValue | Int | Float | Const):
        return True
    return type(value) in kinds or (isinstance(value, Int) and Float in kinds)


def _or_none(values: Alternatives) -> Alternatives:
    return (*(value for value in values if value != NONE), *((NONE,) if NONE in values else ()))


def _joined(first: dict[str, Alternatives], second: dict[str, Alternatives]) -> dict[str, Alternatives]:
    if first is second:
        return first
    joined = dict(first)
    for name, values in second.items():
        if name not in joined:
            joined[name] = values
        elif joined[name] != values:
            joined[name] = merged(joined[name], values)
    return joined


def _is_static(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(dotted(each) == "staticmethod" for each in node.decorator_list)


def _is_class_method(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(dotted(each) == "classmethod" for each in node.decorator_list)


def _tensors(scope: Scope) -> set[str]:
    """Names that a function uses as tensors."""
    return {
        node.value.id for node in scope.attributes if isinstance(node.value, ast.Name) and node.attr in _TENSOR_USES
    }


def _stores(scope: Scope, name: str) -> bool:
    """Whether a function stores an attribute of that name."""
    if name == "saved_tensors":
        return any(node.attr == "save_for_backward" for node in scope.attributes)
    return name in scope.stored
