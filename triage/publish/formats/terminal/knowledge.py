"""Entries of the knowledge base and the results of ``kb check`` on the terminal."""

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console
from rich.text import Text

from triage.knowledge.entry import Entry
from triage.knowledge.observed import Behaviour, Deviation, Observation, Table
from triage.model.words import count
from triage.publish.formats.terminal.console import line, paragraph

_STYLE = {Behaviour.FAILS: "red", Behaviour.COMPILES: "green", Behaviour.NOT_APPLICABLE: "dim"}
Tables = Mapping[str, Mapping[str, Table]]
"""Reproducer → variant → release → observation."""


def listing(console: Console, entries: Iterable[Entry]) -> None:
    """One line an entry: id, evidence, title."""
    rows = list(entries)
    width = max((len(entry.id) for entry in rows), default=0)
    for entry in rows:
        proof = f"{len(entry.reproducers)} run" if entry.evidence == "run" else "log"
        line(console, f"{entry.id:<{width}}  {proof:<6} {entry.title}")


def entry(console: Console, entry: Entry, tables: Tables) -> None:
    """One entry with all its fields, and what was observed of its reproducers."""
    line(console, entry.title, style="bold")
    paragraph(console, entry.cause)
    paragraph(console, f"Rule: {entry.rule}")
    if entry.fixed_in:
        paragraph(console, f"Fixed in {entry.compiler.label(entry.fixed_in)}")
    for title, advice in (("Helps", entry.helps), ("Does not help", entry.does_not_help)):
        for tried in advice:
            paragraph(console, f"{title}: {tried.change}: {tried.observed} ({tried.ran})")
    for link in entry.upstream:
        line(console, f"  {link}")
    for name, variants in tables.items():
        for variant, table in variants.items():
            name_of_table = Text(f"  {name}{'' if variant == 'case' else f' ({variant})'}: ")
            console.print(name_of_table + Text("; ").join(_behaviours(table)), soft_wrap=True)


def _behaviours(table: Table) -> Iterator[Text]:
    for behaviour, style in _STYLE.items():
        releases = [release for release, observation in table.items() if observation.behaviour is behaviour]
        if releases:
            yield Text(f"{behaviour.value} {' '.join(releases)}", style=style)


def checked(
    console: Console, deviations: list[Deviation], undecided: list[str], reproducers: int, updated: bool
) -> None:
    """The result of ``kb check``: each deviation, what could not be decided, and the counts."""
    for deviation in deviations:
        variant = "" if deviation.variant == "case" else f" ({deviation.variant})"
        title = f"{deviation.reproducer}{variant} on {deviation.compiler.label(deviation.release)}"
        line(console, title, style="bold")
        if deviation.recorded is not None:
            line(console, f"  recorded: {_words(deviation.recorded)}", style="red")
        line(console, f"  observed: {_words(deviation.observed)}", style="green")
    for text in undecided:
        line(console, f"could not tell: {text}", style="yellow")
    wrong = sum(deviation.recorded is not None for deviation in deviations)
    ran = count(reproducers, "reproducer")
    if updated:
        line(console, f"{ran}, {len(deviations)} observations recorded")
    else:
        line(console, f"{ran}, {wrong} claims no longer hold, {len(deviations) - wrong} not recorded yet")


def _words(observation: Observation) -> str:
    parts = (observation.status, observation.stage, observation.kind, observation.signature)
    details = ", ".join(part for part in parts if part)
    return f"{observation.behaviour.value}: {details}" if details else observation.behaviour.value
