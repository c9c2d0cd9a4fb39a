"""What a kernel may do to triage, each with a real child process: it is reported for what it is, the compiles beside
it come out right, and nothing of it is left when the engine is closed."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from conftest import Traces
from fault_streams import SHORT, SMALL, Results, Stream, module, together, told
from rows import one_in

from triage.harness.engine import Engine
from triage.harness.toolchains import Toolchains
from triage.model.outcome import Outcome, Stage, Status, Undecided


@pytest.fixture(scope="module")
def stream(shared_engine: Engine, shared_traces: Traces, toolchains: Toolchains) -> Stream:
    """On servers that the tests of this module share: a fault that harmed them would show in the next test."""
    return Stream(shared_engine, toolchains.default(), shared_traces)


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


@pytest.mark.parametrize("how", one_in(2, ENDINGS))
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


@pytest.mark.parametrize("what", one_in(2, FAULTS))
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


@pytest.mark.parametrize("how", one_in(2, ENDLESS))
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


greedy = together(GREEDY, SMALL)


@pytest.mark.parametrize("how", one_in(4, GREEDY))
def test_a_child_that_allocates_without_end_is_out_of_memory(greedy: Results, how: str) -> None:
    result = greedy(how)
    assert told(result) == ("out-of-memory", None, None)
    assert isinstance(result, Outcome)
    assert result.limit_bytes == SMALL.memory_bytes


@pytest.mark.slow
def test_more_processes_than_triage_watches_end_the_attempt(stream: Stream, tmp_path: Path) -> None:
    result = stream(module(tmp_path, "while True: subprocess.Popen(['sleep', '1000'])"))
    assert result == Undecided("the compile started more processes than triage watches")


@pytest.mark.slow
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


@pytest.mark.parametrize("what", one_in(4, LEFT))
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


@pytest.mark.parametrize("what", one_in(3, CHANNELS))
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


@pytest.mark.parametrize("name", one_in(4, EVENTS))
def test_a_kernel_that_forges_events_fools_only_itself(forged: Results, name: str) -> None:
    """Its process holds the token, so it can lie about itself. It must not make triage stumble."""
    result = forged(name)
    assert isinstance(result, Outcome | Undecided)
    assert getattr(result, "status", None) is not Status.OK
