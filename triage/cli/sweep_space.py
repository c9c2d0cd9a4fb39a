"""What the words of ``triage sweep`` describe: a grid around one case, or the list of a project's configurations."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triage.cases.locate import locate
from triage.cases.stated import StatedValues
from triage.cli.drafts import kernel, named_sources, stated_for
from triage.cli.options import limits, note, repeating
from triage.drafts import plans, words
from triage.drafts.drafting import ALL, Settled, Which, in_order
from triage.drafts.model import JitFunction
from triage.drafts.plans import ProjectKernels
from triage.frontends.frontend import frontend
from triage.harness.request import PartialCompile
from triage.harness.toolchains import Toolchains
from triage.matrix.releases import select
from triage.model.case import Case
from triage.model.compilers import COMPILERS, CUTE, TRITON, Compiler
from triage.model.errors import InputError
from triage.model.outcome import Stage
from triage.model.progress import Progress
from triage.model.target import Target
from triage.pipeline import Options, Session
from triage.sweeps.axes import TARGET, case_space, set_axes
from triage.sweeps.grid import SweepAxis
from triage.sweeps.lists.cases import TunedList
from triage.sweeps.members import drafted, list_space
from triage.sweeps.space import Space

_AXES = ("sets", "wheres", "targets", "tritons", "cutes")
"""Options of this command that others do not have, or not several times."""
_SEVERAL = ("targets", "tritons", "cutes")
"""Those of them that a list has as well."""
_OF_CASE = (*_AXES, "arg", "const", "divisible", "num_warps", "num_stages", "num_ctas", "option")
"""Options that say what is swept."""


@dataclass(frozen=True, slots=True)
class DescribedSweep:
    """The space, and the words of ``triage check`` for its cells, as in
    :class:`~triage.sweeps.commands.SweepCommands`."""

    space: Space
    check: tuple[str, ...] = ()
    members: tuple[tuple[str, ...], ...] = ()


def described(text: str, values: dict[str, Any], progress: Progress) -> DescribedSweep:
    """What a CASE and the options describe; what is not stated of a kernel is drafted. Raises InputError and
    EnvironmentFault."""
    if (path := named_sources(text, values)) is not None:
        project = plans.read(path, text)
        functions = project.chosen()
        stated = stated_for(functions, values)
        plans.check_names(stated, functions)
        if (unread := project.unread()) is not None:
            note(f"{text}: {unread}")
        return _list(project, functions, stated, values, progress)
    if "::" in text and not values["sets"] and (of_kernel := kernel(text, values)) is not None:
        project = ProjectKernels(text, Path(text.rpartition("::")[0]), (of_kernel.function,))
        return _list(project, [of_kernel.function], of_kernel.stated, values, progress)
    case, function = _case_of(text, values, progress)
    sweep = _grid(text, case, values)
    if function is not None:
        _note_drafted(text, function, case, values)
    return sweep


def case_of(text: str, values: dict[str, Any], progress: Progress) -> Case:
    """The case that a CASE and the options name; what is not stated of a kernel is drafted. Raises InputError and
    EnvironmentFault."""
    case, function = _case_of(text, values, progress)
    if function is not None:
        _note_drafted(text, function, case, values)
    return case


def _case_of(text: str, values: dict[str, Any], progress: Progress) -> tuple[Case, JitFunction | None]:
    """The case, and its kernel where some of it is drafted."""
    if "::" not in text or (of_kernel := kernel(text, values)) is None:
        return locate(text, values), None
    first = next(iter(_settled([of_kernel.function], of_kernel.stated, values, progress)), [])
    if not first or first[0].draft is None or first[0].unclear is not None:
        raise InputError(f"{text}: {first[0].unclear if first else 'no case of it can be drafted'}")
    return first[0].case, of_kernel.function


def _note_drafted(
    text: str, function: JitFunction, case: Case, values: dict[str, Any], types_only: bool = False
) -> None:
    """Print what was drafted of a case and is not an axis. ``types_only``: configurations set the rest."""
    axes = {name.strip() for each in values["sets"] for name in each.partition("=")[0].split(",")}
    known = {**case.signature, **({} if types_only else {**case.construct, **case.constexprs})}
    drafted = [f"{name}={known[name]}" for name in case.origin.get("drafted", {}) if name in known.keys() - axes]
    if drafted:
        note(f"{text}: drafted, as not stated: {', '.join(drafted)}; --arg and --const state others")
        for line in words.multiples(case):
            note(line)
        # What is not specialised counts as no multiple, whatever a launch passes.
        never = {parameter.name for parameter in function.parameters if parameter.divisible == 1}
        if others := [name for name in words.integers(case) if name not in case.divisible and name not in never]:
            note(f"{', '.join(others)}: not taken as multiples of 16; where they are, add --divisible {others[0]}=16")


def _grid(text: str, case: Case, values: dict[str, Any]) -> DescribedSweep:
    if case.is_ir and values["sets"]:
        raise InputError(f"--set: {case.file} is IR, of which only targets and releases vary")
    axes = [SweepAxis(case.compiler.name, _releases(case, values))]
    if targets := _targets(case, values):
        axes.append(SweepAxis(TARGET, targets))
    own = set_axes(values["sets"], case)
    if twice := {name for axis in own for name in (axis.name, *axis.tied)} & {axis.name for axis in axes}:
        raise InputError(f"--set {min(twice)}: also set by --{min(twice)}")
    space = case_space(case, [*axes, *own], values["wheres"])
    return DescribedSweep(space, _check_words(text, space, values))


def _list(
    project: ProjectKernels,
    functions: Sequence[JitFunction],
    stated: StatedValues,
    values: dict[str, Any],
    progress: Progress,
) -> DescribedSweep:
    """The configurations of kernels. They are drafted for the first target and release."""
    for option, texts in (("--set", values["sets"]), ("--where", values["wheres"])):
        if texts:
            fix = "add --set" if "::" in project.name else "name one of its kernels, as FILE.py::NAME"
            raise InputError(f"{option}: {project.name} is a list of configurations, all of which are compiled; {fix}")
    members = drafted(_settled(functions, stated, values, progress), project)
    if not members:
        raise InputError(f"{project.name}: no configuration of it can be drafted")
    case = members[0].case
    several = [compiler for compiler in COMPILERS.values() if len(_texts(values, compiler)) > 0]
    releases = _chosen(values, several[0]) if several else ()
    if len(functions) == 1:
        _note_drafted(project.name, functions[0], case, values, types_only=True)
    else:
        note(
            f"{project.name}: what launches pass was drafted where it is not stated, sizes and strides as multiples of "
            f"16; `triage draft {project.name}` lists it"
        )
    space = list_space(members, _targets(case, values), releases)
    fixed = {name: values[name] for name in ("python", "timeout", "memory") if values.get(name)}
    check = tuple(shlex.split(repeating("check", "", fixed)))[3:]
    own = [
        (
            f"{os.path.relpath(each.path)}::{each.name}",
            *words.arguments(each),
            *(() if TARGET in space.grid.positions else ("--target", str(each.target))),
        )
        for each in space.bases
    ]
    return DescribedSweep(space, ("triage", "check", *check), tuple(own))


def tuned(listed: TunedList, values: dict[str, Any]) -> DescribedSweep:
    """A list of tuned configurations, for the targets and releases that are asked for; without ``--target`` for those
    that its files name. Raises InputError."""
    unused = (
        ("sets", "wheres") if listed.kernel is not None else tuple(each for each in _OF_CASE if each not in _SEVERAL)
    )
    if ignored := stated_options({**dict.fromkeys(_OF_CASE), **{name: values.get(name) for name in unused}}, {}):
        whose = "its files say the kernel and its types; " if ignored[0] not in ("--set", "--where") else ""
        raise InputError(
            f"{ignored[0]}: {listed.path} is a list of configurations, all compiled as they are; {whose}leave it out"
        )
    case = listed.cases[0]
    releases = _releases(case, values)
    targets = _targets(case, values) or tuple(dict.fromkeys(each for entry in listed.entries for each in entry.cases))
    axes = [SweepAxis(case.compiler.name, releases), SweepAxis(TARGET, targets)]
    space = listed.space([axis for axis in axes if len(axis.values) > 1])
    if len(releases) == 1:
        space = replace(space, bases=tuple(each.with_release(releases[0]) for each in space.bases))
    fixed = {name: values[name] for name in ("python", "timeout", "memory") if values.get(name)}
    if len(releases) == 1 and _texts(values, case.compiler):
        fixed[case.compiler.name] = releases[0]
    target = () if TARGET in space.grid.positions else ("--target", targets[0])
    check = tuple(shlex.split(repeating("check", "", fixed)))[3:]
    return DescribedSweep(space, ("triage", "check", *check), tuple((*words, *target) for words in listed.words))


def stated_options(values: dict[str, Any], others: Mapping[str, Any]) -> list[str]:
    """The options of the command line that say what is swept, and those of ``others``, as they are written."""
    every = {**{name: values[name] for name in _OF_CASE}, **others}
    stated = (name for name, value in every.items() if value not in (None, (), False))
    return [f"--{(name.removesuffix('s') if name in _AXES else name).replace('_', '-')}" for name in stated]


def stated_targets(values: dict[str, Any]) -> list[Target]:
    """Those of ``--target``. Raises InputError."""
    return [_target(word.strip()) for text in values["targets"] for word in text.split(",")]


def _target(word: str) -> Target:
    try:
        return Target.parse(word)
    except InputError as error:
        raise InputError(f"--{error}") from None


def _settled(
    functions: Sequence[JitFunction], stated: StatedValues, values: dict[str, Any], progress: Progress
) -> list[list[Settled]]:
    """Drafts of all configurations of kernels, for the first target and release that are asked for."""
    first = {compiler: next(iter(_chosen(values, compiler)), None) for compiler in (TRITON, CUTE)}
    targets = stated_targets(values)[:1]
    options = Options(
        triton=first[TRITON],
        cute=first[CUTE],
        python=values["python"],
        limits=limits(values),
        jobs=values["jobs"],
        cache=not values["no_cache"],
    )
    with Session(options, progress) as session:
        settings = plans.SurveySettings(
            stated=stated,
            targets=targets,
            toolchains=session.toolchains(functions),
            limits=options.limits,
            action=PartialCompile(Stage.TTIR),
            which=Which(ALL),
        )
        return list(in_order(session.settle(functions, settings)))


def _targets(case: Case, values: dict[str, Any]) -> tuple[str, ...]:
    """Those of ``--target``; none where it is left out."""
    chosen = []
    for word in (word.strip() for text in values["targets"] for word in text.split(",")):
        target = _target(word)
        language = frontend(case.language)
        language.check_target(target, lambda problem, word=word: InputError(f"--target {word}: {problem}"))
        chosen.append(str(target))
    return tuple(dict.fromkeys(chosen))


def _releases(case: Case, values: dict[str, Any]) -> tuple[str, ...]:
    """The releases; the one that compiles the case where none is named."""
    compiler = case.compiler
    for other in COMPILERS.values():
        if other != compiler and (stated := _texts(values, other)):
            raise InputError(
                f"{other.option} {stated[0]}: {case.name} is compiled by {compiler.title}; use {compiler.option}"
            )
    if chosen := _chosen(values, compiler):
        if values["python"]:
            raise InputError(f"{compiler.option} and --python exclude each other")
        return chosen
    release = None if values["python"] else case.release
    return (Toolchains(progress=note).resolve(release, values["python"], compiler).release,)


def _chosen(values: dict[str, Any], compiler: Compiler) -> tuple[str, ...]:
    """The releases of a compiler that its option names."""
    if not (texts := _texts(values, compiler)):
        return ()
    installed = [toolchain.release for toolchain in Toolchains().installed(compiler)]
    return select(texts, installed, compiler).chosen


def _texts(values: dict[str, Any], compiler: Compiler) -> tuple[str, ...]:
    texts: tuple[str, ...] = values[f"{compiler.name}s"]
    return texts


def _check_words(text: str, space: Space, values: dict[str, Any]) -> tuple[str, ...]:
    """``triage check`` with the options that no axis gives."""
    axes = {name for axis in space.grid.axes for name in (axis.name, *axis.tied)}

    def fixed(option: str, value: Any) -> Any:
        if option in axes:
            return None
        if isinstance(value, tuple):
            return tuple(word for word in value if str(word).partition("=")[0] not in axes)
        return value

    single = {"target": values["targets"], "triton": values["tritons"], "cute": values["cutes"]}
    others = {**single, **{name: value for name, value in values.items() if name not in _AXES}}
    return tuple(shlex.split(repeating("check", text, {name: fixed(name, others[name]) for name in others})))


def repeated(text: str, values: dict[str, Any], ends: dict[str, Any], folder: Path | None) -> tuple[str, ...]:
    """The command line of the sweep itself. ``ends``: its options that are not in ``values``."""
    renamed = {name.removesuffix("s"): values[name] for name in _AXES}
    others = {name: value for name, value in values.items() if name not in _AXES}
    again = shlex.split(repeating("sweep", text, {**renamed, **others, **ends}))
    return (*again, *(("-o", str(folder)) if folder is not None else ()))
