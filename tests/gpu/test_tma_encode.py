"""Runs ``tma_encode.py`` where there is a driver with tensor maps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_the_rule_agrees_with_the_driver() -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("tma_encode.py"))], capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
