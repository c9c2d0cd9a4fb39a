"""Standard streams that are closed, full, or read by nobody: one line, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rows import one_in

import triage

TRIAGE = f"PYTHONPATH={Path(triage.__file__).parents[1]} {sys.executable} -m triage"
FULL = "triage: standard output cannot be written: No space left on device\n"

# Shell commands: exit code of triage and what it prints on standard error.
CASES = {
    "full, long": (f"{TRIAGE} kb list --json > /dev/full", 3, FULL),
    "full, short": (f"{TRIAGE} --version > /dev/full", 3, FULL),
    "closed output": (f"{TRIAGE} --version >&-", 3, FULL.replace("No space left on device", "Bad file descriptor")),
    "closed errors": (f"{TRIAGE} chekc 2>&-", 2, ""),
    "full errors": (f"{TRIAGE} chekc 2> /dev/full", 2, ""),
    "closed input": (
        f"{TRIAGE} log - <&-",
        2,
        "-: cannot be read: Bad file descriptor; give a log file, or - for standard input\n",
    ),
    "nobody reads": (f"{TRIAGE} kb list --json | head -n 1 > /dev/null; exit ${{PIPESTATUS[0]}}", 0, ""),
}


@pytest.mark.parametrize("case", one_in(2, CASES))
def test_one_line_and_no_traceback(case: str, empty_cache: Path) -> None:
    command, code, errors = CASES[case]
    environment = {**os.environ, "TRITON_TRIAGE_CACHE": str(empty_cache)}
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (code, errors)
