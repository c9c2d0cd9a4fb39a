"""The host functions of the files of a project, and the launches of each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from triage.drafts.cute.architectures import required_target
from triage.drafts.cute.entries import run_entries
from triage.drafts.cute.program import CuteLaunch, HostProgram
from triage.drafts.cute.values import ClassValue, FunctionValue, ModuleValue
from triage.drafts.project import Project
from triage.drafts.project_file import ProjectFile

_MOST_FILES = 8
"""Other files of the project that are run for the launches of a host function that its own file does not launch."""
Key = tuple[Path, str]
"""The file of a host function or a class, and its name."""


@dataclass(eq=False)
class CuteHost:
    """A host function, or a class whose ``__call__`` is one. ``launched``: it launches a kernel.
    ``module``: as it was evaluated, with a program that can go on."""

    value: FunctionValue | ClassValue
    program: HostProgram
    launched: bool
    launches: list[CuteLaunch] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return key_of(self.value)

    @property
    def call(self) -> FunctionValue:
        """The function whose parameters are the arguments of a launch."""
        if isinstance(self.value, FunctionValue):
            return self.value
        names = ["__call__", *(launch.method for launch in self.launches)]
        method = next(each for name in names if isinstance(each := self.value.find(name), FunctionValue))
        assert isinstance(method, FunctionValue)
        return method


def key_of(value: FunctionValue | ClassValue) -> Key:
    """Identity of a host function: a file may be evaluated in several programs."""
    module = value.module
    return module.path, value.name if isinstance(value, FunctionValue) else value.node.name


def mentions_cute(file: ProjectFile) -> bool:
    """Whether a file may define or launch host functions."""
    return re.search(rb"\bcutlass\b", file.data) is not None


def find(project: Project, files: Iterable[ProjectFile], name: str | None = None) -> list[CuteHost]:
    """The host functions of files, with their launches in the project. A file that has none of its own gives those of
    the project that it launches. ``name``: only those of that name."""
    hosts: dict[Key, CuteHost] = {}
    launches: dict[Key, list[CuteLaunch]] = {}
    run: dict[Path, tuple[HostProgram, ModuleValue]] = {}

    def evaluated(file: ProjectFile) -> tuple[HostProgram, ModuleValue]:
        if file.path not in run:
            program = HostProgram(project, required_target(file.tree)[0])
            module = program.run(file)
            run_entries(program, module, {host.key[1] for host in _hosts(program, module)})
            run[file.path] = program, module
            for launch in program.launches:
                launches.setdefault(key_of(launch.host), []).append(launch)
        return run[file.path]

    for file in files:
        if not mentions_cute(file):
            continue
        program, module = evaluated(file)
        own = list(_hosts(program, module))
        if not own:
            launched = {key_of(launch.host): launch.host for launch in program.launches}
            own = [CuteHost(value, program, True) for value in launched.values()]
        for host in own:
            if name is None or host.key[1] == name:
                hosts.setdefault(host.key, host)
    for host in hosts.values():
        if not launches.get(host.key):
            others = [file for file in project.mentioning(host.key[1]) if mentions_cute(file)]
            for file in others[:_MOST_FILES]:
                evaluated(file)
    for host in hosts.values():
        host.launches = launches.get(host.key, [])
    return list(hosts.values())


def _hosts(program: HostProgram, module: ModuleValue) -> Iterator[CuteHost]:
    """The host functions that a module defines at its top."""
    launching = _launching(module.tree)
    for value in module.names.values():
        match value:
            case FunctionValue(device="jit", module=defined) if defined is module and value.name in module.names:
                yield CuteHost(value, program, value.name in launching)
            case ClassValue(module=defined) if defined is module:
                method = value.find("__call__")
                if isinstance(method, FunctionValue) and method.device == "jit":
                    yield CuteHost(value, program, "__call__" in launching)


def _launching(tree: ast.Module) -> set[str]:
    """Functions of a file that launch a kernel, or call another that does."""
    definitions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    calls = {
        name: {
            func.id if isinstance(func, ast.Name) else func.attr
            for func in (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
            if isinstance(func, ast.Name | ast.Attribute)
        }
        for name, node in definitions.items()
    }
    launching = {name for name, called in calls.items() if "launch" in called}
    while more := {name for name, called in calls.items() if name not in launching and called & launching}:
        launching |= more
    return launching
