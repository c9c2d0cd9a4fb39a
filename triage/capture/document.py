"""A run and what was found in it, as a document, and the reports beside the cases that they are of."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.capture.findings import Finding, Findings
from triage.capture.run import Ran
from triage.files import replace_file
from triage.model.errors import EnvironmentFault
from triage.pipeline import keep_artifacts

if TYPE_CHECKING:
    from triage.capture.compile_only import Reached

SCHEMA = "triton-triage/run/1"


def keep(findings: Findings) -> Findings:
    """Put each report, with what the compiler left, beside its case. Raises EnvironmentFault."""
    return replace(findings, found=tuple(map(_kept, findings.found)))


def _kept(finding: Finding) -> Finding:
    """With its report, and what the compiler left, beside the case."""
    if finding.report is None:
        return finding
    place = finding.first.folder / "report"
    report = keep_artifacts(finding.report, place)
    replace_file(place / "report.json", json.dumps(report.to_json(), indent=2) + "\n")
    return replace(finding, report=report)


def document(
    ran: Ran, findings: Findings, asked: tuple[str, ...], folder: Path, reached: Reached | None = None
) -> Path:
    """Write the document to ``folder``; returns its path. Raises EnvironmentFault."""
    path = folder / "run.json"
    try:
        replace_file(path, json.dumps(to_json(ran, findings, asked, reached), indent=2) + "\n")
    except OSError as error:
        raise EnvironmentFault(f"{path}: cannot be written: {error.strerror}") from None
    return path


def to_json(ran: Ran, findings: Findings, asked: tuple[str, ...], reached: Reached | None = None) -> dict[str, Any]:
    """The document of a run (``triton-triage/run/1``). ``reached``: what a program of --compile-only got to."""
    capture = ran.capture
    return {
        "schema": SCHEMA,
        "command": shlex.join(asked),
        "exit_code": ran.code,
        "signal": ran.signal,
        "timed_out": ran.hung,
        "duration_s": round(ran.seconds, 3),
        "compiled": capture.compiled,
        "cached": capture.cached,
        "failed": findings.failed(capture),
        "guard": {
            "refused": sum(one.refused for one in capture.found),
            "not_repeated": capture.again,
            "unguarded": capture.unguarded,
        },
        "compile_only": reached.to_json() if reached else None,
        "findings": [
            {
                "signature": one.signature,
                "reproduced": None if one.report is None else not one.alone,
                "undecided": str(one.undecided) if one.undecided else None,
                "captured": [
                    {"folder": str(each.folder), "state": each.state.value, "error": each.error or None}
                    for each in one.captured
                ],
                "report": one.report.to_json() if one.report else None,
            }
            for one in findings.found
        ],
        "skipped": [{"folder": str(one.folder), "error": one.error} for one in findings.skipped],
        "cut_short": [str(one.folder) for one in findings.cut_short],
        "left_out": findings.left_out,
        "notes": [str(path) for path in capture.notes],
        "helion": [str(path) for path in capture.helion],
    }
