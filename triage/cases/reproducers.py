"""The reproducers that ship with triage: one folder a known failure, a case folder with a fixed variant beside it.

``case.json`` fails; ``fixed.json``, where there is one, is the same case with the kernel's source changed so that it
compiles, and its ``origin.change`` says in words what was changed.
"""

from __future__ import annotations

from pathlib import Path

from triage.data import data_folder
from triage.model import case as cases
from triage.model.case import Case


def folder(name: str) -> Path | None:
    """The folder of a reproducer, None when there is none of that name."""
    return data_folder("reproducers") / name if name in names() else None


def names() -> list[str]:
    """All reproducers."""
    return sorted(path.parent.name for path in data_folder("reproducers").glob("*/case.json"))


def fixed(name: str) -> tuple[Case, str] | None:
    """The variant of a reproducer whose source was repaired, and what was changed in it."""
    found = folder(name)
    if found is None or not (found / "fixed.json").is_file():
        return None
    variant = cases.load(found / "fixed.json")
    return variant, str(variant.origin.get("change", "see fixed.py"))
