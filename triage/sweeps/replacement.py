"""What replaces an entry of a list that fails, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triage.model.document import Documented
from triage.model.report import ExpectedTime


@dataclass(frozen=True, slots=True)
class Replacement(Documented):
    """Of an entry that fails for a target. ``changes``: numbers of the entry; None where no neighbour
    compiles for all releases of the sweep and computes the same. ``expected``: its time against the entry's."""

    file: str
    entry: str
    target: str
    signature: str
    headline: str
    changes: Mapping[str, int] | None
    expected: ExpectedTime | None = None
