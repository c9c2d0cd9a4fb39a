"""Ctrl-C, kill and the end of a terminal, for commands of every kind: an end within 3 s, and nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import Traces
from rows import one_in

import triage
from triage.cli.signals import handled

MOST_S = 3.0
ENDED = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP}
# The main thread is inside the C library for a minute, as in a look-up of a name: system() goes on after a signal.
STUCK = """
import ctypes, os, sys
from triage.cli.signals import handled
with handled():
    os.mkfifo("stuck")
    ctypes.CDLL(None).system(b"sleep 60")
"""
# It takes the exception for one of its own, and goes on.
DEAF = """
import os, time
from triage.cli.signals import handled
with handled():
    os.mkfifo("stuck")
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
"""


def started(*command: str, until: Path) -> subprocess.Popen[str]:
    """A Python process that has come so far that a file exists."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    limit = time.monotonic() + 60
    while not until.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.01)
    return process


def ended(process: subprocess.Popen[str], *numbers: int) -> tuple[float, str, str]:
    """Send the signals, 0.1 s apart; the seconds that it takes to end, and what it printed."""
    began = time.monotonic()
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.1)
    output, errors = process.communicate(timeout=60)
    return time.monotonic() - began, output, errors


@pytest.fixture(autouse=True)
def own_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run from a checkout that is not installed."""
    monkeypatch.setenv("PYTHONPATH", str(Path(triage.__file__).parents[1]))


@pytest.mark.parametrize("number", one_in(2, ENDED))
def test_a_command_that_waits_for_its_input(number: signal.Signals, traces: Traces) -> None:
    os.mkfifo("log")
    process = started("-m", "triage", "log", "log", until=Path("log"))
    with Path("log").open("wb"):  # Returns when the command opens it.
        seconds, output, errors = ended(process, number)
    assert (process.returncode, output, errors.strip()) == (ENDED[number], "", "triage: interrupted")
    assert seconds < MOST_S
    traces.assert_gone()


@pytest.mark.parametrize(
    "script", [pytest.param(STUCK, marks=pytest.mark.slow, id="stuck"), pytest.param(DEAF, id="deaf")]
)
def test_one_signal_ends_what_does_not_listen(script: str, traces: Traces) -> None:
    process = started("-c", script, until=Path("stuck"))
    seconds, _, errors = ended(process, signal.SIGTERM)
    assert (process.returncode, errors) == (128 + signal.SIGTERM, "triage: interrupted\n")
    assert seconds < MOST_S
    traces.assert_gone()


def test_a_second_signal_ends_it_at_once(traces: Traces) -> None:
    process = started("-c", DEAF, until=Path("stuck"))
    seconds, _, errors = ended(process, signal.SIGINT, signal.SIGINT)
    assert (process.returncode, errors) == (130, "triage: interrupted\n")
    assert seconds < 1
    traces.assert_gone()


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    script = "import os, signal; from triage.cli.signals import handled\n"
    script += "with handled(): os.kill(os.getpid(), signal.SIGHUP); print('on')"
    command = ["nohup", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "on\n")


def test_without_a_free_thread_commands_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """``ulimit -u`` does not bind root, who may run this."""

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(threading.Thread, "start", start)
    with handled() as ending:
        pass
    assert (ending.number, signal.getsignal(signal.SIGINT)) == (None, before)
