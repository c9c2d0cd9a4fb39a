"""An engine whose answer is the launch, for a case that fails there alone.

What compiles is launched by ``reproducer_launch.py`` itself, each candidate in a process of its own, so that what the
oracle saw and what the emitted file shows are the same thing. The driver's words are all that names such a failure: to
them, one illegal access is as good as another.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from triage import logs
from triage.harness.engine import Engine
from triage.harness.environment import worker_environment
from triage.harness.judge import signal_name
from triage.harness.request import Attempt, Request
from triage.harness.toolchains import Toolchain
from triage.minimize import launch
from triage.minimize.specimen import Specimen
from triage.model.case import Case
from triage.model.launch_plan import BadInputs, resolve
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.model.target import Target

_WATCH_S = 0.05
_START_S = 15.0
"""Python, Triton, its launcher built with a C compiler, and a context: two seconds on an idle machine."""
_MOST_PRINTED = 16 << 20
"""Bytes; a kernel may print from every thread. What is over that ends the process."""
_READ = 1 << 18
_CHILD = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='reproducer')"
"""Under a name of its own: what the user's file does as a program is not to be done."""
_NO_IMPORT = re.compile(r"(?:ModuleNotFoundError|ImportError): .*\Z")


@dataclass(slots=True)
class _Run:
    """One launch under way."""

    attempt: Attempt
    process: subprocess.Popen[bytes]
    log: Path
    deadline: float
    started: float
    timed_out: bool = False
    flooded: bool = False


class Launching(Engine):
    """Compiles as an engine does, and launches what compiled, with ``jobs`` at a time.

    The first request is taken for the original: when that fails without a launch, nothing is ever launched.
    ``needed``: whether what compiles is launched; None before that is known."""

    def __init__(self, jobs: int | None = None, spare: Callable[[], list[Toolchain]] = list) -> None:
        super().__init__(jobs, spare=spare)
        self.needed: bool | None = None
        self._target: Target | None = None

    def run(self, requests: Iterable[Request | None]) -> Iterator[Attempt]:
        """Attempts, in waves of as many as run at a time. Raises as the engine does."""
        stream = iter(requests)
        if self.needed is False:
            yield from super().run(stream)
            return
        while wave := list(islice(stream, self.jobs)):
            attempts = list(super().run(wave))
            compiled = [one for one in attempts if isinstance(one.result, Outcome) and not one.result.failed]
            if self.needed is None and isinstance(attempts[0].result, Outcome):
                self.needed, self._target = bool(compiled), attempts[0].request.case.target
            launched = {id(one): one for one in compiled} if self.needed else {}
            yield from (one for one in attempts if id(one) not in launched)
            yield from self._launched(list(launched.values()))

    def _launched(self, attempts: list[Attempt]) -> list[Attempt]:
        answers: list[Attempt] = []
        running: list[_Run] = []
        with TemporaryDirectory(prefix="triage-launch-") as folder:
            try:
                for place, attempt in enumerate(attempts):
                    home = Path(folder) / str(place)
                    home.mkdir()
                    if (reason := self._refused(attempt.request.case)) is not None:
                        answers.append(replace(attempt, result=Undecided(reason, input_error=True)))
                    else:
                        running.append(_start(attempt, home))
                _wait(running)
                answers += [replace(one.attempt, result=_judged(one)) for one in running]
            finally:
                for one in running:
                    _kill(one)
        return answers

    def _refused(self, case: Case) -> str | None:
        """Why a candidate is none; the original never is one such."""
        if case.target != self._target:
            return f"{case.target}: the launches are for {self._target}"
        try:
            if case.inputs:
                resolve(case.inputs, case.signature, case.constexprs, case.divisibility())
            launch.arguments(case, case.inputs)
        except (BadInputs, launch.CannotLaunch) as error:
            return str(error)
        return None


def _start(attempt: Attempt, home: Path) -> _Run:
    case = attempt.request.case
    specimen = Specimen(case.path.read_text(encoding="utf-8"), case)
    script, log = home / launch.FILE, home / "log"
    made = launch.arguments(case, case.inputs)
    script.write_text(launch.worker(specimen, made, attempt.request.toolchain.triton), encoding="utf-8")
    environment = worker_environment()
    # Before it is in one file, the kernel may import from beside it.
    paths = [str(case.folder.resolve()), *filter(None, [environment.get("PYTHONPATH")])]
    environment |= {
        "REPRODUCER_CHILD": "1",
        "TRITON_CACHE_DIR": str(home / "cache"),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    now = time.monotonic()
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [str(attempt.request.toolchain.python), "-c", _CHILD, str(script)],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    assert isinstance(attempt.result, Outcome)
    # It compiles once more before it launches; the limit is the launch's own.
    limit_s = attempt.request.limits.timeout_s + attempt.result.duration_s + _START_S
    return _Run(attempt, process, log, now + limit_s, now)


def _wait(running: list[_Run]) -> None:
    left = list(running)
    while left:
        for one in left:
            if one.process.poll() is not None:
                continue
            one.timed_out = time.monotonic() > one.deadline
            one.flooded = one.log.stat().st_size > _MOST_PRINTED
            if one.timed_out or one.flooded:
                _kill(one)
        left = [one for one in left if one.process.returncode is None]
        time.sleep(_WATCH_S if left else 0)


def _kill(one: _Run) -> None:
    """The process with all it started: the C compiler and the assembler are its children."""
    if one.process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.wait()


def _judged(one: _Run) -> Outcome | Undecided:
    compiled = one.attempt.result
    assert isinstance(compiled, Outcome)
    said = _printed(one.log)
    code = one.process.returncode
    outcome = replace(
        compiled,
        status=Status.ERROR,
        stage=Stage.LAUNCH,
        resources=None,
        log=said,
        log_stages=(),
        duration_s=compiled.duration_s + time.monotonic() - one.started,
    )
    if one.flooded:
        return Undecided(f"the launch printed more than {_MOST_PRINTED} bytes")
    if one.timed_out:
        return replace(outcome, status=Status.TIMEOUT, exit_code=None)
    if launch.CANNOT_TELL in said:
        return Undecided(said.rpartition(launch.CANNOT_TELL)[2].partition("\n")[0])
    if code == 0 and launch.RAN in said:
        return replace(compiled, duration_s=outcome.duration_s)
    if code < 0:
        killed = -code in (signal.SIGKILL, signal.SIGTERM)
        name = signal_name(-code)
        return replace(outcome, status=Status.CRASH, exit_code=None, signal=name, killed_from_outside=killed)
    last = said.strip().rpartition("\n")[2]
    if _NO_IMPORT.match(last):
        return Undecided(f"it compiles, but its launch cannot import what its file does: {last}")
    found = logs.diagnose_text(said)
    loading = found is not None and found.stage == Stage.LOAD.value
    return replace(outcome, stage=Stage.LOAD if loading else Stage.LAUNCH, exit_code=code)


def _printed(log: Path) -> str:
    """The beginning and the end of what was printed."""
    data = log.read_bytes()
    if len(data) > 2 * _READ:
        data = data[:_READ] + b"\n" + data[-_READ:]
    return data.decode(errors="replace")
