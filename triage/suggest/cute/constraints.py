"""Conditions on a number, as the DSL, MLIR and ptxas state them, and numbers near one that meet them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log2

_MULTIPLE = re.compile(r"% ?(\d+) ?==? ?0|(?:multiple of|divisible by|align\w* to) (\d+)", re.IGNORECASE)
"""``N % 8 == 0``, ``must be multiple of 8``"""
_RANGE = re.compile(r"(\d+) <=? ?\w+ <=? ?(\d+)|\[(\d+)(?:\.\.|, ?)(\d+)\]|between (\d+) and (\d+)|from (\d+) to (\d+)")
"""``8 <= N <= 256``, ``range [0..15]``"""
_SET = re.compile(
    r"\b(?:be|of|in|either|supports?|allowed|valid \w+:?) (?:one of )?[(\[{]?"
    r"((?:\d+(?:, ?| or |, or | and ))+\d+)[)\]}]?",
    re.IGNORECASE,
)
"""``to be 64 or 128``, ``only supports (32, 64, 128)``"""
_MOST = re.compile(
    r"(?:at most|no more than|up to|limit (?:is|of)|Max(?:imum)?:?|must be <=|less than or equal to) (\d+)"
)
_LEAST = re.compile(r"(?:at least|minimum(?: is| of)?:?|must be >=|greater than or equal to) (\d+)")
_POWER = re.compile(r"pow(?:er)? of (?:2|two)", re.IGNORECASE)
_POSITIVE = re.compile(r"positive|non-?zero|greater than (?:0|zero)|> 0", re.IGNORECASE)
_ODD = 0.2
"""Steps by which a power of two may be farther away than another number, and come first: extents, threads and atoms are
powers of two where nothing else is asked for."""
_GOT = re.compile(r"(?:got|found|but is|number|value)[ :='\"]*(\d+)\b")
_RANK = re.compile(
    r"(?:exactly|at most|only|up to) (\d)(?:[- ]?D\b| dim| element| mode| number| value)"
    r"|dimensions? to be (?:exactly|equal to|at most|less than or equal to) (\d)\b"
    r"|rank\(target\)=(\d)|\b(\d)[dD] (?:vector|grid|block|cluster)"
)
_ABOUT_RANK = re.compile(r"\brank\b|\bdim(?:ension)?s\b|\bprofile\b|weakly congruent", re.IGNORECASE)
"""``exactly 3 dimensions``, ``rank(target)=2``"""


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a message asks of a number. ``got``: the numbers that it shows. ``rank``: how many numbers it asks for;
    ``about_rank``: it is about how many there are, whether it states that or not."""

    multiples: tuple[int, ...] = ()
    least: int | None = None
    most: int | None = None
    allowed: tuple[int, ...] = ()
    power_of_two: bool = False
    got: frozenset[int] = frozenset()
    rank: int | None = None
    about_rank: bool = False

    @classmethod
    def read(cls, text: str) -> Constraints:
        """Read a message."""
        least, most = _numbers(_LEAST, text), _numbers(_MOST, text)
        for match in _RANGE.finditer(text):
            low, high = (int(number) for number in match.groups() if number)
            least, most = [*least, low], [*most, high]
        if _POSITIVE.search(text):
            least = [*least, 1]
        allowed = [int(number) for match in _SET.finditer(text) for number in re.findall(r"\d+", match[1])]
        rank = _numbers(_RANK, text)
        return cls(
            multiples=tuple(number for number in _numbers(_MULTIPLE, text) if number > 1),
            least=max(least, default=None),
            most=min(most, default=None),
            allowed=tuple(dict.fromkeys(allowed)),
            power_of_two=bool(_POWER.search(text)),
            got=frozenset(_numbers(_GOT, text)),
            rank=rank[0] if rank else None,
            about_rank=bool(rank) or _ABOUT_RANK.search(text) is not None,
        )

    @property
    def on_numbers(self) -> bool:
        """The message says anything that a number can meet."""
        return bool(self.multiples or self.allowed or self.power_of_two) or (self.least, self.most) != (None, None)

    def met(self, value: int) -> bool:
        """Whether a number meets all of them."""
        return (
            all(value % multiple == 0 for multiple in self.multiples)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (not self.allowed or value in self.allowed)
            and (not self.power_of_two or is_power_of_two(value))
        )

    def nearest(self, value: int) -> list[int]:
        """Numbers near one that meet the conditions, nearest first, powers of two a little before others."""
        candidates = {*self.allowed, *usual(value)}
        for bound in (self.least, self.most):
            if bound is not None:
                candidates.add(bound)
        for multiple in self.multiples:
            for number in [*candidates, value]:
                candidates |= {number // multiple * multiple, -(-number // multiple) * multiple}
        good = [number for number in candidates if number != value and number >= 0 and self.met(number)]
        if value <= 0:
            return [number for number in usual(value) if number in good]
        return sorted(good, key=lambda number: (distance(value, number) + _ODD * (not is_power_of_two(number)), number))


def usual(value: int) -> list[int]:
    """Numbers that a kernel is likely to take in place of one, nearest first: powers of two around it, and multiples
    of 8, 16 and 32 where it is none itself."""
    if value <= 0:
        return [1, 32, 128, 2, 4, 8, 16, 64]
    below = 1 << (value.bit_length() - 1)
    near = [below, below * 2] if below != value else []
    near += [value // 2, value * 2, value // 4, value * 4]
    for step in (8, 16, 32, 64):
        if value > step and value % step:
            near += [value // step * step, -(-value // step) * step]
    if value > 4:
        near += [1]
    if value <= 4:
        near += [value - 1, value + 1]
    return [number for number in dict.fromkeys(near) if number > 0 and number != value]


def distance(value: int, other: int) -> float:
    """Steps of a factor of two between two numbers."""
    return abs(log2(max(other, 1) / max(value, 1)))


def is_power_of_two(value: int) -> bool:
    """Positive, and one bit set."""
    return value > 0 and value & (value - 1) == 0


def _numbers(pattern: re.Pattern[str], text: str) -> list[int]:
    return [int(number) for match in pattern.finditer(text) for number in match.groups() if number]
