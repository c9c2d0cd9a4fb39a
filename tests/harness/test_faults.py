"""What a kernel may do to triage, each with a real child process: it is reported for what it is, the compiles beside
it come out right, and nothing of it is left when the engine is closed.

A kernel module here replaces ``triton.compile`` with a function that does the fault first. That runs in the process
of the attempt and only there, below everything that triage has built around it.
"""

from __future__ import annotations

import os
import signal
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import kernel_cases
import psutil
import pytest
from conftest import Traces

from triage import logs
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.remote import DISAPPEARING
from triage.harness.request import Attempt, Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case, frozen
from triage.model.diagnosis import Trait
from triage.model.outcome import Outcome, Stage, Status, Undecided

LIMITS = Limits(timeout_s=60, memory_bytes=2 << 30)
SHORT = Limits(timeout_s=1.0, memory_bytes=2 << 30)
GOOD = 2
"""Good compiles in the same stream as a fault: beside and after it."""

MODULE = '''
import ctypes, fcntl, os, resource, signal, socket, subprocess, sys, threading, time
import triton
import triton.language as tl

_compile = triton.compile


@triton.jit
def add(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1)


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def result_pipes():
    """Every pipe that this process can write into, but its own output."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        try:
            is_pipe = os.readlink(f"/proc/self/fd/{fd}").startswith("pipe:")
            if fd > 2 and is_pipe and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_WRONLY:
                found.append(fd)
        except OSError:
            pass
    return found


def fault():
BODY


def compile_(*arguments, **named):
    fault()
    return _compile(*arguments, **named)


triton.compile = compile_
'''


def module(folder: Path, body: str, name: str = "faulty.py") -> Case:
    """A kernel module whose compile runs ``body`` first, as a case."""
    path = folder / name
    path.write_text(MODULE.replace("BODY", textwrap.indent(textwrap.dedent(body).strip(), "    ")))
    found = kernel_cases.case(path, "add", {"x_ptr": "*fp32", "y_ptr": "*fp32"})
    return replace(found, constexprs=frozen({"BLOCK": 256}))


def good_cases() -> list[Case]:
    return [kernel_cases.add(block=64 << step) for step in range(GOOD)]


class Stream:
    """Runs one bad case among good ones."""

    def __init__(self, engine: Engine, toolchain: Toolchain, traces: Traces) -> None:
        self._engine, self._toolchain, self._traces = engine, toolchain, traces

    def attempts(self, bad: Case, limits: Limits = LIMITS) -> Iterator[Attempt]:
        first, *rest = good_cases()
        requests = [(first, LIMITS), (bad, limits), *((case, LIMITS) for case in rest)]
        return self._engine.run(Request(case, self._toolchain, limit, tag=case is bad) for case, limit in requests)

    def __call__(self, bad: Case, limits: Limits = LIMITS) -> Outcome | Undecided:
        """The bad case's result; the good ones came out right, and no process is left but the servers."""
        return self.timed(bad, limits)[0]

    def timed(self, bad: Case, limits: Limits = LIMITS) -> tuple[Outcome | Undecided, float]:
        """The same, and after how many seconds it came."""
        began, ended = time.monotonic(), 0.0
        attempts = []
        for attempt in self.attempts(bad, limits):
            attempts.append(attempt)
            ended = time.monotonic() if attempt.request.tag else ended
        good = [attempt.result for attempt in attempts if not attempt.request.tag]
        assert [getattr(result, "status", result) for result in good] == [Status.OK] * GOOD
        self._traces.assert_no_strays()
        (result,) = [attempt.result for attempt in attempts if attempt.request.tag]
        return result, ended - began

    def together(self, cases: dict[str, Case], limits: Limits) -> dict[str, Outcome | Undecided]:
        """The results of many bad cases in one stream, by name: good ones at both ends and among them come out
        right."""
        good = iter(range(len(cases)))
        requests = []
        for number, (name, bad) in enumerate(cases.items()):
            if number % 3 == 0:
                requests.append(Request(kernel_cases.add(block=64 << next(good) % 4), self._toolchain, LIMITS))
            requests.append(Request(bad, self._toolchain, limits, tag=name))
        requests.append(Request(kernel_cases.add(), self._toolchain, LIMITS))
        attempts = list(self._engine.run(requests))
        statuses = [getattr(attempt.result, "status", attempt.result) for attempt in attempts if not attempt.request.tag]
        assert statuses == [Status.OK] * (len(requests) - len(cases))
        self._traces.assert_no_strays()
        return {attempt.request.tag: attempt.result for attempt in attempts if attempt.request.tag}


