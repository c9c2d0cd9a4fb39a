"""``triage check``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triage import knowledge
from triage.capture.program import labels
from triage.cases.artifacts.stages import UNFINISHED
from triage.cases.locate import locate_all
from triage.cli.ci import with_outputs
from triage.cli.drafts import DraftedKernel, config_option, kernel, named_sources, stated_targets
from triage.cli.options import (
    DIRECTORY,
    budget_option,
    compile_options,
    kb_option,
    kernel_options,
    note,
    note_error,
    pipeline_options,
    print_json,
    repeating,
    targets_option,
)
from triage.filesystem.files import usable_folder
from triage.model.case import Case
from triage.model.errors import InputError, Interrupted, TriageError, fault
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import report as render

if TYPE_CHECKING:
    from triage.publish.ci.record import CiRecord


@click.command("check")
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@kernel_options
@targets_option
@config_option
@compile_options
@click.option("--no-suggest", is_flag=True, help="Do not search for neighbours that compile.")
@budget_option
@click.option("--bench", is_flag=True, help="Time the suggestions on this machine's GPU; list the fastest first.")
@click.option("--sanitize", is_flag=True, help="With --bench: also launch each suggestion under compute-sanitizer.")
@kb_option
@click.option("--json", "as_json", is_flag=True, help="Print report documents, and nothing else, on standard output.")
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Keep all artifacts in this folder.")
@click.option("--full", is_flag=True, help="Also reduce a failure, and compile it with other releases.")
@with_outputs("check")
def command(
    cases: tuple[str, ...], as_json: bool, folder: Path | None, full: bool, record: CiRecord | None, **values: Any
) -> int:
    """Compile each CASE in isolation; if it fails, diagnose it and suggest what compiles instead.

    CASE is kernel.py::function (with --arg and --const; what is not given is drafted), a case folder, its case.json, a
    reproducer's name, or what another tool left: IR (kernel.ttgir), a folder of Triton's cache or dump, an MLIR
    reproducer.

    A Python file, a folder or an installed package as CASE means every kernel in it: a table of kernels and targets.
    """
    if values["sanitize"] and not values["bench"]:
        raise InputError("--sanitize launches the suggestions on a GPU: give --bench as well")
    usable_targets = stated_targets(values)
    projects = {text: path for text in cases if (path := named_sources(text, values)) is not None}
    single = [text for text in cases if text not in projects]
    if single and values["triton"]:
        _refuse_several_releases(values["triton"], single[0])
    if projects and (full or values["bench"]):
        flag, text = "--full" if full else "--bench", next(iter(projects))
        raise InputError(f"{flag}: for one kernel, not for all of {text}; name one as FILE.py::NAME")
    codes = [0]
    if folder is not None:
        usable_folder("-o", folder)
    for line in knowledge.problems(tuple(values["kb"])):
        note(line)
    if single:
        codes += _check(single, [str(target) for target in usable_targets], as_json, folder, full, record, values)
    for number, (text, path) in enumerate(projects.items(), start=len(single) + 1):
        from triage.cli.survey import survey

        own = folder / f"{number:03d}-{path.stem}" if folder is not None and len(cases) > 1 else folder
        try:
            codes.append(survey(text, path, usable_targets, as_json, own, record, values))
        except Interrupted:
            raise
        except TriageError as error:
            if len(cases) == 1:
                raise
            codes.append(_failed(text, error, as_json, record))
    return max(codes)


def _failed(name: str, error: TriageError, as_json: bool, record: CiRecord | None) -> int:
    """Print that one of several cases has no answer; its exit code."""
    if not isinstance(error, Interrupted):
        note_error(error)
    if as_json:
        print_json({"case": name, "could_not_tell": str(error), "exit_code": error.exit_code}, indented=False)
    if record is not None:
        record.error(name, error)
    return error.exit_code


def _check(
    texts: list[str],
    columns: list[str],
    as_json: bool,
    folder: Path | None,
    full: bool,
    record: CiRecord | None,
    values: dict[str, Any],
) -> list[int]:
    """Compile and report case by case; the exit codes."""
    options = pipeline_options(values)
    chosen = columns if values["target"] else [None]
    results: _Results | None = None
    try:
        with console.progress() as progress, Session(options, replace(progress, problem=note_error)) as session:
            progress.step("reading the cases")
            located = [
                item for text in texts for target in chosen for item in _located(text, {**values, "target": target})
            ]
            named = list[tuple[str, Any]]()
            for name, item in located:
                # Drafted first: it is known only then how many cases there are.
                named += (
                    [(name, each) for each in item.settled(session)]
                    if isinstance(item, DraftedKernel)
                    else [(name, item)]
                )
            results = _Results(as_json, len(named) == 1, folder, full, record, values)
            reports = session.check_all([case for _, case in named if isinstance(case, Case)])
            for number, (name, item) in enumerate(named, start=1):
                match item:
                    case Case():
                        results.add(number, name, next(reports))
                    case TriageError():
                        results.add(number, name, item)
                    case settled:
                        results.add(number, name, session.answer(settled))
            # Raises the interrupt that has cut the reports short.
            next(reports, None)
        results.complete(options)
    finally:
        if results is not None:
            results.flush()
    return results.codes


def _refuse_several_releases(triton: str, case: str) -> None:
    """Raises InputError where ``--triton`` names several releases."""
    from triage.matrix.releases import is_several

    if is_several(triton):
        raise InputError(f"--triton {triton}: one release for {case}; several are in `triage matrix`")


def _located(text: str, values: dict[str, Any]) -> list[tuple[str, Case | DraftedKernel | TriageError]]:
    """The cases that one CASE names, each with a name of its own, or the error that there are none."""
    try:
        if "::" in text and (drafted := kernel(text, values)) is not None:
            return [(text, drafted)]
        located = locate_all(text, values)
    except Exception as error:
        return [(text, fault(error))]
    for line in located.notes:
        note(line)
    return [(text if len(located.cases) == 1 else str(case.folder), case) for case in located.cases]


@dataclass(slots=True)
class _Results:
    """Prints and keeps each result as it comes. One that cannot be printed or kept concerns no other."""

    as_json: bool
    single: bool
    folder: Path | None
    full: bool
    record: CiRecord | None
    values: dict[str, Any]
    codes: list[int] = field(default_factory=list)
    _incomplete: list[tuple[Report, str, Path | None]] = field(default_factory=list)

    def add(self, number: int, name: str, answer: Report | TriageError) -> None:
        """The result of one case."""
        if isinstance(answer, TriageError):
            self.codes.append(_failed(name, answer, self.as_json and not self.single, self.record))
            return
        folder, report = self.folder, answer
        if folder is not None and not self.single:
            case = answer.case
            folder = folder / f"{number:03d}-{labels.label(case.name, case.constexprs, case.options)}"
        if folder is not None:
            from triage.publish.keep import keep

            with self._alone():
                report = keep(answer, folder, self.folder)
            if report is answer:
                folder = None  # Nothing can be written there.
        command_line = repeating("check", name, self.values)
        if self.full and report.outcome.failed:
            self._incomplete.append((report, command_line, folder))
        else:
            _print(report, command_line, self.as_json, self.single)
        if self.record is not None:
            with self._alone():
                self.record.report(name, report)
        self.codes.append(int(report.outcome.failed))

    def complete(self, options: Options) -> None:
        """With ``--full``, reduce what failed and compile it with other releases; print it."""
        while self._incomplete:
            from triage.cli.full import complete

            report, command_line, folder = self._incomplete.pop(0)
            with self._alone():
                complete(report, command_line, options, folder, self.as_json, self.single)

    def flush(self) -> None:
        """Print the reports that an interrupt keeps from being completed."""
        for report, command_line, _ in self._incomplete:
            _print(report, command_line, self.as_json, self.single)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Print an error of the body, and go on."""
        try:
            yield
        except Exception as error:
            note_error(fault(error))
            self.codes.append(fault(error).exit_code)


def _print(report: Report, command_line: str, as_json: bool, single: bool) -> None:
    if as_json:
        print_json(report.to_json(), single)
    else:
        render.report(console.output(), report, command_line)
    if report.case.origin.get(UNFINISHED) and not report.outcome.failed:
        reasons = "it was killed from outside, had other options, or is still running"
        click.echo(f"triage: {report.case.name} did not finish then, but compiles now: {reasons}", err=True)
