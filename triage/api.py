"""The Python API: ``check``, ``diagnose``, ``draft``, ``match`` and ``sweep``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage import knowledge, logs
from triage.cases.locate import locate, no_sources, source_file, sources
from triage.cases.stated import StatedValues
from triage.drafts import plans
from triage.drafts.drafting import ALL, Which, in_order
from triage.filesystem.files import usable_folder
from triage.harness.request import PartialCompile
from triage.harness.toolchains import Toolchains
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import InputError
from triage.model.match import Match
from triage.model.outcome import Stage
from triage.model.report import Report
from triage.model.target import Target
from triage.pipeline import Options, Session

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from triage.sweeps.map import SweepMap
    from triage.sweeps.sweep import SweepOptions


def check(case: Case | Path | str, options: Options | None = None) -> Report:
    """Compile a case in isolation and report on it. ``case`` is a Case, a case folder or a reproducer's name.

    Raises InputError (bad case) and EnvironmentFault (triage could not tell); a failing compile raises nothing: it
    is the report's ``outcome``.
    """
    located = case if isinstance(case, Case) else locate(str(case))
    with Session(options) as session:
        return session.check(located)


def draft(path: Path | str, options: Options | None = None, target: str | None = None) -> list[Case]:
    """Cases of the kernels in a Python file, a folder or an installed package (which is not imported), one for each
    configuration; of ``FILE.py::NAME`` those of one kernel. ``target``: by default that which a kernel's source is
    written for, or else an H100. A case's ``origin`` has, under ``drafted``, each value with
    where it comes from, and under ``unclear`` why Triton's front end refuses them, if it does.

    Raises InputError where there is no kernel. A kernel of which no case can be made is left out.
    """
    file, separator, name = str(path).rpartition("::")
    options = options or Options()
    folder = source_file(file) if separator else sources(str(path), lambda: Toolchains().import_path(options.python))
    if folder is None:
        raise no_sources(str(path))
    project = plans.read(folder, file if separator else str(path))
    functions = project.chosen(name if separator else None)
    with Session(options) as session:
        settings = plans.SurveySettings(
            stated=StatedValues(),
            targets=[Target.parse(target)] if target is not None else [],
            toolchains=session.toolchains(functions),
            limits=session.options.limits,
            action=PartialCompile(Stage.TTIR),
            which=Which(ALL),
        )
        groups = in_order(session.settle(functions, settings))
        return [settled.case for group in groups for settled in group if settled.draft is not None]


def sweep(
    case: Case | Path | str,
    axes: Mapping[str, Iterable[Any]],
    executor: Executor | None = None,
    *,
    where: Iterable[str] = (),
    options: SweepOptions | None = None,
    release: str | None = None,
) -> SweepMap:
    """Compile a case with every combination of values: a map of what is legal.

    ``axes``: lists of values of constexprs, arguments (types), options, ``target``, and ``triton`` or ``cute``
    (releases). ``executor``: any of ``concurrent.futures``, whose workers then compile, in chunks; without it this
    process does. ``where``: constraints, as of ``--where``. ``release``: of the compiler, where it is not an axis; by
    default the case's own, else that beside triage.

    Raises InputError (a wrong axis, value or constraint, before anything is compiled) and EnvironmentFault (no cell
    could be decided, the executor is lost: what is finished is in the ledger of the options' folder).
    """
    from triage.sweeps.axes import axes_of, case_space
    from triage.sweeps.sweep import SweepOptions, run

    options = options or SweepOptions()
    located = case if isinstance(case, Case) else locate(str(case))
    compiler, python = located.compiler, options.python
    if compiler.name not in axes and (release is None or executor is None):
        toolchain = Toolchains().resolve(release or (None if python else located.release), python, compiler)
        release = toolchain.release
    space = case_space(located.with_release(release), axes_of(axes, located), where)
    if options.folder is not None:
        usable_folder("folder", options.folder)
    return run(space, replace(options, executor=executor or options.executor))


def diagnose(text: str | Path) -> Diagnosis:
    """Diagnose a captured text; a Path is read. A text without a failure gives kind ``unknown``, one with
    a failure of anything but a Triton, Gluon or CuTe compile or launch ``other``.

    Raises InputError when the file cannot be read.
    """
    if isinstance(text, Path):
        try:
            with text.open("rb") as stream:
                diagnosis = logs.diagnose_any(stream)
        except OSError as error:
            raise InputError(f"{text}: cannot be read: {error.strerror}") from None
    else:
        diagnosis = logs.diagnose_any(text)
    return diagnosis or Diagnosis(kind=Kind.UNKNOWN, headline="no failure found", message="")


def match(found: Diagnosis, case: Case | None = None) -> list[Match]:
    """Entries of the knowledge base that match a diagnosis, best first."""
    return knowledge.match(found, knowledge.load_all(), case, case.release if case else None)
