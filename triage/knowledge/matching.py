"""Which entries a diagnosis is. Pure: entries and facts in, matches out, best first."""

from __future__ import annotations

import re
from collections.abc import Iterable

from triage.knowledge.entry import Entry, Symptoms
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.report import Match

# What a field says about the bug when it agrees: a function and a message name it, a kind hardly narrows it.
_WEIGHT = {"message": 0.45, "function": 0.4, "file": 0.15, "pass": 0.2, "exception": 0.15, "kind": 0.15, "stage": 0.05}
_CONDITION_UNKNOWN = 0.8
"""Factor for a condition on the case (target, release, option) that a bare log cannot confirm."""


def match(diagnosis: Diagnosis, entries: Iterable[Entry], case: Case | None, triton: str | None = None) -> list[Match]:
    """Entries whose every symptom holds. Conditions on the case count as open without a case."""
    found = []
    for entry in entries:
        confidence = _confidence(entry.symptoms, diagnosis, case, triton)
        if confidence > 0:
            found.append(_as_match(entry, confidence))
    return sorted(found, key=lambda one: (-one.confidence, one.id))


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
    for name, (wanted, actual, within) in fields.items():
        if not wanted:
            continue
        if actual is None:
            return 0.0
        if not any(text in actual if within else text == actual for text in wanted):
            return 0.0
        weight += _WEIGHT[name]
    confidence = min(weight, 1.0)
    # A kind alone names no bug; without a case that confirms the rest, such an entry is a guess.
    named = any(wanted for name, (wanted, _, _) in fields.items() if name not in ("kind", "stage"))
    for condition in _conditions(symptoms, case, triton):
        if condition is False:
            return 0.0
        if condition is None and not named:
            return 0.0
        if condition is None:
            confidence *= _CONDITION_UNKNOWN
    return confidence


def _conditions(symptoms: Symptoms, case: Case | None, triton: str | None) -> list[bool | None]:
    answers: list[bool | None] = []
    if symptoms.targets:
        answers.append(None if case is None else str(case.target).startswith(symptoms.targets))
    if symptoms.triton:
        answers.append(None if triton is None else in_range(triton, symptoms.triton))
    for name, wanted in symptoms.options.items():
        answers.append(None if case is None else _option_holds(case.options.get(name), str(wanted)))
    return answers


def _option_holds(actual: object, wanted: str) -> bool:
    """``">1"`` and the like compare numbers, anything else is equality."""
    if found := re.fullmatch(r"\s*([<>]=?)\s*(\d+)", wanted):
        number = actual if isinstance(actual, int) else 1
        return _compare((number,), found.group(1), (int(found.group(2)),))
    return str(actual) == wanted


_BOUND = re.compile(r"\s*(<=|>=|<|>|==)\s*(\d+(?:\.\d+)*)\s*")


def is_range(text: str) -> bool:
    """Whether ``text`` is a range that :func:`in_range` understands."""
    return all(_BOUND.fullmatch(part) for part in text.split(","))


def in_range(version: str, wanted: str) -> bool:
    """``"3.2.0"`` in ``">=3.0,<3.3"``."""
    have = _numbers(version)
    bounds = [_BOUND.fullmatch(part) for part in wanted.split(",")]
    return all(found and _compare(have, found.group(1), _numbers(found.group(2))) for found in bounds)


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(number) for number in re.findall(r"\d+", version)[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def _compare(left: tuple[int, ...], sign: str, right: tuple[int, ...]) -> bool:
    return {
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
        "==": left == right,
    }[sign]


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
