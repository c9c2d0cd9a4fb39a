"""With what it was compiled, and what other releases and targets do with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triage.publish.compose.words import kernel_name, settings
from triage.publish.document import Block, Bullets, Cell, Code, Line, Paragraph, Section, Table, Tone
from triage.publish.fields import Fields
from triage.publish.finished import MATRIX, REPORT, Finished
from triage.publish.visible import clipped

_MOST_REASON = 300
_NOT_TRIED = "not tried"
_TONES: Mapping[str, tuple[Tone, str]] = {
    "compiles": (Tone.GOOD, "\u2713 compiles"),
    "fails": (Tone.BAD, "\u2717 fails"),
    "suspect": (Tone.BAD, "\u2717 suspect"),
    "timeout": (Tone.BAD, "\u2717 timeout"),
    "not applicable": (Tone.ABSENT, "\u2013 not applicable"),
    "could not tell": (Tone.UNSURE, "? could not tell"),
}
"""The verdicts, with a sign each: colour alone tells nobody anything."""


def environment(found: Finished) -> Section | None:
    """Configuration and environment, in a table."""
    report = Fields(found.report, REPORT)
    case = report.inside("case") or Fields(found.matrix, MATRIX).inside("case")
    if not case:
        return None
    known = report.inside("environment").plain()
    names = {"triton": "Triton", "python": "Python", "ptxas": "ptxas", "platform": "Platform", "triage": "triage"}
    rows: list[tuple[str, str]] = [
        (names.get(name, name), str(value)) for name, value in known.items() if name != "target"
    ]
    rows.insert(1, ("Target", case.text("target")))
    if report:
        rows.insert(2, ("GPU", _gpu(report)))
    rows += [
        ("Kernel", f"{kernel_name(case)} ({case.maybe('language') or 'triton'})"),
        ("Arguments", ", ".join(f"{name}: {type_}" for name, type_ in case.inside("signature").plain().items())),
        ("Divisible by 16", ", ".join(name for name, value in case.inside("divisible").plain().items() if value == 16)),
        ("Constexprs", settings(case.inside("constexprs").plain())),
        ("Options", settings(case.inside("options").plain())),
    ]
    cells = tuple((Cell((name,)), Cell((value if name == "GPU" else Code(value),))) for name, value in rows if value)
    blocks: list[Block] = [Table("Configuration and environment", ("", ""), cells)]
    if found.minimized is not None:
        said = "Kernel, arguments, constexprs and options are those it was met with; the reduced kernel's are in "
        blocks.append(Paragraph((said, Code(found.minimized.script_name), ".")))
    return Section("environment", "Environment details", tuple(blocks))


def _gpu(report: Fields) -> str:
    devices = {one.inside("measured").maybe("device") for one in report.each("suggestions")} - {None}
    if devices:
        return ", ".join(sorted(str(one) for one in devices))
    launched = report.inside("outcome").maybe("stage") == "launch"
    return "used for the launch that failed" if launched else "none is needed: it was compiled, not launched"


def releases(found: Finished) -> Section | None:
    """The matrix of releases and targets, what its letters stand for, and where it began and ended."""
    table = Fields(found.matrix, MATRIX)
    if not table:
        return None
    targets = [one.text("target") for one in table.each("targets")]
    cells = {(cell.text("row"), cell.text("target")): cell for cell in table.each("cells")}
    rows = []
    for row in table.each("rows"):
        name = row.text("name")
        shown = [_cell(cells.get((name, target))) for target in targets]
        version = next((cell.maybe("triton") for target in targets if (cell := cells.get((name, target)))), None)
        build = row.maybe("kind") == "build" and version
        rows.append((Cell((f"{name} ({version})" if build else name,)), *shown))
    blocks: list[Block] = [Table("Triton release and target", ("Triton", *targets), tuple(rows))]
    blocks.append(Bullets(tuple(_histories(table)) + tuple(_letters(table, found.signature)) + tuple(_reasons(table))))
    effort = table.inside("bisected")
    if effort:
        said = f"A bisection of {effort.whole('releases')} releases: what lies between two that agree was not compiled."
        blocks.append(Paragraph((said,)))
    return Section("releases", "Triton releases and targets", tuple(blocks))


def _cell(cell: Fields | None) -> Cell:
    if cell is None:
        return Cell((f"\u00b7 {_NOT_TRIED}",), Tone.ABSENT)
    verdict, label = cell.text("verdict"), cell.maybe("label")
    tone, words = _TONES.get(verdict, (Tone.UNSURE, f"? {verdict}"))
    return Cell((f"{words} {label}" if label else words,), tone)


def _histories(table: Fields) -> Iterator[Line]:
    for one in table.each("targets"):
        first, good, fixed = one.maybe("first_bad"), one.maybe("last_good") or "none", one.maybe("fixed_in") or "none"
        said = "no release that was tried fails"
        if first is not None:
            said = f"first bad {first}; last good before it: {good}; fixed in: {fixed}"
        yield (Code(one.text("target")), f": {'; '.join([said, *one.texts('notes')])}")


def _letters(table: Fields, signature: str | None) -> Iterator[Line]:
    for one in table.each("failures"):
        headline, theirs = clipped(one.maybe("headline") or "", _MOST_REASON), one.text("signature")
        this = ", the failure of this report" if theirs == signature else ""
        yield (f"{one.text('label')}{this}: ", Code(headline), "; signature ", Code(theirs))


def _reasons(table: Fields) -> Iterator[Line]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in table.each("cells"):
        if (reason := cell.maybe("reason")) is not None:
            rows = reasons.setdefault((cell.text("verdict"), reason), [])
            if cell.text("row") not in rows:
                rows.append(cell.text("row"))
    for (verdict, reason), rows in reasons.items():
        yield (f"{verdict} on {', '.join(rows)}: ", Code(clipped(reason, _MOST_REASON)))
