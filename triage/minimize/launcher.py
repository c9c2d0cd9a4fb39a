"""A runner that launches what compiles, for a case that fails only there.

Each candidate is launched by ``reproducer_launch.py`` itself, in a process of its own, so that the oracle sees what the
emitted file shows. Such a failure is named by the driver's message alone, which does not tell one illegal access from
another.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from triage import logs
from triage.filesystem import scratch
from triage.harness.deadline import Deadline
from triage.harness.environment import worker_environment
from triage.harness.library_keys import LibraryKeys
from triage.harness.processes import kill_tree
from triage.harness.request import Attempt, PartialCompile, Request
from triage.minimize import launch_script
from triage.minimize.oracle import RequestRunner
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.launch_plan import BadInputs, resolve
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.model.target import Target
from triage.model.words import signal_name
from triage.source.package_copy import package

_WATCH_S = 0.05
_START_S = 15.0
"""Python, Triton, its launcher built with a C compiler, and a context: two seconds on an idle machine."""
_MOST_PRINTED = 16 << 20
"""Bytes; a kernel may print from every thread. What is over that ends the process."""
_READ = 1 << 18
_CHILD = """\
import runpy, sys
if sys.argv[2]:
    from triton.compiler import compiler
    from triton.runtime import cache
    holder = compiler if hasattr(compiler, "triton_key") else cache
    holder.triton_key = lambda: sys.argv[2]
runpy.run_path(sys.argv[1], run_name="reproducer")
"""
"""Arguments: the script, and Triton's hash of its own files, which would take a third of the launch to compute; empty
where it is not known. Not as ``__main__``: the part of the user's file that runs only as a program is not run."""
_NO_IMPORT = re.compile(r"(?:ModuleNotFoundError|ImportError): .*\Z")


@dataclass(slots=True)
class _Launch:
    """One launch in progress."""

    attempt: Attempt
    process: subprocess.Popen[bytes]
    log: Path
    deadline: float
    started: float
    timed_out: bool = False
    flooded: bool = False


class Launcher:
    """Compiles with another runner and launches what compiled, as many at a time.

    The first request is the original's: when that fails without a launch, nothing is ever launched. ``needed``:
    whether what compiles is launched; None before that is known. ``deadline`` is the other runner's."""

    def __init__(self, compiler: RequestRunner, deadline: Deadline | None = None) -> None:
        self._compiler = compiler
        self._deadline = deadline or Deadline()
        self.jobs = compiler.jobs
        self.needed: bool | None = None
        self._target: Target | None = None
        self._library_keys = LibraryKeys()

    def run(self, requests: Iterable[Request | None]) -> Iterator[Attempt]:
        """Attempts, in waves of as many as run at a time. Raises as the other runner does."""
        stream = iter(requests)
        if self.needed is False:
            yield from self._compiler.run(stream)
            return
        while not self._deadline.over and (wave := list(islice(stream, self.jobs))):
            attempts = list(self._compiler.run(wave))
            ended = [attempt for attempt in attempts if isinstance(attempt.result, Outcome)]
            failed = [attempt for attempt in ended if isinstance(attempt.result, Outcome) and attempt.result.failed]
            # What was compiled in part cannot be launched, and does not show yet whether it fails without.
            whole = [attempt for attempt in ended if not isinstance(attempt.request.action, PartialCompile)]
            compiled = [attempt for attempt in whole if attempt not in failed]
            if self.needed is None and (failed or whole):
                self.needed, self._target = not failed, ended[0].request.case.target
            launched = compiled if self.needed else []
            yield from (attempt for attempt in attempts if not any(attempt is other for other in launched))
            yield from self._launched(launched)

    def _launched(self, attempts: list[Attempt]) -> list[Attempt]:
        answers: list[Attempt] = []
        running: list[_Launch] = []
        with scratch.folder("launch") as folder:
            try:
                for number, attempt in enumerate(attempts):
                    home = folder / str(number)
                    home.mkdir()
                    if (reason := self._refused(attempt.request.case)) is not None:
                        answers.append(replace(attempt, result=Undecided(reason, input_error=True)))
                    else:
                        key = self._library_keys.get(attempt.request.toolchain) or ""
                        running.append(_start(attempt, home, key))
                _wait(running, self._deadline)
                ended = [launch for launch in running if launch.process.returncode is not None]
                answers += [replace(launch.attempt, result=_judged(launch)) for launch in ended]
            finally:
                for launch in running:
                    _kill(launch)
        return answers

    def _refused(self, case: Case) -> str | None:
        """Why a candidate cannot be launched; the original always can."""
        if case.target != self._target:
            return f"{case.target}: the launches are for {self._target}"
        try:
            if case.inputs:
                resolve(case.inputs, case.signature, case.constexprs, case.divisibility())
            launch_script.arguments(case, case.inputs)
        except (BadInputs, launch_script.UnsupportedArgument) as error:
            return str(error)
        return None


