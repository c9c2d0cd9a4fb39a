"""Active sampling: the compiles from which most is learnt, and what they say of all other cells.

1. A covering design: every pair of values once, corners first (``design.py``).
2. Rounds of eight. What compiles use of a resource bounds what others use (``quantities.py``), failures become rules,
   of which a committee has several versions (``hypotheses.py``, ``committee.py``). A round has two random cells, which
   are predicted before they are compiled, and where compiles are slow one that may take longest (``slowness.py``). The
   others are cells of which nothing tells on which side of a limit they are, as long as such predictions are likelier
   to be wrong than those of the other sources were; cells on which the committee disagrees; one-factor neighbours of
   failures; combinations of values that no legal cell had; and, where a rule holds, those that none of its failures
   had.
3. The end: the budget, or several rounds without a surprise once the random cells bound the error.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum

from triage.model.diagnosis import Kind
from triage.model.target import Target
from triage.sweeps.active.calibration import Calibration
from triage.sweeps.active.committee import Committee, Opinion
from triage.sweeps.active.design import Design
from triage.sweeps.active.draw import draw
from triage.sweeps.active.evidence import FailureEvidence
from triage.sweeps.active.inert import inert_axes
from triage.sweeps.active.measures import MeasureBoxes, measures
from triage.sweeps.active.neighbourhood import experiments, unusual
from triage.sweeps.active.quantities import ResourceQuantity, used
from triage.sweeps.active.slowness import Slowness
from triage.sweeps.grid import Cell, CellSet, Grid
from triage.sweeps.observation import CellObservation, Predicted, PredictedCells
from triage.sweeps.purpose import CellPurpose

ROUND = 8
"""Cells of a round."""
RANDOM = 1 / 4
"""Part of a round that is random."""
QUIET = 6
"""Rounds without a surprise before the end."""
ACCEPTED = 0.05
"""Bound of the error below which a sweep may end before its budget."""
PART = 0.15
"""Part of the grid that is compiled at most where no budget is stated."""


def part_of(grid: Grid) -> int:
    """That many cells of a grid, and one at least."""
    return max(1, int(PART * len(grid)))


_DESIGN = 1 / 3
"""Part of the budget that the covering design may use."""
_WORTHLESS = 1 / 8
"""Slow cells are not looked for any more when a wrong prediction is less likely than this among them."""


class Source(Enum):
    """Why a cell of a round is compiled."""

    RANDOM = "random"
    DOUBTFUL = "doubtful"
    LIMIT = "limit"
    NEIGHBOUR = "neighbour"
    NOVEL = "novel"
    UNUSUAL = "unusual"
    SLOW = "slow"


class ActiveStrategy:
    """Implements :class:`triage.sweeps.strategy.Strategy`. ``target``: of the case, where no axis has targets.
    ``budget``: compiles at most."""

    def __init__(self, grid: Grid, target: Target, budget: int | None = None, seed: int = 0) -> None:
        self._grid, self._target, self._rng = grid, target, random.Random(seed)
        self._budget = min(part_of(grid) if budget is None else budget, len(grid))
        self._evidence = FailureEvidence(grid, measures(grid))
        self._boxes = MeasureBoxes(grid)
        self._committee = Committee(grid, self._evidence, self._boxes, self._rng)
        self._quantities: dict[str, ResourceQuantity] = {}
        self._slowness = Slowness(grid)
        self._opinion: Opinion | None = None
        self._design, self._tested = Design(grid, self._rng), Design(grid, self._rng, corners=False)
        self._designing = True
        self._queue: deque[Cell] = deque()
        self._pending: set[Cell] = set()
        self._taken: CellSet = 0
        self._proposed = 0
        self._expected: dict[Cell, tuple[int, Source | None]] = {}
        self._rights: dict[Source, deque[bool]] = {source: deque(maxlen=ROUND) for source in Source}
        """Whether the predictions of each source's last cells were right."""
        self._calibration = Calibration(self._committee.size)
        self._surprised, self._quiet = False, 0

    # ---- the protocol

    def propose(self, count: int) -> Sequence[Cell]:
        """See the protocol."""
        chosen: list[Cell] = []
        while len(chosen) < count and not self.is_done:
            if not self._queue:
                self._plan(max(ROUND, count))
            if not self._queue:
                break
            cell = self._queue.popleft()
            self._pending.add(cell)
            self._proposed += 1
            chosen.append(cell)
        return chosen

    def purpose(self, cell: Cell) -> CellPurpose | None:
        """See the protocol."""
        expected = self._expected.get(cell)
        return None if expected is None else CellPurpose(expected[0], expected[1] is Source.RANDOM)

    def learn(self, cell: Cell, observation: CellObservation, purpose: CellPurpose | None = None) -> None:
        """See the protocol."""
        if purpose is not None and purpose.votes is not None:
            self._expected[cell] = purpose.votes, Source.RANDOM if purpose.is_random else None
        self._pending.discard(cell)
        self._taken |= 1 << cell
        self._design.learn(cell)
        expected, legal = self._expected.pop(cell, None), observation.is_legal
        if legal is None:
            return
        if expected is not None:
            votes, source = expected
            right = self._calibration.learn(votes, legal, is_random=source is Source.RANDOM)
            if source is not None:
                self._rights[source].append(right)
            self._surprised |= not right
        self._surprised |= not legal and observation.signature not in self._evidence.failing
        if legal:
            self._tested.learn(cell)
        if observation.duration_s is not None and (legal or observation.kind == Kind.TIMEOUT.value):
            self._slowness.learn(cell, observation.duration_s)
        self._evidence.learn(cell, observation)
        for resource, number in used(observation):
            if resource not in self._quantities:
                self._quantities[resource] = ResourceQuantity(self._grid, self._target, resource)
            stated = observation.limit if observation.resource == resource else None
            self._quantities[resource].learn(cell, number, stated)
        self._opinion = None

    @property
    def is_done(self) -> bool:
        """See the protocol."""
        if self._proposed >= self._budget:
            return True
        ends = self._quiet >= QUIET and (self._calibration.random_bound or 1.0) <= ACCEPTED
        return not self._queue and (ends or not self._unseen)

    def predict(self) -> Predicted:
        """See the protocol. The probability of a group is how often such votes were right (``calibration.py``)."""
        opinion = self._learnt()
        members = self._committee.used_axes
        inert = inert_axes(
            self._grid, self._evidence, [axis for axis in range(len(self._grid.axes)) if axis not in members]
        )
        return Predicted(tuple(self._groups(opinion)), self._calibration.bound, self._calibration.probes, inert)

    # ---- choosing

    @property
    def _unseen(self) -> CellSet:
        return self._grid.allowed & ~self._taken

    def _plan(self, count: int) -> None:
        """Fill the queue: with the next cell of the design, or with a round. A round waits for the last one."""
        if self._designing:
            chosen = self._design.choose(self._unseen)
            self._designing = chosen is not None and chosen[1] > 0 and self._proposed < _DESIGN * self._budget
            if chosen is not None and self._designing:
                self._design.learn(chosen[0])
                self._take(chosen[0])
                return
        if self._pending:
            return
        self._quiet = 0 if self._surprised else self._quiet + 1
        if not self.is_done:
            self._surprised = False
            self._plan_round(min(count, self._budget - self._proposed))

    def _plan_round(self, count: int) -> None:
        opinion = self._learnt()
        for cell in draw(self._unseen, max(1, int(count * RANDOM)), self._rng):
            self._take(cell, opinion, Source.RANDOM)
        disputed = self._disputed(opinion)
        sources = {
            Source.DOUBTFUL: self._doubtful(opinion),
            Source.NEIGHBOUR: self._neighbours(disputed),
            Source.NOVEL: self._novel(opinion),
            Source.UNUSUAL: self._unusual(disputed),
        }
        if self._promise(Source.SLOW) > _WORTHLESS and len(self._queue) < count:
            slowest = self._slowness.slowest(self._unseen & ~opinion.illegal)
            if slowest is not None:
                self._take(slowest, opinion, Source.SLOW)
        limits = self._near_limits(opinion)
        near = next(limits, None)
        turns = deque(sources)
        while len(self._queue) < count and (turns or near is not None):
            if near is not None and (not turns or near[1] >= self._promise(turns[0])):
                self._take(near[0], opinion, Source.LIMIT)
                near = next(limits, None)
                continue
            source = self._next_of(turns)
            turns.remove(source)
            if (chosen := next(sources[source], None)) is not None:
                self._take(chosen, opinion, source)
                turns.append(source)

    def _next_of(self, turns: Sequence[Source]) -> Source:
        """The first, but for what the committee disputes where that has shown more wrong predictions than all else."""
        promises = {source: self._promise(source) for source in turns}
        disputed = promises.pop(Source.DOUBTFUL, 0.0)
        return Source.DOUBTFUL if promises and disputed > max(promises.values()) else turns[0]

    def _promise(self, source: Source) -> float:
        """How likely a source's next cell shows a wrong prediction, by its last ones (Laplace's rule)."""
        rights = self._rights[source]
        return (1 + rights.count(False)) / (2 + len(rights))

    def _take(self, cell: Cell, opinion: Opinion | None = None, source: Source = Source.RANDOM) -> None:
        """Queue a cell, with what is expected of it."""
        if self._unseen >> cell & 1:
            self._taken |= 1 << cell
            self._queue.append(cell)
            if opinion is not None:
                self._expected[cell] = sum(member >> cell & 1 for member in opinion.members), source

    def _doubtful(self, opinion: Opinion) -> Iterator[Cell]:
        """Cells on which the committee disagrees most, no two with the same votes."""
        patterns: set[tuple[int, ...]] = set()
        half = len(opinion.members) / 2
        for voted in sorted(range(1, len(opinion.votes) - 1), key=lambda count: abs(count - half)):
            for cell in draw(opinion.votes[voted] & self._unseen, ROUND, self._rng):
                pattern = tuple(member >> cell & 1 for member in opinion.members)
                if pattern not in patterns:
                    patterns.add(pattern)
                    yield cell

    def _near_limits(self, opinion: Opinion) -> Iterator[tuple[Cell, float]]:
        """Cells that may be on either side of a limit, but for those in which another failure would hide it."""
        for resource, quantity in self._quantities.items():
            others = 0
            for signature, rules in opinion.rules.items():
                if self._evidence.resources.get(signature) != resource:
                    for clause in rules:
                        others |= clause.cells(self._boxes, self._grid.allowed)
            yield from quantity.doubtful(self._unseen & ~others, self._rng, self._tested.novelty)

    def _disputed(self, opinion: Opinion) -> list[tuple[list[Cell], CellSet, CellSet]]:
        """Of each rule its failing cells, all cells that it alone explains, and those that another failure's rules
        explain: what is compiled there says nothing of it."""
        compiled = self._evidence.sample.cells
        cells = {
            signature: [(clause, clause.cells(self._boxes, self._grid.allowed)) for clause in rules]
            for signature, rules in opinion.rules.items()
        }
        disputed = []
        for signature, rules in cells.items():
            others = 0
            for other, others_rules in cells.items():
                for _, covered in others_rules if other != signature else ():
                    others |= covered
            for clause, covered in rules:
                failing = [cell for number, cell in enumerate(compiled) if clause.covered >> number & 1]
                disputed.append((failing, covered & ~others, others))
        return disputed

    def _neighbours(self, disputed: Sequence[tuple[list[Cell], CellSet, CellSet]]) -> Iterator[Cell]:
        """One-factor neighbours of failures, of each rule in turn."""
        sources = [list(experiments(self._grid, failing, self._taken, others)) for failing, _, others in disputed]
        for source in sources:
            self._rng.shuffle(source)
        self._rng.shuffle(sources)
        while any(sources):
            for source in filter(None, sources):
                yield source.pop()

    def _novel(self, opinion: Opinion) -> Iterator[Cell]:
        """Combinations of values that no legal cell has had, for failures not seen yet."""
        while (chosen := self._tested.choose(self._unseen & ~opinion.illegal)) is not None:
            yield chosen[0]

    def _unusual(self, disputed: Sequence[tuple[list[Cell], CellSet, CellSet]]) -> Iterator[Cell]:
        """Combinations of values that no failing cell of a rule has had, for exceptions to it. The more cells a rule
        alone explains, the likelier it is chosen."""
        while any(sizes := [(cells & self._unseen).bit_count() for _, cells, _ in disputed]):
            ((failing, cells, _),) = self._rng.choices(disputed, sizes)
            chosen = unusual(self._grid, failing, cells & self._unseen, self._rng)
            if chosen is not None:
                yield chosen

    # ---- learning

    def _learnt(self) -> Opinion:
        if self._opinion is None:
            for quantity in self._quantities.values():
                if quantity.refit():
                    self._replace(quantity)
            self._opinion = self._committee.opinion()
        return self._opinion

    def _replace(self, quantity: ResourceQuantity) -> None:
        """Take what is now known of a resource into account."""
        measure = quantity.measure(self._boxes)
        is_first = self._evidence.sample.replace_measure(measure)
        self._committee.recheck(measure)
        for signature, resource in self._evidence.resources.items():
            if resource == quantity.resource and is_first:
                self._committee.relearn(signature)

    def _groups(self, opinion: Opinion) -> Iterator[PredictedCells]:
        unseen = self._unseen
        for votes, voted in enumerate(opinion.votes):
            cells = voted & unseen
            legal, probability = self._calibration.probability(votes)
            if legal and cells:
                yield PredictedCells(cells, True, probability)
                continue
            for signature, claimed in opinion.claimed.items():
                if cells & claimed:
                    yield PredictedCells(cells & claimed, False, probability, signature)
                    cells &= ~claimed
