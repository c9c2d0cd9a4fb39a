"""Learns `weights.json`: ``python -m triage.logs.statement.learning TEXTS.jsonl [--measure]``.

A line of TEXTS describes a text: ``text``; ``kinds``, any of which is right, none for a text in which nothing of
Triton's failed; ``keys``, of which one is in the line that states the failure. Weights are learnt by stochastic
gradient descent with a step for each weight (AdaGrad) and decay. ``--measure`` instead counts, over ten parts of the
texts, for how many of each the line and the kind are right with the weights that the other nine give.
"""

import argparse
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triage.logs.evidence import is_about
from triage.logs.excerpts import whole_lines
from triage.logs.statement import features
from triage.logs.statement.weights import FILE, MOST_NOTHING, NOTHING, Weights
from triage.model.diagnosis import Kind

EPOCHS = 40
STEP = 0.3
#: Factor on each weight after an epoch, for line weights and kind weights.
KEPT_LINES, KEPT_KINDS = 0.9925, 0.997
#: Minimum number of texts with a feature: of a line, of a line for its kind, of a text.
FEWEST_LINES, FEWEST_KINDS, FEWEST_TEXTS = 5, 4, 8
#: Weight of a text in which nothing failed, because there are fewer of them.
NOTHING_COUNTS = 2.0
#: Smaller weights are left out of the file.
LEAST = 0.2
PARTS = 10
_QUOTES = re.compile(r"[\s`'\"]+")
_KINDS = frozenset(kind.value for kind in Kind)


@dataclass(frozen=True)
class Example:
    """A text. ``stating`` are the lines that state the failure; none where nothing failed."""

    of_lines: Sequence[Sequence[str]]
    of_text: Sequence[str]
    stating: frozenset[int]
    kinds: frozenset[str]

    def of_kind(self, number: int) -> list[str]:
        """The features from which the kind of a line's statement is predicted."""
        return [*self.of_lines[number], *self.of_text]


def _folded(text: str) -> str:
    return _QUOTES.sub(" ", text).lower()