def _start(attempt: Attempt, home: Path, library_key: str) -> _Launch:
    case = attempt.request.case
    specimen = Specimen(case.text(), case)
    script, log = home / launch_script.FILE, home / "log"
    arguments = launch_script.arguments(case, case.inputs)
    script.write_text(
        launch_script.reproducer(specimen, arguments, None, attempt.request.toolchain.release), encoding="utf-8"
    )
    environment = worker_environment()
    # The original may import from the user's folder.
    paths = [str(package(case)[0].resolve()), *filter(None, [environment.get("PYTHONPATH")])]
    environment |= {
        "REPRODUCER_CHILD": "1",
        "TRITON_CACHE_DIR": str(home / "cache"),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    now = time.monotonic()
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [str(attempt.request.toolchain.python), "-c", _CHILD, str(script), library_key],
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
    return _Launch(attempt, process, log, now + limit_s, now)


def _wait(running: list[_Launch], deadline: Deadline) -> None:
    while (left := [launch for launch in running if launch.process.poll() is None]) and not deadline.over:
        for launch in left:
            launch.timed_out = time.monotonic() > launch.deadline
            launch.flooded = launch.log.stat().st_size > _MOST_PRINTED
            if launch.timed_out or launch.flooded:
                _kill(launch)
        time.sleep(_WATCH_S)


def _kill(launch: _Launch) -> None:
    """Kill the process with its children, the C compiler and the assembler."""
    if launch.process.poll() is None:
        kill_tree(launch.process.pid)
        launch.process.wait()


def _judged(launch: _Launch) -> Outcome | Undecided:
    compiled = launch.attempt.result
    assert isinstance(compiled, Outcome)
    printed = _printed(launch.log)
    code = launch.process.returncode
    outcome = replace(
        compiled,
        status=Status.ERROR,
        stage=Stage.LAUNCH,
        resources=None,
        log=printed,
        log_stages=(),
        duration_s=compiled.duration_s + time.monotonic() - launch.started,
    )
    if launch.flooded:
        return Undecided(f"the launch printed more than {_MOST_PRINTED} bytes")
    if launch.timed_out:
        return replace(outcome, status=Status.TIMEOUT, exit_code=None)
    if launch_script.CANNOT_TELL in printed:
        return Undecided(printed.rpartition(launch_script.CANNOT_TELL)[2].partition("\n")[0])
    if code == 0 and launch_script.RAN in printed:
        return replace(compiled, duration_s=outcome.duration_s)
    if code < 0:
        killed = -code in (signal.SIGKILL, signal.SIGTERM)
        name = signal_name(-code)
        return replace(outcome, status=Status.CRASH, exit_code=None, signal=name, killed_from_outside=killed)
    last = printed.strip().rpartition("\n")[2]
    if _NO_IMPORT.match(last):
        return Undecided(f"it compiles, but its launch cannot import what its file does: {last}")
    diagnosis = logs.diagnose_text(printed)
    loading = diagnosis is not None and diagnosis.stage == Stage.LOAD.value
    return replace(outcome, stage=Stage.LOAD if loading else Stage.LAUNCH, exit_code=code)


def _printed(log: Path) -> str:
    """The beginning and the end of what was printed."""
    data = log.read_bytes()
    if len(data) > 2 * _READ:
        data = data[:_READ] + b"\n" + data[-_READ:]
    return data.decode(errors="replace")
