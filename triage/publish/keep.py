"""What ``triage check -o`` leaves, as ``triage report`` reads it: the document, the artifacts, and the case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from triage.files import replace_file, writing
from triage.model.case import Case
from triage.model.report import Report
from triage.pipeline import keep_artifacts
from triage.publish.finished import CASE, REPORT
from triage.source.imports import imported_files
from triage.source.package_copy import package


def keep(report: Report, folder: Path) -> Report:
    """Write all of it; the report with its artifacts where they are now. Raises EnvironmentFault."""
    moved = keep_artifacts(report, folder)
    with writing(f"-o {folder}"):
        replace_file(folder / REPORT, json.dumps(moved.to_json(), indent=2) + "\n")
        _keep_case(report.case, folder / CASE)
    return moved


def _keep_case(case: Case, folder: Path) -> None:
    """Write the case as a case folder; not that of a kernel in a package, which needs the whole package."""
    root, chain = package(case.path)
    if len(chain) > 1 and not case.is_ir:
        return
    needed = [case.path] if case.is_ir else [case.path, *imported_files(case.path)]
    for path in needed:
        target = folder / path.resolve().relative_to(root.resolve())
        if target.resolve() != path.resolve():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    document = case.to_json()
    document["kernel"]["file"] = case.path.name
    replace_file(folder / "case.json", json.dumps(document, indent=2) + "\n")
