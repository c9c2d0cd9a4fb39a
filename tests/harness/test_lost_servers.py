"""What happens to triage's own servers, or to the machine, while a kernel compiles: who did it is found out, and nobody
else loses a result."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import kernel_cases
import psutil
import pytest
from conftest import Traces
from fault_streams import GOOD, SHORT, SMALL, Results, Stream, module, together, told
from rows import one_in

from triage.harness.engine import Engine
from triage.harness.remote import DISAPPEARING
from triage.harness.request import Request
from triage.harness.toolchains import Toolchains
from triage.logs.outcomes import diagnose_outcome
from triage.model.case import Case
from triage.model.diagnosis import Trait
from triage.model.outcome import Outcome, Stage, Status, Undecided


@pytest.fixture(scope="module")
def stream(shared_engine: Engine, shared_traces: Traces, toolchains: Toolchains) -> Stream:
    """On servers that the tests of this module share: a fault that harmed them would show in the next test."""
    return Stream(shared_engine, toolchains.default(), shared_traces)


@pytest.fixture
def stream_of_its_own(engine: Engine, traces: Traces, toolchains: Toolchains) -> Stream:
    """On servers of its own, for tests that harm them on purpose."""
    return Stream(engine, toolchains.default(), traces)


# --- the processes above it -----------------------------------------------------------------------------------------

ABOVE = {
    "parent": "os.getppid()",
    "grandparent": "parent_of(os.getppid())",
    "toolchain server": "parent_of(parent_of(os.getppid()))",
    "nanny": "parent_of(parent_of(parent_of(os.getppid())))",
}


def above(*fast: str) -> pytest.MarkDecorator:
    """Every process above, of which only the named ones are in the fast run: each costs servers of its own."""
    marks = {who: () if who in fast else (pytest.mark.slow,) for who in ABOVE}
    return pytest.mark.parametrize("who", [pytest.param(ABOVE[who], id=who, marks=marks[who]) for who in ABOVE])


@above("parent")
def test_a_child_that_kills_the_process_above_it_is_found_out(stream: Stream, tmp_path: Path, who: str) -> None:
    """The first time it may have been a bystander; alone, below servers of its own, it was not."""
    result = stream(module(tmp_path, f"os.kill({who}, signal.SIGKILL); time.sleep(30)"))
    assert isinstance(result, Outcome)
    assert (result.status, result.killed_from_outside) == (Status.CRASH, True)
    assert "killed the process that had started it" in result.notes[0]


@above("nanny")
def test_a_child_that_kills_from_below_and_leaves_a_daemon(stream: Stream, tmp_path: Path, who: str) -> None:
    body = f"""
        victim = {who}
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.setsid()
                time.sleep(1000)
            os._exit(0)
        os.wait()
        os.kill(victim, signal.SIGKILL)
        time.sleep(30)
    """
    result = stream(module(tmp_path, body))
    assert isinstance(result, Outcome)
    assert (result.status, result.killed_from_outside) == (Status.CRASH, True)
    assert "killed the process that had started it" in result.notes[0]


@above("grandparent")
def test_a_child_that_stops_a_server_ends_in_time(stream: Stream, tmp_path: Path, who: str) -> None:
    """The server cannot report any more, nor kill; the one above it can."""
    began = time.monotonic()
    result = stream(module(tmp_path, f"os.kill({who}, signal.SIGSTOP); time.sleep(1000)"), SHORT)
    assert isinstance(result, Outcome)
    assert result.status is Status.TIMEOUT
    assert time.monotonic() - began < 30


# --- killed by somebody else ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_that_somebody_kills_is_told_apart(stream: Stream, tmp_path: Path, number: signal.Signals) -> None:
    flag = tmp_path / "running"
    case = module(tmp_path, f"open({str(flag)!r}, 'w').write(str(os.getpid())); time.sleep(50)")

    def kill() -> None:
        while not flag.exists() or not flag.read_text():
            time.sleep(0.02)
        os.kill(int(flag.read_text()), number)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    result = stream(case)
    killer.join()
    assert told(result) == ("crash", number.name, None)
    assert isinstance(result, Outcome)
    assert result.killed_from_outside


@pytest.mark.parametrize(
    "depth",
    [
        pytest.param(0, id="nanny", marks=pytest.mark.slow),
        pytest.param(1, id="toolchain server", marks=pytest.mark.slow),
        pytest.param(2, id="target server", marks=pytest.mark.slow),
        pytest.param(3, id="case server"),
    ],
)
def test_a_server_that_somebody_kills_costs_nobody_a_result(stream: Stream, tmp_path: Path, depth: int) -> None:
    """Killed once, between and during compiles: everything is run again and comes out right."""
    flag = tmp_path / "seen"
    body = f"""
        if not os.path.exists({str(flag)!r}):
            with open({str(flag)!r}, "w") as file:
                file.write(str(os.getpid()))
            time.sleep(20)
    """
    case = module(tmp_path, body)
    done = threading.Event()
    killed = []

    def kill() -> None:
        while not flag.exists() or not flag.read_text():
            if done.is_set():
                return
            time.sleep(0.02)
        # This process may have other children than the nanny, and each server other servers below it.
        above = psutil.Process(int(flag.read_text())).parents()
        servers = above[: above.index(psutil.Process())][::-1]
        servers[depth].kill()
        killed.append(len(servers))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    result = stream(case)
    done.set()
    killer.join()
    assert killed == [4]
    assert told(result) == ("ok", None, 0)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, pytest.param(99, marks=pytest.mark.slow)])
def test_a_server_that_is_killed_as_it_starts_is_started_again(stream_of_its_own: Stream, times: int) -> None:
    """The nanny, and the toolchain server as it imports Triton. Killed again and again, that is the answer."""
    done = threading.Event()
    others = set(psutil.Process().children(recursive=True))  # of the engine that other tests share
    left = {"nanny": 1, "serve": times}
    killed: set[psutil.Process] = set()

    def kill() -> None:
        while any(left.values()) and not done.is_set():
            for process in set(psutil.Process().children(recursive=True)) - others - killed:
                with suppress(psutil.Error):
                    mode = next((mode for mode in left if left[mode] and mode in process.cmdline()), None)
                    if mode is not None:
                        process.kill()
                        killed.add(process)
                        left[mode] -= 1

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    results = [attempt.result for attempt in stream_of_its_own.attempts(kernel_cases.add(block=16))]
    done.set()
    killer.join()
    if times > 1:
        assert results == [Undecided(DISAPPEARING)] * (GOOD + 1)
        return
    assert not any(left.values())
    assert [getattr(result, "status", result) for result in results] == [Status.OK] * (GOOD + 1)


# --- a module that cannot be imported -------------------------------------------------------------------------------

IMPORTS = {
    "crashes": ("import os; os.abort()", ("crash", "SIGABRT", None)),
    "segfaults": ("import ctypes; ctypes.string_at(0)", ("crash", "SIGSEGV", None)),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", ("crash", "SIGKILL", None)),
    "leaves": ("import os; os._exit(4)", ("crash", None, 4)),
    "raises SystemExit": ("import sys; sys.exit(0)", ("error", None, 1)),
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt", ("error", None, 1)),
    "raises": ("raise ValueError", ("error", None, 1)),
    "is not Python": ("def def", ("error", None, 1)),
    "hangs": ("import time; time.sleep(1000)", ("timeout", None, None)),
    "allocates": ("kept = []\nwhile True: kept.append(b'x' * (1 << 24))", ("out-of-memory", None, None)),
}


def unimportable(folder: Path, text: str) -> Case:
    """A module of that text, as a case."""
    path = folder / "unimportable.py"
    path.write_text(text)
    return kernel_cases.case(path, "add", {"x_ptr": "*fp32"})


imports = together({how: text for how, (text, _) in IMPORTS.items()}, replace(SMALL, timeout_s=3.0), unimportable)


@pytest.mark.parametrize("how", one_in(3, IMPORTS))
def test_a_module_that(imports: Results, how: str) -> None:
    (text, expected), result = IMPORTS[how], imports(how)
    assert told(result) == expected
    assert isinstance(result, Outcome)
    assert (result.stage, result.imported) == (Stage.SOURCE, False)
    found = diagnose_outcome(result, Path("unimportable.py"))
    assert found is not None
    assert found.headline.startswith("Importing unimportable.py ")
    assert not found.kind.has(Trait.GAVE_UP | Trait.COMPILER_MESSAGE)
    # Nothing can be seen of a process that ends itself with SIGKILL.
    lines = len(text.splitlines()) if result.signal != "SIGKILL" else None
    assert (found.source and (found.source.file, found.source.line)) == (lines and ("unimportable.py", lines))


def test_a_module_that_starts_threads_is_compiled_in_fresh_processes(stream: Stream, tmp_path: Path) -> None:
    """A fork has none of its parent's threads, but all of the locks that they hold."""
    case = module(tmp_path, "pass")
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
    case.path.write_text(text + case.path.read_text())
    assert told(stream(case)) == ("ok", None, 0)


