"""A sweep's map as a document of blocks, for an issue: counts, failures, rules, one slice as a table, the command."""

from __future__ import annotations

from collections.abc import Iterator

from triage._version import __version__
from triage.publish.compose.sweep import SweepView
from triage.publish.compose.sweep_layout import SliceView
from triage.publish.compose.sweep_list import failing
from triage.publish.compose.sweep_parts import REPLACEMENTS, CellLook, ShownFailure
from triage.publish.document import (
    Bullets,
    Code,
    Document,
    Heading,
    Line,
    Listing,
    Paragraph,
    ReportCell,
    ReportTable,
    Section,
    Tone,
    WebLink,
    Weight,
)
from triage.sweeps.grid import CellSet
from triage.sweeps.space import CONFIGURATION

_MOST_TABLES = 4
_MOST_ROWS, _MOST_COLUMNS = 24, 16
"""Of a table in an issue: what GitHub shows without scrolling sideways."""
_MOST_RULES = 20
_MOST_REPLACEMENTS = 40
_TONES = {True: Tone.GOOD, False: Tone.BAD, None: Tone.UNSURE}


def document(view: SweepView) -> Document:
    """The document."""
    sections = (
        Section("counts", "Legal configurations", (Bullets(tuple((fact,) for fact in view.facts())),)),
        _failures(view),
        _replacements(view),
        _rules(view),
        _map(view),
        Section("reproduce", "Reproduce", (Listing("Command", view.again, "sh", False, weight=Weight.SCRIPT),)),
    )
    return Document(
        title=view.headline,
        headline=view.headline,
        signature=None,
        sections=tuple(section for section in sections if section is not None),
        imprint=f"Made by triton-triage {__version__}. What is predicted was not compiled.",
        removed=dict(view.scrubber.removed) if view.scrubber else {},
    )


def _failures(view: SweepView) -> Section | None:
    blocks: list[Heading | Bullets] = []
    for failure in view.failures:
        blocks += [Heading((f"{failure.letter}: ", Code(failure.headline))), Bullets(tuple(_facts(view, failure)))]
    if view.reasons:
        blocks.append(Heading(("Could not be told",)))
        blocks.append(Bullets(tuple((f"{number:,}: ", Code(reason)) for reason, number in view.reasons.items())))
    return Section("failures", "Failures", tuple(blocks)) if blocks else None


def _facts(view: SweepView, failure: ShownFailure) -> Iterator[Line]:
    yield (f"cells: {failure.cells}",)
    yield ("signature ", Code(failure.signature))
    for match in failure.matches:
        fixed = f", fixed in {match.fixed_in}" if match.fixed_in else ""
        links = tuple(part for url in match.upstream for part in (" ", WebLink(url, url.rpartition("github.com/")[2])))
        yield ("known: ", Code(match.id), f" {match.title}{fixed}", *links)
    if failure.example is not None:
        yield ("for example ", Code(view.command(failure.example)))


def _replacements(view: SweepView) -> Section | None:
    if not view.replacements:
        return None
    head = ("File", "Entries", "Targets", "Replacement")
    rows = tuple(
        tuple(ReportCell((Code(text),)) for text in (each.file, each.entries, each.targets, each.words))
        for each in view.replacements[:_MOST_REPLACEMENTS]
    )
    blocks: list[Paragraph | ReportTable] = [Paragraph((f"{REPLACEMENTS}.",)), ReportTable("Replacements", head, rows)]
    if (more := len(view.replacements) - _MOST_REPLACEMENTS) > 0:
        blocks.append(Paragraph((f"{more:,} more are in map.json.",)))
    return Section("replacements", "Replacements", tuple(blocks))


def _configurations(view: SweepView) -> Section | None:
    every = list(failing(view))
    lines: list[Line] = [
        (f"{each.sign}: ", Code(each.name), f" for {each.where}" if each.where else "")
        for each in every[:_MOST_REPLACEMENTS]
    ]
    if (more := len(every) - _MOST_REPLACEMENTS) > 0:
        lines.append((f"{more:,} more in map.json",))
    return Section("map", "Configurations that fail", (Bullets(tuple(lines)),)) if lines else None


def _rules(view: SweepView) -> Section | None:
    if not view.map.rules:
        return None
    lines: list[Line] = []
    for rule in view.map.rules[:_MOST_RULES]:
        text, evidence = view.rule(rule)
        lines.append((f"{rule.failure}: " if rule.failure else "", Code(text), f" ({evidence})"))
    if (more := len(view.map.rules) - _MOST_RULES) > 0:
        lines.append((f"{more} more in map.json",))
    return Section("rules", "Rules", (Bullets(tuple(lines)),))


def _map(view: SweepView) -> Section | None:
    """What fails of a list, or a table of the cells, where these differ."""
    if CONFIGURATION in view.grid.positions:
        return _configurations(view)
    return Section("map", "Map", tuple(_tables(view))) if any(axis.matters for axis in view.axes) else None


def _tables(view: SweepView) -> Iterator[Paragraph | ReportTable]:
    shown = SliceView(view)
    if shown.words:
        yield Paragraph((f"For {shown.words}:",))
    panels = list(shown.panels())
    for title, cells in panels[:_MOST_TABLES]:
        if title:
            yield Paragraph((f"{title}:",))
        yield _table(shown, cells, title)
    if len(panels) > _MOST_TABLES:
        yield Paragraph((f"{len(panels) - _MOST_TABLES} more tables are in map.html.",))
    yield Paragraph(("\u2713 compiled; \u00b7 and lower case are predicted; ? could not be told.",))


def _table(shown: SliceView, panel: CellSet, title: str) -> ReportTable:
    rows = shown.labels(shown.shape.rows)[:_MOST_ROWS]
    columns = shown.labels(shown.shape.columns)[:_MOST_COLUMNS]
    body = tuple(
        (ReportCell((label,)), *(_cell(shown.cell(panel, row, column)) for column in range(len(columns))))
        for row, label in enumerate(rows)
    )
    return ReportTable(title or "Map", (" \\ ".join(filter(None, (shown.rows, shown.columns))), *columns), body)


def _cell(look: CellLook | str) -> ReportCell:
    if isinstance(look, str):
        return ReportCell((look,), Tone.UNSURE if look else Tone.ABSENT)
    return ReportCell((look.sign,), _TONES[look.legal])
