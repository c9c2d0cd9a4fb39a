"""Evaluation of calls: functions and classes of the project, and models of others. A call of a host function is noted
as a launch."""

from __future__ import annotations

import ast
import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from triage.drafts.cute import dsl_calls, python_calls, torch_calls
from triage.drafts.cute.expressions import Raised
from triage.drafts.cute.statements import Statements
from triage.drafts.cute.symbols import Symbol
from triage.drafts.cute.values import (
    UNKNOWN,
    ArgumentParser,
    BoundMethod,
    ClassValue,
    CompiledHost,
    CuteTensor,
    ElementType,
    ForeignMethod,
    FunctionValue,
    NameScope,
    Namespace,
    ObjectValue,
    Partial,
    TorchDtype,
    TorchTensor,
)
from triage.drafts.host.values import Foreign, Unknown
from triage.model.target import Target

_MOST_COMBINATIONS = 64
"""Of an autotuner's lists; tables that people write have fewer."""
_MOST_DEPTH = 24
"""Calls in one another."""


class Calls(Statements):
    """``target``: what the properties of the GPU are taken from."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
        self.depth = 0
        self.entered: set[ast.AST] = set()
        """Definitions of the functions that were run."""
        self.inside_device = False
        """Whether functions of the DSL are run, and not noted as launches."""
        self.following = False
        """Whether, while they are run, calls of objects that are passed to them are noted."""
        self.launched_kernels = 0
        """Launches of kernels in functions of the DSL that were run."""

    @abstractmethod
    def launch(
        self, callee: Any, positional: Sequence[Any], words: Mapping[str, Any], node: ast.Call, frame: NameScope
    ) -> None:
        """Note a launch."""

    def call(self, node: ast.Call, frame: NameScope) -> Any:
        callee = self.value(node.func, frame)
        positional = self.elements(node.args, frame)
        words: dict[str, Any] = {}
        for word in node.keywords:
            value = self.value(word.value, frame)
            if word.arg is not None:
                words[word.arg] = value
            elif isinstance(value, dict):
                words.update({key: each for key, each in value.items() if isinstance(key, str)})
        if not self.inside_device:
            if isinstance(callee, Foreign) and callee.root == "cutlass" and callee.last == "compile":
                if positional:
                    words.pop("options", None)
                    self.launch(positional[0], positional[1:], words, node, frame)
                return CompiledHost()
            if self.is_host(callee):
                self.launch(callee, positional, words, node, frame)
                return UNKNOWN
        elif isinstance(callee, ObjectValue) and self.following and self.is_host(callee):
            self.launch(callee, positional, words, node, frame)
            return UNKNOWN
        elif isinstance(node.func, ast.Attribute) and isinstance(callee, Unknown):
            self.launched_kernels += node.func.attr == "launch"
            self.record(node.func.attr, positional, words)
        self.where = f"{frame.module.path.name}:{node.lineno}"
        return self.invoke(callee, positional, words)

    where = ""

    def is_host(self, callee: Any) -> bool:
        """Whether a call of a value is a launch."""
        match callee:
            case FunctionValue(device=device):
                return bool(device)
            case BoundMethod(function=FunctionValue(device=device)):
                return bool(device)
            case ObjectValue(cls=cls):
                method = cls.find("__call__")
                return isinstance(method, FunctionValue) and bool(method.device)
            case Partial(function=function):
                return self.is_host(function)
        return False

    def invoke(self, function: Any, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
        match function:
            case FunctionValue():
                return self.run_function(function, positional, words)
            case BoundMethod(function=method, owner=owner):
                return self.run_function(method, (owner, *positional), words)
            case ClassValue():
                return self.construct(function, positional, words)
            case ObjectValue():
                method = function.cls.find("__call__") or function.cls.find("forward")
                return self.run_function(method, (function, *positional), words) if method is not None else UNKNOWN
            case Partial(function=inner, positional=first, words=preset):
                return self.invoke(inner, (*first, *positional), {**preset, **words})
            case ForeignMethod(owner=owner, name=name):
                return self.method(owner, name, positional, words)
            case ElementType():
                return dsl_calls.typed(function, positional)
            case TorchDtype():
                return positional[0] if positional else UNKNOWN
            case Foreign(name=name):
                return self.foreign_call(name, positional, words)
            case Symbol():
                function.facts.called = True
        return UNKNOWN

    def foreign_call(self, name: str, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
        self.record(name, positional, words)
        root, last = name.partition(".")[0], name.rpartition(".")[2]
        if name in ("functools.partial", "builtins.getattr"):
            if not positional:
                return UNKNOWN
            if last == "partial":
                return Partial(positional[0], tuple(positional[1:]), dict(words))
            return self.attribute(positional[0], positional[1]) if isinstance(positional[1], str) else UNKNOWN
        if name == "builtins.setattr" and len(positional) == 3 and isinstance(positional[1], str):
            self.store(positional[0], positional[1], positional[2])
            return None
        if name in ("builtins.hasattr", "builtins.callable"):
            return self._has(positional)
        if last == "tune" and positional and isinstance(words.get("params_dict"), dict):
            return self.tuned(positional[0], words["params_dict"], words.get("kernel_arguments"))
        if last == "JitArguments":
            return Namespace({"positional": tuple(positional), "words": dict(words)})
        if root in torch_calls.ROOTS:
            return torch_calls.function(name, positional, words, self.target, self.where)
        if root in ("cutlass", "cuda"):
            if last == "const_expr":
                return positional[0] if positional else UNKNOWN
            return dsl_calls.function(name, positional, words, self.target, self.where)
        try:
            return python_calls.function(name, positional, words, self.invoke)
        except python_calls.Ends:
            raise Raised from None

    def tuned(self, function: Any, lists: Mapping[str, Any], arguments: Any) -> Any:
        """``testing.tune``: the first combination for which a function does not raise, after all were tried."""
        known = arguments.attributes if isinstance(arguments, Namespace) else {"positional": (), "words": {}}
        accepted: list[dict[str, Any]] = []
        self.handlers += 1
        for row in combinations(lists):
            with suppress(Raised):
                self.invoke(function, known["positional"], {**known["words"], **row})
                accepted.append(row)
        self.handlers -= 1
        return accepted[0] if accepted else UNKNOWN

    def _has(self, positional: Sequence[Any]) -> Any:
        if len(positional) != 2 or not isinstance(positional[0], ObjectValue):
            return UNKNOWN
        owner, name = positional
        return name in owner.attributes or owner.cls.find(name) is not None

    def method(self, owner: Any, name: str, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
        match owner:
            case TorchTensor():
                return torch_calls.method(owner, name, positional, words)
            case CuteTensor():
                return dsl_calls.method(owner, name, positional, words)
            case ElementType():
                return dsl_calls.dtype_method(owner, name, positional)
            case ArgumentParser():
                try:
                    return python_calls.parser_method(owner, name, positional, words, self.invoke)
                except python_calls.Ends:
                    raise Raised from None
            case BoundMethod() | FunctionValue() if name in ("compile", "__wrapped__"):
                return UNKNOWN
        return python_calls.method(owner, name, positional, words)

    def run_function(self, function: FunctionValue, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
        """What a function of the project returns."""
        if function.device and not self.inside_device:
            return UNKNOWN
        if self.depth >= _MOST_DEPTH:
            return UNKNOWN
        frame = NameScope(function.module, self.bound(function, positional, words), function.frame)
        self.depth += 1
        self.entered.add(function.node)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.value(function.node.body, frame)
            if _yields(function.node):
                frame.yielded = []
                self.body(function.node.body, frame)
                return frame.yielded
            return self.body(function.node.body, frame)
        finally:
            self.depth -= 1

    def bound(self, function: FunctionValue, positional: Sequence[Any], words: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by parameter."""
        arguments = function.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        known = {argument.arg for argument in function.parameters}
        bound: dict[str, Any] = dict(function.defaults)
        bound.update(zip(names, positional, strict=False))
        bound.update({name: value for name, value in words.items() if name in known})
        if arguments.vararg is not None:
            bound[arguments.vararg.arg] = tuple(positional[len(names) :])
        if arguments.kwarg is not None:
            bound[arguments.kwarg.arg] = {name: value for name, value in words.items() if name not in known}
        for name in known:
            if name not in bound:
                bound[name] = self.missing(function, name)
        return bound

    def missing(self, function: FunctionValue, name: str) -> Any:
        """The value of a parameter that a call does not state."""
        return UNKNOWN

    def construct(self, cls: ClassValue, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
        """An object of a class of the project."""
        instance = ObjectValue(cls)
        if cls.enumeration and len(positional) == 1:
            members = [each for each in cls.names.values() if isinstance(each, ObjectValue)]
            return next((each for each in members if each.attributes.get("value") == positional[0]), UNKNOWN)
        constructor = cls.find("__init__")
        if isinstance(constructor, FunctionValue):
            bound = self.bound(constructor, (instance, *positional), words)
            instance.arguments = {name: value for name, value in bound.items() if value is not instance}
            with suppress(Raised):  # An object that cannot be made is what the compile will show.
                self.run_function(constructor, (instance, *positional), words)
            return instance
        fields = _fields(cls)
        if fields is not None:
            values = {**fields, **dict(zip(fields, positional, strict=False)), **words}
            instance.arguments = dict(values)
            instance.attributes.update(values)
            if (after := cls.find("__post_init__")) is not None:
                self.invoke(BoundMethod(after, instance), (), {})
        return instance


def combinations(lists: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each combination of the values of some parameters."""
    known = {name: values for name, values in lists.items() if isinstance(values, list | tuple | range)}
    rows = islice(itertools.product(*known.values()), _MOST_COMBINATIONS)
    return [dict(zip(known, row, strict=True)) for row in rows]


def _fields(cls: ClassValue) -> dict[str, Any] | None:
    fields: dict[str, Any] = {}
    known = False
    for base in cls.bases:
        if isinstance(base, ClassValue) and (inherited := _fields(base)) is not None:
            fields.update(inherited)
            known = True
    if cls.fields is not None:
        fields.update(cls.fields)
        known = True
    return fields if known else None


def _yields(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(each)
    return False
