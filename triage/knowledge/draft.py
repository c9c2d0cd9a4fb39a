"""The first draft of an entry, from a triaged case or a log.

Known facts are filled in. Text that only a person can write begins with ``PLACEHOLDER``; an entry that still contains
it does not load.
"""

import json
import re

from triage.knowledge.entry import PLACEHOLDER
from triage.model.case import Case
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis


def draft(id_: str, diagnosis: Diagnosis, case: Case | None, reproducer: str | None) -> str:
    """TOML text of an entry that matches ``diagnosis`` by its most specific fields; ``reproducer`` is a folder name."""
    lines = [
        f"id = {_toml(id_)}",
        f"title = {_toml(f'{PLACEHOLDER} the failure in one line; now: {diagnosis.headline}')}",
        f"cause = {_toml(f'{PLACEHOLDER} why, in plain words, with numbers')}",
        f"rule = {_toml(f'{PLACEHOLDER} the source of the rule: PTX ISA section, Triton file and function')}",
        f'evidence = "{"run" if reproducer else "log"}"',
        f"reproducers = [{_toml(reproducer) if reproducer else ''}]",
        "upstream = []",
        "",
        "[match]",
        f"kind = {_toml(diagnosis.kind.value)}",
    ]
    for name, value in (
        ("compiler", CUTE.name if diagnosis.compiler is CUTE else None),
        ("function", diagnosis.function),
        ("file", diagnosis.file),
        ("pass", diagnosis.pass_name),
        ("message", _fragment(diagnosis)),
    ):
        if value:
            lines.append(f"{name} = {_toml(value)}")
    if case is not None:
        lines.append(f"targets = [{_toml(str(case.target))}]")
    return "\n".join(lines) + "\n"


def slug(diagnosis: Diagnosis) -> str:
    """An entry ID made of the first words of the headline."""
    words = re.findall(r"[a-z0-9]+", diagnosis.headline.lower())
    return "-".join(words[:7]) or "entry"


def _fragment(diagnosis: Diagnosis) -> str:
    """The part of the message that names the bug: an assertion's text, else the headline's words or the first line,
    without their numbers."""
    if assertion := re.search(r'&& "([^"]{8,200})"', diagnosis.message):
        return assertion.group(1)
    # The headline has the cause's own words, behind the name of the tool that says them, if they are in the message.
    words = (diagnosis.headline, diagnosis.headline.partition(": ")[2])
    lines = (line for line in diagnosis.message.splitlines() if line.strip())
    first = next((text for text in words if text and text in diagnosis.message), next(lines, ""))
    parts = [part.strip(" :,.'\"`") for part in re.split(r"[^\s]*\d[^\s]*|'[^']*'", first)]
    return max(parts, key=len, default="")


def _toml(text: str) -> str:
    # A JSON string is a TOML basic string.
    return json.dumps(text, ensure_ascii=False)
