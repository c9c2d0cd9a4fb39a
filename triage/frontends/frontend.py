"""The protocol of a front end, and which language has which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from re import Pattern
from typing import Any

from triage.frontends import cute, cute_host, triton
from triage.model.language import Language
from triage.model.target import Target

Bad = Callable[..., Exception]
"""Makes the error for a problem: of one value ``bad(problem)``, of several ``bad(field, problem)``."""


class Family(Enum):
    """Which changes and rewrites are proposed for a failing kernel: those of ``triage/suggest/families.py``."""

    TRITON = "triton"
    CUTE = "cute"


@dataclass(frozen=True, slots=True)
class Frontend:
    """A language as the rest of triage sees it.

    ``check_type``, ``check_divisor``, ``check_target`` raise ``bad(problem)``, ``check_options`` ``bad(field,
    problem)``. ``dtype``: a constexpr's value for the name of a dtype, or None. ``object_text``: how the text of a
    constexpr begins that names an object of the language. ``has_classes``: a kernel may be a class, which is
    constructed first. ``has_tiles``: a program of it works on tiles whose layouts the compiler chooses, which is what
    Triton's rewrites, predictions and estimates of time are about. ``family``: what is proposed where it fails.
    ``without_ttir``: why there is no TTIR of a kernel, "" where there is.
    ``store``: a statement that stores a block of any shape, by the names of a pointer and of the block; None where a
    block has a layout that its address has to have as well.
    ``has_stages``: a stage can be run alone, and a compile be ended behind one. ``has_launches``: a compiled kernel can
    be launched with inputs of its case. ``has_invalid_binaries``: a suspect compile returned a binary that does not
    load, and left it in the compiler's cache; elsewhere it is one that computes what its author hardly meant.
    ``simpler_types``: types that a reduction tries in place of one, the simplest first. ``host``: what
    the source of a kernel with this name states of its parameters, where the front end reads that.
    """

    check_type: Callable[[Any, Bad], None]
    check_divisor: Callable[[Any, Bad], None]
    check_options: Callable[[Mapping[str, Any], Bad], None]
    check_target: Callable[[Target, Bad], None]
    dtype: Callable[[str], str | None]
    object_text: Pattern[str]
    family: Family
    without_ttir: str
    store: Callable[[str, str], str] | None = None
    has_classes: bool = False
    has_tiles: bool = False
    has_stages: bool = False
    has_launches: bool = False
    has_invalid_binaries: bool = False
    simpler_types: Callable[[str], Iterator[str]] = triton.simpler_types
    host: Callable[[bytes, str], cute_host.HostFunction | None] = lambda source, name: None


def _triton(has_tiles: bool) -> Frontend:
    return Frontend(
        triton.check_type,
        triton.check_divisor,
        triton.check_options,
        triton.check_target,
        triton.dtype,
        triton.OBJECT,
        Family.TRITON,
        "" if has_tiles else "gluon kernels begin at TTGIR",
        triton.store if has_tiles else None,
        has_tiles=has_tiles,
        has_stages=True,
        has_launches=True,
        has_invalid_binaries=True,
    )


_FRONTENDS = {
    Language.TRITON: _triton(has_tiles=True),
    Language.GLUON: _triton(has_tiles=False),
    Language.CUTE: Frontend(
        cute.check_type,
        cute.check_divisor,
        cute.check_options,
        cute.check_target,
        cute.dtype,
        cute.OBJECT,
        Family.CUTE,
        "cute kernels have an IR of their own",
        has_classes=True,
        simpler_types=cute.simpler_types,
        host=cute_host.read,
    ),
}


def frontend(language: Language) -> Frontend:
    """The front end of a language."""
    return _FRONTENDS[language]
