"""``triage report``."""

from pathlib import Path
from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import (
    FILE,
    budget_option,
    case_options,
    compile_options,
    kb_option,
    note,
    pipeline_options,
    repeating,
)
from triage.filesystem.files import replace_file, usable_file, writing
from triage.model.case import Case
from triage.model.errors import InputError
from triage.publish import render
from triage.publish.compose.whole import scrubber_for
from triage.publish.finished import FinishedTriage, is_finished
from triage.publish.formats.terminal import console
from triage.publish.obtain import anonymous, obtain


@click.command("report")
@click.argument("name", required=False, metavar="CASE|FOLDER")
@click.option(
    "--format",
    "format_",
    type=click.Choice([format_.value for format_ in render.Format]),
    default=render.Format.MARKDOWN.value,
    help="md for GitHub, html for a browser (one file). [md]",
)
@click.option("-o", "file", type=FILE, metavar="FILE", help="Write it to this file.")
@click.option("--show", is_flag=True, help="Print it even with -o, and list what was removed: all that would leave.")
@click.option("--keep-private", is_flag=True, help="Remove nothing: for your own use.")
@click.option("--anonymize", is_flag=True, help="Use only the reduction with changed names.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the report document.")
@case_options
@compile_options
@budget_option
@kb_option
def command(name: str | None, schema: bool, format_: str, file: Path | None, show: bool, **values: Any) -> int:
    """Render a finished triage: what check, minimize, matrix and run left in FOLDER with -o. A CASE is checked first.

    Paths are shortened, and names, credentials and values of the environment are removed, unless --keep-private is
    given.
    """
    if schema:
        click.echo(render.schema(), nl=False)
        return 0
    if name is None:
        raise InputError("triage report: name a CASE, or the FOLDER that check, minimize or matrix left with -o")
    keep_private, anonymized = values.pop("keep_private"), values.pop("anonymize")
    if keep_private and anonymized:
        raise InputError("--keep-private and --anonymize exclude each other")
    if file is not None:
        usable_file("-o", file)
    finished = finished_for(name, anonymized, values)
    scrubber = None if keep_private else scrubber_for(finished)
    text = render.render(finished, render.Format(format_), scrubber)
    if file is not None:
        folder, path = Path(name).absolute(), file.absolute()
        with writing(f"-o {file}"):
            if path.is_relative_to(folder):
                replace_file(path, text, folder)  # A link there is not the user's.
            else:
                file.write_text(text, encoding="utf-8")
    if file is None or show:
        click.echo(text, nl=False)
    if show:
        kinds = ", ".join(f"{name} ({count})" for name, count in sorted(scrubber.removed.items())) if scrubber else ""
        click.echo(f"triage: {len(text)} characters; removed or shortened: {kinds or 'nothing'}", err=True)
    return 0


def finished_for(name: str, anonymized: bool, values: dict[str, Any]) -> FinishedTriage:
    """The finished triage in a folder, or that of a case, which is checked. Raises TriageError."""
    options = pipeline_options(values)
    source: Path | Case = Path(name) if is_finished(Path(name)) else locate(name, values)
    with console.progress() as progress:
        if anonymized:
            finished = anonymous(source, options, progress)
        else:
            finished = obtain(source, options, progress, repeating("check", name, values))
    for path in finished.left_out:
        note(f"{path}: left out; it belongs to another failure, or is one of several")
    return finished