def read(file: Path) -> Iterator[Example]:
    """The texts of a file; of those without a failure only those about Triton, because no others are classified."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        lines = whole_lines(row["text"].encode())[: features.MAX_LINES]
        keys = [_folded(key) for key in row["keys"]]
        stating = frozenset(n for n, line in enumerate(lines) if any(key in _folded(line) for key in keys))
        kinds = frozenset(row["kinds"]) & _KINDS
        if lines and (stating and kinds if row["kinds"] else is_about(lines)):
            of_lines = [features.of_line(lines, number) for number in range(len(lines))]
            yield Example(of_lines, features.of_text(lines), stating if row["kinds"] else frozenset(), kinds)


def _frequent(examples: Iterable[Iterable[str]], fewest: int) -> frozenset[str]:
    counts = Counter(feature for present in examples for feature in set(present))
    return frozenset(feature for feature, count in counts.items() if count >= fewest)


class _Descent:
    """Weights of one model, each with its own step size."""

    def __init__(self) -> None:
        self.weights: defaultdict[str, float] = defaultdict(float)
        self._squares: defaultdict[str, float] = defaultdict(float)

    def score(self, present: Iterable[str]) -> float:
        return sum(self.weights[feature] for feature in present)

    def add(self, present: Iterable[str], gradient: float) -> None:
        for feature in present:
            self._squares[feature] += gradient * gradient
            self.weights[feature] += STEP * gradient / math.sqrt(self._squares[feature] + 0.1)

    def decay(self, factor: float) -> None:
        for feature in self.weights:
            self.weights[feature] *= factor

    def rounded(self) -> dict[str, float]:
        return {name: round(weight, 2) for name, weight in sorted(self.weights.items()) if abs(weight) >= LEAST}


def _shares(scores: Sequence[float]) -> list[float]:
    most = max(scores)
    parts = [math.exp(score - most) for score in scores]
    whole = sum(parts)
    return [part / whole for part in parts]


def _ranking(examples: Sequence[Example]) -> dict[str, float]:
    """Weights that give the lines stating the failure the highest scores in their texts."""
    texts = [example for example in examples if example.stating]
    known = _frequent(({feature for line in text.of_lines for feature in line} for text in texts), FEWEST_LINES)
    samples = [[[feature for feature in line if feature in known] for line in text.of_lines] for text in texts]
    descent, order = _Descent(), random.Random(0)
    for _ in range(EPOCHS):
        for number in order.sample(range(len(texts)), len(texts)):
            shares = _shares([descent.score(line) for line in samples[number]])
            right = sum(shares[line] for line in texts[number].stating)
            for line, present in enumerate(samples[number]):
                target = shares[line] / right if line in texts[number].stating else 0.0
                descent.add(present, target - shares[line])
        descent.decay(KEPT_LINES)
    return descent.rounded()


def _kinds(examples: Sequence[Example], ranking: dict[str, float]) -> dict[str, dict[str, float]]:
    """Weights of each kind, and of no failure, that maximise the likelihood of the labels."""
    best = Weights(ranking, {})
    rows = [
        (
            example.of_kind(min(example.stating) if example.stating else best.best_of(example.of_lines)),
            example.kinds or frozenset({NOTHING}),
        )
        for example in examples
    ]
    of_lines = _frequent(([f for f in present if not f.startswith(features.TEXT)] for present, _ in rows), FEWEST_KINDS)
    of_texts = _frequent(([f for f in present if f.startswith(features.TEXT)] for present, _ in rows), FEWEST_TEXTS)
    known = of_lines | of_texts
    samples = [([feature for feature in present if feature in known], kinds) for present, kinds in rows]
    models = {kind: _Descent() for kind in sorted({kind for _, kinds in rows for kind in kinds})}
    order = random.Random(0)
    for _ in range(EPOCHS):
        for present, kinds in order.sample(samples, len(samples)):
            shares = dict(zip(models, _shares([model.score(present) for model in models.values()]), strict=True))
            right = sum(shares[kind] for kind in kinds)
            times = NOTHING_COUNTS if NOTHING in kinds else 1.0
            for kind, model in models.items():
                target = shares[kind] / right if kind in kinds else 0.0
                model.add(present, times * (target - shares[kind]))
        for model in models.values():
            model.decay(KEPT_KINDS)
    return {kind: model.rounded() for kind, model in models.items()}


def learn(examples: Sequence[Example]) -> Weights:
    """The weights learnt from the examples."""
    ranking = _ranking(examples)
    return Weights(ranking, _kinds(examples, ranking))


def measured(examples: Sequence[Example]) -> str:
    """Accuracy on each tenth of the examples of the weights learnt from the other nine."""
    part = [number % PARTS for number in range(len(examples))]
    random.Random(1).shuffle(part)
    counts: Counter[str] = Counter()
    for left_out in range(PARTS):
        weights = learn([example for example, own in zip(examples, part, strict=True) if own != left_out])
        for example, own in zip(examples, part, strict=True):
            if own == left_out:
                counts.update(_judged(example, weights))
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _judged(example: Example, weights: Weights) -> Iterator[str]:
    number = weights.best_of(example.of_lines)
    kinds = weights.kinds_of(example.of_kind(number))
    nothing = kinds.pop(NOTHING)
    if not example.stating:
        yield "nothing failed"
        yield from ["nothing said"] if nothing >= MOST_NOTHING else []
        return
    yield "failures"
    yield from ["line right"] if number in example.stating else []
    yield from ["kind right"] if max(kinds, key=lambda kind: kinds[kind]) in example.kinds else []
    yield from ["line not said"] if nothing >= MOST_NOTHING else []


def main() -> None:
    """Learn the weights or measure them, depending on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    examples = list(read(options.texts))
    if options.measure:
        print(measured(examples))
        return
    weights = learn(examples)
    FILE.write_text(weights.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
