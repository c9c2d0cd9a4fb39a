"""``triage log``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from triage import knowledge, logs
from triage.cli.ci import Outputs, with_outputs
from triage.knowledge.advice import next_steps
from triage.model.diagnosis import Diagnosis
from triage.model.report import Match
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import logs as render_log
from triage.publish.visible import one_line


@dataclass(frozen=True, slots=True)
class Read:
    """What one log says."""

    file: str
    findings: list[logs.Finding]
    matches: list[Match]

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The root cause."""
        return next((finding.diagnosis for finding in self.findings if finding.rank == 1), None)

    @property
    def causes(self) -> list[tuple[Diagnosis, int]]:
        """What does not merely follow from something else, the root cause first, each with its line from 1."""
        ordered = sorted(self.findings, key=lambda finding: finding.rank)
        return [(finding.diagnosis, finding.position + 1) for finding in ordered if finding.follows is None]

    def to_json(self) -> dict[str, Any]:
        """The document: findings, the first cause first; the root cause and its matches once more at the top."""
        ordered = sorted(self.findings, key=lambda finding: finding.rank)
        return {
            "diagnosis": self.diagnosis.to_json() if self.diagnosis else None,
            "matches": [match.to_json() for match in self.matches],
            "findings": [finding.to_json() for finding in ordered],
            "next": list(next_steps(self.diagnosis, False)) if self.diagnosis and not self.matches else [],
        }


@click.command("log")
@click.argument("files", nargs=-1, metavar="[FILE|-]...")
@click.option("--kb", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Entries of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print documents: one, indented, or one a line for several logs.")
@with_outputs("log")
def command(files: tuple[str, ...], kb: tuple[Path, ...], as_json: bool, outputs: Outputs) -> int:
    """Diagnose logs: each FILE, or standard input. Compiles nothing and needs no Triton.

    Several logs are grouped by the bug that they show. Exits with 1 when there is a failure in any of them.
    """
    for problem in knowledge.problems(kb):
        click.echo(one_line(problem), err=True)
    entries = knowledge.load_all(kb)
    given = files or ("-",)
    several = len(given) > 1
    read: list[Read] = []
    for file in given:
        found = _findings(file)
        if found is None:
            outputs.error(file, "cannot be read")
            continue
        root = next((finding.diagnosis for finding in found if finding.rank == 1), None)
        one = Read(file, found, knowledge.match(root, entries, None) if root else [])
        if as_json and several:
            # At once: a reader need not wait for the last of many.
            click.echo(json.dumps({"file": file, **one.to_json()}))
        read.append(one)
        outputs.log(file, one.causes, one.matches)
    if as_json and not several:
        for one in read:
            click.echo(json.dumps(one.to_json(), indent=2))
    elif not as_json and several:
        render_log.groups(console.output(), [(one.file, one.diagnosis, one.matches) for one in read])
    elif not as_json:
        for one in read:
            render_log.log(console.output(), one.diagnosis, one.matches, one.findings)
    if len(read) < len(given):
        return 2
    return int(any(one.findings for one in read))


def _findings(file: str) -> list[logs.Finding] | None:
    """What a log says; None, and a line that says why, when it cannot be read."""
    try:
        if file == "-":
            return logs.findings(sys.stdin.buffer)
        with Path(file).open("rb") as stream:
            return logs.findings(stream)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        click.echo(one_line(f"{file}: cannot be read: {reason}; give a log file, or - for standard input"), err=True)
        return None
