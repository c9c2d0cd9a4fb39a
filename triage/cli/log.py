"""``triage log``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from triage import knowledge, logs
from triage.cli import console, render
from triage.errors import InputError


@click.command("log")
@click.argument("file", default="-")
@click.option("--json", "as_json", is_flag=True, help="Print diagnosis and matches as JSON.")
def command(file: str, as_json: bool) -> int:
    """Diagnose a log: FILE, or standard input. Compiles nothing and needs no Triton."""
    found = logs.diagnose_text(_read(file))
    matches = [] if found is None else knowledge.match(found, knowledge.load_all(), None)
    if as_json:
        document = {
            "diagnosis": found.to_json() if found else None,
            "matches": [match.to_json() for match in matches],
        }
        click.echo(json.dumps(document, indent=2))
    else:
        render.diagnosis(console.output(), found, matches)
    return int(found is not None)


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        mend = "give a log file, or - for standard input"
        raise InputError(f"{file}: cannot be read: {error.strerror}; {mend}") from None
