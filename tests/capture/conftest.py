"""A bench for each test of captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from running import Bench

from triage.harness.toolchains import Toolchain

Release = Callable[[str], Toolchain]


@pytest.fixture
def bench_of(tmp_path: Path, release: Release) -> Callable[[str], Bench]:
    """A bench with the interpreter of a release."""
    return lambda version: Bench(tmp_path, release(version).python)


@pytest.fixture
def bench(bench_of: Callable[[str], Bench]) -> Bench:
    """A bench with the newest."""
    return bench_of("newest")
