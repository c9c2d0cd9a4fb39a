"""The lists of texts and names that lie beside the modules which use them, one a line, with comments."""

from pathlib import Path

_FOLDER = Path(__file__).parent


def listed(name: str, divider: str = "") -> tuple[tuple[str, ...], ...]:
    """The lines of the file of that name without comments, in the parts that a line ``divider`` separates."""
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return tuple(map(_lines, text.split(f"{divider}\n") if divider else [text]))


def _lines(part: str) -> tuple[str, ...]:
    return tuple(line for line in part.splitlines() if line and not line.startswith("#"))
