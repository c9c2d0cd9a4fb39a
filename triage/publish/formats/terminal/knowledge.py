"""The knowledge base for people, and its entries as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from rich.console import Console
from rich.text import Text

from triage.knowledge.entry import Entry
from triage.knowledge.observed import Difference, Observation, Table, Verdict
from triage.publish.formats.terminal.text import safe

_STYLE = {Verdict.FAILS: "red", Verdict.COMPILES: "green", Verdict.NOT_APPLICABLE: "dim"}
Tables = Mapping[str, Mapping[str, Table]]
"""Reproducer → variant → release → observation."""


def listing(console: Console, entries: Iterable[Entry]) -> None:
    """One line an entry: id, evidence, title."""
    rows = list(entries)
    width = max((len(entry.id) for entry in rows), default=0)
    for entry in rows:
        proof = f"{len(entry.reproducers)} run" if entry.evidence == "run" else "log"
        console.print(Text(safe(f"{entry.id:<{width}}  {proof:<6} {entry.title}")), soft_wrap=True)


def entry(console: Console, entry: Entry, tables: Tables) -> None:
    """One entry, whole."""
    console.print(Text(safe(entry.title), style="bold"))
    _paragraph(console, entry.cause)
    _paragraph(console, f"Rule: {entry.rule}")
    if entry.fixed_in:
        _paragraph(console, f"Fixed in Triton {entry.fixed_in}")
    for title, advice in (("Helps", entry.helps), ("Does not help", entry.does_not_help)):
        for one in advice:
            _paragraph(console, f"{title}: {one.change}: {one.observed} ({one.ran})")
    for link in entry.upstream:
        console.print(Text(f"  {safe(link)}"), soft_wrap=True)
    for name, variants in tables.items():
        for variant, table in variants.items():
            name_of_table = Text(f"  {name}{'' if variant == 'case' else f' ({variant})'}: ")
            console.print(name_of_table + Text("; ").join(_verdicts(table)), soft_wrap=True)


def _verdicts(table: Table) -> Iterator[Text]:
    for verdict, style in _STYLE.items():
        releases = [release for release, seen in table.items() if seen.verdict is verdict]
        if releases:
            yield Text(f"{verdict.value} {' '.join(releases)}", style=style)


def checked(
    console: Console, differences: list[Difference], undecided: list[str], reproducers: int, updated: bool
) -> None:
    """What ``kb check`` saw."""
    for one in differences:
        variant = "" if one.variant == "case" else f" ({one.variant})"
        console.print(Text(f"{one.reproducer}{variant} on Triton {one.release}", style="bold"), soft_wrap=True)
        if one.recorded is not None:
            console.print(Text(f"  recorded: {_words(one.recorded)}", style="red"), soft_wrap=True)
        console.print(Text(f"  seen:     {_words(one.seen)}", style="green"), soft_wrap=True)
    for line in undecided:
        console.print(Text(f"could not tell: {safe(line)}", style="yellow"), soft_wrap=True)
    wrong = sum(one.recorded is not None for one in differences)
    fresh = len(differences) - wrong
    if updated:
        console.print(Text(f"{reproducers} reproducers, {len(differences)} observations recorded"))
    else:
        console.print(Text(f"{reproducers} reproducers, {wrong} claims no longer hold, {fresh} not recorded yet"))


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry as plain values."""
    plain = asdict(_without_proxies(entry))
    plain["symptoms"]["options"] = dict(entry.symptoms.options)
    return plain


def tables_json(tables: Tables) -> dict[str, Any]:
    """Observation tables as plain values."""
    return {
        name: {variant: {release: seen.to_json() for release, seen in table.items()} for variant, table in rows.items()}
        for name, rows in tables.items()
    }


def _without_proxies(entry: Entry) -> Entry:
    # asdict copies deeply, which a read-only mapping refuses.
    return replace(entry, symptoms=replace(entry.symptoms, options={}))


def _words(seen: Observation) -> str:
    details = [part for part in (seen.status, seen.stage, seen.kind, seen.signature) if part]
    return safe(": ".join([seen.verdict.value, *([", ".join(details)] if details else [])]))


def _paragraph(console: Console, text: str) -> None:
    for line in Text(safe(text)).wrap(console, max(console.width - 2, 20)):
        line.rstrip()
        console.print(Text("  ") + line, soft_wrap=True)
