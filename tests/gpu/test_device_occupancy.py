"""The comparison with the CUDA driver, where there is one."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

import triage


def test_the_driver_agrees() -> None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pytest.skip("no libcuda")
    root = Path(triage.__file__).parent.parent
    command = [sys.executable, str(Path(__file__).parent / "occupancy.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(root)})
    if done.returncode == 2:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
