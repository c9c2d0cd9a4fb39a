"""Logs and modules of any size and of any bytes: every format is made, in little time and memory, as text alone."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE
from rows import one_in
from samples import copied, in_every_format
from test_markdown import OWN_HTML, PINGS, outside_code, tokens
from test_page import ELEMENTS, Page, attributes

from triage.model.visible import visible
from triage.publish.clipping import read_bounded
from triage.publish.finished import read

_NOT_SHOWN = [
    chr(code)
    for code in (*range(9), 11, 12, *range(14, 32), 127, *range(128, 160), 0xAD, 0x200E, 0x202E, 0x2066, 0xFEFF)
]


def with_log(to: Path, log: bytes) -> Path:
    folder = copied(to)
    for name in ("log.txt", "kernel.ttgir"):
        (folder / "check" / name).write_bytes(log)
    return folder


LOGS = {
    # Longer than a report may be, 64,000 characters.
    "mixed encodings": "größer\n".encode("latin-1")
    + "größer\n".encode()
    + "größer\n".encode("utf-16")
    + b"\xff\xfe\x00\xc3\x28\n",
    "nulls": b"\x00" * 10_000 + b"error\n" + b"\x00" * 10_000,
    "random": bytes(range(256)) * 300,
    "escapes": b"\x1b[31m" * 10_000 + b"\x1b]0;" * 10_000,
    "half an escape": b"x" * 1000 + b"\x1b[",
    "overlong": b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf" * 10_000,
    "lines without words": b"\n" * 70_000,
    "returns": b"\r" * 70_000,
    "fences": b"```\n~~~\n" * 10_000,
    "backticks": b"`" * 70_000,
    "tags": b"<details><summary>" * 4_000,
    "mentions": b"@octocat #1 " * 6_000,
    "all": "\n".join(HOSTILE.values()).encode("utf-8", "surrogatepass") * 10,
}


@pytest.mark.parametrize("name", one_in(4, LOGS))
def test_any_bytes_make_a_report(tmp_path: Path, name: str) -> None:
    began = time.monotonic()
    made = in_every_format(read(with_log(tmp_path, LOGS[name])))
    assert time.monotonic() - began < 30
    assert len(made["md"]) <= 64_000
    for text in made.values():
        assert [one for one in _NOT_SHOWN if one in text] == []
        text.encode("utf-8")
    json.loads(made["json"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", [b"x", b"line of a log with words\n", b"@a <b> `c` /d/e/f ", b"ghp_" + b"a1B2" * 9 + b" "]
)
def test_a_hundred_megabytes_cost_little(tmp_path: Path, unit: bytes) -> None:
    folder = copied(tmp_path)
    with (folder / "check" / "log.txt").open("wb") as stream:
        block = unit * (1_000_000 // len(unit))
        for _ in range(100):
            stream.write(block)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    made = in_every_format(read(folder))
    assert time.monotonic() - began < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kilobytes
    assert all(b"a1B2".decode() * 4 not in text for text in made.values())


def test_a_cut_falls_into_no_word(tmp_path: Path) -> None:
    """Half a token is no token to a scrubber: what is beside a cut goes."""
    path = tmp_path / "log"
    path.write_text("\n".join(f"line {number} {'x' * 50}" for number in range(1000)))
    with path.open("rb") as stream:
        head, tail, size = read_bounded(stream, 4000)
    assert size == path.stat().st_size
    lines = path.read_text().splitlines()
    assert set(head.splitlines()) | set(tail.splitlines()) <= set(lines)
    assert (head.splitlines()[0], tail.splitlines()[-1]) == (lines[0], lines[-1])
    path.write_text("y" * 100_000)
    with path.open("rb") as stream:
        head, tail, _ = read_bounded(stream, 40_000)
    assert (len(head), len(tail)) == (20_000 - 4_096, 20_000 - 4_096)


_KEPT = {"schema", "name", "file", "target", "verdict", "row", "signature"}
_CLOSED = {"kind", "status", "stage", "stages_completed", "tensor_core", "language"}
"""Fields with values of a closed set: a document with any other is refused when it is read."""


def _hostile(value: Any, text: str) -> Any:
    """A document with every text that is free replaced."""
    match value:
        case str():
            return text
        case dict():
            return {name: one if name in _KEPT | _CLOSED else _hostile(one, text) for name, one in value.items()}
        case list():
            # Of many of one kind, two.
            return [_hostile(one, text) for one in value[:2]]
    return value


def test_every_text_of_every_document_stays_in_its_place(tmp_path: Path) -> None:
    """One failure's signature in all of them, as they would not be one report otherwise."""
    folder = copied(tmp_path)
    text = "\n".join(HOSTILE.values()).encode("utf-8", "replace").decode()
    for name in ("check/report.json", "minimized/minimized.json", "matrix/matrix.json"):
        document = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(_hostile(document, text)))
    for name in ("check/log.txt", "check/kernel.ttgir", "minimized/reproducer.py"):
        (folder / name).write_text(text)
    with (folder / "minimized" / "kernel.py").open("a") as kernel:
        kernel.write(f"\n_ = {text!r}\n# {text!a}\n")
    made = in_every_format(read(folder))
    found = list(tokens(made["md"]))
    html = [token.content for token in found if token.type in ("html_block", "html_inline")]
    assert [one for one in html if not OWN_HTML.fullmatch(one)] == []
    assert [token for token in found if token.type in ("link_open", "image", "ordered_list_open", "em_open")] == []
    assert {token.markup for token in found if token.type == "heading_open"} == {"###", "####"}
    assert PINGS.findall(outside_code(made["md"])) == []
    page = Page(made["html"])
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    assert [name for _, given in page.elements for name in given if name.startswith("on")] == []
    assert [one for one in attributes(page, "href") if not one.startswith("#")] == []
    assert all(one not in text for text in made.values() for one in _NOT_SHOWN)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_visible_stays_so(name: str) -> None:
    once = visible(HOSTILE[name])
    assert visible(once) == once
    assert [one for one in _NOT_SHOWN if one in once] == []
