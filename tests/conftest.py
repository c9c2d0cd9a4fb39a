"""What every test may use: toolchains by release, and an engine that must leave nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.outcome import Outcome, Undecided

pytest_plugins = [
    "warm_servers",
    "commands",
    "cute_environments",
    "golden_files",
    "compile_outputs",
    "plugin_suites",
    "running",
    "github_server",
    "browsers",
    "soak.table",
]

# Hundreds of tests start Python. Without byte code each of those processes compiles all of triage anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Hundreds import Triton. A sixth of that is to look for other back ends, in each package that is installed beside it.
os.environ.setdefault("TRITON_BACKENDS_IN_TREE", "1")

# A job that runs in the background of a shell, or under nohup, ignores these, and so would every process of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A deadline for each example would measure what else runs on the machine. Each run has other examples.
hypothesis.settings.register_profile("tests", deadline=None, max_examples=25)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("tests")

NEWEST = "newest"
"""The Triton beside triage, which CI keeps at the newest release."""
_LINGER_S = 5.0
"""A killed process may need a moment to leave the process table on a busy machine."""

_ZOMBIE = "zombie of "

Compile = Callable[..., list["Outcome | Undecided"]]


def pytest_xdist_auto_num_workers() -> int:
    """Half as many processes again as there are cores: a third of the time is spent waiting, for limits above all."""
    return max(1, 3 * len(os.sched_getaffinity(0)) // 2)


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis parses every module of the project that is loaded, for one drawn number or text in twenty to be a
    constant of theirs. In a new checkout that takes each process three seconds; a profile that is named has them."""
    if config.getoption("hypothesis_profile", None) is None:
        with suppress(ImportError):  # It is no part of the documented interface.
            from hypothesis.internal.conjecture import providers

            providers.is_local_module_file = lambda path: False


def pytest_sessionstart(session: pytest.Session) -> None:
    """One message for each test that passes, and not five, from xdist's workers: a third of what it costs to run a test
    that does nothing. Who asks for more has them all."""
    asked = session.config.option
    if not hasattr(session.config, "workerinput") or asked.durations is not None or asked.verbose > 0 or asked.xmlpath:
        return
    with suppress(StopIteration):
        plugins = session.config.pluginmanager.get_plugins()
        interactor = next(plugin for plugin in plugins if type(plugin).__name__ == "WorkerInteractor")
        interactor.sendevent = partial(_send_what_counts, interactor.sendevent)


def _send_what_counts(send: Callable[..., None], name: str, **values: Any) -> None:
    if name in ("logstart", "logfinish"):
        return
    if name == "testreport" and values["data"]["when"] != "call" and values["data"]["outcome"] == "passed":
        return
    send(name, **values)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collects no garbage among the objects of six thousand tests, now and later: that is a third of the time it takes
    to make them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_compiler_in_this_process() -> Iterator[None]:
    """No test imports Triton here: what a compiler does to its process would be done to all tests."""
    yield
    assert "triton._C.libtriton" not in sys.modules


@pytest.fixture(scope="session")
def toolchains() -> Toolchains:
    """Toolchains kept in the user's cache folder: made on first use, in seconds."""
    return Toolchains()


@pytest.fixture(scope="session")
def release(toolchains: Toolchains) -> Callable[[str], Toolchain]:
    """The toolchain of a release; ``newest`` is the one beside triage."""
    return lambda version: toolchains.default() if version == NEWEST else toolchains.resolve(version)


