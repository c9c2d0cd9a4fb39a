"""The releases on which an entry's failure was seen, read from what was recorded of its reproducers."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from triage.filesystem.shipped import data_folder
from triage.knowledge import observed
from triage.knowledge.entry import Entry
from triage.knowledge.observed import FILE, Behaviour, Table
from triage.model.compilers import TRITON, Compiler
from triage.model.errors import InputError
from triage.model.releases import sort_key


@dataclass(frozen=True, slots=True)
class Span:
    """``first_bad``: the oldest release that failed, if the one before it compiled. ``last_bad``: the newest one.
    ``fixed_in``: the one after it, if that compiled. Each is None where that was not observed."""

    first_bad: str | None = None
    last_bad: str | None = None
    fixed_in: str | None = None


def span(table: Table, compiler: Compiler = TRITON) -> Span:
    """The span of one reproducer of a compiler. A release that lacks an API that it needs says nothing."""
    releases = sorted(table, key=sort_key)
    bad = [release for release in releases if table[release].behaviour is Behaviour.FAILS]
    if not bad:
        return Span()
    good = [release for release in releases if table[release].behaviour is Behaviour.COMPILES]
    before = [release for release in good if sort_key(release) < sort_key(bad[0])][-1:]
    after = [release for release in good if sort_key(release) > sort_key(bad[-1])][:1]
    first = bad[0] if before and not _untried(before[0], bad[0], table, compiler) else None
    fixed = after[0] if after and not _untried(bad[-1], after[0], table, compiler) else None
    return Span(first, bad[-1], fixed)


def _untried(older: str, newer: str, table: Table, compiler: Compiler) -> bool:
    """Whether a release between two was not run, so that the first or last failing release is not known."""
    low, high = sort_key(older), sort_key(newer)
    return any(low < sort_key(release) < high for release in compiler.releases if release not in table)


def united(spans: Iterable[Span]) -> Span:
    """The span of an entry with several reproducers: it is fixed when the last of them is."""
    failing = [span for span in spans if span.last_bad is not None]
    if not failing:
        return Span()
    first = [span.first_bad for span in failing]
    fixed = [span.fixed_in for span in failing]
    return Span(
        None if None in first else min(filter(None, first), key=sort_key),
        max((span.last_bad for span in failing if span.last_bad), key=sort_key),
        None if None in fixed else max(filter(None, fixed), key=sort_key),
    )


def recorded(entry: Entry) -> Span:
    """The span of the entry's reproducers that ship with triage, as recorded; of those that cannot be read, nothing."""
    folders = [data_folder("reproducers") / name for name in entry.reproducers]
    return united(
        _span_in(folder, entry.compiler, file.stat().st_mtime_ns)
        for folder in folders
        if (file := folder / FILE).is_file()
    )


@lru_cache(maxsize=512)
def _span_in(folder: Path, compiler: Compiler, modified_ns: int) -> Span:
    """The span of a reproducer; a sweep asks for the same one with every failure."""
    try:
        return span(observed.read(folder).get("case", {}), compiler)
    except InputError:
        return Span()


def contradictions(entries: Iterable[Entry]) -> list[str]:
    """The entries whose ``fixed_in`` is not what was observed of their reproducers, one line each."""
    return [
        f"{entry.id}: fixed_in: says {entry.fixed_in}; its reproducers compile from {seen.fixed_in} on"
        for entry in entries
        if entry.fixed_in and (seen := recorded(entry)).fixed_in not in (None, entry.fixed_in)
    ]
