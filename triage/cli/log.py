"""``triage log``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triage import knowledge, logs
from triage.cli.ci import with_outputs
from triage.cli.options import kb_option, print_json
from triage.filesystem.compiled_patterns import CompiledPatterns
from triage.knowledge.advice import next_steps
from triage.knowledge.entry import Entry
from triage.knowledge.matching import NearMiss, near_misses
from triage.logs.patterns import compile_with
from triage.model.diagnosis import Diagnosis
from triage.model.errors import InputError, fault
from triage.model.match import Match
from triage.model.visible import one_line
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import logs as render_log

if TYPE_CHECKING:
    from triage.publish.ci.record import CiRecord


_MOST_MATCHED = 20
"""Causes beside the root cause that are looked up."""


@dataclass(frozen=True, slots=True)
class LogResult:
    """The root cause of one log, None if it contains no failure; its findings in order of rank; the entries that match
    the root cause, and those that match the other causes, by rank."""

    file: str
    diagnosis: Diagnosis | None
    findings: list[logs.Finding]
    matches: list[Match]
    others: dict[int, list[Match]]

    @property
    def causes(self) -> list[tuple[Diagnosis, int]]:
        """Failures that do not follow from others, the root cause first, each with its line number from 1."""
        return [(finding.diagnosis, finding.position + 1) for finding in self.findings if finding.follows is None]

    def to_json(self) -> dict[str, Any]:
        """The document: the findings, and at the top the root cause with its matches."""
        return {
            "diagnosis": self.diagnosis.to_json() if self.diagnosis else None,
            "matches": [match.to_json() for match in self.matches],
            "findings": [
                {**finding.to_json(), "matches": [match.to_json() for match in self.others.get(finding.rank, ())]}
                for finding in self.findings
            ],
            "next": list(next_steps(self.diagnosis, False)) if self.diagnosis and not self.known else [],
        }

    @property
    def known(self) -> bool:
        """Whether an entry names the cause, and not just a family of causes."""
        return any(not match.generic for match in self.matches)


@click.command("log")
@click.argument("files", nargs=-1, metavar="[FILE|-]...")
@kb_option
@click.option("--explain", is_flag=True, help="List the entries that almost match, and what each lacks.")
@click.option("--json", "as_json", is_flag=True, help="Print documents: one, indented, or one a line for several logs.")
@with_outputs("log")
def command(files: tuple[str, ...], kb: tuple[Path, ...], explain: bool, as_json: bool, record: CiRecord | None) -> int:
    """Diagnose logs: each FILE, or standard input. Compiles nothing and needs no Triton.

    Several logs are grouped by bug. The exit code is 1 if any of them contains a failure.
    """
    patterns = CompiledPatterns()
    compile_with(patterns.compile)
    for problem in knowledge.problems(kb):
        click.echo(one_line(problem), err=True)
    entries = knowledge.load_all(kb)
    names = files or ("-",)
    several = len(names) > 1
    results: list[LogResult] = []
    codes = [0]
    try:
        for name in names:
            try:
                result = _result(name, entries)
            except Exception as error:
                failed = fault(error)
                reason = str(failed).removeprefix(f"{name}: ")
                click.echo(one_line(f"{name}: {reason}"), err=True)
                codes.append(failed.exit_code)
                if as_json and several:
                    document = {"file": name, "could_not_tell": reason, "exit_code": failed.exit_code}
                    print_json(document, indented=False)
                if record is not None:
                    record.error(name, reason)
                continue
            results.append(result)
            codes.append(int(bool(result.findings)))
            if as_json:
                # Printed at once, so that a reader need not wait for the last of many logs.
                near = {"near": [_near(miss) for miss in _near_misses(result, entries)]} if explain else {}
                document = {**({"file": name} if several else {}), **result.to_json(), **near}
                print_json(document, indented=not several)
            if record is not None:
                record.log(name, result.causes, result.matches)
    finally:
        # After an interrupt, those that were read until then.
        if not as_json and several and results:
            render_log.groups(console.output(), [(result.file, result.diagnosis, result.matches) for result in results])
        elif not as_json:
            for result in results:
                render_log.log(console.output(), result.diagnosis, result.matches, result.findings, result.others)
                if explain and result.diagnosis is not None:
                    render_log.near_misses(console.output(), _near_misses(result, entries))
    patterns.keep()
    return max(codes)


def _result(name: str, entries: Iterable[Entry]) -> LogResult:
    """The diagnosis of one log. Raises InputError if it cannot be read."""
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as stream:
            findings = sorted(logs.failures(stream), key=lambda finding: finding.rank)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name}: cannot be read: {reason}; give a log file, or - for standard input") from None
    root = findings[0].diagnosis if findings else None
    others = {
        finding.rank: knowledge.match(finding.diagnosis, entries, None)
        for finding in [finding for finding in findings[1:] if finding.follows is None][:_MOST_MATCHED]
    }
    return LogResult(name, root, findings, knowledge.match(root, entries, None) if root else [], others)


def _near_misses(result: LogResult, entries: Iterable[Entry]) -> list[NearMiss]:
    return near_misses(result.diagnosis, entries, None) if result.diagnosis else []


def _near(miss: NearMiss) -> dict[str, Any]:
    return {"id": miss.entry.id, "title": miss.entry.title, "but_for": list(miss.differences)}
