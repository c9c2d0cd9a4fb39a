"""Recognises texts of Triton's C++ code, which no other program prints that is built on LLVM and MLIR."""

from functools import cache

from triage.logs.lists import listed
from triage.model.diagnosis import Kind

_MAX_TEXT = 1000
"""Characters of a text that are looked at; the longest of Triton's own has some 200."""
_PARTS = (Kind.LLVM_FATAL, Kind.UNREACHABLE, Kind.MLIR_DIAGNOSTIC)
"""How the compiler ends with the texts of each part of the file."""


@cache
def _texts() -> tuple[tuple[Kind, tuple[str, ...]], ...]:
    return tuple(zip(_PARTS, listed("native_texts.txt", "# The next part."), strict=True))


def kind_of(text: str) -> Kind | None:
    """The kind of failure that Triton's C++ code ends in with a text; None for any other text."""
    beginning = text[:_MAX_TEXT]
    return next((kind for kind, texts in _texts() if any(known in beginning for known in texts)), None)


def is_native(text: str) -> bool:
    """True for a text with which Triton's C++ code gives up."""
    return kind_of(text) is not None
