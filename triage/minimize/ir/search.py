"""The search for a smaller text: passes propose edits, groups of edits are tried largest first, whatever keeps the
failure is kept, until no pass finds anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from triage.minimize.ir.edits import Edit, apply
from triage.minimize.oracle import Verdict

Size = tuple[int, ...]
Propose = Callable[[str], list[Edit]]
Whole = Callable[[str], list[str]]
_MOST_ROUNDS = 12


class Judge(Protocol):
    """Whether texts fail alike."""

    @property
    def width(self) -> int:
        """As many texts as are worth asking for at a time."""

    def ask(self, texts: Sequence[str]) -> list[Verdict]:
        """A verdict for each. Raises BudgetUsed, and EnvironmentFault when it can not be told any more."""


class Search:
    """One reduction. ``best`` is the smallest text so far, by ``measure``; ``improved`` is told of each new one."""

    def __init__(
        self, judge: Judge, text: str, measure: Callable[[str], Size], improved: Callable[[str], None]
    ) -> None:
        self._judge, self._measure, self._improved = judge, measure, improved
        self.best = text
        self.size = measure(text)

    def until_nothing(self, round_: Callable[[], None]) -> None:
        """Rounds until one changes nothing."""
        for _ in range(_MOST_ROUNDS):
            before = self.best
            round_()
            if self.best == before:
                return

    def take_if_alike(self, text: str) -> bool:
        """Take a text that is not larger and fails alike."""
        if text == self.best:
            return True
        if self._measure(text) > self.size or self._judge.ask([text])[0] is not Verdict.SAME:
            return False
        self._take(text)
        return True

    def restate(self, text: str) -> None:
        """Take another form of the best that fails alike, even a larger one."""
        if text != self.best and self._judge.ask([text])[0] is Verdict.SAME:
            self.best, self.size = text, self._measure(text)
            self._improved(text)

    def edits(self, propose: Propose, chunks: bool = True) -> None:
        """Make as many of the proposed edits as keep the failure: all at once, halves, down to one by one."""
        base, lines = self.best, self.best.split("\n")
        left, taken = propose(base), list[Edit]()
        size = len(left) if chunks else 1
        while size >= 1 and left:
            groups = [left[at : at + size] for at in range(0, len(left), size)]
            # What stands late uses what stands early: from the back.
            good = self._alike(lines, taken, groups[::-1])
            taken += [edit for group in self._together(lines, taken, good) for edit in group]
            gone = {id(edit) for edit in taken}
            left = [edit for edit in left if id(edit) not in gone]
            size //= 2

    def first(self, propose: Whole) -> None:
        """Of the proposed texts the first that is smaller and fails alike; anew from there until there is none."""
        while True:
            smaller = [text for text in propose(self.best) if self._measure(text) < self.size]
            before = self.best
            for at in range(0, len(smaller), self._judge.width):
                wave = smaller[at : at + self._judge.width]
                verdicts = self._judge.ask(wave)
                found = next((text for text, said in zip(wave, verdicts, strict=True) if said is Verdict.SAME), None)
                if found is not None:
                    self._take(found)
                    break
            if self.best == before:
                return

    def _alike(self, lines: list[str], taken: list[Edit], groups: list[list[Edit]]) -> list[list[Edit]]:
        """The groups that keep the failure, each on its own on top of what is taken."""
        texts = [apply(lines, [*taken, *group]) for group in groups]
        places = [place for place, text in enumerate(texts) if self._measure(text) < self.size]
        verdicts = self._judge.ask([texts[place] for place in places])
        found = [place for place, said in zip(places, verdicts, strict=True) if said is Verdict.SAME]
        for place in found:
            self._take(texts[place])
        return [groups[place] for place in found]

    def _together(self, lines: list[str], taken: list[Edit], good: list[list[Edit]]) -> list[list[Edit]]:
        """As many of the groups, each good alone, as are good together."""
        if len(good) <= 1:
            return good
        text = apply(lines, [*taken, *(edit for group in good for edit in group)])
        if self._judge.ask([text])[0] is Verdict.SAME:
            self._take(text)
            return good
        half = len(good) // 2
        first = self._together(lines, taken, good[:half])
        held = [*taken, *(edit for group in first for edit in group)]
        still = self._still(lines, held, good[half:])
        return [*first, *self._together(lines, held, still)]

    def _still(self, lines: list[str], held: list[Edit], groups: list[list[Edit]]) -> list[list[Edit]]:
        texts = [apply(lines, [*held, *group]) for group in groups]
        verdicts = self._judge.ask(texts)
        for text, said in zip(texts, verdicts, strict=True):
            if said is Verdict.SAME:
                self._take(text)
        return [group for group, said in zip(groups, verdicts, strict=True) if said is Verdict.SAME]

    def _take(self, text: str) -> None:
        size = self._measure(text)
        if size < self.size or (size == self.size and text != self.best):
            self.best, self.size = text, size
            self._improved(text)
