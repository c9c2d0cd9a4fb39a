"""A finished triage for tests: folders as check, minimize and matrix leave them, and what is made from them."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from triage.publish.compose.whole import compose
from triage.publish.document import Document
from triage.publish.finished import FinishedTriage, read
from triage.publish.formats import html, markdown, text
from triage.publish.privacy import LocalIdentity, Scrubber
from triage.publish.render import Format, render

FINISHED = Path(__file__).parent / "finished"
"""Of wgmma-tf32-mn-major on Triton 3.2.0, as user jdoe; written by the commands themselves."""
NOBODY = LocalIdentity()


def scrubber(machine: LocalIdentity = NOBODY) -> Scrubber:
    """One that knows nothing of the machine that the tests run on."""
    return Scrubber(machine)


@cache
def document(folder: Path = FINISHED) -> Document:
    """The document of a folder."""
    return compose(read(folder), scrubber())


def copied(to: Path) -> Path:
    """The sample, to be changed."""
    return Path(shutil.copytree(FINISHED, to / "finished"))


def report_with(to: Path, **changes: Any) -> Path:
    """The sample's check alone, with other values in its diagnosis."""
    folder = Path(shutil.copytree(FINISHED / "check", to / "check"))
    path = folder / "report.json"
    whole = json.loads(path.read_text())
    whole["diagnosis"] |= changes
    path.write_text(json.dumps(whole))
    return folder


def in_every_format(found: FinishedTriage, machine: LocalIdentity = NOBODY) -> dict[str, str]:
    """Each format's text. Those for people are made of one document, which takes longer than they do."""
    shown = compose(found, Scrubber(machine))
    pages = {"md": markdown.render(shown), "html": html.render(shown), "text": text.render(shown)}
    return {**pages, "json": render(found, Format.JSON, Scrubber(machine))}
