"""Axes that change nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from triage.sweeps.active.evidence import FailureEvidence
from triage.sweeps.grid import Grid

LEAST_PAIRS = 4
"""Pairs without a difference before an axis is called inert."""


def inert_axes(grid: Grid, evidence: FailureEvidence, axes: Iterable[int]) -> dict[str, int]:
    """Of these axes, those that never changed what a cell shows, by name: with how many pairs of compiled cells differ
    in nothing else."""
    shown = dict.fromkeys(evidence.sample.cells, "")
    for signature, members in evidence.failing.items():
        for number, cell in enumerate(evidence.sample.cells):
            if members >> number & 1:
                shown[cell] = signature
    pairs_by_axis: dict[str, int] = {}
    for axis in axes:
        lines: dict[tuple[int, ...], list[str]] = {}
        for cell, signature in shown.items():
            at = grid.at(cell)
            lines.setdefault((*at[:axis], *at[axis + 1 :]), []).append(signature)
        pairs = sum(len(line) - 1 for line in lines.values())
        if pairs >= LEAST_PAIRS and all(len(set(line)) == 1 for line in lines.values()):
            pairs_by_axis[grid.axes[axis].name] = pairs
    return pairs_by_axis
