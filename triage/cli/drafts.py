"""What ``check`` and ``draft`` share: which sources a CASE names, and a kernel of which arguments are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click

from triage.cases import packages
from triage.cases.locate import sources
from triage.cases.stated import StatedValues, stated_values, targets
from triage.cli.options import F, note
from triage.drafts import plans, words
from triage.drafts.drafting import ALL, Settled, Which
from triage.drafts.model import Basis, JitFunction, Parameter
from triage.harness.toolchains import Toolchains
from triage.model.language import Language
from triage.model.target import Target
from triage.pipeline import Session

_MOST_LISTED = 40
"""Drafted values that are listed; the longest signatures of real kernels have about sixty parameters."""

config_option: Callable[[F], F] = click.option(
    "--config", metavar="all|first|N", help="Autotune configurations of drafted kernels. [all; of a project first]"
)


def which(values: Mapping[str, Any], default: str) -> Which:
    """The configurations of ``--config``. Raises InputError."""
    return Which.parse(values["config"] or default)


def named_sources(text: str, values: Mapping[str, Any]) -> Path | None:
    """The Python file, folder or installed package that a CASE names; None where it names a case. Raises InputError."""

    @cache
    def search() -> list[str]:
        return Toolchains().import_path(values["python"])

    path = sources(text, search)
    if path is not None and path == Path(text) and path.is_dir() and "/" not in text:
        installed = packages.find_package(text, (folder for folder in search() if Path(folder) != Path.cwd()))
        if installed is not None and installed.resolve() != path.resolve():
            note(f"{text}: the folder here, not the package in {installed.parent}; for that give its path")
    return path


def stated_for(functions: Iterable[JitFunction], values: Mapping[str, Any]) -> StatedValues:
    """What the command line states of kernels of one language; types are those of that language. Raises InputError."""
    languages = {function.language for function in functions}
    return stated_values(values, languages.pop() if len(languages) == 1 else Language.TRITON)


def stated_targets(values: Mapping[str, Any]) -> list[Target]:
    """The targets of ``--target``; none where it is left out. Raises InputError."""
    return targets(values["target"]) if values["target"] is not None else []


@dataclass(frozen=True, slots=True)
class DraftedKernel:
    """A kernel, named by its file and name, of which arguments are drafted."""

    text: str
    function: JitFunction
    stated: StatedValues
    values: Mapping[str, Any]

    def settled(self, session: Session) -> list[Settled]:
        """Draft and compile it; say what was drafted."""
        settings = plans.SurveySettings(
            stated=self.stated,
            targets=stated_targets(self.values),
            toolchains=session.toolchains([self.function]),
            limits=session.options.limits,
            action=session.compiling(),
            which=which(self.values, ALL),
        )
        settled = [each for group in session.settle([self.function], settings) for each in group]
        self._tell(settled)
        return settled

    def _tell(self, settled: list[Settled]) -> None:
        first = next((each for each in settled if each.draft is not None), None)
        if first is None or first.draft is None:
            return
        drafts = {each.draft.configuration: each.draft for each in settled if each.draft is not None}
        note(f"{self.text}: drafted, as not given:")
        shown = list(words.lines(first.draft))
        for line in shown[:_MOST_LISTED]:
            note(f"  {line}")
        if len(shown) > _MOST_LISTED:
            note(f"  and {len(shown) - _MOST_LISTED} more")
        if len(drafts) > 1:
            note(f"  and {len(drafts) - 1} other configurations; --config first for this one")
        for line in words.multiples(first.case):
            note(f"  {line}")
        repeated = ("triton", "cute", "python", "timeout", "memory", "no_suggest")
        others = {name: self.values[name] for name in repeated if self.values.get(name)}
        note(f"to change and repeat: {words.command(first.case, self.text, others)}")


def _has_default(parameter: Parameter) -> bool:
    return parameter.best.basis is Basis.DEFAULT if parameter.candidates else parameter.has_default


def kernel(text: str, values: Mapping[str, Any]) -> DraftedKernel | None:
    """The kernel that ``FILE.py::NAME`` names, if arguments of it are to be drafted; None for one that is wholly given,
    or not a jitted function of that file. Raises InputError."""
    file, _, name = text.rpartition("::")
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        return None
    function = plans.kernel(path, name)
    if function is None:
        return None
    stated = stated_values(values, function.language)
    plans.check_names(stated, [function])
    for line in words.cautions(function, stated):
        note(line)
    missing = [parameter for parameter in function.parameters if not stated.states(parameter.name)]
    if all(_has_default(parameter) for parameter in missing) and not (function.launched_with and missing):
        return None
    return DraftedKernel(text, function, stated, values)
