"""Modules under test that attack what triage has built around them: the right answer or "could not tell", within twice
the limit, and nothing of it reaches the compiles beside them."""

from __future__ import annotations

import itertools
import json
import textwrap
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import kernel_cases
import pytest
from conftest import Traces
from fault_streams import LIMITS, MODULE, Stream, module, told

from triage.harness import run_clock, servers
from triage.harness.answers import Answers
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.reads import ModuleReads
from triage.harness.request import Request
from triage.harness.run_clock import RunClock
from triage.harness.toolchains import Toolchains
from triage.harness.worker import wire
from triage.model.case import Case, frozen
from triage.model.errors import EnvironmentFault
from triage.model.outcome import Outcome, Stage, Undecided

HOSTILE = Limits(timeout_s=4.0, memory_bytes=2 << 30)

TOOLS = '''
import array, builtins, gc, json, pathlib, re, select, types


def sockets():
    """Every socket that this process has inherited."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                found.append(int(name))
        except OSError:
            pass
    return found


def tell(*messages):
    """Send to whoever listens."""
    for fd in sockets():
        end = socket.socket(fileno=os.dup(fd))
        for message in messages:
            try:
                end.send(message if isinstance(message, bytes) else json.dumps(message).encode())
            except OSError:
                pass


def above(depth):
    """The processes above this one."""
    pids = [os.getppid()]
    while len(pids) < depth:
        pids.append(parent_of(pids[-1]))
    return pids


'''
IDS = "[str(number) for number in range(60)]"


@dataclass(frozen=True)
class Trick:
    """Code that runs when the module is imported, or when its kernel is compiled. ``answers``: the right ones; a text
    that is no status is part of the reason why triage could not tell."""

    code: str
    answers: tuple[str, ...] = ("ok",)
    fast: bool = False


IMPORTED = {
    "forges an end of every process": Trick(
        f'tell(*[{{"op": "exit", "id": each, "status": 0, "max_rss_bytes": 1}} for each in {IDS}])', fast=True
    ),
    "forges a start of every process": Trick(f'tell(*[{{"op": "started", "id": each, "pid": 1}} for each in {IDS}])'),
    "says that it is ready": Trick('tell({"op": "ready", "ok": True})'),
    "says that it is ready, wrongly": Trick('tell({"op": "ready", "ok": True, "reads": 3})'),
    "says that it failed": Trick('tell({"op": "ready", "ok": False, "event": {"ev": "undecided", "reason": "no"}})'),
    "says that it failed, wrongly": Trick('tell({"op": "ready", "ok": False, "event": {"ev": "error"}})'),
    "sends garbage": Trick('tell(b"garbage", b"[1]", b"{}", b"null")'),
    "sends nesting": Trick('tell(b"[" * 16_000)'),
    "sends half a message": Trick('tell(b\'{"op": "ready", "ok": tr\')'),
    "sends nothing": Trick('tell(b"")'),
    "sends without end": Trick(
        'threading.Thread(target=lambda: [tell({"op": "x"}) for _ in iter(int, 1)], daemon=True).start()'
    ),
    "shuts its sockets down": Trick("[socket.socket(fileno=os.dup(fd)).shutdown(2) for fd in sockets()]"),
    "closes everything": Trick("os.closerange(0, 4096)", ("worker failed",), fast=True),
    "covers everything": Trick(
        "null = os.open('/dev/null', os.O_RDWR)\n[os.dup2(null, fd) for fd in range(3, 64) if fd != null]",
        ("worker failed",),
    ),
    "replaces select and socket": Trick(
        "select.poll = select.select = socket.socket.sendmsg = socket.socket.recvmsg = socket.socket.close = None",
        fast=True,
    ),
    "replaces json": Trick("json.dumps = json.loads = lambda *a, **k: '{}'", ("error",)),
    "replaces os": Trick("for name in ('waitid', 'wait4', 'setsid', 'getppid', 'pipe2'): setattr(os, name, None)"),
    "replaces signal": Trick("signal.signal = signal.set_wakeup_fd = None"),
    "replaces paths": Trick("pathlib.Path.resolve = None"),
    "replaces builtins": Trick("builtins.isinstance = builtins.open = None", ("error", "listing", "worker failed")),
    "blocks signals": Trick("signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))", fast=True),
    "ignores its children": Trick("signal.signal(signal.SIGCHLD, signal.SIG_IGN)"),
    "sets an alarm": Trick("signal.setitimer(signal.ITIMER_REAL, 0.3, 0.01)", ("ok", "crash")),
    "stops its parent": Trick("os.kill(os.getppid(), signal.SIGSTOP)"),
    "stops all above and hangs": Trick(
        "[os.kill(pid, signal.SIGSTOP) for pid in above(3)]\ntime.sleep(1000)", ("timeout",)
    ),
    "kills its parent": Trick("os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(1000)", ("killed triage's own",)),
    "kills the nanny": Trick("os.kill(above(3)[-1], signal.SIGKILL)\ntime.sleep(1000)", ("killed triage's own",)),
    "forks and leaves": Trick("if os.fork(): os._exit(0)", ("crash",)),
    "forks and stays": Trick("os.fork()"),
    "hangs before forks": Trick("os.register_at_fork(before=lambda: time.sleep(1000))"),
    "hangs in forks": Trick("os.register_at_fork(after_in_child=lambda: time.sleep(1000))"),
    "leaves in forks": Trick("os.register_at_fork(after_in_child=lambda: os._exit(0))"),
    "leaves before forks": Trick("os.register_at_fork(before=lambda: os._exit(0))"),
    "has no output": Trick("sys.stdout = sys.stderr = None"),
    "has an output that leaves": Trick(
        "class Output:\n    def __getattr__(self, name): raise SystemExit(0)\nsys.stdout = sys.stderr = Output()"
    ),
    "registers exits": Trick("import atexit\natexit.register(os._exit, 9)\nsys.excepthook = lambda *_: os._exit(9)"),
    "has a module that raises": Trick(
        "class Lazy(types.ModuleType):\n"
        "    def __getattr__(self, name): raise KeyboardInterrupt(name)\n"
        "sys.modules['lazy'] = Lazy('lazy')\n"
        "sys.modules['odd'] = types.SimpleNamespace(__file__=3)"
    ),
    "removes its folder": Trick("os.mkdir('gone')\nos.chdir('gone')\nos.rmdir(os.getcwd())"),
    "may open nothing": Trick("resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))", ("Too many open files",)),
}

