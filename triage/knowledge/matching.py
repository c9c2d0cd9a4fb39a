"""Finds the entries that match a diagnosis. Pure: entries and facts in, matches out, best first."""

import operator
import re
from collections.abc import Iterable, Sequence

from triage.knowledge.entry import Entry, Symptoms
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.releases import in_range
from triage.model.report import Match

# How much a field that agrees identifies the bug: a function and a message name it, a kind hardly narrows it down.
_WEIGHT = {"message": 0.45, "function": 0.4, "file": 0.15, "pass": 0.2, "exception": 0.15, "kind": 0.15, "stage": 0.05}
_CONDITION_UNKNOWN = 0.8
"""Factor for a condition on the case (target, release, option) that a log alone cannot confirm."""
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def match(diagnosis: Diagnosis, entries: Iterable[Entry], case: Case | None, triton: str | None = None) -> list[Match]:
    """Entries of which every symptom holds, the most confident first. Without a case, its conditions are unknown."""
    matches = []
    for entry in entries:
        confidence = _confidence(entry.symptoms, diagnosis, case, triton)
        if confidence > 0:
            matches.append(_as_match(entry, confidence))
    return sorted(matches, key=lambda match: (-match.confidence, match.id))


def ties(matches: Sequence[Match]) -> list[Match]:
    """The matches that share the highest confidence; empty if one match is better than all others."""
    best = [match for match in matches if match.confidence == matches[0].confidence]
    return best if len(best) > 1 else []


def _confidence(symptoms: Symptoms, diagnosis: Diagnosis, case: Case | None, triton: str | None) -> float:
    fields = {
        "kind": (symptoms.kind, diagnosis.kind.value, False),
        "function": (symptoms.function, diagnosis.function, True),
        "file": (symptoms.file, diagnosis.file, False),
        "message": (symptoms.message, f"{diagnosis.headline}\n{diagnosis.message}", True),
        "pass": (symptoms.pass_name, diagnosis.pass_name, False),
        "stage": (symptoms.stage, diagnosis.stage, False),
        "exception": (symptoms.exception, diagnosis.exception, False),
    }
    weight = 0.3
    for name, (expected, actual, is_substring) in fields.items():
        if not expected:
            continue
        if actual is None or not any(text in actual if is_substring else text == actual for text in expected):
            return 0.0
        weight += _WEIGHT[name]
    # A kind alone does not identify a bug: without a case that confirms the conditions, such an entry is a guess.
    is_specific = any(expected for name, (expected, _, _) in fields.items() if name not in ("kind", "stage"))
    conditions = _conditions(symptoms, case, triton)
    if False in conditions or (None in conditions and not is_specific):
        return 0.0
    return min(weight, 1.0) * _CONDITION_UNKNOWN ** conditions.count(None)


def _conditions(symptoms: Symptoms, case: Case | None, triton: str | None) -> list[bool | None]:
    """Whether each condition on the case holds; None if that is unknown."""
    answers: list[bool | None] = []
    if symptoms.targets:
        answers.append(None if case is None else str(case.target).startswith(symptoms.targets))
    if symptoms.triton:
        answers.append(None if triton is None else in_range(triton, symptoms.triton))
    for name, expected in symptoms.options.items():
        answers.append(None if case is None else _option_holds(case.options.get(name), str(expected)))
    return answers


def _option_holds(actual: object, expected: str) -> bool:
    """Compare numbers for ``">1"`` and the like, texts for anything else."""
    if comparison := re.fullmatch(r"\s*([<>]=?)\s*(\d+)", expected):
        number = actual if isinstance(actual, int) else 1
        return bool(_COMPARISONS[comparison.group(1)](number, int(comparison.group(2))))
    return str(actual) == expected


def _as_match(entry: Entry, confidence: float) -> Match:
    evidence = entry.reproducers if entry.evidence == "run" else ("log",)
    return Match(
        id=entry.id,
        title=entry.title,
        cause=f"{entry.cause} ({entry.rule})",
        confidence=confidence,
        fixed_in=entry.fixed_in,
        upstream=entry.upstream,
        evidence=evidence,
        rewrites=entry.rewrites,
        helps=tuple(f"{advice.change}: {advice.observed} ({advice.ran})" for advice in entry.helps),
        does_not_help=tuple(f"{advice.change}: {advice.observed} ({advice.ran})" for advice in entry.does_not_help),
    )