Results = Callable[[str], "Outcome | Undecided"]
MakeCase = Callable[[Path, str], Case]


def together(table: dict[str, str], limits: Limits = LIMITS, make: MakeCase = module) -> Any:
    """A fixture: the result of a row of the table, by its name, all of which are compiled in one stream. ``make`` makes
    a case of a row in a folder of its own."""

    @pytest.fixture(scope="module")
    def results(stream: Stream, tmp_path_factory: pytest.TempPathFactory) -> Results:
        folder = tmp_path_factory.mktemp("together")
        cases = {}
        for number, (name, body) in enumerate(table.items()):
            (folder / str(number)).mkdir()
            cases[name] = make(folder / str(number), body)
        return stream.together(cases, limits).__getitem__

    return results


@pytest.fixture(scope="module")
def stream(shared_engine: Engine, shared_traces: Traces, toolchains: Toolchains) -> Stream:
    """On servers that the tests of this module share: a fault that harmed them would show in the next test."""
    return Stream(shared_engine, toolchains.default(), shared_traces)


@pytest.fixture
def stream_of_its_own(engine: Engine, traces: Traces, toolchains: Toolchains) -> Stream:
    """On servers of its own, for tests that harm them on purpose."""
    return Stream(engine, toolchains.default(), traces)


def told(result: Outcome | Undecided) -> tuple[str, str | None, int | None]:
    """Status, signal and exit code."""
    assert isinstance(result, Outcome), result
    return result.status.value, result.signal, result.exit_code


# --- ways to end ----------------------------------------------------------------------------------------------------

ENDINGS = {
    "aborts": ("os.abort()", ("crash", "SIGABRT", None)),
    "segfaults": ("ctypes.string_at(0)", ("crash", "SIGSEGV", None)),
    "divides by zero": ("os.kill(os.getpid(), signal.SIGFPE)", ("crash", "SIGFPE", None)),
    "kills itself": ("os.kill(os.getpid(), signal.SIGKILL)", ("crash", "SIGKILL", None)),
    "kills its process group": ("os.killpg(0, signal.SIGKILL)", ("crash", "SIGKILL", None)),
    "leaves with 0": ("os._exit(0)", ("crash", None, 0)),
    "leaves with 3": ("os._exit(3)", ("crash", None, 3)),
    "leaves Python's way": ("sys.exit(3)", ("error", None, 1)),
    "leaves Python's way with 0": ("sys.exit(0)", ("error", None, 1)),
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt", ("error", None, 1)),
    "recurses": ("fault()", ("error", None, 1)),
    "leaves from a thread": ("threading.Thread(target=os._exit, args=(5,)).start(); time.sleep(9)", ("crash", None, 5)),
    "raises what cannot be printed": (
        """
        class Unprintable(Exception):
            def __str__(self):
                raise ValueError("no")
        raise Unprintable
        """,
        ("error", None, 1),
    ),
}


endings = together({how: body for how, (body, _) in ENDINGS.items()})


@pytest.mark.parametrize("how", ENDINGS)
def test_a_child_that(endings: Results, how: str) -> None:
    result = endings(how)
    assert told(result) == ENDINGS[how][1]
    assert isinstance(result, Outcome)
    assert (result.stage, result.notes) == (Stage.SOURCE, ())