COMPILED = {
    "forges an end of every process": Trick(
        f'tell(*[{{"op": "exit", "id": each, "status": 0, "max_rss_bytes": 1}} for each in {IDS}])'
    ),
    "replaces json and os.write": Trick("json.dumps = os.write = None", ("error",)),
    "closes everything": Trick("os.closerange(0, 4096)", ("worker failed",)),
    "closes what it has to report to": Trick(
        "[os.close(fd) for fd in result_pipes()]", ("worker failed: the pipe for the result is closed",)
    ),
    "stops its parent": Trick("os.kill(os.getppid(), signal.SIGSTOP)", fast=True),
    "stops all above and hangs": Trick(
        "[os.kill(pid, signal.SIGSTOP) for pid in above(4)]\ntime.sleep(1000)", ("timeout",)
    ),
    "stops all above, again and again": Trick(
        "pids = above(4)\nwhile True: [os.kill(pid, signal.SIGSTOP) for pid in pids]", ("timeout",)
    ),
    "replaces the compiler": Trick(
        "global _compile\n_compile = lambda *a, **k: types.SimpleNamespace(asm={}, metadata=None)",
        ("replaces the compiler",),
        fast=True,
    ),
    "raises what raises": Trick(
        """
        class Odd(BaseException):
            def __str__(self): raise KeyboardInterrupt
            @property
            def __traceback__(self): raise SystemExit(0)
        raise Odd
        """,
        ("error",),
    ),
    "makes its pipes not wait": Trick(
        "for name in os.listdir('/proc/self/fd'):\n    try: os.set_blocking(int(name), False)\n    except OSError: pass"
    ),
    "forks and stays": Trick("os.fork()"),
    "forks and leaves": Trick("if os.fork(): os._exit(0)", ("crash",)),
    "removes its folder": Trick("import shutil\nshutil.rmtree(os.environ['TMPDIR'])", ("ok", "was removed")),
    "puts a link in place of its folder": Trick(
        "import shutil\nfolder = os.environ['TMPDIR']\nshutil.rmtree(folder)\nos.symlink('/usr', folder)\nos.abort()",
        ("was removed",),
    ),
    "removes every folder": Trick(
        "import shutil\nshutil.rmtree(os.path.dirname(os.environ['TMPDIR']), ignore_errors=True)\nos.abort()",
        ("was removed",),
        fast=True,
    ),
}


