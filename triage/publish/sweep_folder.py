"""Files of ``triage sweep -o`` beside the ledger: the map as a document, as a page and for an issue, and its
rules as a program."""

from pathlib import Path

from triage.filesystem.files import replace_file, writing
from triage.publish.compose.sweep import SweepView
from triage.publish.compose.sweep_document import document as blocks
from triage.publish.formats import markdown
from triage.publish.formats.html import sweep as page
from triage.publish.privacy import Scrubber
from triage.sweeps import document
from triage.sweeps.commands import SweepCommands
from triage.sweeps.map import SweepMap
from triage.sweeps.rules.program import module

MAP, RULES, PAGE, ISSUE = "map.json", "rules.py", "map.html", "map.md"


def for_issue(sweep: SweepMap, commands: SweepCommands) -> str:
    """The map as GitHub's Markdown, without what is private."""
    case = sweep.case
    keep = {case.name, *case.signature, *case.constexprs, *case.construct, *sweep.grid.positions}
    return markdown.render(blocks(SweepView(sweep, commands, Scrubber.here(case.folder, keep=keep))))


def keep_sweep(folder: Path, sweep: SweepMap, commands: SweepCommands) -> None:
    """Write them; what is for an issue has nothing private. Raises EnvironmentFault where that cannot be."""
    headlines = {sweep.letters[failure.signature]: failure.headline for failure in sweep.failures}
    values = {**sweep.case.construct, **sweep.case.constexprs, **sweep.case.options}
    settings = " ".join(f"{name}={value}" for name, value in values.items() if name not in sweep.grid.positions)
    rules = module(sweep.case.name, sweep.grid, sweep.rules, len(sweep.observations), settings, headlines)
    with writing(f"-o {folder}"):
        replace_file(folder / MAP, "".join(document.json_text(sweep)), folder)
        replace_file(folder / RULES, rules, folder)
        replace_file(folder / PAGE, page.page(SweepView(sweep, commands)), folder)
        replace_file(folder / ISSUE, for_issue(sweep, commands), folder)