def test_what_was_finished_before_the_end_is_kept(stream: Stream, tmp_path: Path) -> None:
    """The death is in the middle of a compile: in the call of ptxas."""
    body = """
        original = subprocess.run
        def run(*arguments, **named):
            if "ptxas" in str(arguments[0]):
                print("the last words", flush=True)
                os.abort()
            return original(*arguments, **named)
        subprocess.run = subprocess.check_call = run
    """
    result = stream(module(tmp_path, body))
    assert told(result) == ("crash", "SIGABRT", None)
    assert isinstance(result, Outcome)
    assert result.stage is Stage.CUBIN
    assert [done.stage.value for done in result.stages] == ["ttir", "ttgir", "llir", "ptx"]
    assert "the last words" in result.log


FAULTS = {
    "exit code": ("os._exit(70)", "triage's own worker failed: exit code 70"),
    "exception": (
        """
        def read(*_): raise ValueError("a form of assembly that is new")
        sys.modules["_triton_triage_worker.resources"].read = read
        """,
        "reading the compiled kernel: ValueError: a form of assembly that is new",
    ),
    "thread": (
        """raise RuntimeError("can't start new thread")""",
        "can't start new thread",
    ),
    "fork": ("raise BlockingIOError(11, os.strerror(11))", "[Errno 11] Resource temporarily unavailable"),
    "file size": ("open(os.environ['TMPDIR'] + '/big', 'wb').truncate(5 << 30)", "[Errno 27] File too large"),
    "assembler": (
        """
        original = subprocess.run
        def run(command, *arguments, **named):
            killed = ["sh", "-c", "kill -9 $$"] if "ptxas" in str(command) else command
            return original(killed, *arguments, **named)
        subprocess.run = run
        """,
        "a program that the compile started was killed from outside (SIGKILL); is memory short?",
    ),
    "program": (
        "subprocess.run(['sh', '-c', 'kill -9 $$'], check=True)",
        "a program that the compile started was killed from outside (SIGKILL); is memory short?",
    ),
    "empty binary": (
        """
        original = subprocess.run
        def run(command, *arguments, **named):
            done = original(command, *arguments, **named)
            if "ptxas" in str(command): open(command[command.index("-o") + 1], "w").close()
            return done
        subprocess.run = run
        """,
        "the assembler wrote an empty file; is the disk full?",
    ),
    "processor time": (
        "os.kill(os.getpid(), signal.SIGXCPU)",
        "the compile used up the environment's limit on processor time (ulimit -t)",
    ),
}


faults = together({what: body for what, (body, _) in FAULTS.items()})


@pytest.mark.parametrize("what", FAULTS)
def test_what_is_not_the_kernels_doing_is_no_failure_of_it(faults: Results, what: str) -> None:
    """Triage's own worker failed, or the machine."""
    assert faults(what) == Undecided(FAULTS[what][1])


# --- no end ---------------------------------------------------------------------------------------------------------

ENDLESS = {
    "loops": "while True: pass",
    "sleeps": "time.sleep(1000)",
    "ignores every signal": """
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True: time.sleep(1)
    """,
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "waits for a program that hangs": "subprocess.run(['sleep', '1000'])",
    "forks for ever, slowly": """
        while True:
            if os.fork() == 0: time.sleep(1000)
            time.sleep(0.02)
    """,
    "blocks in its own output": "os.read(os.pipe()[0], 1)",
    "hangs at exit": "import atexit; threading.Thread(target=time.sleep, args=(1000,)).start(); time.sleep(1000)",
}


endless = together(ENDLESS, SHORT)


@pytest.mark.parametrize("how", ENDLESS)
def test_a_child_without_an_end_is_a_time_out(endless: Results, how: str) -> None:
    result = endless(how)
    assert told(result) == ("timeout", None, None)
    assert isinstance(result, Outcome)
    assert result.limit_s == 1.0
    assert 0.9 < result.duration_s < 3