def tricks(table: dict[str, Trick]) -> pytest.MarkDecorator:
    """All of them; the fast run has those of which each breaks another part."""
    marks = {name: () if trick.fast else (pytest.mark.slow,) for name, trick in table.items()}
    return pytest.mark.parametrize(
        "trick", [pytest.param(trick, id=name, marks=marks[name]) for name, trick in table.items()]
    )


@pytest.fixture
def stream(shared_engine: Engine, shared_traces: Traces, toolchains: Toolchains) -> Stream:
    return Stream(shared_engine, toolchains.default(), shared_traces)


def check(stream: Stream, case: Case, trick: Trick) -> None:
    result, took = stream.timed(case, HOSTILE)
    answer = result.reason if isinstance(result, Undecided) else result.status.value
    assert any(right in answer for right in trick.answers), result
    assert took < 2 * HOSTILE.timeout_s


@tricks(IMPORTED)
def test_a_module_that_on_import(stream: Stream, tmp_path: Path, trick: Trick) -> None:
    case = module(tmp_path, "pass")
    case.path.write_text(MODULE.replace("BODY", "    pass") + TOOLS + trick.code + "\n")
    check(stream, case, trick)


@tricks(COMPILED)
def test_a_module_that_in_its_compile(stream: Stream, tmp_path: Path, trick: Trick) -> None:
    case = module(tmp_path, textwrap.dedent(trick.code))
    case.path.write_text(case.path.read_text().replace("def fault():", TOOLS + "def fault():"))
    check(stream, case, trick)


@pytest.mark.slow
def test_all_of_them_in_one_call(engine: Engine, toolchains: Toolchains, tmp_path: Path) -> None:
    """Several lose their servers and run alone, one after the other; none waits for ever."""
    cases = {}
    for index, table in enumerate((IMPORTED, COMPILED)):
        for number, (name, trick) in enumerate(table.items()):
            case = module(tmp_path, "pass", f"faulty_{index}_{number}.py")
            code = textwrap.dedent(trick.code) + "\n"
            if table is COMPILED:
                body = textwrap.indent(code + "return _compile(*a, **k)\n", "    ")
                code = f"def compile_(*a, **k):\n{body}triton.compile = compile_\n"
            case.path.write_text(MODULE.replace("BODY", "    pass") + TOOLS + code)
            cases[index, name] = (case, trick)
    requests = [Request(case, toolchains.default(), HOSTILE, tag=trick) for case, trick in cases.values()]
    requests += [Request(kernel_cases.add(block=64 << step), toolchains.default(), LIMITS) for step in range(6)]
    wrong = []
    for attempt in engine.run(requests):
        result, trick = attempt.result, attempt.request.tag
        answer = result.reason if isinstance(result, Undecided) else result.status.value
        if not any(right in answer for right in (trick.answers if trick else ("ok",))):
            wrong.append((trick, answer))
    assert wrong == []


MADE_AGAIN = "shutil.rmtree(folder); os.makedirs(cache); "


@pytest.mark.parametrize(
    ("once", "always", "answer"),
    [
        pytest.param("open(cache + '/a/b')", "", "ok", id="file"),
        pytest.param(MADE_AGAIN + "open(cache + '/b')", "", "ok", id="made again", marks=pytest.mark.slow),
        pytest.param(MADE_AGAIN + "raise ValueError", "", "ok", id="another error", marks=pytest.mark.slow),
        pytest.param(MADE_AGAIN + "os.abort()", "", "ok", id="crash", marks=pytest.mark.slow),
        pytest.param("pass", MADE_AGAIN + "raise ValueError", "was removed", id="always"),
        pytest.param("pass", "open('/nowhere')", "error", id="elsewhere"),
        pytest.param("pass", "open(cache + '/b')", "error", id="its own", marks=pytest.mark.slow),
    ],
)
def test_a_compile_whose_files_went_is_run_again(
    shared_engine: Engine, toolchains: Toolchains, tmp_path: Path, once: str, always: str, answer: str
) -> None:
    """``once``: what somebody else does to the folder of its first run; ``always``: what it does itself."""
    body = f"""
import shutil
folder, cache = os.environ["TMPDIR"], os.environ["TRITON_CACHE_DIR"]
try:
    os.mkdir({str(tmp_path / "met")!r})
except FileExistsError:
    pass
else:
    {once}
{always}
"""
    (attempt,) = shared_engine.run([Request(module(tmp_path, body), toolchains.default(), LIMITS)])
    assert answer in (
        attempt.result.reason if isinstance(attempt.result, Undecided) else attempt.result.status.value
    ), attempt.result


