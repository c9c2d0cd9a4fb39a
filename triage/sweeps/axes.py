"""The axes of a sweep from the words of the command line, each value checked before anything is compiled."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from triage.cases.stated import constant, option_value
from triage.frontends.constants import check_constant
from triage.frontends.frontend import Frontend, frontend
from triage.matrix.releases import select
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target
from triage.sweeps.constraints import allowed
from triage.sweeps.grid import Grid, SweepAxis
from triage.sweeps.space import CaseSpace, changed

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
    """The axes of ``--set NAME=VALUE,VALUE,…`` for a case; ``NAME,NAME=…`` ties names. Raises InputError."""
    axes: list[SweepAxis] = []
    for text in texts:
        before, equals, listed = text.partition("=")
        names = _names(before, f"--set {text!r:.80}")
        if not equals or not before.strip() or not listed.strip():
            raise InputError(f"--set {text!r}: write --set NAME=VALUE,VALUE, as in --set BLOCK_M=32,64,128")
        words = [word for part in split(listed, f"--set {before}") for word in _expanded(before, part)]
        values = [[_value(name, word, case) for name in names] for word in words]
        axes.append(_axis(names, values, f"--set {before}"))
    _check_distinct([name for axis in axes for name in (axis.name, *axis.tied)], "--set ")
    return axes


def axes_of(values: Mapping[str, Iterable[Any]], case: Case) -> list[SweepAxis]:
    """Axes for a case from lists of values; a type, a target or a release is a text, and ``"NAME,NAME"`` ties names.
    Raises InputError."""
    axes: list[SweepAxis] = []
    for text, listed in values.items():
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise InputError(f"{text}: {listed!r:.80} is not a list of values")
        names = _names(text, text)
        checked = [[_checked(name, value, case) for name in names] for value in listed]
        if not checked:
            raise InputError(f"{text}: no values")
        axes.append(_axis(names, checked, text))
    _check_distinct([name for axis in axes for name in (axis.name, *axis.tied)])
    return axes


def case_space(case: Case, axes: Iterable[SweepAxis], wheres: Iterable[str]) -> CaseSpace:
    """The space of a case: axes of one value are part of the case; releases and targets come first, so that cells that
    share a compiler's server follow each other. Raises InputError for too many cells, and where none is allowed."""
    first = {case.compiler.name: 0, TARGET: 1}
    ordered = sorted(axes, key=lambda axis: first.get(axis.name, len(first)))
    # Of several, the first: the axis has them all.
    case = changed(case, {axis.name: axis.values[0] for axis in ordered if axis.name in first})
    ordered = [axis for axis in ordered if axis.name not in first or len(axis.values) > 1]
    size = prod(len(axis.values) for axis in ordered)
    if size > MOST_CELLS:
        factors = " * ".join(f"{len(axis.values)} of {axis.name}" for axis in ordered)
        raise InputError(f"a space of {size:,} cells ({factors}); at most {MOST_CELLS:,} can be held: set fewer values")
    if not ordered:
        raise InputError(f"{case.name}: nothing varies; set values of an axis, several targets or several releases")
    grid = Grid(ordered)
    return CaseSpace(case, Grid(grid.axes, allowed(wheres, grid)))


def _names(text: str, where: str) -> list[str]:
    """The names of an axis: one, or several that are tied. Raises InputError."""
    names = [name.strip() for name in text.split(",")]
    if len(names) > 1 and TARGET in names:
        raise InputError(f"{where}: {TARGET} cannot be tied to a name; make it an axis of its own")
    return names


def _check_distinct(names: Sequence[str], option: str = "") -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"{option}{name}: set twice; write all of its values in one")


def _axis(names: Sequence[str], rows: Iterable[Sequence[Any]], where: str) -> SweepAxis:
    """An axis from its values, a row for each with the value of every name. Raises InputError."""
    # 1 and True are equal to Python.
    distinct = list({(type(row[0]).__name__, repr(row[0])): row for row in rows}.values())
    if len(distinct) > _MOST_VALUES:
        raise InputError(f"{where}: {len(distinct):,} values; at most {_MOST_VALUES:,}")
    if SweepAxis(names[0], tuple(row[0] for row in distinct)).is_numeric:
        # Neighbours of a number are those before and after it.
        distinct.sort(key=lambda row: row[0])
    first, *others = (tuple(column) for column in zip(*distinct, strict=True))
    return SweepAxis(names[0], first, dict(zip(names[1:], others, strict=True)))


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
    """The value of a word, as :meth:`Case.with_changes` takes it."""
    language = frontend(case.language)
    constants = {**case.construct, **case.constexprs}
    if name == case.compiler.name:
        raise InputError(f"--set {name}: releases are set by {case.compiler.option}")
    if name in case.signature or name == TARGET:
        value: Any = text
    elif name in constants:
        now = constants[name]
        is_text = isinstance(now, str) and language.dtype(now) is None and not language.object_text.match(now)
        value = text.strip("\"'") if is_text else constant(name, text, language, "--set")
    else:
        value = option_value(name, text, "--set")
    return _checked(name, value, case, "--set ")


def _checked(name: str, value: Any, case: Case, option: str = "") -> Any:
    """The value of an axis; errors begin with ``option`` and its name. Raises InputError."""
    language = frontend(case.language)

    def bad(problem: str) -> InputError:
        return InputError(f"{option}{name}: {problem}")

    if name in case.signature:
        return _type(str(case.signature[name]), value, language, bad)
    if name in case.construct or name in case.constexprs:
        check_constant(value, bad)
        return (language.dtype(value) or value) if isinstance(value, str) else value
    if name == TARGET:
        target = Target.parse(str(value))
        language.check_target(target, bad)
        return str(target)
    if name == case.compiler.name:
        return select([str(value)], (), case.compiler).chosen[-1]
    if name in case.language.options or name in case.options:
        check_constant(value, bad)
        language.check_options({name: value}, lambda _field, problem: bad(problem))
        return value
    known = [*case.constexprs, *case.construct, *case.signature, *sorted({*case.language.options, *case.options})]
    near = difflib.get_close_matches(name, known, n=1)
    fix = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    raise bad(f"{case.name} has no parameter and its compiler no option of this name; {fix}")


def _type(now: str, text: Any, language: Frontend, bad: Any) -> Any:
    """An argument's type; of one with elements also by that of its elements alone."""
    match = _ELEMENT_OF.match(now)
    if match is not None and isinstance(text, str) and _ELEMENT.fullmatch(text):
        text = f"{match['before']}{text}{now[match.end() :]}"
    language.check_type(text, bad)
    return text