def test_a_ptxas_that_hangs_is_a_time_out_of_its_stage(stream: Stream, tmp_path: Path) -> None:
    body = """
        original = subprocess.run
        def run(command, *arguments, **named):
            if "ptxas" in str(command): command = ["sh", "-c", "sleep 1000 & wait"]
            return original(command, *arguments, **named)
        subprocess.run = run
    """
    result = stream(module(tmp_path, body), SHORT)
    assert told(result) == ("timeout", None, None)
    assert isinstance(result, Outcome)
    assert (result.stage, len(result.stages)) == (Stage.CUBIN, 4)


# --- memory and output ----------------------------------------------------------------------------------------------

GREEDY = {
    "bytes": "kept = []\nwhile True: kept.append(b'x' * (1 << 26))",
    "pages, slowly": "kept = []\nwhile True:\n    kept.append(b'x' * (1 << 22))\n    time.sleep(0.001)",
    "in a grandchild": """
        if os.fork() == 0:
            kept = []
            while True: kept.append(b'x' * (1 << 24)); time.sleep(0.01)
        time.sleep(1000)
    """,
    "in a daemon": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                kept = []
                while True: kept.append(b'x' * (1 << 24)); time.sleep(0.01)
            os._exit(0)
        os.wait()
        time.sleep(1000)
    """,
    "all at once": "b'x' * (1 << 34)",
    "as a mapping": "import mmap; mmap.mmap(-1, 1 << 40)",
    "in C": """
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        while (place := libc.malloc(1 << 26)): ctypes.memset(ctypes.c_void_p(place), 1, 1 << 26)
        os.write(2, b"LLVM ERROR: out of memory\\n")
        os.abort()
    """,
}


SMALL = Limits(timeout_s=30, memory_bytes=3 << 27)
"""To fill a gibibyte takes half a second. Triton itself needs an eighth of one."""

greedy = together(GREEDY, SMALL)


@pytest.mark.parametrize("how", GREEDY)
def test_a_child_that_allocates_without_end_is_out_of_memory(greedy: Results, how: str) -> None:
    result = greedy(how)
    assert told(result) == ("out-of-memory", None, None)
    assert isinstance(result, Outcome)
    assert result.limit_bytes == SMALL.memory_bytes


@pytest.mark.slow
def test_more_processes_than_triage_watches_end_the_attempt(stream: Stream, tmp_path: Path) -> None:
    result = stream(module(tmp_path, "while True: subprocess.Popen(['sleep', '1000'])"))
    assert result == Undecided("the compile started more processes than triage watches")


def test_hundreds_of_mebibytes_of_output_are_kept_in_bounds(stream: Stream, tmp_path: Path) -> None:
    body = """
        print("the first line", flush=True)
        block = b"chatter\\n" * (1 << 17)
        for _ in range(1 << 8): os.write(1, block)
        print("the last line", flush=True)
    """
    before = psutil.Process().memory_info().rss
    result = stream(module(tmp_path, body))
    assert told(result) == ("ok", None, 0)
    assert isinstance(result, Outcome)
    assert result.log.startswith("the first line\n")
    assert "the last line\n" in result.log
    assert len(result.log) < 8 << 20
    assert result.log_dropped_bytes > 240 << 20
    assert psutil.Process().memory_info().rss - before < 100 << 20


# --- what it leaves -------------------------------------------------------------------------------------------------

LEFT = {
    "a program": "subprocess.Popen(['sleep', '1000'])",
    "a program in a session of its own": "subprocess.Popen(['sleep', '1000'], start_new_session=True)",
    "a daemon": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for fd in range(100):
                    try: os.close(fd)
                    except OSError: pass
                time.sleep(1000)
            os._exit(0)
        os.wait()
    """,
    "a daemon that ignores signals": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
                os.setsid()
                time.sleep(1000)
            os._exit(0)
        os.wait()
    """,
    "a thread": "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "a zombie": "os.fork() or os._exit(0)",
    "a stopped program": "os.kill(subprocess.Popen(['sleep', '1000']).pid, signal.SIGSTOP)",
    "files": "[open(f'{os.environ[\"TMPDIR\"]}/{i}', 'w').write('x' * 1000) for i in range(100)]",
    "a folder that cannot be entered": "os.mkdir(os.environ['TMPDIR'] + '/closed', 0)",
    "another working folder": "os.chdir('/')",
}


left = together(LEFT)


@pytest.mark.parametrize("what", LEFT)
def test_a_child_that_leaves_something_behind_compiles_all_the_same(left: Results, what: str) -> None:
    """What it left is gone at once, not only when the engine is closed: the stream sees to that."""
    assert told(left(what)) == ("ok", None, 0)


# --- its channels to triage -----------------------------------------------------------------------------------------


def _writes(data: str) -> str:
    return f"""
        pipes = result_pipes()
        assert pipes
        data = {data}
        for fd in pipes:
            for at in range(0, len(data), 65536): os.write(fd, data[at:at + 65536])
    """


CHANNELS = {
    "closes its output": ("os.close(1); os.close(2)", None),
    # Its compile may have been good: nobody can know.
    "closes everything": ("os.closerange(0, 4096)", "triage's own worker failed: exit code 70"),
    "writes binary data": (_writes("os.urandom(1 << 20)"), None),
    "writes lines": (_writes('b\'0123456789abcdef {"ev": "done"}\\n\' * 1000'), None),
    "writes broken JSON": (_writes("b'{\"ev\": \\n' * 1000"), None),
    "writes no line break": (_writes("b'x' * (8 << 20)"), None),
    "writes without end": (
        "while True: [os.write(fd, b'x' * 65536) for fd in result_pipes()]",
        "the compile wrote more than 64 MiB of garbage into triage's result pipe",
    ),
}


channels = together({what: body for what, (body, _) in CHANNELS.items()})


@pytest.mark.parametrize("what", CHANNELS)
def test_garbage_in_the_result_pipe_is_not_heard(channels: Results, what: str) -> None:
    if (reason := CHANNELS[what][1]) is not None:
        assert channels(what) == Undecided(reason)
    else:
        assert told(channels(what)) == ("ok", None, 0)


EVENTS = {
    "an unknown stage": '{"ev": "begin", "stage": "nonsense"}',
    "no stage": '{"ev": "begin"}',
    "a result without resources": '{"ev": "done"}',
    "wrong types": '{"ev": "done", "resources": 3, "num_ctas": "x"}',
    "an error that is none": '{"ev": "error", "errors": [{}]}',
    "an endless number": '{"ev": "end", "stage": "ttir", "seconds": "long"}',
}


forged = together(
    {
        name: f"""
            import gc
            token = next(o._token for o in gc.get_objects() if type(o).__name__ == "Recorder")
            for fd in result_pipes(): os.write(fd, ("\\n" + token + " " + {event!r} + "\\n").encode())
            os.write(2, ("\\x1e" + token + " nonsense\\n\\x1e" + token).encode())
            os._exit(0)
        """
        for name, event in EVENTS.items()
    }
)


@pytest.mark.parametrize("name", EVENTS)
def test_a_kernel_that_forges_events_fools_only_itself(forged: Results, name: str) -> None:
    """Its process holds the token, so it can lie about itself. It must not make triage stumble."""
    result = forged(name)
    assert isinstance(result, Outcome | Undecided)
    assert getattr(result, "status", None) is not Status.OK


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
        pytest.param(0, id="nanny"),
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


@pytest.mark.parametrize("how", IMPORTS)
def test_a_module_that(imports: Results, how: str) -> None:
    (text, expected), result = IMPORTS[how], imports(how)
    assert told(result) == expected
    assert isinstance(result, Outcome)
    assert (result.stage, result.imported) == (Stage.SOURCE, False)
    found = logs.diagnose_outcome(result, Path("unimportable.py"))
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
