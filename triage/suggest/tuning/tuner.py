"""Chooses the configuration to compile next: the fastest according to the static model.

The front end is asked for the TTIR of a tile (milliseconds); from it the model predicts resources and time for every
number of warps and stages. Compiled configurations correct the predicted resources, and their time is estimated from
the real ones. The search over tiles climbs: it moves to the best neighbouring tile until none is faster.

As long as everything that compiled waits for spilled registers, the predicted registers were wrong: the search repairs,
towards fewer values a thread (more warps, smaller tiles), and goes on for as long as compiles are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import log2
from statistics import median
from typing import Any

from triage.harness.request import Request
from triage.harness.toolchains import Toolchain
from triage.legality.limits import limits as block_limits
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.outcome import Resources
from triage.model.report import EQUAL_ESTIMATES, EQUAL_UNMEASURED, equal_estimates, is_measured
from triage.performance.estimate import estimate
from triage.performance.estimate.resources import SPILLED_FOR_EACH, most_registers, predicted, registers
from triage.performance.estimate.roofline import Bound
from triage.performance.estimate.work import BlockWork
from triage.suggest.budget import ENOUGH
from triage.suggest.configuration import DEFAULT_WARPS
from triage.suggest.proposal import Move, Proposal
from triage.suggest.tuning.expectations import Corrections, Expectations
from triage.suggest.tuning.space import Space, Tiles

PROPOSED = "proposed by the static model"
MOST_TILES, MOST_S = 40, 10.0
"""Tiles whose TTIR is asked for, and seconds that the front end may take for them."""
MOST_COMPILES = 10
_LEAST_SHARED, _MOST_SHARED = 0.5, 2.0
_MOST_REGISTERS = 255


@dataclass(frozen=True, slots=True)
class TunedConfiguration:
    """A configuration, as changes of the failing case, the time that is expected of it in seconds, and its pressure:
    registers that a thread is predicted to need over those that there are."""

    tiles: Tiles
    changes: Mapping[str, Any]
    seconds: float
    pressure: float


@dataclass(slots=True)
class Tuner:
    """One walk from ``space.base``. ``asked`` is the failing case; ``enough``: once so many compile, what is not
    expected to be faster than all of them is not worth a compile; ``known`` the estimated seconds of what was compiled,
    None for what failed, by :func:`key` of its changes."""

    asked: Case
    toolchain: Toolchain
    space: Space
    expectations: Expectations
    enough: int = ENOUGH
    known: dict[str, float | None] = field(default_factory=dict)
    _compiled: int = 0
    _tiles: dict[Tiles, Case] = field(default_factory=dict)
    _expanded: set[Tiles] = field(default_factory=set)
    _spilled: list[tuple[float, float]] = field(default_factory=list)
    """Of those that wait for spilled registers, the predicted pressure, and how many times that it really is."""
    _is_repaired: bool = False
    _estimated: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    """Seconds and pressure by :func:`key` of the changes, with the corrections learnt until now: a walk ranks the same
    thousand configurations again and again."""

    def probes(self) -> Iterator[Request]:
        """Requests for TTIR that are worth asking for now."""
        while frontier := self._frontier():
            for tiles in frontier:
                if len(self._tiles) >= MOST_TILES or self.expectations.spent_s > MOST_S:
                    return
                try:
                    case = self.space.case(tiles)
                except (KeyError, InputError):
                    continue
                self._tiles[tiles] = case
                yield from self.expectations.ask(case, self.toolchain)
            if self.expectations.is_waiting or self._fits():
                return

    def _frontier(self) -> list[Tiles]:
        if not self._tiles:
            return [self.space.tiles]
        ranked = self._candidates()
        start = ranked[0].tiles if ranked else self._smallest()
        if start is None or start in self._expanded:
            return []
        self._expanded.add(start)
        return [tiles for tiles in self.space.beside(start) if tiles not in self._tiles]

    def _smallest(self) -> Tiles | None:
        """Where nothing fits: the tiles not yet gone on from that need the least shared memory."""
        sizes = {
            tiles: predicted(work, case).shared_bytes
            for tiles, case in self._tiles.items()
            if tiles not in self._expanded and (work := self.expectations.work(case)) is not None
        }
        return min(sizes, key=lambda tiles: sizes[tiles], default=None)

    @property
    def repairs(self) -> bool:
        """Whether all that compiled until now waits for spilled registers."""
        return bool(self._spilled) and not self._is_repaired

    def next(self) -> Proposal | None:
        """What to compile next; None where nothing is expected to be faster than what compiled."""
        if self._compiled >= MOST_COMPILES and not self.repairs:
            return None
        compiled = [seconds for seconds in self.known.values() if seconds is not None]
        for candidate in self._candidates():
            if key(candidate.changes) in self.known:
                continue
            if len(compiled) >= self.enough and candidate.seconds * self._gain >= min(compiled) and not self.repairs:
                return None
            self.known[key(candidate.changes)] = None
            self._compiled += 1
            return self._proposal(candidate)
        return None

    @property
    def _gain(self) -> float:
        """How many times faster a candidate has to be expected to be: where one is enough, by more than the error."""
        return 1.0 if self.enough > 1 else equal_estimates(self.asked.target)

    def _candidates(self) -> list[TunedConfiguration]:
        """Configurations worth a compile, best first. For a repair those with less pressure than all that spilled: the
        fastest of what should fit into registers, then what comes nearest to it."""
        ranked = self._ranked()
        if not self.repairs:
            return ranked
        least = min(pressure for pressure, _ in self._spilled)
        lighter = [candidate for candidate in ranked if candidate.pressure < least]
        return sorted(lighter, key=lambda candidate: max(candidate.pressure * self._underestimated, 1.0))

    def _fits(self) -> bool:
        """Whether there is something worth a compile that is not expected to spill as much as what compiled."""
        candidates = self._candidates()
        return bool(candidates) and (not self.repairs or candidates[0].pressure * self._underestimated <= 1)

    @property
    def _underestimated(self) -> float:
        """How many times the predicted pressure what spilled really has, at least."""
        return min(factor for _, factor in self._spilled)

    def _ranked(self) -> list[TunedConfiguration]:
        """All that are not known to fail, fastest first, near ones first among equals."""
        candidates = []
        for tiles, case in self._tiles.items():
            work = self.expectations.work(case)
            for options in self.space.options() if work is not None else ():
                changes = self.space.changes(tiles, options, self.asked)
                if not changes or work is None:
                    continue
                name = key(changes)
                if name not in self._estimated:
                    changed = replace(case, options={**case.options, **options})
                    self._estimated[name] = self._seconds(work, changed), _pressure(work, changed)
                estimated, pressure = self._estimated[name]
                seconds = self.known.get(name, estimated)
                if seconds is not None:
                    candidates.append(TunedConfiguration(tiles, changes, seconds, pressure))
        candidates.sort(key=lambda candidate: (candidate.seconds, self._distance(candidate.changes)))
        return candidates if is_measured(self.asked.target) else self._nearest_of_equal(candidates)

    def _nearest_of_equal(self, candidates: list[TunedConfiguration]) -> list[TunedConfiguration]:
        """By distance among those that the estimates do not tell apart."""
        ordered: list[TunedConfiguration] = []
        while candidates:
            most = EQUAL_UNMEASURED * candidates[0].seconds
            equal = [candidate for candidate in candidates if candidate.seconds <= most]
            ordered += sorted(equal, key=lambda candidate: self._distance(candidate.changes))
            candidates = candidates[len(equal) :]
        return ordered

    def _seconds(self, work: BlockWork, case: Case) -> float | None:
        resources = self._corrected(predicted(work, case))
        limit = block_limits(case.target)
        if limit is not None and resources.shared_bytes > limit.shared_bytes:
            return None
        expected = estimate.of_work(work, case, resources, self.expectations.sizes(case))
        return None if expected is None else expected.seconds

    @property
    def _corrections(self) -> Corrections:
        return self.expectations.corrections(self.asked)

    def _corrected(self, resources: Resources) -> Resources:
        """By what the compiler reported of others."""
        learnt = self._corrections
        factor = min(max(median(learnt.shared), _LEAST_SHARED), _MOST_SHARED) if learnt.shared else 1.0
        registers = (resources.registers or 0) + (median(learnt.registers) if learnt.registers else 0.0)
        return replace(
            resources,
            shared_bytes=int(resources.shared_bytes * factor),
            registers=min(max(int(registers), 16), _MOST_REGISTERS),
            register_copies=int(median(learnt.copies)) if learnt.copies else 0,
        )

    def learn(self, case: Case, changes: Mapping[str, Any], resources: Resources | None) -> None:
        """What a neighbour takes that was compiled, None where it failed. No ``changes`` are the failing case: what it
        takes is known where only the launch would fail."""
        self.known[key(changes)] = None
        self._estimated.clear()
        work = self.expectations.work(case)
        if resources is None or work is None:
            return
        self._corrections.copies.append(resources.register_copies)
        expected = predicted(work, case)
        if expected.shared_bytes and resources.shared_bytes:
            self._corrections.shared.append(resources.shared_bytes / expected.shared_bytes)
        if expected.registers and resources.registers and not resources.spill_bytes and not expected.spill_bytes:
            self._corrections.registers.append(resources.registers - expected.registers)
        corrected = self.expectations.of(case, resources)
        self.known[key(changes)] = None if corrected is None else corrected.seconds
        self._learn_spills(case, work, resources, is_neighbour=bool(changes))

    def _learn_spills(self, case: Case, work: BlockWork, resources: Resources, is_neighbour: bool) -> None:
        time = self.expectations.of(case, resources, fits=False)
        spilled = resources.spill_bytes or 0
        # A gain below the error of the estimates does not justify another compile.
        if time is None or time.terms.get(Bound.SPILLS, 0.0) <= (EQUAL_ESTIMATES - 1) * time.seconds:
            self._is_repaired |= is_neighbour
            return
        most, pressure = most_registers(_threads(case)), _pressure(work, case)
        self._spilled.append((pressure, (1 + spilled / 4 / SPILLED_FOR_EACH / most) / pressure))

    def _distance(self, changes: Mapping[str, Any]) -> float:
        """Steps of options and tiles that the user must take."""
        return sum(self._steps(name, value) for name, value in changes.items())

    def _steps(self, name: str, value: Any) -> float:
        before = self.asked.constexprs.get(name, self.asked.options.get(name, DEFAULT_WARPS))
        if name == "num_stages" or type(value) is not int or type(before) is not int or min(value, before) < 1:
            return 1.0
        return abs(log2(value / before)) * (1.0 if name == "num_warps" else 1.5)

    def _proposal(self, candidate: TunedConfiguration) -> Proposal:
        changes = candidate.changes
        moves_tiles = not changes.keys().isdisjoint(name for name, _ in candidate.tiles)
        why = PROPOSED + (", from one that compiles" if self.space.changed else "")
        return Proposal(changes, Move.TILE if moves_tiles else Move.OPTION, 0.0, self._distance(changes), why)


def _threads(case: Case) -> int:
    return int(case.options.get("num_warps", DEFAULT_WARPS)) * case.target.warp_size


def _pressure(work: BlockWork, case: Case) -> float:
    threads = _threads(case)
    return registers(work, threads, predicted(work, case).tensor_core) / most_registers(threads)


def key(changes: Mapping[str, Any]) -> str:
    """Equal for changes to the same values."""
    return Proposal(changes, Move.TILE, 0.0, 0.0, "").key
