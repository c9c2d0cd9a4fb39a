"""A function that runs within a context is the same function, and its tracebacks are the same text."""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from triage.capture.program.enter import CannotEnter, enter

SOURCE = '''\
"""A module."""


def decorated(function):
    return function


@decorated
def whole(number, divisor=2, *, more=0):
    """Divide."""
    if number < 0:
        raise ValueError("negative: "
                         f"{number}")
    return number / divisor + more


class Holder:
    def method(self, values):
        total = [one / 2 for one in values]
        return sum(total) / (len(values) - 1)


def closed():
    captured = 3

    def inner():
        return captured

    return inner
'''
seen: list[Any] = []


class watching:
    def __enter__(self) -> None:
        seen.append("begins")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        seen.append(error)


@pytest.fixture
def modules(tmp_path: Path) -> Iterator[tuple[ModuleType, ModuleType]]:
    path = tmp_path / "subject.py"
    path.write_text(SOURCE)
    loaded = []
    for _ in range(2):
        spec = importlib.util.spec_from_file_location("subject", path)
        assert spec is not None
        assert spec.loader is not None
        loaded.append(importlib.util.module_from_spec(spec))
        spec.loader.exec_module(loaded[-1])
    seen.clear()
    yield loaded[0], loaded[1]


def text_of(function: Any, *arguments: Any) -> str:
    try:
        function(*arguments)
    except Exception as error:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))
    raise AssertionError("it does not raise")


def test_it_returns_what_it_returned(modules: tuple[ModuleType, ModuleType]) -> None:
    _, module = modules
    before = module.whole
    enter(module.whole, watching)
    assert module.whole is before
    assert (module.whole(6), module.whole(6, more=1), module.whole.__doc__) == (3, 4, "Divide.")
    assert seen == ["begins", None] * 2


def test_tracebacks_are_the_same(modules: tuple[ModuleType, ModuleType]) -> None:
    plain, module = modules
    enter(module.whole, watching)
    enter(module.Holder.method, watching)
    assert text_of(module.whole, -1) == text_of(plain.whole, -1)
    assert text_of(module.whole, 1, 0) == text_of(plain.whole, 1, 0)
    assert text_of(module.Holder().method, [1]) == text_of(plain.Holder().method, [1])
    assert [type(one) for one in seen[1::2]] == [ValueError, ZeroDivisionError, ZeroDivisionError]


def test_what_cannot_be_entered_is_left_alone(modules: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    _, module = modules
    with pytest.raises(CannotEnter):
        enter(module.closed(), watching)
    names: dict[str, Any] = {}
    exec("def without_source():\n    return 1\n", names)
    with pytest.raises(CannotEnter):
        enter(names["without_source"], watching)
    assert names["without_source"]() == 1
