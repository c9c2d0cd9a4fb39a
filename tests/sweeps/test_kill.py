"""A sweep that is killed, or interrupted, loses nothing that was finished."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from commands import call_triage

from triage.model.case import Case, frozen
from triage.sweeps.ledger import FILE

AXES = ("--set", "BLOCK=64..512*2", "--set", "num_stages=1..4")
CELLS = 16
KERNEL = """
import os, time
import triton
import triton.language as tl

_compile = triton.compile


def compile_(*arguments, **named):
    if os.path.exists(__file__ + ".slow"):
        time.sleep(0.15)
    return _compile(*arguments, **named)


triton.compile = compile_


@triton.jit
def double(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets))
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A kernel that compiles, all cells in two seconds, until ``kernel.py.slow`` is removed."""
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "kernel.py").write_text(KERNEL)
    (folder / "kernel.py.slow").touch()
    made = Case(folder, "kernel.py", "double", frozen({"x_ptr": "*fp32"}), frozen({"BLOCK": 64}))
    (folder / "case.json").write_text(json.dumps(made.to_json()))
    return folder


def results(folder: Path) -> dict[str, str]:
    """What the ledger has: key and observation."""
    if not (folder / FILE).exists():
        return {}
    try:
        with closing(sqlite3.connect(folder / FILE, timeout=5)) as ledger:
            return dict(ledger.execute("SELECT key, observation FROM results"))
    except sqlite3.OperationalError:  # its tables are just made
        return {}


def ended_by(number: signal.Signals, case: Path, cache: Path, folder: Path) -> int:
    """The exit code of a sweep that gets a signal when some results are written."""
    command = [sys.executable, "-m", "triage", "sweep", str(case), *AXES, "--jobs", "1", "-o", str(folder)]
    environment = {**os.environ, "TRITON_TRIAGE_CACHE": str(cache)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        limit = time.monotonic() + 120
        while len(results(folder)) < 2 and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
        process.send_signal(number)
        return process.wait(30)


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_nothing_that_was_finished_is_lost(number: signal.Signals, case: Path, cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    code = ended_by(number, case, cache, folder)
    (case / "kernel.py.slow").unlink()
    before = results(folder)
    assert 2 <= len(before) < CELLS
    if number is signal.SIGINT:
        assert code == 130
        document = json.loads((folder / "map.json").read_text())
        assert (document["interrupted"], len(document["cells"])) == (True, len(before))
        assert sum(number for _, number in document["unknown"]) == CELLS - len(before)
    again = call_triage(cache, "sweep", "--resume", str(folder), "--json")
    found = re.search(rf"(\d+) of {CELLS} cells are in the ledger", again.err)
    assert found is not None, again.err
    assert int(found[1]) == len(before)
    assert again.document["counts"]["compiled"] == CELLS
    assert before.items() <= results(folder).items(), "what was finished is not compiled again"