class Traces:
    """Everything that a run could leave behind: processes that carry a mark, and files in a temporary folder."""

    def __init__(self, mark: str, temporary: Path, working: Path) -> None:
        self.mark, self.temporary, self._working = mark, temporary, working
        # A child of an earlier test that nobody has waited for yet is not of this run.
        self._before: frozenset[int] = frozenset()
        self._before = frozenset(pid for pid, text in self.processes().items() if text.startswith(_ZOMBIE))

    def processes(self) -> dict[int, str]:
        """Command lines of living processes below the test, by the mark in the environment they were started with, and
        names of zombies.

        A zombie has no environment any more, nor a command line; it is one of ours when its parent is this process."""
        found: dict[int, str] = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in {os.getpid(), *self._before}:
                continue
            with suppress(OSError):
                name, _, fields = (entry / "stat").read_text().partition("(")[2].rpartition(")")
                state, parent = fields.split()[:2]
                if state == "Z" and int(parent) == os.getpid():
                    found[int(entry.name)] = f"{_ZOMBIE}{name}"
                elif f"TRIAGE_TEST_MARK={self.mark}".encode() in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found

    def files(self) -> list[str]:
        """What lies in the temporary folder, and core files in the working one."""
        left = [str(path) for path in self.temporary.iterdir()]
        return left + [str(path) for path in self._working.iterdir() if path.name.startswith("core")]

    def strays(self) -> dict[int, str]:
        """Marked processes that are no servers: an attempt's are below four of those, an orphan's are elsewhere."""
        return {pid: text for pid, text in self.processes().items() if self._depth(pid) not in range(1, 5)}

    def _depth(self, pid: int) -> int:
        """How far below this process it is; -1 when it is not."""
        for depth in range(64):
            if pid == os.getpid():
                return depth
            try:
                pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                return -1
        return -1

    def assert_no_strays(self, within_s: float = _LINGER_S) -> None:
        """No attempt's process is left below servers that stay."""
        until = time.monotonic() + within_s
        while (strays := self.strays()) and time.monotonic() < until:
            time.sleep(0.02)
        assert strays == {}

    def assert_gone(self, within_s: float = _LINGER_S) -> None:
        """Nothing is left, now or in a moment."""
        until = time.monotonic() + within_s
        while (self.processes() or self.files()) and time.monotonic() < until:
            time.sleep(0.05)
        processes, files = self.processes(), self.files()
        for pid in processes:
            with suppress(OSError):  # so that one failing test does not spoil the next
                os.kill(pid, signal.SIGKILL)
        assert (processes, files) == ({}, [])


def _marked(folder: Path, patch: pytest.MonkeyPatch) -> Traces:
    temporary, working = folder / "temporary", folder / "working"
    temporary.mkdir()
    working.mkdir()
    mark = os.urandom(8).hex()
    patch.setenv("TRIAGE_TEST_MARK", mark)
    patch.setenv("TMPDIR", str(temporary))
    patch.setattr(tempfile, "tempdir", str(temporary))
    patch.chdir(working)
    return Traces(mark, temporary, working)


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Traces:
    """Marks every process that is started from here on and gives it a temporary folder of its own."""
    return _marked(tmp_path, monkeypatch)


@pytest.fixture
def engine(traces: Traces, toolchains: Toolchains) -> Iterator[Engine]:
    """An engine with two jobs and no store. When it is closed, nothing of it may be left."""
    with Engine(jobs=2, spare=lambda: [toolchains.default()]) as made:
        yield made
    traces.assert_gone()


@pytest.fixture(scope="module")
def shared_traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traces]:
    """The traces of everything that a module's shared engine starts."""
    with pytest.MonkeyPatch.context() as patch:
        yield _marked(tmp_path_factory.mktemp("shared"), patch)


@pytest.fixture(scope="module")
def shared_engine(shared_traces: Traces, toolchains: Toolchains) -> Iterator[Engine]:
    """One engine for the tests of a module, whose servers stay warm; nothing of it may be left either."""
    with Engine(jobs=2, spare=lambda: [toolchains.default()]) as made:
        yield made
    shared_traces.assert_gone()


@pytest.fixture
def compile_all(engine: Engine, toolchains: Toolchains) -> Compile:
    """Compile cases in one stream; the results come in the order of the cases."""
    return compiler(engine, toolchains)


def compiler(engine: Engine, toolchains: Toolchains) -> Compile:
    """The same for any engine."""

    def compile_all(
        cases: Iterable[Case],
        toolchain: Toolchain | None = None,
        limits: Limits | None = None,
        observe: bool = False,
    ) -> list[Outcome | Undecided]:
        used, limit = toolchain or toolchains.default(), limits or Limits(timeout_s=60, memory_bytes=4 << 30)
        requests = [Request(case, used, limit, FullCompile(observe), place) for place, case in enumerate(cases)]
        results = {attempt.request.tag: attempt.result for attempt in engine.run(requests)}
        return [results[place] for place in range(len(requests))]

    return compile_all
