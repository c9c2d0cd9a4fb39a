"""A rule as the command line sees it: its parameters, and the two questions that it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from triage.legality import dtypes
from triage.legality.explanation import Explanation
from triage.model.errors import InputError
from triage.model.target import Target

Given: TypeAlias = Mapping[str, Any]
"""Parameters by name, with ``_`` for ``-``; those left out are absent, unless they have a default."""


class Form(Enum):
    """How a parameter is written."""

    INTEGER = "integer"
    DTYPE = "dtype"
    CHOICE = "choice"
    SHAPE = "shape"
    TARGET = "target"
    RELEASE = "release"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One ``--name`` of a rule. What ``read`` makes of its text: an int, a DType, one of ``choices``, a tuple of
    ints (``128x256x64``), a Target, a release as written, or a bool. ``required``: nothing can be said without it
    once anything else is given."""

    name: str
    form: Form
    help: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    required: bool = False

    @property
    def key(self) -> str:
        """The name in ``Given``."""
        return self.name.replace("-", "_")

    def read(self, text: str) -> Any:
        """The value of a text. Raises InputError that names the parameter."""
        try:
            return self._read(text.strip())
        except InputError as error:
            raise InputError(f"--{self.name}: {error}") from None

    def _read(self, text: str) -> Any:
        match self.form:
            case Form.INTEGER:
                return _integer(text)
            case Form.DTYPE:
                return dtypes.parse(text)
            case Form.CHOICE:
                for choice in self.choices:
                    if choice.lower() == text.lower():
                        return choice
                raise InputError(f"{text!r} is not one of {', '.join(self.choices)}")
            case Form.SHAPE:
                return tuple(_integer(part) for part in text.lower().replace(",", "x").split("x"))
            case Form.TARGET:
                return Target.parse(text)
        return text


def _integer(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise InputError(f"{text!r} is no whole number") from None
    if not 0 <= value < 1 << 63:
        raise InputError(f"{value} is out of range: give 0 or more")
    return value


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that ``triage explain`` knows.

    ``explain`` is called with at least one parameter given, ``table`` with the defaults alone (and a target where
    that was given) and shows the rule itself. ``examples`` are command lines after ``triage explain NAME``; a test
    runs them.
    """

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    explain: Callable[[Given], Explanation]
    table: Callable[[Given], Explanation]
    examples: tuple[str, ...]

    def answer(self, texts: Mapping[str, str | bool | None]) -> Explanation:
        """Read parameters (by ``key``) and answer: the table without any, else for these numbers. Raises InputError
        naming the parameter that is wrong or missing."""
        stated = {name: value for name, value in texts.items() if value is not None and value is not False}
        given: dict[str, Any] = {}
        for parameter in self.parameters:
            text = stated.get(parameter.key, parameter.default)
            if text is not None:
                given[parameter.key] = parameter.read(text) if isinstance(text, str) else text
        numbers = {name for name in stated if name not in ("target", "triton")}
        if not numbers:
            return self.table(given)
        missing = [parameter.name for parameter in self.parameters if parameter.required and parameter.key not in given]
        if missing:
            raise InputError(f"explain {self.name}: --{missing[0]} is missing: try {self.examples[0]}")
        return self.explain(given)
