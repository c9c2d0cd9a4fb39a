"""The kernels of a file, a folder or a package, and the plans to draft and compile them."""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import TypeVar

from triage.cases.slices import sliced
from triage.cases.stated import StatedValues
from triage.drafts import kernels
from triage.drafts.cute.architectures import OTHERS
from triage.drafts.drafting import Plan, Which
from triage.drafts.model import JitFunction, Value
from triage.filesystem.files import ANYWHERE
from triage.frontends.frontend import frontend
from triage.harness.limits import Limits
from triage.harness.request import Action, FullCompile
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.compilers import CUTE
from triage.model.errors import InputError, fault, unreadable
from triage.model.target import DEFAULT_TARGET, Target

T = TypeVar("T")
_GROUP = 8
"""Kernels that are compiled for one target before the next target's turn: enough that a correction is learnt from the
first target, few enough that the sources of a group fit into memory many times."""

_MOST_UNREAD = 4
"""Files that are listed in one line."""


@dataclass(frozen=True, slots=True)
class ProjectKernels:
    """The jitted functions below ``path``. ``name``: as the user writes it."""

    name: str
    path: Path
    functions: tuple[JitFunction, ...]
    malformed: tuple[str, ...] = ()
    """Files that seem to have kernels and are not Python: ``ops/norm.py:3: invalid syntax``."""

    @property
    def kernels(self) -> list[JitFunction]:
        """The functions that are launched."""
        return [function for function in self.functions if function.launched]

    @property
    def devices(self) -> list[JitFunction]:
        """The functions that only other jitted functions call."""
        return [function for function in self.functions if not function.launched]

    def unread(self) -> str | None:
        """A line on the files that could not be read; None without any."""
        if not self.malformed:
            return None
        more = len(self.malformed) - _MOST_UNREAD
        listed = ", ".join(self.malformed[:_MOST_UNREAD]) + (f", and {more} more" if more > 0 else "")
        return f"not Python, and left out: {listed}"

    def chosen(self, name: str | None = None) -> list[JitFunction]:
        """The function of that name, also one that only kernels call; without a name all kernels. Raises InputError
        where there is none."""
        if name is None:
            if not self.kernels:
                unread = self.unread() if self.path.is_dir() else None
                raise InputError(f"{self.name}: {_nothing(self)}{f'; {unread}' if unread else ''}")
            return self.kernels
        named = [function for function in self.functions if function.name == name]
        if not named:
            names = [function.name for function in self.functions]
            near = difflib.get_close_matches(name, names, n=1)
            fix = f"did you mean {near[0]}?" if near else f"it has {', '.join(names[:8]) or 'none'}"
            raise InputError(f"{self.name}::{name}: no jitted function of that name; {fix}")
        return named[-1:]

    def file(self, function: JitFunction) -> str:
        """The file of a function, relative to the project."""
        folder = self.path if self.path.is_dir() else self.path.parent
        return os.path.relpath(function.file, folder)


def read(path: Path, name: str) -> ProjectKernels:
    """The project at ``path``. Raises InputError where nothing can be read."""
    functions, malformed = kernels.search(path)
    return ProjectKernels(name, path, tuple(functions), tuple(malformed))


def kernel(path: Path, name: str) -> JitFunction | None:
    """The jitted function of that name in a file; None where there is none. Raises InputError."""
    functions = kernels.find(path, name)
    return functions[-1] if functions else None


def _nothing(project: ProjectKernels) -> str:
    path = project.path
    if project.devices:
        names = ", ".join(function.name for function in islice(project.devices, 8))
        return f"no kernel, only functions that kernels call ({names}); name one as FILE.py::NAME"
    if path.is_dir():
        return "no kernel in any Python file of it"
    case = Case(path.parent, path.name, "", frozen(), boundary=ANYWHERE)
    try:
        tree = ast.parse(case.text())
    except OSError as error:
        raise unreadable(path, error) from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"not Python: {error}"
    defined = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return f"no kernel in it; it defines {', '.join(defined[:8]) or 'no function at all'}"


