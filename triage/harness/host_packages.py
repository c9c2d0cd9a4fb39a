"""What the import of a kernel's module may take for the host packages that its environment lacks."""

from pathlib import Path
from typing import Any

import packaging

from triage.model.case import Case


def module_message(case: Case) -> dict[str, Any]:
    """How to import a case's module, as a worker reads it. ``lent``: folders of packages of triage's own environment.
    packaging only orders versions, in plain Python, and does so everywhere alike; a stand-in could not."""
    return {"sliced": case.is_sliced, "lent": {"packaging": str(_folder())}}


def _folder() -> Path:
    return Path(packaging.__file__).parent
