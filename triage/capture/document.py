"""The run document, and the reports kept beside their cases."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.capture.counts import total
from triage.capture.findings import Findings
from triage.capture.run import ProgramRun
from triage.filesystem.files import replace_file, writing
from triage.pipeline.reporting import keep_artifacts

if TYPE_CHECKING:
    from triage.capture.compile_only import Reached

SCHEMA = "triton-triage/run/1"


def keep(findings: Findings) -> Findings:
    """Write each report, with the compiler's artifacts, beside its case. Raises EnvironmentFault."""
    groups = []
    for group in findings.groups:
        report = group.report
        if report is not None:
            report_folder = group.first.folder / "report"
            report = keep_artifacts(report, report_folder, group.first.folder)
            replace_file(report_folder / "report.json", json.dumps(report.to_json(), indent=2) + "\n")
        groups.append(replace(group, report=report))
    return replace(findings, groups=tuple(groups))


def document(
    ran: ProgramRun, findings: Findings, command: tuple[str, ...], folder: Path, reached: Reached | None
) -> Path:
    """Write the run document to ``folder`` and return its path. ``reached``: how far a ``--compile-only`` program got.
    Raises EnvironmentFault."""
    capture, path = ran.capture, folder / "run.json"
    counts = total(capture, findings.cut_short)
    values = {
        "schema": SCHEMA,
        "command": shlex.join(command),
        "exit_code": ran.code,
        "signal": ran.signal,
        "timed_out": ran.hung,
        "duration_s": round(ran.seconds, 3),
        "compiled": counts.compiled,
        "cached": counts.cached,
        "failed": counts.failed,
        "passed_over": counts.passed_over,
        "guard": {
            "refused": sum(compile_.refused for compile_ in capture.compiles),
            "not_repeated": capture.again,
            "unguarded": capture.unguarded,
        },
        "compile_only": reached.to_json() if reached else None,
        "findings": [
            {
                "signature": group.signature,
                "reproduced": None if group.report is None else not group.compiles_alone,
                "undecided": str(group.undecided) if group.undecided else None,
                "captured": [
                    {"folder": str(captured.folder), "state": captured.state.value, "error": captured.error or None}
                    for captured in group.captured
                ],
                "report": group.report.to_json() if group.report else None,
            }
            for group in findings.groups
        ],
        "skipped": [{"folder": str(group.folder), "error": group.error} for group in findings.skipped],
        "cut_short": [str(group.folder) for group in findings.cut_short],
        "left_out": findings.left_out,
        "notes": list(map(str, capture.notes)),
        "notices": capture.lost(),
        "helion": list(map(str, capture.helion)),
    }
    with writing(path):
        replace_file(path, json.dumps(values, indent=2) + "\n")
    return path
