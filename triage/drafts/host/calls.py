"""Evaluation of calls: launches, functions of the project read with their arguments, methods."""

from __future__ import annotations

import ast
from abc import abstractmethod

from triage.drafts.host import library_calls, torch_calls
from triage.drafts.host.annotations import annotated
from triage.drafts.host.containers import entry_at
from triage.drafts.host.expressions import HostExpressions
from triage.drafts.host.frame import FOLLOWED_CALLERS, MOST_STEPS, FunctionReading, Launch
from triage.drafts.host.operations import passed_on, with_usual_size
from triage.drafts.host.parameters import bound_arguments, parameter_defaults
from triage.drafts.host.tensors import shape_of
from triage.drafts.host.values import (
    NONE,
    UNKNOWN,
    Abstract,
    Alternatives,
    Class,
    Foreign,
    Function,
    Instance,
    Items,
    KernelValue,
    Mapped,
    TensorValue,
    merged,
)
from triage.drafts.jitted import dotted
from triage.drafts.project_file import Scope

_INLINED = 3
"""Calls in one another that are read with the values of their arguments."""
_MOST_STATEMENTS = 60
"""Statements of a function that is read for each call of it; a larger one is read once."""


class HostCalls(HostExpressions):
    """Evaluates calls, and collects the launches among them."""

    @abstractmethod
    def run(self) -> None:
        """Read the body of the function."""

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
            if any(isinstance(value, KernelValue) for value in launched):
                self.launch(node, launched)
                return UNKNOWN
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value)
            if node.func.attr in ("run", "warmup") and any(isinstance(value, KernelValue) for value in base):
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
            if isinstance(value, KernelValue):
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
                return library_calls.result(name, positional, words, self.attribute_of)
            case Instance():
                method = self.host.attribute(callee, "forward", self.depth)
                if isinstance(method[0], Function):
                    return self.applied(node, method[0], positional, words)
        return passed_on(positional)

    def function(self, scope: Scope, positional: list[Alternatives], words: dict[str, Alternatives]) -> Alternatives:
        """What a function of the project returns."""
        if self.host.functions.at(scope) is not None:
            return UNKNOWN
        has_kernel = any(isinstance(value, KernelValue) for values in positional for value in values)
        small = scope.statements <= _MOST_STATEMENTS or has_kernel
        if not small or self.inlined >= _INLINED or self.steps[0] > MOST_STEPS:
            if self.depth > FOLLOWED_CALLERS or self.inlined:
                return UNKNOWN
            return merged(*self.host.reading(scope, FOLLOWED_CALLERS).returned)
        key = (scope, tuple(positional), tuple(words.items()), self.inlined)
        reading = self.host.inlined.get(key)
        if reading is None:
            reading = self.host.inlined[key] = self.inline(scope, positional, words)
        if has_kernel:
            self.reading.launches += reading.launches
        return merged(*reading.returned)

    def inline(self, scope: Scope, positional: list[Alternatives], words: dict[str, Alternatives]) -> FunctionReading:
        """Read a function with the values of its arguments."""
        frame = type(self)(self.host, scope, self.depth, self.inlined + 1, self.steps)
        bound = bound_arguments(scope.node, positional, words, 0)
        assert not isinstance(scope.node, ast.Module)
        defaults = parameter_defaults(scope.node.args)
        for argument in [*scope.node.args.posonlyargs, *scope.node.args.args, *scope.node.args.kwonlyargs]:
            name = argument.arg
            value = bound.get(name, UNKNOWN)
            if value == UNKNOWN and name in defaults and name not in bound:
                value = frame.value(defaults[name])
            if value == UNKNOWN:
                value = annotated(argument.annotation) or UNKNOWN
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
        positional, words, _ = self.arguments(node)
        match func.attr:
            case "stride":
                name = ast.unparse(func.value)
                return torch_calls.strides(name, tensor, positional, self.scope.last_strides.get(name, 0))
            case "size" if positional:
                return self.subscript((shape_of(tensor),), node.args[0])
        return torch_calls.method_result(func.attr, tensor, positional, words)
