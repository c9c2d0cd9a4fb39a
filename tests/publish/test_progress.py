"""Progress where nothing can be redrawn: a line soon, then one every some seconds; none where all ends at once."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from triage.publish.formats.terminal import heartbeat
from triage.publish.formats.terminal.heartbeat import Heartbeat


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "_FIRST_S", 0.02)
    monkeypatch.setattr(heartbeat, "_EVERY_S", 0.02)


def until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 10
    while not condition() and time.monotonic() < ends:
        time.sleep(0.005)
    assert condition()


def test_what_is_done_now_is_written_and_then_how_long_it_takes() -> None:
    lines: list[str] = []
    with Heartbeat(lines.append) as progress:
        progress.step("reading")
        until(lambda: len(lines) == 2)
        progress.step("compiling")
        until(lambda: "compiling" in lines)
    assert lines[:2] == ["reading", "reading (0 s)"]


def test_a_note_is_written_at_once() -> None:
    lines: list[str] = []
    with Heartbeat(lines.append) as progress:
        progress.note("making an environment")
        assert lines == ["making an environment"]


def test_a_command_that_ends_at_once_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "_FIRST_S", 60.0)
    lines: list[str] = []
    began = time.monotonic()
    with Heartbeat(lines.append) as progress:
        progress.step("reading")
    assert lines == []
    assert time.monotonic() - began < 10


def test_output_that_is_closed_ends_no_command() -> None:
    def write(line: str) -> None:
        raise BrokenPipeError

    with Heartbeat(write) as progress:
        progress.step("reading")
        time.sleep(0.1)
