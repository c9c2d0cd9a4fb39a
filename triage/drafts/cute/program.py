"""A program as it would run from its main block with the defaults of its command line, and the launches in it.

Nothing is imported or executed: files of the project are evaluated by :mod:`triage.drafts.cute.calls`, functions of
others are modelled. What is not modelled is unknown, and what depends on it too.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.drafts.cute import describe
from triage.drafts.cute.calls import Calls
from triage.drafts.cute.decorators import of_decorators
from triage.drafts.cute.describe import DescribedValue, Undescribed
from triage.drafts.cute.members import foreign
from triage.drafts.cute.values import (
    UNKNOWN,
    BoundMethod,
    ClassValue,
    FunctionValue,
    ModuleValue,
    NameScope,
    ObjectValue,
    Partial,
)
from triage.drafts.host.values import Foreign
from triage.drafts.project import Project
from triage.drafts.project_file import ProjectFile
from triage.model.target import Target
from triage.source.functions import defaults

_MAIN, _IMPORTED = "__main__", "__imported__"
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_RECORDS = frozenset({"NamedTuple", "TypedDict", "BaseModel"})


@dataclass(frozen=True, slots=True)
class CuteLaunch:
    """One launch. ``host``: the function, or the class whose object is called. ``method``: which of its methods.
    ``values`` and ``construct``: arguments by parameter; ``unresolved``: why others have no value. ``doubtful``: a
    check of the program before it fails, as far as it can be evaluated."""

    host: FunctionValue | ClassValue
    method: str
    values: Mapping[str, DescribedValue]
    construct: Mapping[str, DescribedValue]
    unresolved: Mapping[str, str]
    where: str
    doubtful: bool = False


@dataclass
class HostProgram(Calls):
    """The evaluation of one file, and of the files that it imports."""

    project: Project
    target: Target
    launches: list[CuteLaunch] = field(default_factory=list)
    visited: set[ast.Call] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(self.target)
        self.modules: dict[Path, ModuleValue] = {}

    def run(self, file: ProjectFile) -> ModuleValue:
        """Evaluate a file as the main program."""
        return self.load(file, _MAIN)

    def load(self, file: ProjectFile, name: str = _IMPORTED) -> ModuleValue:
        """The module of a file, which is evaluated on its first use."""
        if file.path not in self.modules:
            module = self.modules[file.path] = ModuleValue(file.path, file.tree)
            module.names["__name__"] = name
            module.names["__file__"] = str(file.path)
            frame = NameScope(module, module.names)
            for statement in file.tree.body:
                self.alone(lambda statement=statement: self.statement(statement, frame))
        return self.modules[file.path]

    def alone(self, run: Any) -> Any:
        """Run what may end by an exception; nothing where it does. CuteHost code may be anything, and what of it is not
        understood leaves the rest as it is."""
        depth, pending = self.depth, len(self._pending)
        try:
            return run()
        except Exception as error:
            self.failed(error)
            return UNKNOWN
        finally:
            self.depth = depth
            del self._pending[pending:]

    def failed(self, error: Exception) -> None:
        """Note how a statement of a file ends."""

    def global_name(self, module: ModuleValue, name: str) -> Any:
        if name in module.names:
            return module.names[name]
        return Foreign(f"builtins.{name}")

    def function(self, node: ast.Lambda, frame: NameScope) -> FunctionValue:
        return FunctionValue(node, frame, self._defaults(node, frame))

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: NameScope) -> FunctionValue:
        device, kind = "", ""
        tuned: Any = {}
        for decorator in node.decorator_list:
            # Of a call such as jit(preprocess=True) the function decides.
            inner = decorator.func if isinstance(decorator, ast.Call) else decorator
            decorated = self.value(inner, frame)
            if isinstance(decorated, Foreign) and decorated.root == "cutlass" and decorated.last in ("jit", "kernel"):
                device = decorated.last
            elif isinstance(decorated, Foreign) and decorated.last in ("staticmethod", "classmethod", "property"):
                kind = decorated.last
            elif isinstance(decorated, Foreign) and decorated.last == "cached_property":
                kind = "property"
            elif isinstance(decorated, Foreign) and decorated.last == "autotune_jit":
                words = decorator.keywords if isinstance(decorator, ast.Call) else []
                tuned = next((self.value(word.value, frame) for word in words if word.arg == "params_dict"), {})
        tuned = tuned if isinstance(tuned, dict) else {}
        return FunctionValue(node, frame, self._defaults(node, frame), None, device, kind, tuned)

    def missing(self, function: FunctionValue, name: str) -> Any:
        """What a command line's options are by default, where a decorator makes a command of the function."""
        if function.options is None:
            function.options = {}
            function.options = of_decorators(self, function)
        return function.options.get(name, UNKNOWN)

    def _defaults(self, node: Any, frame: NameScope) -> dict[str, Any]:
        return {parameter.arg: self.value(default, frame) for parameter, default in defaults(node)}

    def define_class(self, node: ast.ClassDef, frame: NameScope) -> ClassValue:
        bases = tuple(self.value(base, frame) for base in node.bases)
        defined = ClassValue(node, frame.module, bases)
        inner = NameScope(frame.module, defined.names, frame)
        for statement in node.body:
            self.alone(lambda statement=statement: self.statement(statement, inner))
        for value in defined.names.values():
            if isinstance(value, FunctionValue) and value.owner is None:
                value.owner = defined
                value.frame = frame  # The methods of a class do not see its names.
        foreigners = {base.last for base in bases if isinstance(base, Foreign)}
        decorators = [ast.unparse(each) for each in node.decorator_list]
        if foreigners & _ENUMERATIONS or any(isinstance(base, ClassValue) and base.enumeration for base in bases):
            defined.enumeration = True
            for number, (name, value) in enumerate(list(defined.names.items()), start=1):
                if not isinstance(value, FunctionValue) and not name.startswith("_"):
                    known = number if isinstance(value, type(UNKNOWN)) else value
                    defined.names[name] = ObjectValue(defined, {"name": name, "value": known})
        elif foreigners & _RECORDS or any("dataclass" in text or "mlir_namedtuple" in text for text in decorators):
            defined.fields = {
                statement.target.id: defined.names.get(statement.target.id, UNKNOWN)
                for statement in node.body
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
            }
        return defined

    def import_names(self, node: ast.Import | ast.ImportFrom, frame: NameScope) -> None:
        file = self.project.files.get(frame.module.path)
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                frame.names[alias.asname or name] = self.module(file, name)
            return
        base = "." * node.level + (node.module or "")
        module = self.module(file, base)
        for alias in node.names:
            if alias.name == "*":
                if isinstance(module, ModuleValue):
                    frame.names.update({k: v for k, v in module.names.items() if not k.startswith("_")})
                continue
            bound = alias.asname or alias.name
            if isinstance(module, ModuleValue) and alias.name in module.names:
                frame.names[bound] = module.names[alias.name]
                continue
            dot = "" if base.endswith(".") else "."
            below = self.module(file, f"{base}{dot}{alias.name}")
            frame.names[bound] = (
                below if isinstance(below, ModuleValue) else foreign(f"{base}.{alias.name}".lstrip("."))
            )

    def module(self, file: ProjectFile | None, name: str) -> ModuleValue | Foreign:
        """The module of the project that an import means; otherwise something of another project."""
        if file is not None:
            for each in self.project.modules(file, name):
                if each is not file:
                    return self.load(each)
        return Foreign(name.lstrip("."))

    def launch(
        self, callee: Any, positional: Sequence[Any], words: Mapping[str, Any], node: ast.Call, frame: NameScope
    ) -> None:
        self.visited.add(node)
        while isinstance(callee, Partial):
            positional, words = (*callee.positional, *positional), {**callee.words, **words}
            callee = callee.function
        host: FunctionValue | ClassValue
        instance: ObjectValue | None = None
        match callee:
            case FunctionValue(device="jit"):
                host, function = callee, callee
            case ObjectValue(cls=cls) if isinstance(method := cls.find("__call__"), FunctionValue):
                host, function, instance = cls, method, callee
            case BoundMethod(function=FunctionValue() as function, owner=ObjectValue() as instance):
                host = instance.cls
            case _:
                return
        annotated = {parameter.arg: parameter.annotation for parameter in function.parameters}
        first = () if instance is None or function.kind == "staticmethod" else (instance,)
        bound = self.bound(function, (*first, *positional), {k: v for k, v in words.items() if k in annotated})
        unresolved: dict[str, str] = {}
        values: dict[str, DescribedValue] = {}
        for name, value in bound.items():
            if not (instance is not None and value is instance) and not _is_default(function, name, value):
                _describe(values, unresolved, name, lambda n=name, v=value: describe.argument(v, annotated.get(n)))
        path = frame.module.path
        where = f"launch in {path.parent.name}{os.sep}{path.name}:{node.lineno}"
        construct = self.constructed(instance, unresolved) if instance is not None else {}
        method = function.name if instance is not None else ""
        self.launches.append(CuteLaunch(host, method, values, construct, unresolved, where, self.failed_check))
        objects = [value for value in bound.values() if isinstance(value, ObjectValue) and value is not instance]
        if not self.following and any(map(self.is_host, objects)):
            self.follow(function, bound)

    def follow(self, function: FunctionValue, bound: Mapping[str, Any]) -> None:
        """Run a host function that is passed objects, to see the arguments with which it calls them."""
        self.inside_device = self.following = True
        try:
            self.alone(lambda: self.run_function(function, (), bound))
        finally:
            self.inside_device = self.following = False

    def constructed(self, instance: ObjectValue, unresolved: dict[str, str]) -> dict[str, DescribedValue]:
        """The arguments of an object's constructor."""
        construct: dict[str, DescribedValue] = {}
        constructor = instance.cls.find("__init__")
        for name, value in instance.arguments.items():
            if isinstance(constructor, FunctionValue):
                left_out = _is_default(constructor, name, value)
            else:
                left_out = value is (instance.cls.fields or {}).get(name)
            if not left_out:
                _describe(construct, unresolved, name, lambda v=value: describe.constant(v))
        return construct


def _is_default(function: FunctionValue, name: str, value: Any) -> bool:
    """Whether a call passes what it might leave out: the default itself, or a function with the same text."""
    if name not in function.defaults:
        return False
    default = function.defaults[name]
    if isinstance(default, FunctionValue) and isinstance(value, FunctionValue):
        return ast.dump(default.node) == ast.dump(value.node)
    return value is default


def _describe(into: dict[str, DescribedValue], unresolved: dict[str, str], name: str, make: Any) -> None:
    try:
        into[name] = make()
    except Undescribed as problem:
        unresolved[name] = str(problem)
