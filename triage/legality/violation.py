"""A violation of a rule, as a value that a program can act on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Value: TypeAlias = int | str | bool | tuple[int, ...]
"""A value of a parameter: a number, a name (a type, a layout), a flag, or a shape."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that does not hold.

    ``rule`` is a stable dotted name (``wgmma.n``); ``parameter`` is the argument that breaks it, as the function
    that was called spells it; ``given`` is its value; ``allowed`` are the legal values with all other arguments
    unchanged (empty if they cannot be listed, or if there are none: then ``message`` says so); ``nearest`` are those
    closest to ``given``, best first; ``source`` is where the rule is written (PTX ISA section, Triton
    file). ``message`` is one sentence for people, with the numbers in it.
    """

    rule: str
    parameter: str
    given: Value
    allowed: tuple[Value, ...]
    nearest: tuple[Value, ...]
    source: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} ({self.source})"

    def to_json(self) -> dict[str, object]:
        """As ``triage explain --json`` prints it."""
        return {
            "rule": self.rule,
            "parameter": self.parameter,
            "given": _plain(self.given),
            "allowed": [_plain(value) for value in self.allowed],
            "nearest": [_plain(value) for value in self.nearest],
            "source": self.source,
            "message": self.message,
        }


def refuse(
    rule: str,
    value: Value,
    allowed: Sequence[Value],
    source: str,
    message: str,
    near: Sequence[Value] | None = None,
    parameter: str = "",
) -> Violation:
    """The violation of a rule. ``parameter`` defaults to the last part of the rule's name.

    Without ``near`` the nearest values are the closest numbers on either side, all of the allowed shapes, or the first
    of the allowed names.
    """
    if near is None:
        numbers = [number for number in allowed if isinstance(number, int)]
        if isinstance(value, tuple):
            near = allowed
        elif isinstance(value, int) and len(numbers) == len(allowed):
            near = nearest(value, numbers)
        else:
            near = allowed[:1]
    parameter = parameter or rule.partition(".")[2].replace("-", "_")
    return Violation(rule, parameter, value, tuple(allowed), tuple(near), source, message)


def require(
    rule: str,
    value: Value,
    allowed: Sequence[Value],
    source: str,
    message: str,
    near: Sequence[Value] | None = None,
    parameter: str = "",
) -> list[Violation]:
    """The violation by a value that is not allowed, built by ``refuse``; empty for an allowed one."""
    return [] if value in allowed else [refuse(rule, value, allowed, source, message, near, parameter)]


def require_major(
    family: str, operand: str, major: str, allowed: Sequence[Value], source: str, message: str
) -> list[Violation]:
    """The violation by an operand's major: ``k`` or ``mn``, also ``m`` for ``a`` and ``n`` for ``b``, any case."""
    canonical = {"k": "k", "mn": "mn", "m" if operand == "a" else "n": "mn"}.get(major.strip().lower())
    if canonical in allowed:
        return []
    if canonical is None:
        message = f"{operand}_major={major!r}: {operand.upper()} is k-major or mn-major"
    return [refuse(f"{family}.{operand}-major", major, allowed, source, message)]


def nearest(value: int, allowed: Iterable[int]) -> tuple[int, ...]:
    """The closest allowed numbers on either side of a value, the closer one first; the larger one first if both are
    equally close, because a larger tile loses nothing."""
    numbers = sorted(allowed)
    below = [number for number in numbers if number <= value][-1:]
    above = [number for number in numbers if number > value][:1]
    return tuple(sorted([*below, *above], key=lambda number: (abs(number - value), -number)))


def powers(most: int, least: int = 1) -> tuple[int, ...]:
    """The powers of two from ``least`` to ``most``."""
    return tuple(1 << exponent for exponent in range(most.bit_length()) if 1 << exponent >= least)


def spoken(values: Sequence[Value]) -> str:
    """Values as text for people: ``8 … 256 in steps of 8``, ``16, 32 or 64``, ``tf32``."""
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) == len(values) > 3:
        steps = {after - before for before, after in pairwise(numbers)}
        if len(steps) == 1:
            return f"{numbers[0]} … {numbers[-1]} in steps of {steps.pop()}"
    words = [_word(value) for value in values]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _word(value: Value) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _plain(value: Value) -> object:
    return list(value) if isinstance(value, tuple) else value