def test_a_compile_inherits_nothing_to_write_to(stream: Stream, tmp_path: Path) -> None:
    """Its output, its results, and nothing of the servers above it."""
    case = module(tmp_path, "print(len(sockets()), len(result_pipes()), flush=True)")
    case.path.write_text(case.path.read_text().replace("def fault():", TOOLS + "def fault():"))
    result = stream(case)
    assert isinstance(result, Outcome)
    assert result.log.startswith("0 1\n")


@pytest.mark.slow
@pytest.mark.parametrize("trick", ["tell(b'garbage')", "threading.Thread(target=time.sleep, args=(99,)).start()"])
def test_the_files_of_a_module_that_is_compiled_in_fresh_processes_are_known(
    shared_engine: Engine, toolchains: Toolchains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trick: str
) -> None:
    """A stored outcome depends on them."""
    stored: list[list[str]] = []

    class Remembering:
        def get(self, request: Request) -> None:
            return None

        def put(self, request: Request, outcome: Outcome, folder: Path | None, reads: ModuleReads) -> Outcome:
            # Of the packages that Python itself loads as it starts, others may be installed elsewhere.
            own = [path for path, facts in reads.files.items() if facts and "site-packages" not in path]
            stored.append(sorted(Path(path).name for path in own))
            return outcome

    (tmp_path / "sibling.py").write_text("")
    case = module(tmp_path, "pass")
    case.path.write_text("import sibling\n" + MODULE.replace("BODY", "    pass") + TOOLS + trick + "\n")
    monkeypatch.setattr(shared_engine, "_answers", Answers(Remembering(), keep=False))  # type: ignore[arg-type]
    list(shared_engine.run([Request(case, toolchains.default(), LIMITS)]))
    assert stored == [[case.path.name, "sibling.py"]]


# --- the clock of a run ---------------------------------------------------------------------------------------------


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    time = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: time[0])
    return time


def test_a_fork_has_its_limit_from_its_start_and_must_begin_soon(now: list[float]) -> None:
    clock = RunClock(10.0, fresh=False)
    assert (clock.stuck(104.9), clock.stuck(105.1), clock.stuck(106.0)) == (False, True, False)
    clock = RunClock(10.0, fresh=False)
    now[0] = 102.0
    clock.restart()
    clock.begin()
    assert not clock.stuck(111.0)
    assert (clock.timed_out(111.9), clock.timed_out(112.1)) == (False, True)


def test_a_fresh_process_has_its_limit_from_its_first_report(now: list[float]) -> None:
    """It imports Triton before, which on a cold disk takes longer than a short limit."""
    clock = RunClock(1.0, fresh=True)
    clock.restart()
    assert (clock.stuck(130.0), clock.timed_out(130.0), clock.timed_out(161.0)) == (False, False, True)
    now[0] = 130.0
    clock.begin()
    now[0] = 130.5
    clock.begin()
    assert (clock.timed_out(130.9), clock.timed_out(131.1)) == (False, True)


@pytest.mark.parametrize(("limit_s", "patience_s"), [(100.0, 1.0), (1.0, 0.25)])
def test_the_report_of_an_end_is_due_soon(now: list[float], limit_s: float, patience_s: float) -> None:
    clock = RunClock(limit_s, fresh=False)
    clock.begin()
    clock.kill()
    clock.begin()
    assert clock.killed
    assert not clock.timed_out(1e9)
    assert clock.next_deadline == 100.0 + patience_s
    assert clock.stuck(100.1 + patience_s)


# --- large messages -------------------------------------------------------------------------------------------------


