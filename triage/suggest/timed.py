"""Order suggestions by measurement: each is launched and timed on the GPU, one after the other, fastest first."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from triage.harness.deadline import Deadline
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.measurement import Measurement, MemoryCheck, NotMeasured, by_time, reasons, settled
from triage.model.report import Suggestion
from triage.performance.bench import bench, memory_checks


def timed(
    suggestions: Sequence[tuple[Suggestion, Case, Toolchain]],
    problem: Case,
    limits: Limits,
    doing: Callable[[int, int], None] = lambda done, of: None,
    deadline: Deadline | None = None,
) -> tuple[list[Suggestion], list[str]]:
    """The suggestions with their measurements, fastest first, and one line for each reason why some have none. Without
    any measurement the order is unchanged. ``problem`` is the failing case: only suggestions that do its work are
    timed."""
    if not problem.inputs:
        return [suggestion for suggestion, _, _ in suggestions], ["not measured: the case states no inputs"]
    cases = [(index, case, toolchain) for index, (_, case, toolchain) in enumerate(suggestions)]
    answers = settled(dict(bench(cases, limits, problem, doing, deadline)))
    measured = [
        replace(suggestion, measured=answer, note=f"{suggestion.note}; measured: {answer.words()}")
        if isinstance(answer := answers[index], Measurement)
        else suggestion
        for index, (suggestion, _, _) in enumerate(suggestions)
    ]
    ordered = by_time(measured, lambda suggestion: suggestion.measured, lambda suggestion: bool(suggestion.results))
    return ordered, reasons(answers.values())


def checked(
    suggestions: Sequence[tuple[Suggestion, Case, Toolchain]],
    problem: Case,
    limits: Limits,
    deadline: Deadline | None = None,
) -> tuple[list[Suggestion], list[str]]:
    """The suggestions with what compute-sanitizer reports of one launch, those with errors last, and one line for each
    reason why some were not checked. ``problem``: as for :func:`timed`."""
    if not problem.inputs:
        return [suggestion for suggestion, _, _ in suggestions], ["not sanitized: the case states no inputs"]
    cases = [(index, case, toolchain) for index, (_, case, toolchain) in enumerate(suggestions)]
    answers = dict(memory_checks(cases, limits, problem, deadline))
    annotated = [
        replace(suggestion, memory_check=answer) if isinstance(answer := answers[index], MemoryCheck) else suggestion
        for index, (suggestion, _, _) in enumerate(suggestions)
    ]
    missing = dict.fromkeys(answer.reason for answer in answers.values() if isinstance(answer, NotMeasured))
    ordered = sorted(annotated, key=lambda suggestion: bool(suggestion.memory_check and suggestion.memory_check.errors))
    return ordered, [f"not sanitized: {reason}" for reason in missing]
