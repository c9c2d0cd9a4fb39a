"""Upper bounds of a part of which a random sample was seen. Pure."""

from __future__ import annotations

from math import comb


def upper_bound(wrong: int, seen: int, confidence: float = 0.95) -> float:
    """The largest part of wrong cells with which at most ``wrong`` of ``seen`` random ones would still be seen in one
    of 20 draws: the one-sided bound of Clopper and Pearson (Biometrika 26, 1934). 1 where nothing was seen."""
    if wrong >= seen:
        return 1.0
    low, high = wrong / seen, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(wrong, seen, middle) > 1 - confidence else (low, middle)
    return high


def _at_most(wrong: int, seen: int, part: float) -> float:
    return sum(comb(seen, count) * part**count * (1 - part) ** (seen - count) for count in range(wrong + 1))