def test_a_module_with_many_files_compiles(stream: Stream, tmp_path: Path) -> None:
    """Their names take more than a packet."""
    folder = tmp_path.joinpath(*["f" * 200] * 10)
    folder.mkdir(parents=True)
    for number in range(100):
        (folder / f"sibling_{number}.py").touch()
    case = module(tmp_path, "pass")
    imports = "\n".join(f"import sibling_{number}" for number in range(100))
    case.path.write_text(f"import sys\nsys.path.insert(0, {str(folder)!r})\n{imports}\n{case.path.read_text()}")
    assert told(stream(case)) == ("ok", None, 0)


@pytest.mark.parametrize("fresh", [False, True], ids=["forked", "fresh"])
def test_a_large_constant_is_compiled(stream: Stream, tmp_path: Path, fresh: bool) -> None:
    case = module(tmp_path, "pass")
    text = case.path.read_text().replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, TEXT: tl.constexpr")
    case.path.write_text(text + "threading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n" * fresh)
    case = replace(case, constexprs=frozen({"BLOCK": 256, "TEXT": "x" * 300_000}))
    assert told(stream(case)) == ("ok", None, 0)


@pytest.mark.slow
def test_a_large_environment_is_passed_on(
    engine: Engine, toolchains: Toolchains, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        monkeypatch.setenv(f"LARGE_{number}", "x" * 60_000)
    (attempt,) = engine.run([Request(kernel_cases.add(), toolchains.default(), LIMITS)])
    assert told(attempt.result) == ("ok", None, 0)


def test_a_request_that_cannot_be_sent_fails_alone(
    stream: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_MESSAGE", 1 << 20)
    case = replace(module(tmp_path, "pass"), constexprs=frozen({"BLOCK": 256, "TEXT": "x" * (1 << 20)}))
    result = stream(case)
    assert isinstance(result, Undecided)
    assert "at most 1048576 can be sent" in result.reason
    assert not result.input_error


# --- forged events --------------------------------------------------------------------------------------------------

FORGED = {
    "nesting": '"[" * 200_000',
    "a cache entry elsewhere": """'{"ev": "done", "resources": null, "num_ctas": 1, "cache_entry": "../../.."}'""",
    "half a character": """'{"ev": "note", "text": "\\\\ud800"}'""",
}


@pytest.mark.parametrize("event", FORGED.values(), ids=FORGED)
def test_a_forged_event_is_no_verdict(stream: Stream, tmp_path: Path, event: str) -> None:
    body = f"""
        import gc
        token = next(o._token for o in gc.get_objects() if type(o).__name__ == "Recorder")
        for fd in result_pipes(): os.write(fd, ("\\n" + token + " " + {event} + "\\n").encode())
    """
    result = stream(module(tmp_path, body))
    assert told(result) == ("ok", None, 0)
    assert isinstance(result, Outcome)
    assert result.stages[-1].stage is Stage.CUBIN
    assert result.cache_key != "../../.."
    json.dumps(result.notes).encode()
    "".join(result.notes).encode()


# --- lost messages --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 1000], ids=["one", "all"])
@pytest.mark.parametrize("sent", [True, False], ids=["to servers", "from servers"])
@pytest.mark.parametrize("first", [0, 2, 3, 6])
def test_a_lost_message_is_waited_for_within_limits(
    engine: Engine, toolchains: Toolchains, monkeypatch: pytest.MonkeyPatch, sent: bool, first: int, count: int
) -> None:
    """Servers that take a message and do nothing, or do not report what they did: no wait is without a deadline."""
    limits = Limits(timeout_s=2.0, memory_bytes=2 << 30)
    for patched in (servers, run_clock):
        monkeypatch.setattr(patched, "START_S", 4.0)
    numbers = itertools.count()
    lost = range(first, first + count)
    send, receive = wire.send, wire.receive

    def losing_send(sock: Any, message: dict[str, Any], fds: Any = ()) -> None:
        if next(numbers) not in lost:
            send(sock, message, fds)

    def losing_receive(sock: Any) -> Any:
        message = receive(sock)
        if sock.gettimeout() == 0.0 and next(numbers) in lost:  # not the first of the nanny, which has a limit
            raise BlockingIOError
        return message

    monkeypatch.setattr(wire, "send" if sent else "receive", losing_send if sent else losing_receive)
    began = time.monotonic()
    with suppress(EnvironmentFault):
        assert len(list(engine.run([Request(kernel_cases.add(), toolchains.default(), limits)]))) == 1
    assert time.monotonic() - began < 30.0
