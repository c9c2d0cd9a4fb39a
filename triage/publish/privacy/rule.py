"""One kind of private text: its pattern, where to look for it, and its replacement."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

try:
    import ahocorasick_rs
except ImportError:  # platforms without a wheel
    ahocorasick_rs = None  # type: ignore[assignment]

START = "(?<![A-Za-z0-9])"
"""Where a word begins: after any character that is neither a letter nor a digit (an underscore may join it to a name,
as in ``backup_ghp_…``)."""
SECRET = "<secret>"
"""Stands for a value that is removed."""
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class Removal(NamedTuple):
    """Replace ``text[start:end]``; ``kind`` is the name of the rule."""

    start: int
    end: int
    replacement: str
    kind: str = ""


class Rule(Protocol):
    """What finds one kind of private text. ``anchors``: lower-case texts without which there is none of it. ``needs``:
    texts, in their own case, of which a text with any of it has at least one; a text without is not searched."""

    @property
    def name(self) -> str: ...

    @property
    def anchors(self) -> tuple[str, ...]: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    def edits(self, text: str, anchors_at: Iterable[int]) -> Iterable[Removal]:
        """What to replace. ``anchors_at``: where anchors stand, ascending."""


@dataclass(frozen=True, slots=True)
class ScrubRule:
    """``name`` is reported as removed. ``replace`` returns the replacement of a match, or None if it is not private
    after all; what both have at their ends is left as it is.

    ``anchors``: lower-case texts; a match begins at one of them, or with the characters before it that match
    ``lead``, read backwards. Without anchors the pattern is searched for everywhere, and should begin with few
    characters.

    Patterns have bounded repetitions only, so that time is proportional to the text, whatever it contains."""

    name: str
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str | None]
    anchors: tuple[str, ...] = ()
    lead: re.Pattern[str] | None = None
    needs: tuple[str, ...] = ()

    def edits(self, text: str, anchors_at: Iterable[int]) -> Iterable[Removal]:
        edits: list[Removal] = []
        if not self.anchors:
            for match in self.pattern.finditer(text):
                if (replacement := self.replace(match)) is not None:
                    edits += _changed(match, replacement)
            return edits
        end, pattern, lead = 0, self.pattern, self.lead
        for at in anchors_at:
            start = at if lead is None else self._start(text, at)
            private = pattern.match(text, start) if start >= end else None
            if private and (replacement := self.replace(private)) is not None:
                end = private.end()
                edits += _changed(private, replacement)
        return edits

    def _start(self, text: str, at: int) -> int:
        """Where a match with that anchor and the lead begins; -1 if there is none."""
        assert self.lead is not None
        before = self.lead.match(text[max(0, at - _MOST_LEAD) : at][::-1])
        if not before:
            return -1
        return at - before.end()


_MOST_LEAD = 256
"""Characters of a match before its anchor."""


def _changed(match: re.Match[str], replacement: str) -> Iterator[Removal]:
    old = match[0]
    first = _common(old, replacement)
    last = _common(old[first:][::-1], replacement[first:][::-1])
    if first + last < len(old):
        yield Removal(match.start() + first, match.end() - last, replacement[first : len(replacement) - last])


def _common(first: str, second: str) -> int:
    """How many characters both begin with."""
    pairs = zip(first, second, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


class RuleSet:
    """Rules in the order of their precedence, and all their anchors, searched for at once."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        rules_of: dict[str, list[int]] = {}
        for number, rule in enumerate(rules):
            for anchor in rule.anchors:
                rules_of.setdefault(anchor, []).append(number)
        self._anchors = sorted(rules_of)
        self._rules_of = [rules_of[anchor] for anchor in self._anchors]
        self._everywhere = [number for number, rule in enumerate(rules) if not rule.anchors]
        self._automaton = ahocorasick_rs.AhoCorasick(self._anchors) if ahocorasick_rs and self._anchors else None

    def edits(self, text: str, lowered: str) -> Iterator[tuple[Rule, list[Removal]]]:
        """What each rule replaces. ``lowered`` is :func:`lower` of the text."""
        offsets_of: dict[int, list[list[int]]] = {number: [[]] for number in self._everywhere}
        for anchor, offsets in self._anchor_offsets(lowered).items():
            for number in self._rules_of[anchor]:
                offsets_of.setdefault(number, []).append(offsets)
        # Many rules have the same needs; one without needs lacks nothing.
        met: dict[tuple[str, ...], bool] = {(): True}
        for number in sorted(offsets_of):
            rule = self.rules[number]
            if (needs := rule.needs) not in met:
                met[needs] = any(map(text.__contains__, needs))
            if not met[needs]:
                continue
            lists = offsets_of[number]
            offsets = lists[0] if len(lists) == 1 else sorted(set().union(*lists))
            if edits := list(rule.edits(text, offsets)):
                yield rule, edits

    def _anchor_offsets(self, lowered: str) -> dict[int, list[int]]:
        offsets: dict[int, list[int]] = {}
        if self._automaton is not None:
            for anchor, start, _ in self._automaton.find_matches_as_indexes(lowered, overlapping=True):
                offsets.setdefault(anchor, []).append(start)
            return offsets
        for index, text in enumerate(self._anchors):
            at = lowered.find(text)
            while at >= 0:
                offsets.setdefault(index, []).append(at)
                at = lowered.find(text, at + 1)
        return offsets


def lower(text: str) -> str:
    """The text in lower case, each character where it was: ``str.lower`` makes two of some."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


def removed(
    name: str, pattern: str, *anchors: str, flags: int = 0, lead: str | None = None, needs: Iterable[str] = ()
) -> ScrubRule:
    """A rule that replaces the whole match by its name. ``lead``: characters of a match before its anchor."""
    placeholder, before = f"<{name}>", run_of(lead) if lead else None
    return ScrubRule(name, re.compile(pattern, flags), lambda match: placeholder, anchors, before, needs=tuple(needs))


def any_case(name: str, pattern: str, replace: Callable[[re.Match[str]], str | None], *anchors: str) -> ScrubRule:
    """A rule whose pattern matches small letters and capitals alike."""
    return ScrubRule(name, re.compile(pattern, re.IGNORECASE), replace, anchors)


def hidden(match: re.Match[str]) -> str:
    """The match with ``SECRET`` in place of its group ``value``."""
    return match[0][: match.start("value") - match.start()] + SECRET + match[0][match.end("value") - match.start() :]


def run_of(characters: str) -> re.Pattern[str]:
    """The ``lead`` of a rule: as many of these characters as there are."""
    return re.compile(f"{characters}{{1,{_MOST_LEAD}}}")
