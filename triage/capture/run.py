"""Run a program unchanged while its kernel compiles are captured."""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from triage.capture.captured import HELION, Capture, RunFolder, is_alive
from triage.capture.program.service import VARIABLE as SERVICE
from triage.capture.service.start import Settings, shared_service
from triage.model.errors import EnvironmentFault, InputError
from triage.model.words import signal_name

INJECTED = Path(__file__).resolve().parent / "inject"
"""First entry of PYTHONPATH; the folder holds a sitecustomize and nothing else."""
TIMED_OUT = 124
"""Exit code when triage ended the program, as in coreutils ``timeout``."""
HELIONS_REPORTS = "HELION_AUTOTUNER_TRITON_FAILURE_DUMP_DIR"
"""Helion writes failing kernels to this folder and nowhere else (helion/autotuner/logger.py)."""
_FIRST_SIGNAL = 128
"""A shell's exit code for a command that died of signal n is 128 + n."""
_FATAL = {
    number.value: number.name
    for number in (
        *(signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV),
        *(signal.SIGXCPU, signal.SIGXFSZ, signal.SIGSYS),
    )
}
"""Signals that programs die of, and do not handle; an exit code of 143 may be a program's own answer to SIGTERM."""
_POLL_S = 0.2
_KILL_WAIT_S = 5.0
_TO_PASS_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_FROM_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """How the program ended.

    ``code`` is its exit code, or 128 + n for signal n as in a shell. ``hung``: triage ended it because a compile
    exceeded the time limit. ``interrupted``: it died of a signal that triage got as well, Ctrl-C mostly."""

    code: int
    signal: str | None
    hung: bool
    interrupted: bool
    seconds: float
    capture: Capture

    def ending(self, command: tuple[str, ...]) -> str:
        """How the program ended, in words."""
        how = f"ended with exit code {self.code}"
        if self.hung:
            how = f"was ended by triage, because a compile did not end (exit code {self.code})"
        elif self.signal:
            how = f"died of {self.signal} (exit code {self.code})"
        elif name := _FATAL.get(self.code - _FIRST_SIGNAL):
            how += f", which a shell gives for {name}"
        return f"{shlex.join(command)} {how}"

    @property
    def killed(self) -> bool:
        """Whether a signal ended the program, or what it says ended so."""
        return self.hung or bool(self.signal) or self.code - _FIRST_SIGNAL in _FATAL


def run(
    command: tuple[str, ...],
    folder: RunFolder,
    timeout_s: float | None = None,
    keep_all: bool = False,
    guard: Settings | None = None,
    variables: Mapping[str, str] | None = None,
) -> ProgramRun:
    """Run ``command`` to its end and return what was captured.

    ``timeout_s`` limits each compile, not the program. ``guard``: try every compile in isolation first. ``variables``
    are added to its environment. Raises InputError when the command cannot be started."""
    began = time.monotonic()
    base = {**os.environ, **(variables or {})}
    with shared_service(guard) if guard else nullcontext("") as service, _signals() as signals:
        try:
            # The program inherits file descriptors from triage's caller.
            process = subprocess.Popen(command, env=environment(folder.path, base, keep_all, service), close_fds=False)
        except OSError as error:
            raise InputError(f"{command[0]}: cannot be started: {error.strerror}") from None
        signals.passed_to.append(process)
        hung, stopped = _wait(process, folder, timeout_s)
    code = process.returncode
    name = signal_name(-code) if code < 0 else None
    exit_code = TIMED_OUT if hung else _FIRST_SIGNAL - code if code < 0 else code
    interrupted = bool({-code, code - _FIRST_SIGNAL} & signals.received)
    seconds = time.monotonic() - began
    return ProgramRun(exit_code, name, bool(hung), interrupted, seconds, folder.read(hung, stopped))


def environment(folder: Path, base: Mapping[str, str], keep_all: bool = False, service: str = "") -> dict[str, str]:
    """The program's environment: the user's own, with ``inject`` first in PYTHONPATH. ``service`` guards compiles."""
    before = base.get("PYTHONPATH", "")
    return {
        # Overridden by the user's own value.
        HELIONS_REPORTS: str(folder.absolute() / HELION),
        **base,
        # An empty entry would be the working directory.
        "PYTHONPATH": os.pathsep.join([str(INJECTED), before] if before else [str(INJECTED)]),
        "TRITON_TRIAGE_CAPTURE": str(folder.absolute()),
        **({"TRITON_TRIAGE_CAPTURE_ALL": "1"} if keep_all else {}),
        **({"TRITON_TRIAGE_GUARD": "1", SERVICE: service} if service else {}),
    }


@dataclass(frozen=True, slots=True)
class _Signals:
    """``received`` until now, of those that are handled; ``passed_to``: processes that get what triage alone got."""

    received: set[int] = field(default_factory=set)
    passed_to: list[subprocess.Popen[bytes]] = field(default_factory=list)


@contextmanager
def _signals() -> Iterator[_Signals]:
    """Forward signals sent to triage alone. Ctrl-C reaches the program from the terminal and is the program's to
    handle. Ignored signals stay ignored, because the program inherits that."""
    signals = _Signals()

    def leave(number: int, frame: FrameType | None) -> None:
        signals.received.add(number)

    def pass_on(number: int, frame: FrameType | None) -> None:
        signals.received.add(number)
        for process in signals.passed_to:
            with suppress(ProcessLookupError):
                process.send_signal(number)

    before = {}
    for number in (*_FROM_THE_TERMINAL, *_TO_PASS_ON):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, leave if number in _FROM_THE_TERMINAL else pass_on)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(
    process: subprocess.Popen[bytes], folder: RunFolder, timeout_s: float | None
) -> tuple[frozenset[Path], frozenset[Path]]:
    """Wait until the program ends, by itself or because a compile in it exceeds the limit. Returns the folders of
    compiles over the limit, and of those that were killed with them."""
    seen: dict[Path, float] = {}
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(None if timeout_s is None else _POLL_S)
            return frozenset(), frozenset()
        assert timeout_s is not None
        now, compiling = time.monotonic(), folder.compiling()
        seen = {folder_: seen.get(folder_, now) for folder_ in compiling}
        # A process that died in a compile leaves its folder too; the program may go on without it.
        alive = frozenset(folder_ for folder_, pid in compiling.items() if is_alive(pid))
        hung = frozenset(folder_ for folder_ in alive if now - seen[folder_] > timeout_s)
        if hung:
            _kill(process, {compiling[folder_] for folder_ in hung})
            return hung, alive - hung


def _kill(process: subprocess.Popen[bytes], compiling: set[int]) -> None:
    """Kill the program with its process tree, including processes that are compiling."""
    import psutil

    processes: set[psutil.Process] = set()
    for pid in (process.pid, *compiling):
        with suppress(psutil.Error):
            root = psutil.Process(pid)
            processes |= {root, *root.children(recursive=True)}
    for doomed in processes:
        with suppress(psutil.Error):
            doomed.kill()
    try:
        process.wait(_KILL_WAIT_S)
    except subprocess.TimeoutExpired:
        raise EnvironmentFault(f"process {process.pid} cannot be killed") from None
    psutil.wait_procs(processes, timeout=_KILL_WAIT_S)