def test_a_module_that_starts_a_program_on_import_leaves_none(stream: Stream, tmp_path: Path) -> None:
    case = module(tmp_path, "pass")
    case.path.write_text("import subprocess\nsubprocess.Popen(['sleep', '1000'])\n" + case.path.read_text())
    assert told(stream(case)) == ("ok", None, 0)


# --- the machine ----------------------------------------------------------------------------------------------------


def test_a_full_disk_is_not_the_kernels_failure(stream: Stream, tmp_path: Path) -> None:
    body = """
        import errno
        opened = open
        def full(*arguments, **named):
            if "w" in "".join(str(a) for a in arguments[1:]):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))
            return opened(*arguments, **named)
        import builtins
        builtins.open = full
    """
    result = stream(module(tmp_path, body))
    assert isinstance(result, Undecided)
    assert "No space left on device" in result.reason
    assert not result.input_error


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB; needs the right to mount."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=1m,mode=777 tiny {folder} 2>/dev/null") != 0:
        pytest.skip("may not mount a file system here")
    yield folder
    os.system(f"umount -l {folder}")


def test_a_disk_that_is_really_full(
    tiny_disk: Path, toolchains: Toolchains, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    monkeypatch.setenv("TMPDIR", str(tiny_disk))
    monkeypatch.setattr(tempfile, "tempdir", str(tiny_disk))
    # Room for folders and the first stages, and not for the rest.
    (tiny_disk / "filler").write_bytes(b"x" * ((1 << 20) - (48 << 10)))
    with Engine(jobs=1) as engine:
        (attempt,) = engine.run([Request(kernel_cases.matmul(64, 64, 32), toolchains.default())])
    assert isinstance(attempt.result, Undecided)
    assert "No space left on device" in attempt.result.reason
    assert [path.name for path in tiny_disk.iterdir()] == ["filler"]
