"""Recognises texts of Triton's C++ code, which no other program prints that is built on LLVM and MLIR."""

from functools import cache

from triage.logs.lists import listed

_MAX_TEXT = 1000
"""Characters of a text that are looked at; the longest of Triton's own has some 200."""


@cache
def _texts() -> tuple[str, ...]:
    return listed("native_texts.txt")[0]


def is_native(text: str) -> bool:
    """True for a text with which Triton's C++ code gives up."""
    beginning = text[:_MAX_TEXT]
    return any(known in beginning for known in _texts())
