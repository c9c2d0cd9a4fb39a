"""triage itself is stopped in the middle: by Ctrl-C, by kill, by kill -9. Nothing of it stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import new_cache
from conftest import Traces
from rows import one_in

import triage
from triage.model.case import Case, frozen

MODULE = """
import os, time
import triton
import triton.language as tl

_compile = triton.compile


def compile_(*arguments, **named):
    if os.fork() == 0:  # a daemon, which no process group and no death signal reaches
        os.setsid()
        if os.fork() == 0:
            open(os.environ["TRIAGE_TEST_FLAG"], "w").close()
            time.sleep(1000)
        os._exit(0)
    time.sleep(1000)


triton.compile = compile_


@triton.jit
def add(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1)
"""


@pytest.fixture
def running(tmp_path: Path, traces: Traces, monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[str]:
    """``triage check`` in a process group of its own, in the middle of a compile that does not end."""
    folder, flag = tmp_path / "endless", tmp_path / "compiling"
    folder.mkdir()
    (folder / "endless.py").write_text(MODULE)
    # A case folder: of a file, only what the kernel reaches would be imported.
    case = Case(folder, "endless.py", "add", frozen({"x_ptr": "*fp32", "y_ptr": "*fp32"}), frozen({"BLOCK": 64}))
    (folder / "case.json").write_text(json.dumps(case.to_json()))
    # The tests may run from a checkout that is not installed.
    monkeypatch.setenv("PYTHONPATH", str(Path(triage.__file__).parents[1]))
    monkeypatch.setenv("TRIAGE_TEST_FLAG", str(flag))
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(new_cache(tmp_path / "cache")))
    process = subprocess.Popen(
        [sys.executable, "-m", "triage", "check", str(folder), "--no-cache"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not flag.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it never came to compile"
        time.sleep(0.02)
    return process


def test_ctrl_c_ends_everything_with_130(running: subprocess.Popen[str], traces: Traces) -> None:
    os.killpg(running.pid, signal.SIGINT)
    output, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert output == ""
    assert errors.strip().splitlines()[-1] == "triage: interrupted"
    traces.assert_gone()


@pytest.mark.parametrize("number", one_in(3, [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP]))
def test_a_kill_of_triage_itself_leaves_nothing(
    running: subprocess.Popen[str], traces: Traces, number: signal.Signals
) -> None:
    """The nanny outlives it, for as long as it takes to clear up."""
    running.send_signal(number)
    running.communicate(timeout=60)
    assert running.returncode == -number
    traces.assert_gone()
