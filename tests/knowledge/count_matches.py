"""Counts how often matches were right: python tests/knowledge/count_matches.py prints ``calibration.COUNTS``.

``scored_matches.tsv`` has a row for each scored text: its number, whether it was ``new`` when it was scored or
``learnt`` from, the entry that matched first (and the first of those that match a chained failure), its way, and
whether it was right, judged by hand against what the thread established. The texts are other people's and are not
kept here.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from triage.knowledge.calibration import Scored, Way

FILE = Path(__file__).parent / "scored_matches.tsv"


def rows() -> list[list[str]]:
    return [line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines()[1:]]


def counted() -> dict[Way, Scored]:
    tally = Counter((Way(way), sight, verdict) for _, sight, _, way, verdict in rows())
    counts = {}
    for way in Way:
        right, learnt_right = (tally[way, sight, "right"] for sight in ("new", "learnt"))
        wrong, learnt_wrong = (tally[way, sight, "wrong"] for sight in ("new", "learnt"))
        counts[way] = Scored(right, right + wrong, learnt_right, learnt_right + learnt_wrong)
    return counts


if __name__ == "__main__":
    for way, counts in counted().items():
        print(f"    Way.{way.name}: Scored{tuple(counts)},")
