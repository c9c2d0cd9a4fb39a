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
from commands import DATA, call_triage

from triage.sweeps.ledger import FILE

OK = str(DATA / "ok.json")
AXES = ("--set", "BLOCK=64..512*2", "--set", "num_stages=1..4")
CELLS = 16


def results(folder: Path) -> dict[str, str]:
    """What the ledger has: key and observation."""
    if not (folder / FILE).exists():
        return {}
    try:
        with closing(sqlite3.connect(folder / FILE, timeout=5)) as ledger:
            return dict(ledger.execute("SELECT key, observation FROM results"))
    except sqlite3.OperationalError:  # its tables are just made
        return {}


def ended_by(number: signal.Signals, cache: Path, folder: Path) -> int:
    """The exit code of a sweep that gets a signal when some results are written."""
    command = [sys.executable, "-m", "triage", "sweep", OK, *AXES, "--jobs", "1", "-o", str(folder)]
    environment = {**os.environ, "TRITON_TRIAGE_CACHE": str(cache)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        limit = time.monotonic() + 120
        while len(results(folder)) < 2 and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
        process.send_signal(number)
        return process.wait(30)


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_nothing_that_was_finished_is_lost(number: signal.Signals, cache: Path, tmp_path: Path) -> None:
    code = ended_by(number, cache, tmp_path)
    before = results(tmp_path)
    assert 2 <= len(before) < CELLS
    if number is signal.SIGINT:
        assert code == 130
        document = json.loads((tmp_path / "map.json").read_text())
        assert (document["interrupted"], len(document["cells"])) == (True, len(before))
        assert sum(number for _, number in document["unknown"]) == CELLS - len(before)
    again = call_triage(cache, "sweep", "--resume", str(tmp_path), "--json")
    found = re.search(rf"(\d+) of {CELLS} cells are in the ledger", again.err)
    assert found is not None, again.err
    assert int(found[1]) == len(before)
    assert again.document["counts"]["compiled"] == CELLS
    assert before.items() <= results(tmp_path).items(), "what was finished is not compiled again"
