"""The reproducers that ship with triage: one case folder for each known failure, some with a fixed variant.

``case.json`` fails; ``fixed.json`` is the same case with the kernel's source changed so that it compiles, and its
``origin.change`` describes the change.
"""

import os
from pathlib import Path

from triage.filesystem.shipped import data_folder
from triage.frontends import documents
from triage.model.case import Case


def folder(name: str) -> Path | None:
    """The folder of a reproducer; None if no reproducer has that name."""
    # Looked up in a listing: any text may be asked for, a path that leads elsewhere or is too long too.
    everything = data_folder("reproducers")
    listed = name in os.listdir(everything)  # noqa: PTH208 - once for every entry of the knowledge base
    return everything / name if listed and (everything / name / "case.json").is_file() else None


def names() -> list[str]:
    """The names of all reproducers."""
    return sorted(path.parent.name for path in data_folder("reproducers").glob("*/case.json"))


def fixed(name: str) -> tuple[Case, str] | None:
    """The fixed variant of a reproducer, and a description of the change; None if it has none."""
    path = folder(name)
    if path is None or not (path / "fixed.json").is_file():
        return None
    variant = documents.load(path / "fixed.json")
    return variant, str(variant.origin.get("change", "see fixed.py"))
