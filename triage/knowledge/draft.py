"""A first draft of an entry from a triage or a log, for somebody to complete: what is known is filled in, what only
a person can know is marked."""

from __future__ import annotations

import json
import re

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis

_WRITE = "WRITE: "


def draft(diagnosis: Diagnosis, case: Case | None, reproducer: str | None) -> str:
    """TOML text of an entry that matches ``diagnosis`` by its most telling fields; ``reproducer`` names a folder."""
    lines = [
        f"id = {_text(slug(diagnosis))}",
        f"title = {_text(_WRITE + 'the failure in one line; now: ' + diagnosis.headline)}",
        f"cause = {_text(_WRITE + 'why, in plain words, with numbers')}",
        f"rule = {_text(_WRITE + 'where the rule stands: PTX ISA section, Triton file and function')}",
        f'evidence = "{"run" if reproducer else "log"}"',
        f"reproducers = [{_text(reproducer) if reproducer else ''}]",
        "upstream = []",
        "",
        "[match]",
        f"kind = {_text(diagnosis.kind.value)}",
    ]
    for name, value in (
        ("function", diagnosis.function),
        ("file", diagnosis.file),
        ("pass", diagnosis.pass_name),
        ("message", _fragment(diagnosis)),
    ):
        if value:
            lines.append(f"{name} = {_text(value)}")
    if case is not None:
        lines.append(f"targets = [{_text(str(case.target))}]")
    return "\n".join(lines) + "\n"


def slug(diagnosis: Diagnosis) -> str:
    """A file name from the headline."""
    words = re.findall(r"[a-z0-9]+", diagnosis.headline.lower())
    return "-".join(words[:7]) or "entry"


def _fragment(diagnosis: Diagnosis) -> str:
    """The part of the message that names the bug: an assertion's text, else the first line without its numbers."""
    if quoted := re.search(r'&& "([^"]{8,200})"', diagnosis.message):
        return quoted.group(1)
    first = next((line for line in diagnosis.message.splitlines() if line.strip()), "")
    parts = [part.strip(" :,.'\"`") for part in re.split(r"[^\s]*\d[^\s]*|'[^']*'", first)]
    return max(parts, key=len, default="")


def _text(value: str) -> str:
    # A JSON string is a TOML basic string.
    return json.dumps(value, ensure_ascii=False)
