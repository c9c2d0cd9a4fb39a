"""The failure that a text states in words that no recogniser reads."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.statement import features
from triage.logs.statement.weights import MOST_NOTHING, NOTHING, learnt
from triage.model.diagnosis import Kind


def stated(lines: Sequence[str], read: Callable[[int, str], Finding | None]) -> Finding | None:
    """The failure that one of the lines states; None where probably nothing failed.

    ``read``: what the recognisers make of a line alone, for its kind and its facts.
    """
    if not lines:
        return None
    weights = learnt()
    shown = lines[: features.MAX_LINES]
    of_lines = [features.of_line(shown, number) for number in range(len(shown))]
    number = weights.best_of(of_lines)
    kinds = weights.kinds_of([*of_lines[number], *features.of_text(shown)])
    if kinds.pop(NOTHING) >= MOST_NOTHING:
        return None
    if finding := read(number, shown[number]):
        return replace(finding, specificity=Specificity.TAIL)
    kind = Kind(max(kinds, key=lambda kind: kinds[kind]))
    line = shown[number].strip()
    return Finding(bounded_diagnosis(kind, line, line), Specificity.TAIL, number)
