"""Parsed entries are stored, and used as long as no file has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from triage.knowledge import load, stored
from triage.knowledge.stored import Parsed

ENTRY = """\
id = "{name}"
title = "A title"
cause = "Because."
rule = "A document"
evidence = "log"
generic = true
next = ["run it"]

[match]
message = "{message}"
options = {{ num_ctas = ">1" }}

[[match.or]]
kind = "assertion"
file = ["A.cpp", "B.cpp"]

[[helps]]
change = "num_warps=8"
observed = "compiles"
ran = "Triton 3.2.0"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    entries = tmp_path / "entries"
    entries.mkdir()
    for name in ("a", "b"):
        (entries / f"{name}.toml").write_text(ENTRY.format(name=name, message=name))
    return entries


def read(folder: Path) -> tuple[Parsed, int]:
    """The entries, and how often a folder was parsed for them."""
    parsed: list[Path] = []

    def parse(folder: Path) -> Parsed:
        parsed.append(folder)
        return load.parse(folder)

    return stored.entries(folder, parse, Path(load.__file__)), len(parsed)


def test_what_is_stored_is_what_was_parsed(folder: Path) -> None:
    first, second = read(folder), read(folder)
    assert (first[1], second[1]) == (1, 0)
    assert first[0] == second[0] == load.parse(folder)


@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_a_change_is_seen_at_once(folder: Path, change: str) -> None:
    read(folder)
    match change:
        case "edit":
            (folder / "a.toml").write_text(ENTRY.format(name="a", message="c"))
        case "add":
            (folder / "c.toml").write_text(ENTRY.format(name="c", message="c"))
        case "remove":
            (folder / "a.toml").unlink()
    assert read(folder) == (load.parse(folder), 1)


def test_installations_take_turns_without_parsing_again(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    assert [read(one)[1] for one in (folder, other, folder, other)] == [1, 1, 0, 0]


def test_few_states_of_a_folder_are_kept(folder: Path, tmp_path: Path) -> None:
    for number in range(8):
        (folder / "a.toml").write_text(ENTRY.format(name="a", message=f"message {number}"))
        read(folder)
    assert len(list((tmp_path / "cache" / "knowledge").iterdir())) <= 4
    assert read(folder)[1] == 0


def test_a_folder_with_errors_is_parsed_each_time(folder: Path) -> None:
    (folder / "a.toml").write_text("id = ")
    assert (read(folder)[1], read(folder)[1]) == (1, 1)
    assert len(read(folder)[0][1]) == 1


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"digest": 1, "entries": [{}]}', "\0"])
def test_a_damaged_store_is_replaced(folder: Path, tmp_path: Path, content: str) -> None:
    read(folder)
    (stored_file,) = (tmp_path / "cache" / "knowledge").iterdir()
    stored_file.write_text(content)
    assert (read(folder)[1], read(folder)[1]) == (1, 0)


def test_a_cache_that_cannot_be_written_costs_time_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", "/proc/no-such")
    assert (read(folder), read(folder)) == ((load.parse(folder), 1), (load.parse(folder), 1))
