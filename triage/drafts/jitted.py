"""Which functions of a project are jitted, by whatever name the decorator goes, and which of them hosts launch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from triage.drafts.project import Project
from triage.drafts.project_file import External, LocatedNode, ProjectFile, Scope
from triage.model.language import Language
from triage.source.module import called

_JIT = re.compile(r"(?:^|\.)(?:triton|gluon)(?:\.\w+)*\.(?:jit|JITFunction|GluonJITFunction)$")
_TUNES = re.compile(r"autotune|heuristics", re.IGNORECASE)
"""Decorators that only a launched function has; packages wrap Triton's under names of their own."""


@dataclass(eq=False)
class Jitted:
    """A jitted function. ``name``: what the file calls the object that is launched. ``tuners``: what it calls the
    autotuners that wrap that under names of their own, whose calls are among ``decorators``."""

    scope: Scope
    name: str
    language: Language
    decorators: list[ast.expr]
    tuners: list[str] = field(default_factory=list)

    @property
    def file(self) -> ProjectFile:
        return self.scope.file

    @property
    def node(self) -> ast.FunctionDef:
        assert isinstance(self.scope.node, ast.FunctionDef)
        return self.scope.node

    @cached_property
    def arguments(self) -> list[ast.arg]:
        arguments = self.node.args
        return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

    @property
    def tuned(self) -> bool:
        """Whether a decorator chooses configurations or sets parameters."""
        return any(_TUNES.search(dotted(_callee(decorator)) or "") for decorator in self.decorators)

    @cached_property
    def returns(self) -> bool:
        """Whether it returns a value, which a launched function does not."""
        waiting: list[ast.AST] = list(self.node.body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Return) and node.value is not None:
                return not (isinstance(node.value, ast.Constant) and node.value.value is None)
            if not isinstance(node, ast.FunctionDef | ast.Lambda):
                waiting += ast.iter_child_nodes(node)
        return False

    @cached_property
    def not_specialized(self) -> frozenset[str]:
        """Parameters that the launcher states nothing of (``do_not_specialize``), by name."""
        names: set[str] = set()
        for decorator in self.decorators:
            for word in decorator.keywords if isinstance(decorator, ast.Call) else []:
                if word.arg and word.arg.startswith("do_not_specialize"):
                    values = [each.value for each in ast.walk(word.value) if isinstance(each, ast.Constant)]
                    names |= {value for value in values if isinstance(value, str)}
                    positions = [value for value in values if isinstance(value, int)]
                    names |= {self.arguments[at].arg for at in positions if at < len(self.arguments)}
        return frozenset(names)


