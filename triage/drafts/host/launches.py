"""Launches of kernels, and what their arguments are: an abstract evaluation of the host functions around them.

Every expression has a few likely values (``values``). A function is read once, all its branches; its parameters are
what its callers in the project pass, its annotations and its defaults say. Sizes that are not stated are usual ones by
name, so that what is computed of them (``next_power_of_2(D)``) fits together, as it would in a run."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from triage.drafts.host.annotations import annotated
from triage.drafts.host.frame import FOLLOWED_CALLERS, FunctionReading, Launch
from triage.drafts.host.operations import foreign, with_usual_size
from triage.drafts.host.parameters import (
    best_values,
    bound_arguments,
    is_class_method,
    is_static,
    parameter_defaults,
    used_as_tensors,
)
from triage.drafts.host.statements import HostRun
from triage.drafts.host.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Alternatives,
    Class,
    Foreign,
    Function,
    Instance,
    KernelValue,
    TensorValue,
    merged,
)
from triage.drafts.jitted import JittedFunctions, dotted
from triage.drafts.project_file import External, LocatedNode, ProjectFile, Scope

_MOST_CALLERS = 4
"""Callers of a function to read; the others seldom pass anything else."""


class Host:
    """The host functions of a project, each read once for its callers' arguments."""

    def __init__(self, functions: JittedFunctions) -> None:
        self.functions = functions
        self.project = functions.project
        self._readings: dict[tuple[Scope, int], FunctionReading | None] = {}
        self.inlined: dict[tuple[Any, ...], FunctionReading] = {}
        self._globals: dict[tuple[ProjectFile, str], Alternatives] = {}

    def launches(self, scopes: Iterable[Scope]) -> list[Launch]:
        """Every launch in these functions, in order."""
        launches: list[Launch] = []
        for scope in scopes:
            launches += self.reading(scope).launches
        return launches

    def reading(self, scope: Scope, depth: int = 0) -> FunctionReading:
        """What a function does with the arguments that its callers pass; ``depth``: how many calls it is away from the
        launch that is asked for."""
        key = (scope, min(depth, FOLLOWED_CALLERS))
        if key not in self._readings:
            self._readings[key] = None
            frame = HostRun(self, scope, depth)
            frame.names.update(self._parameters(scope, depth))
            frame.run()
            self._readings[key] = frame.reading
        # A function that calls itself has no reading yet.
        return self._readings[key] or FunctionReading()

    def _parameters(self, scope: Scope, depth: int) -> dict[str, Alternatives]:
        if isinstance(scope.node, ast.Module):
            return {}
        arguments = scope.node.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        defaults = parameter_defaults(arguments)
        used = used_as_tensors(scope)
        passed = self._passed(scope, depth) if depth < FOLLOWED_CALLERS else []
        values: dict[str, Alternatives] = {}
        frame = HostRun(self, scope.outer or scope, depth)
        for position, argument in enumerate(names):
            name = argument.arg
            if position == 0 and scope.owner is not None and not is_static(scope.node):
                kind = Class if is_class_method(scope.node) else Instance
                values[name] = (kind(scope.file, scope.owner),)
                continue
            if position == 0 and scope.owner is not None and scope.name in ("forward", "backward", "setup_context"):
                values[name] = (Instance(scope.file, scope.owner),)
                continue
            default = frame.value(defaults[name]) if name in defaults else ()
            allowed = annotated(argument.annotation)
            callers = merged(*(call[name] for call in passed if name in call))
            own: Alternatives = ()
            if name in used or (scope.name == "backward" and scope.owner is not None):
                own = (TensorValue(),)
            if isinstance(default, tuple) and default in ((FALSE,), (TRUE,)):
                default = (*default, TRUE if default == (FALSE,) else FALSE)
            values[name] = with_usual_size(best_values(callers, allowed, own, default), name)
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
        if scope.owner is not None and scope.name == "forward" and is_static(scope.node):
            name, first = "apply", 1
        elif scope.owner is not None and scope.name == "__init__":
            name, first = scope.owner.name, 1
        elif scope.owner is not None:
            first = 0 if is_static(scope.node) else 1
        passed: list[dict[str, Alternatives]] = []
        for caller, call in self.project.calls(name):
            if caller is scope or not self._calls(caller, call, scope, name):
                continue
            if self.functions.at(caller) is not None:
                continue
            arguments = self.reading(caller, depth + 1).calls.get(id(call))
            if arguments is not None:
                passed.append(bound_arguments(scope.node, arguments[0], arguments[1], first))
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

    def attribute(self, owner: Instance | Class, name: str, depth: int) -> Alternatives:
        """An attribute of a class's objects: what its methods store, the class's own values, a method."""
        stored: list[Alternatives] = []
        methods = [scope for scope in owner.file.scopes if scope.owner is owner.node]
        for scope in methods:
            if scope.name == name:
                return (
                    Function(scope, (), ())
                    if is_static(scope.node) or isinstance(owner, Class)
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
                    stored.append(HostRun(self, owner.file.scopes[0], depth).value(value))
                case ast.AnnAssign(target=ast.Name(id=id_), annotation=annotation, value=value_) if id_ == name:
                    default = HostRun(self, owner.file.scopes[0], depth).value(value_) if value_ else ()
                    stored.append(best_values((), annotated(annotation), (), default))
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
                    values.append((KernelValue(jitted) if jitted else Function(scope),))
                case ast.ClassDef() as node:
                    values.append((Class(each.file, node),))
                case ast.Constant(value=None):
                    continue  # What a function stores there later is not known.
                case ast.expr() as node:
                    values.append(HostRun(self, each.file.scopes[0], depth).value(node))
        return merged(*values)


def _stores(scope: Scope, name: str) -> bool:
    """Whether a function stores an attribute of that name."""
    if name == "saved_tensors":
        return any(node.attr == "save_for_backward" for node in scope.attributes)
    return name in scope.stored
