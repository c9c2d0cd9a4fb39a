"""Finds the relevant lines of a block: those that contain one of a few dozen fixed strings.

A gigabyte of dumped IR has some ten million lines and at most a few thousand of these, so most of the time is spent
here. ahocorasick-rs searches for up to :data:`_GROUP` strings at once with vector instructions, faster than the file is
read; on platforms without a wheel, ``bytes.find`` does the same, one string at a time.
"""

from collections.abc import Callable, Iterable, Sequence

from triage.logs.patterns import regex

try:
    import ahocorasick_rs
except ImportError:  # platforms without a wheel
    HAS_VECTORS = False
else:
    HAS_VECTORS = True

#: Offsets of hits in a block, ascending.
Sieve = Callable[[bytes], list[int]]

#: With more strings, or shorter ones, the library does not use vector instructions (measured: 6 GB/s with 32,
#: 2.7 with 53, 0.4 with one of two bytes).
_GROUP = 32
_SHORTEST = 3
# Characters that a wrapping may escape: quotation marks, and brackets in HTML.
_FRAGILE = regex(r"[<>&'\"`]+")


def robust(anchor: str) -> str:
    """The longest part of an anchor that survives HTML's entities."""
    part = max(_FRAGILE.split(anchor), key=len)
    if len(part) < _SHORTEST:
        raise ValueError(f"the anchor {anchor!r} has no part that is long enough")
    return part


def needles(anchors: Iterable[str]) -> list[bytes]:
    """The strings to search for: each anchor's robust part, without those that contain another."""
    parts = sorted({robust(anchor) for anchor in anchors}, key=lambda part: (len(part), part))
    shortest: list[str] = []
    for part in parts:
        if not any(shorter in part for shorter in shortest):
            shortest.append(part)
    return [part.encode() for part in shortest]


def _vectorised(wanted: list[bytes]) -> Sieve:
    groups = [
        ahocorasick_rs.BytesAhoCorasick(
            wanted[start : start + _GROUP],
            matchkind=ahocorasick_rs.MatchKind.LeftmostFirst,
            implementation=ahocorasick_rs.Implementation.DFA,
        )
        for start in range(0, len(wanted), _GROUP)
    ]

    def hits(block: bytes) -> list[int]:
        return sorted(match[1] for group in groups for match in group.find_matches_as_indexes(block))

    return hits


def present(anchors: Sequence[str]) -> Callable[[str], Iterable[int]]:
    """A function that returns the indices of the anchors in a line, in a single pass if the library is installed."""
    if not HAS_VECTORS:
        return lambda line: [number for number, anchor in enumerate(anchors) if anchor in line]
    automaton = ahocorasick_rs.BytesAhoCorasick(
        [anchor.encode() for anchor in anchors], implementation=ahocorasick_rs.Implementation.DFA
    )

    def numbers(line: str) -> Iterable[int]:
        matches = automaton.find_matches_as_indexes(line.encode("utf-8", "surrogatepass"), overlapping=True)
        return [number for number, _, _ in matches]

    return numbers


def one_at_a_time(wanted: list[bytes]) -> Sieve:
    """A sieve that uses only the standard library."""

    def hits(block: bytes) -> list[int]:
        offsets: list[int] = []
        for needle in wanted:
            at = block.find(needle)
            while at >= 0:
                offsets.append(at)
                at = block.find(needle, at + len(needle))
        return sorted(offsets)

    return hits


def sieve_for(anchors: Iterable[str]) -> Sieve:
    """The fastest available sieve for lines that contain one of the anchors."""
    wanted = needles(anchors)
    return _vectorised(wanted) if HAS_VECTORS else one_at_a_time(wanted)
