"""Finds the jitted functions of a project, and what is known of each parameter."""

from pathlib import Path

from triage.drafts.model import JitFunction


def find(path: Path) -> list[JitFunction]:
    """The jitted functions of a file, or of all files of a folder. Raises InputError where there is nothing to read."""
    raise NotImplementedError(path)
