"""Facts of a report in words, the same in every format."""

from collections.abc import Iterable, Mapping
from typing import Any

from triage.model.compilers import COMPILERS
from triage.model.outcome import Outcome, Status
from triage.model.report import (
    NOT_MEASURED,
    ExpectedTime,
    Report,
    Suggestion,
    SuggestionKind,
    equal_estimates,
    is_measured,
)
from triage.model.words import count, unit


def ending(outcome: Outcome) -> str:
    """How the compile ended, as a clause."""
    who, compile_ = ("the compiler", "the compile") if outcome.imported else ("importing the kernel's file",) * 2
    match outcome.status:
        case Status.OK:
            return f"it compiles{but(outcome)}"
        case Status.CRASH if outcome.signal:
            return f"{who} died of {outcome.signal}"
        case Status.CRASH:
            return f"{who} called exit({outcome.exit_code})"
        case Status.SUSPECT if outcome.suspicion:
            return "the compile returned normally, but it is not what was asked for"
        case Status.SUSPECT if outcome.beyond_shared:
            return "the compile returned normally, but its binary is wrong (do not launch it)"
        case Status.SUSPECT:
            return "the compile returned normally, but an error was printed (do not trust its binary)"
        case Status.TIMEOUT:
            within = f"within {outcome.limit_s:g} s" if outcome.limit_s else "within its time"
            return f"{compile_} did not end {within}"
        case Status.OUT_OF_MEMORY:
            return f"{compile_} ran out of memory"
        case Status.ERROR:
            return f"{compile_} ended in {'a Python exception' if outcome.errors else 'an error'}"


def but(outcome: Outcome) -> str:
    """What is bad about a compile that is legal, after "compiles"; empty where nothing is."""
    *others, last = outcome.drawbacks or ("",)
    return f", but {', '.join(others)}{' and ' if others else ''}{last}" if last else ""


def configuration(report: Report) -> str:
    """The kernel, its target and release, and its settings."""
    case = report.case
    return f"{case.name} for {case.target}, {report.compiled_with}: {case.settings()}".rstrip(": ")


def exit_codes(codes: Iterable[int]) -> str:
    """Exit codes of several runs: ``1 and 1``."""
    return " and ".join(map(str, codes))


def change(suggestion: Suggestion) -> str:
    """What a suggestion changes."""
    changes = suggestion.changes
    match suggestion.kind:
        case SuggestionKind.SOURCE:
            others = settings({name: value for name, value in changes.items() if name != "source"})
            return "; ".join(part for part in (str(changes.get("source", "")), others) if part)
        case SuggestionKind.TOOLCHAIN:
            return ", ".join(COMPILERS[name].label(release) for name, release in changes.items() if name in COMPILERS)
        case SuggestionKind.CONFIG:
            return settings(changes)


_EN_DASH, _TIMES = "\u2013", "\u00d7"


def ratio(expected: ExpectedTime) -> str:
    """The expected time as a range and a sign of multiplication; one number where both ends read the same."""
    ends = [f"{end:.0f}" if end >= 10 else f"{end:.2g}" for end in expected.time_ratio]
    return f"{_EN_DASH.join(dict.fromkeys(ends))} {_TIMES}"


def expectation(suggestion: Suggestion) -> str:
    """The time that the model expects of a suggestion; empty where it expects none."""
    expected = suggestion.expected
    return (
        f"{ratio(expected)} of the configuration you asked for, bound by {unit(expected.bound_by)}" if expected else ""
    )


def best_change(report: Report) -> str:
    """The first suggestion in one line, with its time and whether its results stay; empty where there is none."""
    if not report.suggestions:
        return ""
    best = report.suggestions[0]
    facts = []
    if best.measured is not None:
        facts.append(f"measured {best.measured.median_ms:.4g} ms")
    if best.expected is not None:
        facts.append(f"expected {ratio(best.expected)} of the time")
    facts.append("results may differ" if best.results else "same results")
    if best.measured is not None and best.measured.agrees is False:
        facts[-1] = "its results differ"
    if best.caller:
        facts.append("the caller changes too")
    if not best.verified:
        facts = ["advice: not compiled"]
    return f"Best change: {change(best)} ({', '.join(facts)})"


def order_reason(report: Report) -> str:
    """What the order of the suggestions follows; empty where nothing was expected or measured."""
    if any(suggestion.measured for suggestion in report.suggestions):
        return "Ordered by measured time."
    if any(suggestion.expected for suggestion in report.suggestions):
        target = report.case.target
        equal = f"estimates within {equal_estimates(target) - 1:.0%} are equal, then the nearest change"
        order = f"Ordered by expected time; {equal}."
        return order if is_measured(target) else f"{order} {NOT_MEASURED}."
    return ""


def instead_title(report: Report) -> str:
    """What the suggestions are, as a title."""
    return "What compiles instead" if report.diagnosis is not None else "What is expected to be faster"


def evidence(report: Report) -> str:
    """What was compiled to find the suggestions, and what their order follows."""
    verified = [suggestion for suggestion in report.suggestions if suggestion.verified]
    if not verified and report.diagnosis is None:
        return f"{count(report.searched, 'configuration')} tried, none of them surely faster."
    if not verified:
        return f"None of the {report.searched} neighbours that were tried compiles."
    each = "Each" if len(verified) == len(report.suggestions) else "Each but those marked as not compiled"
    compiler = report.case.compiler
    elsewhere = any({"target", compiler.name} & set(suggestion.changes) for suggestion in verified)
    text = (
        f"{each} was compiled, whole, in a process of its own, for {report.case.target} with "
        f"{compiler.label(report.environment.get(compiler.name))}{' unless it names another' * elsewhere}; "
        f"{report.searched} neighbours were tried."
    )
    return " ".join(filter(None, (text, order_reason(report))))


def settings(values: Mapping[str, Any]) -> str:
    """``NAME=VALUE …``."""
    return " ".join(f"{name}={value}" for name, value in values.items())
