"""The pytest plugin (entry point ``pytest11``): ``--triage`` guards kernels that tests compile, and ``compile_matrix``
compiles a kernel for GPUs that are absent.

pytest loads this module in every environment that has triage, so its imports are light."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from triage.integrations.compile_matrix import CompileMatrix

_MARKER = (
    "compile_matrix(targets, triton=None, cute=None, timeout=120, memory=None, undecided='skip'): run the test once "
    "for each target (cuda:90, hip:gfx942) and release of Triton or CuTe DSL ('3.6.0', '3.2..3.9'; None is the "
    "installed one); its fixture compile_matrix compiles a kernel for it, in isolation and without a GPU"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options, and their names in a configuration file."""
    group = parser.getgroup("triage", "crash triage for Triton kernels")
    group.addoption(
        "--triage",
        action="store_true",
        default=None,
        help="Try each kernel compile in isolation first: a test whose compile would end the process fails alone.",
    )
    group.addoption(
        "--triage-dir",
        metavar="DIR",
        help="Keep the cases of failing compiles there. [triage, in pytest's cache folder]",
    )
    group.addoption(
        "--triage-timeout",
        type=seconds,
        metavar="SECONDS",
        help="A compile that takes longer fails its test. [600]",
    )
    parser.addini("triage", "as --triage", type="bool", default=False)
    parser.addini("triage_dir", "as --triage-dir, relative to the root folder")
    parser.addini("triage_timeout", "as --triage-timeout")


def seconds(text: str) -> float:
    """The value of ``--triage-timeout``. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    # The option exists to prevent unbounded compiles.
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: write a number of seconds, more than 0")
    return value


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and, if requested, guard the session."""
    config.addinivalue_line("markers", _MARKER)
    asked = config.getoption("triage")
    if config.getini("triage") if asked is None else asked:
        from triage.integrations.guarded_session import begin

        begin(config, _timeout(config))


def _timeout(config: pytest.Config) -> float | None:
    """Seconds a compile may take, from the command line or the configuration file; None for the default."""
    asked: float | None = config.getoption("triage_timeout")
    text = config.getini("triage_timeout")
    if asked is None and text:
        try:
            return seconds(text)
        except argparse.ArgumentTypeError as error:
            raise pytest.UsageError(f"triage_timeout = {error}") from None
    return asked


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item for each combination of the marker."""
    if "compile_matrix" in metafunc.fixturenames:
        from triage.integrations.compile_matrix import parametrize

        parametrize(metafunc)


@pytest.fixture
def compile_matrix(request: pytest.FixtureRequest) -> CompileMatrix:
    """Compile a kernel for this item's target and Triton release: ``compile_matrix(kernel, signature={…},
    constexprs={…}, num_warps=4)``; see :class:`triage.integrations.compile_matrix.CompileMatrix`."""
    from triage.integrations.compile_matrix import fixture

    return fixture(request)
