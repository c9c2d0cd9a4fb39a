"""A rule of the map, as it is shown: where a failure happens, shortest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from triage.model.document import Count, Doc, Documented, Internal
from triage.sweeps.grid import CellSet


@dataclass(frozen=True, slots=True)
class SweepRule(Documented):
    """``text``: "illegal where num_warps = 4 and BM * BN ≥ 16384"; ``python``: the same as an expression over the axes'
    names that is true where it fails. ``failure``: the letter of the failure; None where several bugs share the rule.
    ``support``: compiled cells that it covers and that fail; ``exceptions``: that it covers and that compile.
    ``counter_examples_tried``: of those, the ones compiled to refute it. ``explained_by``: a knowledge entry or a
    legality rule. ``names``: the axes in
    ``python``. ``cells``: all that it covers."""

    text: str
    failure: str | None
    support: Count
    exceptions: Count
    counter_examples_tried: Count
    python: str
    explained_by: Annotated[str | None, Doc("A knowledge entry or a legality rule.")] = None
    names: Internal[tuple[str, ...]] = ()
    cells: Internal[CellSet] = 0
