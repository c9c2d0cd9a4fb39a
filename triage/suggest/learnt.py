"""Conclusions from the neighbours that failed, in sentences that save the user the same attempts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from triage.model.report import SuggestionKind, Tried

_MOST_VALUES = 8
_MOST_LINES = 6


def learnt(tried: Sequence[Tried]) -> tuple[str, ...]:
    """What all have in common where none compiled; then single changes that end in the same failure, parameter by
    parameter; then those that end in another one."""
    single = [
        attempt
        for attempt in tried
        if not attempt.compiled and attempt.kind is SuggestionKind.CONFIG and len(attempt.changes) == 1
    ]
    compiled = {next(iter(attempt.changes)) for attempt in tried if attempt.compiled and len(attempt.changes) == 1}
    lines = [*_all_the_same(tried), *_same(single, compiled), *_others(single), *_releases(tried)]
    return tuple(lines[:_MOST_LINES])


def _all_the_same(tried: Sequence[Tried]) -> Iterator[str]:
    configurations = [attempt for attempt in tried if attempt.kind is SuggestionKind.CONFIG]
    if len(configurations) > 2 and all(configuration.same for configuration in configurations):
        varied = dict.fromkeys(name for configuration in configurations for name in configuration.changes)
        yield f"all {len(configurations)} configurations fail the same, whatever {', '.join(varied)}"


def _same(single: list[Tried], compiled: set[str]) -> Iterator[str]:
    values: dict[str, list[Any]] = {}
    for attempt in single:
        if attempt.same:
            [(name, value)] = attempt.changes.items()
            values.setdefault(name, []).append(value)
    # A parameter that cannot help comes before one of which another value did.
    for name, tried in sorted(values.items(), key=lambda entry: entry[0] in compiled):
        yield f"fails the same with {name}={_listed(tried)}"


def _others(single: list[Tried]) -> Iterator[str]:
    by_failure: dict[str, list[Tried]] = {}
    for attempt in single:
        if not attempt.same and attempt.signature:
            by_failure.setdefault(attempt.signature, []).append(attempt)
    for several in by_failure.values():
        changes = ", ".join(f"{name}={value}" for attempt in several[:4] for name, value in attempt.changes.items())
        yield f"fails differently with {changes}: {several[0].headline}"


def _releases(tried: Iterable[Tried]) -> Iterator[str]:
    failed = [attempt.release for attempt in tried if attempt.release is not None and attempt.same]
    if failed:
        yield f"fails the same on {', '.join(sorted(failed))}"


def _listed(values: list[Any]) -> str:
    ordered = sorted(values, key=lambda value: (not isinstance(value, int), value if isinstance(value, int) else 0))
    text = ", ".join(map(str, ordered[:_MOST_VALUES]))
    return f"{text}, …" if len(ordered) > _MOST_VALUES else text
