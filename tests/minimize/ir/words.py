"""A reduction of a text that fails alike as long as it contains some words: no compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triage.minimize.ir.edits import TextProblem
from triage.minimize.problem import ReductionProblem, RunBudget, Size, Verdict


class HasWords:
    """Judges texts: those that contain all of the words fail alike."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def ask(self, candidates: Sequence[str | None], alike: Callable[[str], None], budget: RunBudget) -> list[Verdict]:
        verdicts = []
        for text in candidates:
            same = text is not None and all(word in text for word in self.words)
            verdicts.append(Verdict.SAME if same else Verdict.OTHER)
            if same and text is not None:
                alike(text)
        return verdicts


def problem(text: str, size: Callable[[str], Size], *words: str) -> TextProblem:
    return ReductionProblem(HasWords(*words), text, size, width=3, budget=RunBudget())
