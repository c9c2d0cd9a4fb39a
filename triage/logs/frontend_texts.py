"""Recognises texts of Triton's own exceptions: an exception is Triton's when its text is, wherever the frames are."""

import re
from collections.abc import Sequence
from functools import cache

from triage.logs.lists import listed
from triage.logs.patterns import regex

_MAX_TEXT = 1000
"""Characters of a text that are looked at; Triton's own texts have at most 300, and the words around them are few."""
# Technical terms, for texts that no released wheel has: those of forks, of newer releases and of C++ exceptions.
_VOCABULARY = regex(
    r"(?<![a-z])triton(?!server|client|_python_backend|dse)|\btl\.[a-z]|constexpr|\bfp8|num_(?:warps|stages|ctas)|\bptxas\b|(?<![a-z\d])tt(?:ir|gir)\b|\bMLIR(?:\b|_)"
    r"|PassManager|\bLLVM\b|tensor descriptor|'to_ir'|map::at|vector::_M_|Function argument index|active drivers"
    r"|\bcu(?:te|tlass)\b|\bDSL[A-Z]\w{2,40}Error\b|\binductor|\bflag_?(?:tree|gems)|CUtensorMap|'(?:trans_[ab]|out_dtype|input_precision|eviction_policy|cache_modifier|_semantic|_builder)'|gluon|\bgfx\d|\bsm_\d|max_autotune_gemm|\bNoValidChoicesError\b",
    re.IGNORECASE,
)


_LACKING = regex(r"['`](?P<owner>\w{1,100})['`](?: object)? has no attribute ['`](?P<attribute>\w{1,100})['`]")
_OWNER = regex(r"['`][A-Z]\w{0,100}['`](?=(?: object)? has no attribute )")

_VALUE = "\u2026"
_MAX_VALUE = 300
"""Characters from a part of a text to the next one."""
_REST = "# The rest."
"""Divides the file."""


@cache
def _texts() -> tuple[tuple[Sequence[str], ...], ...]:
    """The parts of those of the language, and of the rest."""
    return tuple(tuple(line.split(_VALUE) for line in part) for part in listed("frontend_texts.txt", _REST))


def _position(parts: Sequence[str], text: str) -> int | None:
    """Where the first of the parts is in a text, if they follow one another with a value in between."""
    begin = at = text.find(parts[0])
    for part in parts[1:] if begin >= 0 else ():
        at = text.find(part, at + 1, at + _MAX_VALUE) if at >= 0 else -1
    return begin if at >= 0 else None


def frontends_text(text: str) -> int | None:
    """Where a text that Triton's Python code raises begins in a line; None if there is none."""
    beginning = text[:_MAX_TEXT]
    positions = (_position(known, beginning) for part in _texts() for known in part)
    return min((position for position in positions if position is not None), default=None)


def is_languages(text: str) -> bool:
    """True for a text that the front end raises as it reads a kernel."""
    beginning = text[:_MAX_TEXT]
    return any(_position(known, beginning) is not None for known in _texts()[0])


def is_frontends(text: str) -> bool:
    """True for a text that Triton's Python code raises."""
    return frontends_text(text) is not None


@cache
def _classes() -> dict[str, tuple[str, ...]]:
    """The attributes that tell Triton's classes from others of the same name; none where the name does."""
    return {name: tuple(attributes) for name, *attributes in map(str.split, listed("class_names.txt")[0])}


def _is_of_class(text: str) -> bool:
    """True for an attribute that an object of a class of Triton's lacks, or of one that is named after such a class."""
    lacking = _LACKING.search(text)
    return lacking is not None and any(
        not attributes or lacking["attribute"] in attributes
        for name, attributes in _classes().items()
        if lacking["owner"].endswith(name)
    )


def is_of_another_class(text: str) -> bool:
    """True for an attribute that an object of a class lacks which is none of Triton's, and not Python's."""
    lacking = _LACKING.search(text)
    return lacking is not None and lacking["owner"][:1].isupper() and not _is_of_class(text)


def has_terms(text: str) -> bool:
    """True for a text with a technical term of Triton's. What a class is called that lacks something is none."""
    return _VOCABULARY.search(_OWNER.sub("", text)) is not None


def names_tritons(text: str) -> bool:
    """True for a text with a technical term of Triton's, or about an object of one of its classes."""
    return has_terms(text) or _is_of_class(text)


def is_tritons(text: str) -> bool:
    """True for a text that only Triton, or a program that compiles with it, would print."""
    return names_tritons(text) or is_frontends(text)
