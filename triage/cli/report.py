"""``triage report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import case_options, compile_options, repeating
from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes, parse_size
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError
from triage.pipeline import Options
from triage.publish import render
from triage.publish.compose.whole import scrubber_for
from triage.publish.finished import Finished, is_finished
from triage.publish.formats.terminal import console
from triage.publish.obtain import anonymous, obtain
from triage.publish.visible import one_line
from triage.suggest.budget import Budget


@click.command("report")
@click.argument("place", required=False, metavar="CASE|FOLDER")
@click.option(
    "--format",
    "format_",
    type=click.Choice([one.value for one in render.Format]),
    default=render.Format.MARKDOWN.value,
    help="md is for GitHub, html one file for a browser. [md]",
)
@click.option("-o", "file", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
@click.option("--show", is_flag=True, help="Print it even with -o, and what was taken out of it: all that would leave.")
@click.option("--keep-private", is_flag=True, help="Take out nothing: for yourself.")
@click.option("--anonymize", is_flag=True, help="From the reduction with its names changed, and nothing else.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the report document.")
@case_options
@compile_options
@click.option("--budget", metavar="N|SECONDSs", help="For a CASE, as for check.")
@click.option("--kb", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Entries of your own.")
def command(place: str | None, schema: bool, format_: str, file: Path | None, show: bool, **given: Any) -> int:
    """Render a finished triage: what check, minimize, matrix and run left in FOLDER with -o. A CASE is checked first.

    Paths are shortened, names, credentials and values of the environment taken out, unless --keep-private is given.
    """
    if schema:
        click.echo(render.schema(), nl=False)
        return 0
    if place is None:
        raise InputError("triage report: name a CASE, or the FOLDER that check, minimize or matrix left with -o")
    keep_private, nameless = given.pop("keep_private"), given.pop("anonymize")
    if keep_private and nameless:
        raise InputError("--keep-private and --anonymize exclude each other")
    found = finished_for(place, nameless, given)
    for path in found.left_out:
        click.echo(one_line(f"triage: {path}: left out; it is of another failure, or one of several"), err=True)
    scrubber = None if keep_private else scrubber_for(found)
    text = render.render(found, render.Format(format_), scrubber)
    if file is not None:
        _write(file, text)
    if file is None or show:
        click.echo(text, nl=False)
    if show:
        kinds = ", ".join(f"{name} ({count})" for name, count in sorted(scrubber.removed.items())) if scrubber else ""
        click.echo(f"triage: {len(text)} characters; taken out or shortened: {kinds or 'nothing'}", err=True)
    return 0


def finished_for(place: str, nameless: bool, given: dict[str, Any]) -> Finished:
    options = Options(
        triton=given["triton"],
        python=given["python"],
        limits=Limits(
            given["timeout"] or DEFAULT_TIMEOUT_S,
            parse_size(given["memory"]) if given["memory"] else default_memory_bytes(),
        ),
        jobs=given["jobs"],
        cache=not given["no_cache"],
        budget=Budget.parse(given["budget"]) if given["budget"] else Budget(),
        knowledge=given["kb"],
    )
    named: Path | Case = Path(place) if is_finished(Path(place)) else locate(place, given)
    with console.progress() as progress:
        if nameless:
            return anonymous(named, options, progress)
        return obtain(named, options, progress, repeating("check", place, given))


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentFault(f"-o {file}: cannot be written: {error.strerror}") from None
