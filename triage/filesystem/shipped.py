"""Locations of the data that ships with triage: beside the package in a checkout, inside it in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = ("knowledge_base", "reproducers")


def data_folder(name: str) -> Path:
    """The folder ``knowledge_base`` or ``reproducers``."""
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name


def documentation_files() -> list[Path]:
    """Every ``README.md`` of the package and of the data folders."""
    files = {*_PACKAGE.rglob("README.md"), *(data_folder(name) / "README.md" for name in _FOLDERS)}
    return sorted(path for path in files if path.is_file())
