"""The axes of a sweep from the words of the command line, each value checked before anything is compiled."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any

from triage.cases.locate import constant, option_value
from triage.frontends.frontend import Frontend, frontend
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target
from triage.sweeps.grid import SweepAxis

TARGET = "target"
MOST_CELLS = 10_000_000
"""Cells of a space: a set of them is 1.25 MB."""
_MOST_VALUES = 10_000
"""Of one axis."""
_RANGE = re.compile(r"(?P<first>-?\d+)\.\.(?P<last>-?\d+)(?:(?P<by>[*+])(?P<step>\d+))?")
_ELEMENT = re.compile(r"\w+")
_ELEMENT_OF = re.compile(r"(?P<before>\*+k?|\w+<)(?P<element>\w+)")
"""A type that has elements: a pointer, a descriptor, a tensor of CuTe DSL."""
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def set_axes(texts: Iterable[str], case: Case) -> list[SweepAxis]:
    """The axes of ``--set NAME=VALUE,VALUE,…`` for a case. Raises InputError."""
    axes: dict[str, SweepAxis] = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        name = name.strip()
        if not equals or not name or not listed.strip():
            raise InputError(f"--set {text!r}: write --set NAME=VALUE,VALUE, as in --set BLOCK_M=32,64,128")
        if name in axes:
            raise InputError(f"--set {name}: given twice; write all of its values in one")
        axes[name] = SweepAxis(name, tuple(_values(name, listed, case)))
    return list(axes.values())


def check_size(axes: Sequence[SweepAxis]) -> None:
    """Raises InputError for more cells than can be held."""
    size = prod(len(axis.values) for axis in axes)
    if size > MOST_CELLS:
        factors = " * ".join(f"{len(axis.values)} of {axis.name}" for axis in axes)
        raise InputError(f"a space of {size:,} cells ({factors}); at most {MOST_CELLS:,} can be held: set fewer values")


def _values(name: str, listed: str, case: Case) -> list[Any]:
    words = [word for text in split(listed, f"--set {name}") for word in _expanded(name, text)]
    values = [_value(name, word, case) for word in words]
    # 1 and True are equal to Python.
    distinct = list({(type(value).__name__, repr(value)): value for value in values}.values())
    if len(distinct) > _MOST_VALUES:
        raise InputError(f"--set {name}: {len(distinct):,} values; at most {_MOST_VALUES:,}")
    return distinct


def split(text: str, option: str) -> list[str]:
    """The parts of a text between commas that are in no brackets and no quotes. Raises InputError."""
    parts, expected, quote = [""], list[str](), ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _CLOSING:
            expected.append(_CLOSING[character])
        elif expected and character == expected[-1]:
            expected.pop()
        elif character == "," and not expected:
            parts.append("")
            continue
        parts[-1] += character
    if expected or quote:
        raise InputError(f"{option}: {(expected or [quote])[-1]!r} is missing in {text!r}")
    if not all(part.strip() for part in parts):
        raise InputError(f"{option}: an empty value in {text!r}; write VALUE,VALUE")
    return [part.strip() for part in parts]


def _expanded(name: str, text: str) -> Iterator[str]:
    """The numbers of ``16..256*2`` or ``0..64+16``; other text as it is."""
    match = _RANGE.fullmatch(text)
    if match is None:
        yield text
        return
    first, last, by, step = int(match["first"]), int(match["last"]), match["by"] or "+", int(match["step"] or 1)
    if last < first or step < (2 if by == "*" else 1) or (by == "*" and first < 1):
        raise InputError(f"--set {name}: {text}: write FIRST..LAST, FIRST..LAST+STEP or FIRST..LAST*FACTOR, rising")
    value = first
    for _ in range(_MOST_VALUES + 1):
        if value > last:
            return
        yield str(value)
        value = value * step if by == "*" else value + step
    raise InputError(f"--set {name}: {text} has more than {_MOST_VALUES:,} values")


def _value(name: str, text: str, case: Case) -> Any:
    """The value as :meth:`Case.with_changes` takes it."""
    language = frontend(case.language)

    def bad(problem: str) -> InputError:
        return InputError(f"--set {name}: {problem}")

    if name in case.signature:
        return _type(str(case.signature[name]), text, language, bad)
    constants = {**case.construct, **case.constexprs}
    if name in constants:
        value = constants[name]
        if isinstance(value, str) and language.dtype(value) is None and not language.object_text.match(value):
            return text.strip("\"'")
        return constant(name, text, language, "--set")
    if name == TARGET:
        target = Target.parse(text)
        language.check_target(target, bad)
        return str(target)
    if name == case.compiler.name:
        raise bad(f"releases are set by {case.compiler.option}")
    if name in case.language.options or name in case.options:
        value = option_value(name, text, "--set")
        language.check_options({name: value}, lambda _field, problem: bad(problem))
        return value
    known = [*case.constexprs, *case.construct, *case.signature, *sorted({*case.language.options, *case.options})]
    near = difflib.get_close_matches(name, known, n=1)
    fix = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    raise bad(f"{case.name} has no parameter and its compiler no option of this name; {fix}")


def _type(now: str, text: str, language: Frontend, bad: Any) -> str:
    """An argument's type; of one with elements also by that of its elements alone."""
    match = _ELEMENT_OF.match(now)
    if match is not None and _ELEMENT.fullmatch(text):
        text = f"{match['before']}{text}{now[match.end() :]}"
    language.check_type(text, bad)
    return text