def dotted(node: ast.AST) -> str | None:
    """The text of ``a.b.c``; None for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *parts[::-1]])


def mentions_jit(file: ProjectFile) -> bool:
    """Whether a file may define jitted functions."""
    return re.search(rb"jit|JIT|triton|gluon", file.data) is not None


def _callee(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call):
        node = node.func
    return node


@dataclass
class JittedFunctions:
    """The jitted functions of a project."""

    project: Project
    by_scope: dict[Scope, Jitted] = field(default_factory=dict)
    _jits: dict[tuple[ProjectFile, str], Language | None] = field(default_factory=dict)
    _files: dict[ProjectFile, list[Jitted]] = field(default_factory=dict)
    _named: dict[tuple[ProjectFile, str], Jitted | None] = field(default_factory=dict)

    def of(self, file: ProjectFile) -> list[Jitted]:
        """The jitted functions of a file, in its order."""
        if file not in self._files:
            self._files[file] = []
            if mentions_jit(file):
                self._decorated(file)
                self._assigned(file)
                self._tuned_elsewhere(file)
                self._files[file] = [self.by_scope[scope] for scope in file.scopes if scope in self.by_scope]
        return self._files[file]

    def at(self, scope: Scope) -> Jitted | None:
        """The jitted function that a function is; None for one of the host."""
        self.of(scope.file)
        return self.by_scope.get(scope)

    def named(self, file: ProjectFile, name: str) -> Jitted | None:
        """The jitted function that a dotted name of a file stands for."""
        key = (file, name)
        if key not in self._named:
            self._named[key] = None  # A name that leads to itself.
            self._named[key] = self._find(file, name)
        return self._named[key]

    def _find(self, file: ProjectFile, name: str) -> Jitted | None:
        located = self.project.lookup(file, name)
        for each in located if isinstance(located, list) else []:
            if isinstance(each.node, Scope) and (jitted := self.at(each.node)):
                return jitted
            if isinstance(each.node, ast.Call) and (inner := self._launches_as(each)):
                return inner
        return None

    def _decorated(self, file: ProjectFile) -> None:
        for scope in file.scopes:
            if isinstance(scope.node, ast.FunctionDef):
                for decorator in scope.node.decorator_list:
                    if language := self._jits_with(file, decorator):
                        self.by_scope[scope] = Jitted(scope, scope.name, language, list(scope.node.decorator_list))

    def _assigned(self, file: ProjectFile) -> None:
        """``kernel = triton.jit(function)``, also below ``triton.autotune(…)( )``."""
        for name, values in file.definitions.items():
            for value in values:
                if not isinstance(value, ast.Call):
                    continue
                for call in _wrapped(value):
                    language = self._jits_with(file, call.func)
                    if not language or len(call.args) != 1 or not (target := dotted(call.args[0])):
                        continue
                    located = self.project.lookup(file, target)
                    for each in located if isinstance(located, list) else []:
                        scope = each.node
                        if isinstance(scope, Scope) and isinstance(scope.node, ast.FunctionDef):
                            self.by_scope.setdefault(scope, Jitted(scope, name, language, [*_wrapped(value)]))

    def _tuned_elsewhere(self, file: ProjectFile) -> None:
        """``tuned = triton.autotune(…)(kernel)`` of a kernel that nothing tunes where it is defined; ``kernel`` may be
        heuristics of it under another name."""
        wrapped: dict[str | None, tuple[Jitted, list[ast.expr]]] = {
            jitted.name: (jitted, []) for jitted in self.by_scope.values() if jitted.file is file and not jitted.tuned
        }
        # In the order of the file, in which a name is defined before it is wrapped.
        for name, values in file.definitions.items():
            for value in values:
                if not isinstance(value, ast.Call) or not _TUNES.search(dotted(_callee(value)) or ""):
                    continue
                node: ast.expr = value
                while isinstance(node, ast.Call) and node.args:
                    node = node.args[0]
                if (inner := dotted(node)) in wrapped and name not in wrapped:
                    jitted, before = wrapped[inner]
                    wrapped[name] = jitted, [*_wrapped(value), *before]
        for tuner, (jitted, decorators) in wrapped.items():
            if tuner and any("autotune" in (dotted(_callee(each)) or "").lower() for each in decorators):
                jitted.tuners.append(tuner)
                jitted.decorators += [each for each in decorators if each not in jitted.decorators]

    def _launches_as(self, located: LocatedNode) -> Jitted | None:
        """``launched = triton.heuristics(…)(kernel)``."""
        assert isinstance(located.node, ast.Call)
        for call in _wrapped(located.node):
            for value in call.args[:1]:
                name = dotted(value)
                if name and (inner := self.named(located.file, name)):
                    return inner
        return None

    def _jits_with(self, file: ProjectFile, decorator: ast.expr) -> Language | None:
        """The language that a decorator jits; None for one that does not."""
        if isinstance(decorator, ast.Call):
            inner = [decorator.func]
            if called(decorator) == "partial":
                inner += decorator.args
            return next((language for each in inner if (language := self._jits_with(file, each))), None)
        name = dotted(decorator)
        if name is None:
            return None
        key = (file, name)
        if key not in self._jits:
            self._jits[key] = None  # A name that leads to itself.
            self._jits[key] = self._name_jits(file, name)
        return self._jits[key]

    def _name_jits(self, file: ProjectFile, name: str) -> Language | None:
        first, _, rest = name.partition(".")
        imported = file.imports.get(first, first)
        if match := _JIT.search(f"{imported}.{rest}" if rest else imported):
            return Language.GLUON if "gluon" in match[0] else Language.TRITON
        located = self.project.lookup(file, name)
        if isinstance(located, External):
            return None
        for each in located or []:
            match each.node:
                case Scope() as scope:
                    # A decorator of the project, which calls Triton's.
                    nodes = (node for statement in scope.node.body for node in ast.walk(statement))
                    for node in nodes:
                        if isinstance(node, ast.Attribute | ast.Name) and (
                            language := self._jits_with(each.file, node)
                        ):
                            return language
                case ast.Attribute() | ast.Name() | ast.Call() as value:
                    if language := self._jits_with(each.file, value):
                        return language
        return None


def _wrapped(call: ast.Call) -> Iterator[ast.Call]:
    """A call, and those that its only argument is: ``autotune(…)(jit(f))``."""
    node: ast.expr = call
    while isinstance(node, ast.Call):
        yield node
        if isinstance(node.func, ast.Call):
            yield node.func
        if not node.args:
            return
        node = node.args[0]
