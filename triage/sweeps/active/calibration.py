"""How often predictions were right: probabilities of votes, and a bound of the error of all predicted cells. Pure.

Every cell of a round is predicted before it is compiled. Random cells among them are a fair sample of all cells, and
those on which the committee disagreed a sample of such cells, however they were chosen. The others were chosen because
their predictions may be wrong, and are wrong more often: of 29,000 predictions on 17 recorded grids 2.2 % of the random
cells' were, 2.4 to 24 % of the others', by what they were chosen for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from triage.sweeps.active.bound import upper_bound

_CONFIDENCE = 0.95


@dataclass
class Calibration:
    """``members``: of the committee, an odd number. ``_agreed``, ``_split``: right and wrong predictions of random
    cells on which all members agreed, and of cells on which they did not. ``_random``: whether each random cell was
    predicted right, in order."""

    members: int
    _agreed: list[int] = field(default_factory=lambda: [0, 0])
    _split: list[int] = field(default_factory=lambda: [0, 0])
    _random: list[bool] = field(default_factory=list)
    _since: int = 0
    """Right predictions since the last wrong one, however their cells were chosen."""

    def learn(self, votes: int, legal: bool, *, is_random: bool) -> bool:
        """A predicted cell was compiled; whether the prediction was right. ``votes``: members that called it
        illegal."""
        right = (2 * votes < self.members) == legal
        self._since = self._since + 1 if right else 0
        if is_random:
            self._random.append(right)
        if 0 < votes < self.members:
            self._split[right] += 1
        elif is_random:
            self._agreed[right] += 1
        return right

    def probability(self, votes: int) -> tuple[bool, float]:
        """Whether cells with these votes are predicted to be legal, and how likely that is right: the part of such
        predictions that was right, with Jeffreys' prior of half a prediction for either."""
        wrong, right = self._split if 0 < votes < self.members else self._agreed
        return 2 * votes < self.members, (right + 0.5) / (wrong + right + 1)

    @property
    def probes(self) -> int:
        """Random cells that were predicted and compiled."""
        return len(self._random)

    @property
    def bound(self) -> float | None:
        """An upper bound of the part of the predicted cells that are wrong, at 95 % confidence; None without probes.

        Predictions become better while they are tested. The number of right ones since the last wrong one, seen from
        the end, is as improbable for an error as that many right ones in a row. So there are three bounds, with a third
        of the risk each, of which the smallest holds: from all random cells; from those since the last wrong one; and
        from all cells since the last wrong one. The third holds as long as the others are predicted wrong at least as
        often as random cells. On 272 maps of recorded grids none was above it; its median was 7 % (13 % without the
        third).
        """
        if not self._random:
            return None
        risk = (1 - _CONFIDENCE) / 3
        return min(*self._random_bounds(risk), upper_bound(0, self._since, 1 - risk))

    @property
    def random_bound(self) -> float | None:
        """The bound from random cells alone."""
        return min(self._random_bounds((1 - _CONFIDENCE) / 2)) if self._random else None

    def _random_bounds(self, risk: float) -> tuple[float, float]:
        wrong = self._random.count(False)
        since = self._random[::-1].index(False) if wrong else len(self._random)
        return upper_bound(wrong, len(self._random), 1 - risk), upper_bound(0, since, 1 - risk)
