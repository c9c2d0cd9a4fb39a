"""What the import of a kernel's module may take for the host packages that its environment lacks."""

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import packaging

from triage.model.case import Case


def module_message(case: Case) -> dict[str, Any]:
    """How to import a case's module, as a worker reads it. ``lent``: folders of packages of triage's own environment.
    packaging only orders versions, in plain Python, and does so everywhere alike; a stand-in could not."""
    return {"sliced": case.is_sliced, "lent": {"packaging": _folder()}}


@cache
def host_tools() -> dict[str, str]:
    """Programs that read an NVIDIA binary, of the Triton beside triage: a compiler's own wheel need not have them."""
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        return {}
    folder = Path(spec.origin).parent / "backends/nvidia/bin"
    return {name: str(folder / name) for name in ("cuobjdump", "nvdisasm") if (folder / name).is_file()}


@cache
def _folder() -> str:
    return str(Path(packaging.__file__).parent)
