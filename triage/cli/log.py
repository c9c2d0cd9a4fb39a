"""``triage log``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triage import knowledge, logs
from triage.cli.ci import with_outputs
from triage.cli.options import kb_option
from triage.knowledge.advice import next_steps
from triage.model.diagnosis import Diagnosis
from triage.model.report import Match
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import logs as render_log
from triage.publish.visible import one_line

if TYPE_CHECKING:
    from triage.publish.ci.record import CiRecord


@dataclass(frozen=True, slots=True)
class LogResult:
    """The findings of one log in order of rank, and the entries that match its root cause, the first of them."""

    file: str
    findings: list[logs.Finding]
    matches: list[Match]

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The root cause; None if the log contains no failure."""
        return _root(self.findings)

    @property
    def causes(self) -> list[tuple[Diagnosis, int]]:
        """Failures that do not follow from others, the root cause first, each with its line number from 1."""
        return [(finding.diagnosis, finding.position + 1) for finding in self.findings if finding.follows is None]

    def to_json(self) -> dict[str, Any]:
        """The document: the findings, and at the top the root cause with its matches."""
        return {
            "diagnosis": self.diagnosis.to_json() if self.diagnosis else None,
            "matches": [match.to_json() for match in self.matches],
            "findings": [finding.to_json() for finding in self.findings],
            "next": list(next_steps(self.diagnosis, False)) if self.diagnosis and not self.matches else [],
        }


@click.command("log")
@click.argument("files", nargs=-1, metavar="[FILE|-]...")
@kb_option
@click.option("--json", "as_json", is_flag=True, help="Print documents: one, indented, or one a line for several logs.")
@with_outputs("log")
def command(files: tuple[str, ...], kb: tuple[Path, ...], as_json: bool, record: CiRecord | None) -> int:
    """Diagnose logs: each FILE, or standard input. Compiles nothing and needs no Triton.

    Several logs are grouped by bug. The exit code is 1 if any of them contains a failure.
    """
    for problem in knowledge.problems(kb):
        click.echo(one_line(problem), err=True)
    entries = knowledge.load_all(kb)
    names = files or ("-",)
    several = len(names) > 1
    results: list[LogResult] = []
    for name in names:
        findings = _findings(name)
        if findings is None:
            if record is not None:
                record.error(name, "cannot be read")
            continue
        root = next((finding.diagnosis for finding in findings if finding.rank == 1), None)
        result = LogResult(name, findings, knowledge.match(root, entries, None) if root else [])
        if as_json and several:
            # Printed at once, so that a reader need not wait for the last of many logs.
            click.echo(json.dumps({"file": name, **result.to_json()}))
        results.append(result)
        if record is not None:
            record.log(name, result.causes, result.matches)
    if as_json and not several:
        for result in results:
            click.echo(json.dumps(result.to_json(), indent=2))
    elif not as_json and several:
        render_log.groups(console.output(), [(result.file, result.diagnosis, result.matches) for result in results])
    elif not as_json:
        for result in results:
            render_log.log(console.output(), result.diagnosis, result.matches, result.findings)
    if len(results) < len(names):
        return 2
    return int(any(result.findings for result in results))


def _findings(name: str) -> list[logs.Finding] | None:
    """The findings of a log; None, after printing the reason, if it cannot be read."""
    try:
        if name == "-":
            return logs.findings(sys.stdin.buffer)
        with Path(name).open("rb") as stream:
            return logs.findings(stream)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        click.echo(one_line(f"{name}: cannot be read: {reason}; give a log file, or - for standard input"), err=True)
        return None
