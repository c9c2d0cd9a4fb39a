"""The learnt weights, and what they say about the lines of a text."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
#: The kind of a text in which nothing failed.
NOTHING = "none"
#: From this probability on nothing is said to have failed.
MOST_NOTHING = 0.4


@dataclass(frozen=True, slots=True)
class Weights:
    """Of a log-linear model each. ``lines``: for each feature of a line, how much likelier it states the failure.
    ``kinds``: for each kind the same of the features of the line and of its text; ``none`` is no failure."""

    lines: Mapping[str, float]
    kinds: Mapping[str, Mapping[str, float]]

    def best_of(self, of_lines: Sequence[Sequence[str]]) -> int:
        """The number of the line that states the failure, if any does; the features of each line are given."""
        return max(range(len(of_lines)), key=lambda line: sum(self.lines.get(name, 0.0) for name in of_lines[line]))

    def kinds_of(self, present: Sequence[str]) -> dict[str, float]:
        """The probability of each kind, for a line and a text with these features."""
        scores = {kind: sum(weights.get(feature, 0.0) for feature in present) for kind, weights in self.kinds.items()}
        most = max(scores.values())
        parts = {kind: math.exp(score - most) for kind, score in scores.items()}
        whole = sum(parts.values())
        return {kind: part / whole for kind, part in parts.items()}

    def text(self) -> str:
        """The file's content: a line for each model."""
        rows = [
            f"{json.dumps(name)}: {json.dumps(model)}" for name, model in {"lines": self.lines, **self.kinds}.items()
        ]
        return "{\n" + ",\n".join(rows) + "\n}\n"


@cache
def learnt() -> Weights:
    """The weights that `learning` wrote."""
    kinds = json.loads(FILE.read_text(encoding="utf-8"))
    return Weights(kinds.pop("lines"), kinds)
