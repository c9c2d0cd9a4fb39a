"""Files of ``triage check -o``, which ``triage report`` reads: the document, the artifacts, and the case."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

from triage.capture.program.labels import label
from triage.cases.portable import case_files
from triage.filesystem.files import replace_file, resolved, writing
from triage.model.case import Case
from triage.model.report import Report
from triage.pipeline.reporting import keep_artifacts
from triage.publish.finished import CASE, REPORT


def keep(report: Report, folder: Path, top: Path | None = None) -> Report:
    """Write all of it; the report with its artifacts where they are now. No link below ``top`` is followed, by default
    ``folder``. Raises EnvironmentFault."""
    top = top or folder
    moved = keep_artifacts(report, folder, top)
    case = report.case
    document = replace(moved, case=case.moved(case.folder, case.file, case.boundary)).to_json()
    with writing(f"-o {folder}"):
        replace_file(folder / REPORT, json.dumps(document, indent=2) + "\n", top)
    _keep_case(report.case, folder / CASE, top)
    return moved


class CaseFolders:
    """Writes cases to folders of ``top`` that are named after kernel and configuration, each once."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._taken: set[str] = set()

    def write(self, case: Case) -> Path:
        """The folder of a case. Raises EnvironmentFault, and InputError for one that does not stand alone."""
        name = label(case.name, case.constexprs, case.options)
        numbered = (f"{name}-{number}" for number in count(2))
        free = name if name not in self._taken else next(other for other in numbered if other not in self._taken)
        self._taken.add(free)
        _keep_case(case, self._top / free, self._top)
        return self._top / free


def _keep_case(case: Case, folder: Path, top: Path) -> None:
    """Write the case as a case folder, with the contents of its files where they are links; that of a kernel in a
    package only where it is a slice, as it needs the whole package."""
    portable = case_files(case)
    if portable is None:
        return
    root, contents = portable
    with writing(f"-o {top}"):
        for name, content in contents.items():
            target = folder / name
            if resolved(target) != resolved(root / name):
                replace_file(target, content, top)
        moved_case = case.moved(folder, next(iter(contents)))
        replace_file(folder / "case.json", json.dumps(moved_case.to_json(), indent=2) + "\n", top)
