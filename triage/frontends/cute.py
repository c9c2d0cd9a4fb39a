"""CuTe DSL: its types, targets and options, as texts and values of a case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from triage.harness.worker.cute import grammar
from triage.model.language import Language
from triage.model.target import Target

OBJECT = re.compile(r"(?:cutlass|cute|operator)\.[A-Za-z_]")
"""The beginning of a constexpr that names an object of the DSL, or a function of Python's operators."""
_OLDEST_TARGET = 70
_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")
_LEVELS = range(4)
_OPTIONS = Language.CUTE.options


def check_type(value: Any, bad: Any) -> None:
    """A type in the grammar of :mod:`triage.harness.worker.cute.grammar`."""
    example = "'tensor<bf16, (128,64):(64,1), align=16>', 'ptr<f16, gmem>', 'i32' or 'stream'"
    if not isinstance(value, str):
        raise bad(f"expected a type such as {example}, found {value!r}")
    try:
        grammar.parse(value)
    except grammar.BadType as error:
        raise bad(f"{value!r}: {error}; write a type such as {example}") from None


def check_divisor(value: Any, bad: Any) -> None:
    """Divisors are parts of the types here."""
    raise bad("CuTe's divisors are in the type: write ?{16} for a dynamic extent, align=16 for a pointer")


def check_options(options: Mapping[str, Any], bad: Any) -> None:
    """The DSL's compile options that a case may have."""
    if unknown := sorted(set(options) - _OPTIONS):
        raise bad(f"options.{unknown[0]}", f"not an option of CuTe DSL; it has {', '.join(sorted(_OPTIONS))}")
    arch, level = options.get("arch"), options.get("opt_level")
    if arch is not None and not (isinstance(arch, str) and _ARCHITECTURE.fullmatch(arch)):
        raise bad("options.arch", f"expected an architecture such as 'sm_90a', found {arch!r}")
    if level is not None and (isinstance(level, bool) or level not in _LEVELS):
        raise bad("options.opt_level", f"expected 0 to 3, found {level!r}")


def check_target(target: Target, bad: Any) -> None:
    """The DSL compiles for NVIDIA GPUs."""
    if target.backend != "cuda" or int(target.arch) < _OLDEST_TARGET:
        raise bad(f"CuTe DSL compiles for cuda:{_OLDEST_TARGET} and newer, found {target}")


def simpler_types(type_: str) -> Iterator[str]:
    """See :class:`triage.frontends.frontend.Frontend`: with a common type of element."""
    argument = grammar.parse(type_)
    if isinstance(argument, grammar.Tensor | grammar.Pointer):
        yield from (str(replace(argument, dtype=common)) for common in _common(argument.dtype))
    elif isinstance(argument, grammar.Scalar):
        yield from _common(argument.dtype)


def _common(dtype: str) -> Iterator[str]:
    is_integer = dtype.startswith(("i", "u"))
    return takewhile(lambda common: common != dtype, ("i32",) if is_integer else ("f32", "f16"))


def dtype(text: str) -> str | None:
    """A dtype by any of its names, as a constexpr's value; None for other text."""
    short = text.removeprefix("cutlass.")
    name = grammar.DTYPES.get(short, short if short in grammar.DTYPES.values() else None)
    return name and f"cutlass.{name}"
