"""Recognises texts of Triton's own exceptions: an exception is Triton's when its text is, wherever the frames are."""

import re
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_suffix(".txt")
_MAX_TEXT = 1000
"""Characters of a text that are looked at; Triton's own texts have at most 300, and the words around them are few."""
# Technical terms, for texts that no released wheel has: those of forks, of newer releases and of C++ exceptions.
_VOCABULARY = re.compile(
    r"\btriton|\btl\.[a-z]|constexpr|\bfp8|num_(?:warps|stages|ctas)|\bptxas\b|\btt(?:ir|gir)\b|\bMLIR\b"
    r"|PassManager|\bLLVM\b|tensor descriptor|'to_ir'|map::at|vector::_M_|Function argument index|active drivers"
    r"|\bcu(?:te|tlass)\b|\binductor|gluon|\bgfx\d|\bsm_\d",
    re.IGNORECASE,
)


@cache
def _texts() -> tuple[str, ...]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def is_frontends(text: str) -> bool:
    """True for a text that Triton's Python code raises."""
    beginning = text[:_MAX_TEXT]
    return any(known in beginning for known in _texts())


def is_tritons(text: str) -> bool:
    """True for a text that only Triton, or a program that compiles with it, would print."""
    return _VOCABULARY.search(text) is not None or is_frontends(text)
