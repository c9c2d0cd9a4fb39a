"""How far a sweep is, how fast it goes, and what has been learnt so far."""

from __future__ import annotations

import time
from collections import Counter

from triage.matrix.table import letters
from triage.sweeps.observation import CellObservation, CellState

_MOST_LETTERS = 6


class Pace:
    """``expected``: how many results there are at the most."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._began = time.monotonic()
        self._compiled = 0
        self._states: Counter[CellState] = Counter()
        self._signatures: Counter[str] = Counter()

    def add(self, observation: CellObservation, known: bool = False) -> None:
        """One more result; ``known``: from the ledger."""
        self._compiled += not known
        self._states[observation.state] += 1
        if observation.signature is not None:
            self._signatures[observation.signature] += 1

    @property
    def line(self) -> str:
        """In one line."""
        done, elapsed_s = self._states.total(), time.monotonic() - self._began
        rate = self._compiled / max(elapsed_s, 1e-9)
        left_s = (self._expected - done) / rate if rate else 0.0
        left = f"{left_s / 60:.0f} min" if left_s > 90 else f"{left_s:.0f} s"
        most = self._signatures.most_common(_MOST_LETTERS)
        failures = ", ".join(f"{letters(number)} {count}" for number, (_, count) in enumerate(most))
        failed, untold = self._states[CellState.FAILED], self._states[CellState.UNTOLD]
        parts = [
            f"{done} of {self._expected}",
            f"{rate:.1f} a second, {left} left",
            f"{self._states[CellState.COMPILED]} compile",
            *([f"{failed} fail ({failures})"] if failed else []),
            *([f"{untold} could not be told"] if untold else []),
        ]
        return "; ".join(parts)
