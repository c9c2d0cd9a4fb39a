"""A sweep's map as every format shows it: looks of cells, counts, failures by letter, rules, axes.

All text here is visible and scrubbed, so that a format only escapes its own syntax.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from triage.model.visible import one_line, shortened, visible
from triage.model.words import count
from triage.publish.compose.sweep_parts import (
    CellLook,
    ShownAxis,
    ShownFailure,
    ShownMatch,
    ShownReplacement,
    grouped,
    percent,
    value_text,
)
from triage.publish.privacy import Scrubber
from triage.sweeps.commands import SweepCommands
from triage.sweeps.grid import Cell, CellSet, cells_of, set_of
from triage.sweeps.influence import influence
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellState, SweepFailure
from triage.sweeps.rule import SweepRule
from triage.sweeps.space import CONFIGURATION

_MOST_TEXT = 300
"""Characters of a headline or a rule."""
_MOST_MATCHES = 3
_MOST_LABEL = 120
"""Characters of an axis's name or value; members of lists are named by file and settings."""
_STATES = (*CellState, None)
"""From what is known best to what is not known."""


class SweepView:
    """What there is to show of a map. ``scrubber`` None: for the user alone, nothing private is removed."""

    def __init__(self, map_: SweepMap, commands: SweepCommands, scrubber: Scrubber | None = None) -> None:
        self.map = map_
        self.grid = map_.grid
        self.commands = commands
        self.scrubber = scrubber
        # A map has few distinct texts, and many cells.
        self.text = cache(lambda text: scrubber.text(visible(text)) if scrubber else visible(text))

    def line(self, text: str, most: int = _MOST_TEXT) -> str:
        """A foreign text as one line."""
        return shortened(self.text(text), most)

    def command(self, cell: Cell) -> str:
        """The command that triages a cell."""
        return self.text(self.commands.of_cell(self.map.case, self.grid, cell))

    @property
    def again(self) -> str:
        """The command that repeats the sweep."""
        return self.text(self.commands.repeating)

    @cached_property
    def looks(self) -> Mapping[CellLook, CellSet]:
        """The cells by what they show; every allowed cell is in one set."""
        compiled: dict[CellLook, list[Cell]] = {}
        for cell, seen in self.map.observations.items():
            compiled.setdefault(CellLook(seen.state, self.map.letters.get(seen.signature or "")), []).append(cell)
        looks = {look: set_of(cells) & self.grid.allowed for look, cells in compiled.items()}
        rest = self.map.unseen
        for look, _, cells in self.predictions():
            looks[look] = looks.get(look, 0) | cells
            rest &= ~cells
        looks[CellLook(None)] = rest
        return {look: cells for look, cells in looks.items() if cells}

    def predictions(self) -> Iterator[tuple[CellLook, float, CellSet]]:
        """What is predicted, with its probability; each cell is in one set at most."""
        rest = self.map.unseen
        for group in self.map.predicted.groups:
            state = CellState.PREDICTED_LEGAL if group.legal else CellState.PREDICTED_ILLEGAL
            yield CellLook(state, self.map.letters.get(group.signature or "")), group.probability, group.cells & rest
            rest &= ~group.cells

    @cached_property
    def counts(self) -> Mapping[CellState | None, int]:
        """How many cells are in each state."""
        counts: dict[CellState | None, int] = dict.fromkeys([*CellState, None], 0)
        for look, cells in self.looks.items():
            counts[look.state] += cells.bit_count()
        return counts

    @cached_property
    def failures(self) -> tuple[ShownFailure, ...]:
        """The failures in the order of their letters."""
        shown = []
        for failure in self.map.failures:
            letter = self.map.letters[failure.signature]
            compiled = self.looks.get(CellLook(CellState.FAILED, letter), 0)
            predicted = self.looks.get(CellLook(CellState.PREDICTED_ILLEGAL, letter), 0)
            shown.append(
                ShownFailure(
                    letter,
                    self.line(failure.headline),
                    self.line(failure.signature),
                    compiled.bit_count(),
                    predicted.bit_count(),
                    self._example(failure, compiled),
                    tuple(
                        self._match(match)
                        # As in a report: a family of causes adds nothing to an entry that names the cause.
                        for number, match in enumerate(failure.matches)
                        if number == 0 or not match.get("generic")
                    )[:_MOST_MATCHES],
                )
            )
        return tuple(shown)

    def _example(self, failure: SweepFailure, cells: CellSet) -> Cell | None:
        """The first cell that shows just what the headline says; of one bug, numbers may differ."""
        same = (cell for cell in cells_of(cells) if self.map.observations[cell].headline == failure.headline)
        return next(same, next(cells_of(cells & -cells), None))

    def _match(self, document: Mapping[str, Any]) -> ShownMatch:
        confidence, fixed_in = document.get("confidence"), document.get("fixed_in")
        upstream = (str(address) for address in document.get("upstream") or ())
        return ShownMatch(
            self.line(str(document.get("id", ""))),
            self.line(str(document.get("title", ""))),
            confidence if isinstance(confidence, float | int) else None,
            self.line(str(fixed_in), _MOST_LABEL) if fixed_in else None,
            tuple(one_line(address) for address in upstream if address.startswith("https://")),
        )

    @cached_property
    def axes(self) -> tuple[ShownAxis, ...]:
        """The axes in the order of the grid."""
        classes: dict[tuple[bool, str | None], CellSet] = {}
        for look, cells in self.looks.items():
            if look.legal is not None:
                key = (look.legal, look.letter)
                classes[key] = classes.get(key, 0) | cells
        measured = influence(self.grid, classes.values())
        claimed = self.map.predicted.inert
        whole = not self.map.unseen
        return tuple(
            ShownAxis(
                self.line(axis.name, _MOST_LABEL),
                tuple(self.line(value_text(value), _MOST_LABEL) for value in axis.values),
                of_axis,
                axis.name in claimed or (whole and of_axis.lines > 0 and not of_axis.changing),
                claimed.get(axis.name, of_axis.lines),
            )
            for axis, of_axis in zip(self.grid.axes, measured, strict=True)
        )

    def look(self, cells: CellSet) -> CellLook | None:
        """What cells that should be alike show together; a compiled cell represents the predicted ones beside it. None
        where they differ, or where there is none."""
        looks = [look for look, of_look in self.looks.items() if of_look & cells]
        results = {(look.legal, look.letter) for look in looks if look.legal is not None}
        if len(results) > 1:
            return None
        return min(looks, key=lambda look: _STATES.index(look.state), default=None)

    @cached_property
    def reasons(self) -> Mapping[str, int]:
        """Why cells could not be told, the most frequent reason first, with their numbers."""
        untold = (seen for seen in self.map.observations.values() if seen.state is CellState.UNTOLD)
        return dict(Counter(self.line(seen.reason or "no reason stated") for seen in untold).most_common())

    @cached_property
    def replacements(self) -> tuple[ShownReplacement, ...]:
        """What replaces the entries of a list that fail."""
        return tuple(
            ShownReplacement(self.line(each.file), self.line(each.entries), each.targets, self.text(each.words))
            for each in grouped(self.map.replacements)
        )

    @property
    def headline(self) -> str:
        """What a person reads first."""
        kernels = self.map.kernels
        name = self.line(self.map.case.name, _MOST_LABEL) if kernels == 1 else count(kernels, "kernel")
        if not self.grid.allowed:
            return f"{name}: no configuration is in this part of the sweep"
        if CONFIGURATION in self.grid.positions:
            return f"{name}: {self._list_headline()}"
        counts, cells = self.counts, len(self.grid)
        illegal = counts[CellState.FAILED] + counts[CellState.PREDICTED_ILLEGAL]
        if not illegal:
            legal = counts[CellState.COMPILED] + counts[CellState.PREDICTED_LEGAL]
            if cells == legal == 1:
                return f"{name}: the configuration is legal"
            return f"{name}: {'all' if legal == cells else f'{legal:,} of'} {cells:,} configurations are legal"
        about = "about " if counts[CellState.PREDICTED_ILLEGAL] or counts[CellState.PREDICTED_LEGAL] else ""
        if cells == 1:
            return f"{name}: the configuration is illegal"
        verb = "is" if illegal == 1 else "are"
        return f"{name}: {about}{illegal:,} of {cells:,} configurations {verb} illegal{self._ways}"

    @property
    def _ways(self) -> str:
        return f", in {count(len(self.failures), 'way')}" if self.failures else ""

    def _list_headline(self) -> str:
        """Of a list: how many of its configurations fail for any target and release."""
        position = self.grid.positions[CONFIGURATION]
        failing, every = set[int](), len(self.grid.axes[position].values)
        for look, cells in self.looks.items():
            if look.legal is False:
                failing |= {self.grid.at(cell)[position] for cell in cells_of(cells)}
        several = [self.axes[at].name for at, axis in enumerate(self.grid.axes) if at != position and axis.values[1:]]
        where = f" for some {' or '.join(several)}" if several else ""
        if failing and every == 1:
            return f"the configuration fails{where}{self._ways}"
        if failing:
            verb = "fails" if len(failing) == 1 else "fail"
            return f"{len(failing):,} of {count(f'{every:,}', 'configuration')} {verb}{where}{self._ways}"
        if self.counts[CellState.COMPILED] == len(self.grid):
            return f"all {every:,} configurations compile" if every > 1 else "the configuration compiles"
        return f"no configuration of {every:,} is known to fail"

    def facts(self) -> tuple[str, ...]:
        """Counts, error bound, inert axes, and whether the sweep ended: a sentence each."""
        if not self.grid.allowed:
            return ("Nothing is compiled for it; the other parts have all.",)
        counts, predicted = self.counts, self.map.predicted
        compiled = len(self.grid) - self.map.unseen.bit_count()
        untold = f", {counts[CellState.UNTOLD]:,} could not be told" if counts[CellState.UNTOLD] else ""
        facts = [
            f"{compiled:,} compiled: {counts[CellState.COMPILED]:,} legal, {counts[CellState.FAILED]:,} fail{untold}."
        ]
        legal, illegal = counts[CellState.PREDICTED_LEGAL], counts[CellState.PREDICTED_ILLEGAL]
        if legal or illegal:
            facts.append(f"{legal + illegal:,} predicted, not compiled: {legal:,} legal, {illegal:,} illegal.")
            if predicted.error_bound is not None:
                most, probes = percent(predicted.error_bound, up=True), count(predicted.probes, "random probe")
                facts.append(f"At most {most} of the predicted are wrong, at 95 % confidence, by {probes}.")
        if counts[None]:
            facts.append(f"{counts[None]:,} neither compiled nor predicted.")
        for axis in self.axes:
            if axis.inert and len(axis.values) > 1 and axis.name != CONFIGURATION:
                agree = "agrees" if axis.probes == 1 else "agree"
                facts.append(f"{axis.name} changes nothing: {count(f'{axis.probes:,}', 'comparison')} {agree}.")
        for own in self.grid.axes:
            if own.tied:
                facts.append(f"{self.line(', '.join(own.tied), _MOST_LABEL)} changes with {self.line(own.name)}.")
        if self.map.interrupted:
            facts.append(
                "The sweep was interrupted; the same command goes on where it ended, or --resume with the folder of -o."
            )
        return tuple(facts)

    def rule(self, rule: SweepRule) -> tuple[str, str]:
        """A rule's text, and what it rests on."""
        parts = [
            f"{count(f'{rule.support:,}', 'failure')} seen",
            count(f"{rule.exceptions:,}" if rule.exceptions else "no", "exception"),
        ]
        if rule.counter_examples_tried:
            parts.append(f"{count(rule.counter_examples_tried, 'counter-example')} tried")
        if rule.explained_by:
            parts.append(f"explained by {self.line(rule.explained_by, _MOST_LABEL)}")
        return self.line(rule.text), ", ".join(parts)
