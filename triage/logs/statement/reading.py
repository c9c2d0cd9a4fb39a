"""The failure that a text states in words that no recogniser reads."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from triage.logs.described import plain_kind
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.patterns import regex
from triage.logs.statement import features
from triage.logs.statement.weights import MOST_NOTHING, NOTHING, learnt
from triage.model.diagnosis import Kind

# A line about time alone, in a text without a word for something that failed: slow is not wrong. Texts of this kind are
# few, and the weights of their words lie near zero, because titles of failures speak of regressions as well.
_ABOUT_TIME = regex(
    r"\b(?:slow(?:er|ly|down|ness)?|latenc(?:y|ies)|throughput|speed-?ups?|faster|overhead|perf(?:ormance)?"
    r"|compile[- ]time)\b",
    re.IGNORECASE,
)
_FAILED = regex(
    r"error|fail|crash|exception|abort|assert|fault|\bhang|\bhung\b|stuck|wrong|incorrect|invalid|illegal|unsupported"
    r"|not supported|cannot|can't|(?:could|do|does|did|will) not|n't\b|unable|\bbreaks?\b|\bbroken|\bbug\b|\bnans?\b"
    r"|missing|denied|undefined|killed|time[ -]?out|out of|mismatch|\bSIG[A-Z]|\bIMA\b",
    re.IGNORECASE,
)


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
    is_slow = _ABOUT_TIME.search(shown[number]) is not None and not any(map(_FAILED.search, shown))
    if is_slow or kinds.pop(NOTHING) >= MOST_NOTHING:
        return None
    if finding := read(number, shown[number]):
        return replace(finding, specificity=Specificity.TAIL)
    line = shown[number].strip()
    kind = plain_kind(line) or Kind(max(kinds, key=lambda kind: kinds[kind]))
    return Finding(bounded_diagnosis(kind, line, line), Specificity.TAIL, number)
