"""Extents and strides: integers known while compiling, and dynamic ones of which a divisor is known.

CuTe writes a dynamic integer ``?``, and ``?{8}`` or ``?{div=8}`` where it is a multiple of 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from triage.model.errors import InputError


@dataclass(frozen=True, slots=True)
class DynamicInteger:
    """An integer that is known when the kernel runs. ``divisor``: what it is known to be a multiple of."""

    divisor: int = 1

    def __str__(self) -> str:
        return "?" if self.divisor == 1 else f"?{{div={self.divisor}}}"


Integer: TypeAlias = int | DynamicInteger
IntTuple: TypeAlias = int | DynamicInteger | tuple["IntTuple", ...]
"""An integer, or a tuple of such: the hierarchical shapes and strides of CuTe."""


def multiply(left: Integer, right: Integer) -> Integer:
    """The product; a dynamic one has the product of the divisors."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if 0 in (left, right):
        return 0
    if left == 1:
        return right
    if right == 1:
        return left
    return DynamicInteger(divisor(left) * divisor(right))


def ceil_divide(left: Integer, right: Integer) -> Integer:
    """``left`` / ``right``, rounded up."""
    if right == 1:
        return left
    if isinstance(left, int) and isinstance(right, int):
        return -(-left // right)
    whole = isinstance(right, int) and divisor(left) % right == 0
    return DynamicInteger(divisor(left) // right if whole and isinstance(right, int) else 1)


def divisor(value: Integer) -> int:
    """The largest known divisor; 0 of 0, which everything divides."""
    return value.divisor if isinstance(value, DynamicInteger) else abs(value)


def common_divisor(values: Iterator[Integer]) -> int:
    """The greatest known common divisor; 0 where all are 0 or there is none."""
    return gcd(*(divisor(value) for value in values))


def leaves(value: IntTuple) -> Iterator[Integer]:
    """The integers of a tuple, left to right."""
    if isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def product(value: IntTuple) -> Integer:
    """The product of all integers of a tuple."""
    result: Integer = 1
    for leaf in leaves(value):
        result = multiply(result, leaf)
    return result


def is_static(value: IntTuple) -> bool:
    """Whether every integer is known while compiling."""
    return all(isinstance(leaf, int) for leaf in leaves(value))


def congruent(left: IntTuple, right: IntTuple) -> bool:
    """Whether two tuples are nested alike."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(congruent, left, right))
    return not isinstance(left, tuple) and not isinstance(right, tuple)


def modes(value: IntTuple) -> tuple[IntTuple, ...]:
    """The elements of a tuple; an integer is the only one of its own."""
    return value if isinstance(value, tuple) else (value,)


def written(value: IntTuple) -> str:
    """``((64,2),(8,?{div=8}),3)``, as CuTe prints it."""
    return f"({','.join(map(written, value))})" if isinstance(value, tuple) else str(value)


_TOKEN = re.compile(r"\s*(?:(?P<mark>[(),])|_?(?P<number>-?\d+)|\?(?:\{(?:div=)?(?P<divisor>\d+)\})?(?:\{i\d+\})?)")


def parse(text: str) -> IntTuple:
    """An integer or tuple as CuTe writes it, also with ``_64`` for 64 as its C++ does. Raises InputError."""
    value, end = _parse(text, 0)
    if text[end:].strip():
        raise InputError(f"{text!r}: {text[end:].strip()!r} follows the end")
    return value


def _parse(text: str, start: int) -> tuple[IntTuple, int]:
    token = _TOKEN.match(text, start)
    if token is None:
        raise InputError(f"{text!r}: a number, ? or ( is expected at {text[start:] or 'the end'!r}")
    if token["mark"] is None:
        if token["number"] is not None:
            return int(token["number"]), token.end()
        return DynamicInteger(int(token["divisor"] or 1)), token.end()
    if token["mark"] != "(":
        raise InputError(f"{text!r}: a number, ? or ( is expected at {text[start:]!r}")
    parts: list[IntTuple] = []
    end = token.end()
    while True:
        if text[end:].lstrip().startswith(")"):
            return tuple(parts), text.index(")", end) + 1
        part, end = _parse(text, end)
        parts.append(part)
        separator = _TOKEN.match(text, end)
        if separator is None or separator["mark"] not in (",", ")"):
            raise InputError(f"{text!r}: , or ) is expected at {text[end:] or 'the end'!r}")
        end = separator.end() if separator["mark"] == "," else end