def check_names(stated: StatedValues, functions: Iterable[JitFunction]) -> None:
    """Raises InputError for a name that is a parameter of none of the functions."""
    functions = list(functions)
    parameters = list(dict.fromkeys(parameter.name for function in functions for parameter in function.parameters))
    flags = {**dict.fromkeys(stated.divisible, "divisible"), **dict.fromkeys(stated.constexprs, "const")}
    for name in stated.names():
        if name not in parameters:
            flag = {**flags, **dict.fromkeys(stated.signature, "arg")}[name]
            near = difflib.get_close_matches(name, parameters, n=1)
            whose = f"{functions[0].name} has" if len(functions) == 1 else "the kernels have"
            fix = f"did you mean {near[0]}?" if near else f"{whose} {', '.join(parameters[:12])}"
            raise InputError(f"--{flag} {name}: not a parameter; {fix}")
    arguments = {each.name for function in functions for each in function.parameters if not each.constexpr}
    for name, type_ in stated.signature.items():
        if name not in arguments:
            raise InputError(f"--arg {name}={type_}: {name} is a constexpr; give its value: --const {name}=…")


@dataclass(frozen=True, slots=True)
class SurveySettings:
    """What the plans of a project have in common. ``targets``: empty where the user states none: each kernel is
    compiled for the GPU that its source is written for, or else for the default one. ``toolchains``: of each compiler
    that a kernel of the project is for."""

    stated: StatedValues
    targets: Sequence[Target]
    toolchains: Sequence[Toolchain]
    limits: Limits
    action: Action
    which: Which


@dataclass(slots=True)
class _Prepared:
    """A kernel cut out of its project; ``obstacle``: why that is not possible. ``whole``: the text of its file."""

    base: Case
    whole: str = ""
    obstacle: str | None = None
    learnt: dict[str, Value] = field(default_factory=dict)


def plans(functions: Sequence[JitFunction], settings: SurveySettings) -> Iterator[Plan]:
    """One for each kernel, target and toolchain, so ordered that servers are used again: by toolchain, then a group of
    kernels, each target by target."""
    number = count()
    for toolchain in settings.toolchains:
        own = [function for function in functions if function.language.compiler == toolchain.compiler]
        for start in range(0, len(own), _GROUP):
            group = [(function, _prepared(function)) for function in own[start : start + _GROUP]]
            for target in columns(own, settings.targets):
                for function, prepared in group:
                    if not settings.targets and target != own_target(function):
                        continue
                    yield Plan(
                        function=function,
                        base=replace(prepared.base, target=target).with_release(toolchain.release),
                        stated=_own(settings.stated, function),
                        toolchain=toolchain,
                        limits=settings.limits,
                        action=_possible(settings.action, function),
                        which=settings.which,
                        whole=prepared.whole,
                        obstacle=prepared.obstacle,
                        other_targets=() if settings.targets else other_targets(function),
                        learnt=prepared.learnt,
                        number=next(number),
                    )


def _possible(action: Action, function: JitFunction) -> Action:
    """The action, or the whole compile where the language has no stage that can be run alone."""
    return action if frontend(function.language).has_stages or isinstance(action, FullCompile) else FullCompile()


def own_target(function: JitFunction) -> Target:
    """The GPU that a kernel is compiled for where the user states none."""
    return Target.parse(function.target.value if function.target is not None else DEFAULT_TARGET)


def other_targets(function: JitFunction) -> tuple[Target, ...]:
    """GPUs that a kernel may be written for, where its source does not tell."""
    return OTHERS if function.target is None and function.language.compiler == CUTE else ()


def columns(functions: Iterable[JitFunction], targets: Sequence[Target]) -> list[Target]:
    """The targets of a survey: those that the user states, or those that the kernels are written for."""
    return list(targets) or list(dict.fromkeys(own_target(function) for function in functions))


def _own(stated: StatedValues, function: JitFunction) -> StatedValues:
    """The stated values of parameters that the kernel has."""
    names = {parameter.name for parameter in function.parameters}

    def own(values: Mapping[str, T]) -> dict[str, T]:
        return {name: value for name, value in values.items() if name in names}

    return replace(
        stated,
        signature=own(stated.signature),
        constexprs=own(stated.constexprs),
        divisible=own(stated.divisible),
    )


def _prepared(function: JitFunction) -> _Prepared:
    """The kernel cut out of its project."""
    file = function.file
    base = Case(file.parent, file.name, function.name, frozen(), language=function.language, boundary=ANYWHERE)
    try:
        return _Prepared(sliced(base), base.text(), function.unsupported)
    except Exception as error:
        return _Prepared(base, obstacle=function.obstacle or str(fault(error)))
