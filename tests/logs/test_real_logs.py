"""Logs of real compiles on the released wheels, trimmed to the lines that matter, and what each is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rows import each_row, one_in

from triage.logs import diagnose_text
from triage.model.diagnosis import Diagnosis

DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, dict[str, Any]] = json.loads((DATA / "expected.json").read_text())


def shown(diagnosis: Diagnosis) -> dict[str, Any]:
    """The fields that the table states; those that are null are left out there."""
    source = diagnosis.source
    fields = {
        "kind": diagnosis.kind.value,
        "headline": diagnosis.headline,
        "function": diagnosis.function,
        "file": diagnosis.file,
        "line": diagnosis.line,
        "pass": diagnosis.pass_name,
        "stage": diagnosis.stage,
        "exception": diagnosis.exception,
        "source": [source.file, source.line, source.column] if source else None,
        "signature": diagnosis.signature,
    }
    return {name: value for name, value in fields.items() if value is not None}


@each_row(sorted(EXPECTED))
def test_a_real_log_is_diagnosed(name: str) -> None:
    diagnosis = diagnose_text((DATA / f"{name}.log").read_text())
    assert diagnosis is not None
    assert shown(diagnosis) == EXPECTED[name]


def test_every_log_is_in_the_table() -> None:
    assert {path.stem for path in DATA.glob("*.log")} == set(EXPECTED)


@pytest.mark.parametrize("part", one_in(3, range(3)))
def test_wrappings_change_nothing(part: int) -> None:
    """Carriage returns, colours, a runner's time stamps and pytest's marker are not part of a log."""
    for name in sorted(EXPECTED)[part::3]:
        assert_same_in_all_wrappings(name)


def assert_same_in_all_wrappings(name: str) -> None:
    lines = (DATA / f"{name}.log").read_text().split("\n")
    wrapped = {
        "crlf": "\r\n".join(lines),
        "colour": "\n".join(f"\x1b[1;31m{line}\x1b[0m" for line in lines),
        "github": "\n".join(f"2025-03-01T12:00:00.1234567Z {line}" for line in lines),
        "pytest": "\n".join(f"E   {line}".rstrip() for line in lines),
        "quoted": "\n".join(f"> {line}" for line in lines),
    }
    for wrapping, text in wrapped.items():
        diagnosis = diagnose_text(text)
        assert diagnosis is not None, wrapping
        assert shown(diagnosis) == EXPECTED[name], wrapping


@each_row(sorted(EXPECTED))
def test_what_a_person_reads_is_short_and_names_no_machine(name: str) -> None:
    diagnosis = diagnose_text((DATA / f"{name}.log").read_text())
    assert diagnosis is not None
    assert len(diagnosis.headline) <= 160
    assert "\n" not in diagnosis.headline
    assert not any(part in diagnosis.headline for part in ("/home/", "/project/", "/source/", "site-packages"))
    assert len(diagnosis.message) <= 4096
