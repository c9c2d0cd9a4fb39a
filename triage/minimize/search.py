"""The search: passes over a specimen until none of them finds anything to take out.

A pass proposes steps against one text. They are tried in chunks, in parallel, each on its own; those that keep the
failure are put together, and together again when that fails. Later rounds, where little is left to find, go one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from triage.minimize import configuration
from triage.minimize.oracle import Oracle, Verdict
from triage.minimize.source import arguments, expressions, helpers, naming, statements
from triage.minimize.source.view import Step, View, sound
from triage.minimize.specimen import Specimen

_MOST_ROUNDS = 30
_CASCADE = 40
_MOST_SWEEPS = 20


class Search:
    """One reduction. ``best`` is the smallest so far, ``history`` the way to it; ``improved`` is told of each new one
    at once."""

    def __init__(
        self, oracle: Oracle, original: Specimen, improved: Callable[[Specimen], None], step: Callable[[str], None]
    ) -> None:
        self._oracle = oracle
        self._improved = improved
        self._step = step
        self.best = original
        self.history = [original]
        self._refused: set[str] = set()
        self._width = max(4, oracle.engine.jobs * 3)
        oracle.best = lambda: self.best
        oracle.same = self._same

    def run(self) -> None:
        """Reduce until nothing more can be taken out. Raises BudgetUsed, EnvironmentFault; ``best`` holds then too."""
        self._alternatives(configuration.dropped)
        if not sound(self.best):
            # What the file's functions are cannot be read off it: its configuration is all that can be reduced.
            self._alternatives(configuration.values)
            return
        self._try(naming.stripped(self.best))
        for number in range(_MOST_ROUNDS):
            before, everything = self._measure(), not self._refused
            self._round(first=number == 0)
            if self._measure() == before:
                self._pass("other expressions", expressions.others)
            if self._measure() == before:
                if everything:
                    return
                # What changed since may let through what was refused before: everything once more.
                self._refused.clear()

    def anonymize(self) -> bool:
        """Names and strings that are nobody's; whether what came out still fails alike."""
        self._pass("strings", naming.strings, chunks=True, smaller=False)
        return self._rename()

    def _rename(self) -> bool:
        changed = naming.renamed(naming.stripped(self.best))
        if self._oracle.ask([changed])[0] is not Verdict.SAME:
            return False
        self._take(changed)
        return True

    def _measure(self) -> tuple[tuple[int, int], str]:
        return self.best.size(), self.best.key()

    def _round(self, first: bool) -> None:
        self._pass("functions and imports", statements.top_level, chunks=first)
        self._pass("decorators", statements.decorators, chunks=first)
        self._dead()
        depth = 1
        while (view := View.of(self.best)) is not None and depth <= statements.depth(view):
            self._pass("statements", partial(statements.at_depth, depth=depth), chunks=first)
            depth += 1
        self._dead()
        self._pass("branches and loops", statements.flattened)
        self._pass("helpers", helpers.inlined_calls, smaller=False)
        self._dead()
        if first:
            self._alternatives(configuration.values)
        self._pass("call arguments", expressions.call_arguments, chunks=first)
        self._pass("arguments", arguments.constants)
        self._pass("helpers' arguments", arguments.of_helpers)
        self._pass("expressions", expressions.parts)
        self._dead()
        self._pass("names used once", statements.inlined, chunks=True)
        self._pass("what is written twice", expressions.shared)
        self._pass("shapes", expressions.elements)
        self._pass("parentheses", expressions.respelt, chunks=True)
        self._pass("keywords", expressions.positional, chunks=True)
        self._pass("annotations", arguments.plain, chunks=True)
        self._pass("texts", expressions.insides)
        self._swaps(arguments.swaps)
        self._swaps(arguments.single_swaps)
        self._alternatives(configuration.dropped)

    # ---- passes

    def _pass(
        self, name: str, propose: Callable[[View], list[Step]], chunks: bool = False, smaller: bool = True
    ) -> None:
        """Sweep over what is proposed until nothing new of it works."""
        self._tell(name)
        for _ in range(_MOST_SWEEPS):
            before = self.best
            self._sweep(propose, chunks, smaller)
            if self.best == before:
                return
            # What fell dead by that is not worth a step of its own each.
            if (whole := cascaded(self.best)) is not None:
                self._try(whole)

    def _sweep(self, propose: Callable[[View], list[Step]], chunks: bool, smaller: bool) -> None:
        view = View.of(self.best)
        if view is None:
            return
        left = [step for step in propose(view) if self._words(view, step) not in self._refused]
        base, taken = self.best, list[Step]()
        size = len(left) if chunks else 1
        while size >= 1 and left:
            groups = [left[at : at + size] for at in range(0, len(left), size)]
            # What is taken at the front of the list leaves less to try behind it: a few at a time, as they run.
            for at in range(0, len(groups), self._width):
                taken += self._wave(view, taken, groups[at : at + self._width], smaller)
            gone = {id(step) for step in taken}
            left = [step for step in left if id(step) not in gone]
            size //= 2
        made = view.apply(taken) if taken else None
        if made is not None and (self.best == base or made.size() <= self.best.size()):
            self._take(made)

    def _wave(self, view: View, taken: list[Step], groups: list[list[Step]], smaller: bool) -> list[Step]:
        """The steps of those groups that keep the failure, together and with what is taken."""
        than = (view.apply(taken) if taken else view.specimen) if smaller else None
        tried = [self._smaller(view.apply([*taken, *group]), than) for group in groups]
        verdicts = self._oracle.ask(tried)
        for group, verdict in zip(groups, verdicts, strict=True):
            if len(group) == 1 and verdict in (Verdict.OTHER, Verdict.COMPILES):
                self._refused.add(self._words(view, group[0]))
        good = [group for group, verdict in zip(groups, verdicts, strict=True) if verdict is Verdict.SAME]
        return [step for group in self._together(view, taken, good) for step in group]

    def _words(self, view: View, step: Step) -> str:
        """A step as the lines that it changes and what it makes of them: the same again after a change elsewhere."""
        text, words = view.specimen.text, list[str]()
        for edit in step.edits:
            start = text.rfind("\n", 0, edit.start) + 1
            end = text.find("\n", edit.end)
            words += [text[start : edit.start], text[edit.start : edit.end], edit.text, text[edit.end : end]]
        return "\x1f".join([*words, *step.drop])

    def _together(self, view: View, taken: list[Step], good: list[list[Step]]) -> list[list[Step]]:
        """As many of the groups, each good alone, as are good together."""
        if len(good) <= 1:
            return good
        every = view.apply([*taken, *(step for group in good for step in group)])
        if every is not None and self._oracle.ask([every])[0] is Verdict.SAME:
            return good
        half = len(good) // 2
        first = self._together(view, taken, good[:half])
        held = [*taken, *(step for group in first for step in group)]
        rest = [group for group in good[half:] if view.apply([*held, *group]) is not None]
        verdicts = self._oracle.ask([view.apply([*held, *group]) for group in rest])
        still = [group for group, verdict in zip(rest, verdicts, strict=True) if verdict is Verdict.SAME]
        return [*first, *self._together(view, held, still)]

    def _dead(self) -> None:
        """Everything that nothing reads, at once where that works."""
        whole = cascaded(self.best)
        if whole is not None and not self._try(whole):
            for _ in range(_CASCADE):
                before = self.best
                self._pass("what nothing reads", statements.dead, chunks=True)
                if self.best == before:
                    return

    def _swaps(self, propose: Callable[[View], list[Step]]) -> None:
        """One name for another, where something falls dead by that."""
        view = View.of(self.best)
        if view is None:
            return
        candidates = []
        for step in propose(view):
            made = view.apply([step])
            whole = cascaded(made) if made is not None else None
            candidates.append(self._smaller(whole, self.best))
        if any(candidates):
            self._tell("one name for another")
            self._first(candidates)

    def _alternatives(self, propose: Callable[[Specimen], list[list[Specimen]]]) -> None:
        """Of each list the first that keeps the failure; proposed anew after each, as it changes the others."""
        self._tell("configuration")
        place = 0
        while place < len(lists := propose(self.best)):
            if self._first([one if sound(one) or not sound(self.best) else None for one in lists[place]]):
                place = max(-1, place - len(lists) + len(propose(self.best)))
            place += 1

    def _first(self, candidates: list[Specimen | None]) -> bool:
        """Take the first candidate that keeps the failure."""
        at = 0
        while at < len(candidates):
            wave = candidates[at : at + self._width]
            for candidate, verdict in zip(wave, self._oracle.ask(wave), strict=True):
                if candidate is not None and verdict is Verdict.SAME:
                    if candidate.size() <= self.best.size():
                        self._take(candidate)
                    return True
            at += self._width
        return False

    def _try(self, candidate: Specimen) -> bool:
        if candidate == self.best:
            return True
        if not sound(candidate) or self._oracle.ask([candidate])[0] is not Verdict.SAME:
            return False
        self._take(candidate)
        return True

    # ---- the best so far

    def _smaller(self, candidate: Specimen | None, than: Specimen | None) -> Specimen | None:
        return candidate if candidate is not None and (than is None or candidate.size() < than.size()) else None

    def _same(self, candidate: Specimen) -> None:
        """A candidate that fails alike, as soon as it is known: kept when it is smaller than all before."""
        if candidate.size() < self.best.size():
            self._take(candidate)

    def _take(self, specimen: Specimen) -> None:
        if specimen != self.best:
            self.best = specimen
            self.history.append(specimen)
            self._improved(specimen)

    def _tell(self, name: str) -> None:
        self._step(name)


def cascaded(specimen: Specimen) -> Specimen | None:
    """Without anything that nothing reads, down to the last; None when that leaves no kernel."""
    current = specimen
    for _ in range(_CASCADE):
        view = View.of(current)
        if view is None:
            return None
        steps = statements.dead(view)
        if not steps:
            return current
        made = view.apply(steps)
        if made is None:
            # Parameters side by side share a comma: one at a time.
            made = next((one for one in (view.apply([step]) for step in steps) if one is not None), None)
        if made is None:
            return current
        current = made
    return current
