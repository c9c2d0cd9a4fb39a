"""One launch of ``reproducer_launch.py`` under compute-sanitizer, which names the access that is not valid."""

import subprocess
from pathlib import Path

from triage.filesystem import scratch
from triage.harness.deadline import Deadline
from triage.harness.environment import worker_environment
from triage.harness.processes import run_bounded
from triage.harness.toolchains import Toolchain
from triage.minimize import launch_script
from triage.minimize.problem import BudgetUsed
from triage.model.measurement import MemoryCheck, NotMeasured
from triage.performance import sanitizer

_MOST_REASON = 200


def check_memory(
    script: Path, toolchain: Toolchain, patience_s: float, deadline: Deadline
) -> MemoryCheck | NotMeasured:
    """What compute-sanitizer reports of the script's launch, with file names relative to the script's folder; else why
    it reports nothing. Raises BudgetUsed."""
    if deadline.over:
        raise BudgetUsed
    program = sanitizer.located(toolchain.package.parent)
    if program is None:
        return NotMeasured(sanitizer.MISSING)
    script, patience_s = script.resolve(), min(patience_s, deadline.left_s)
    with scratch.folder("sanitizer") as folder:
        log, cache = folder / "sanitizer.txt", folder / "cache"
        cache.mkdir()
        # The script starts a child that launches, and only the first process is checked: it is that child here.
        child = {"REPRODUCER_CHILD": "1", "TRITON_CACHE_DIR": str(cache), "TMPDIR": str(cache)}
        environment = worker_environment() | child | sanitizer.ENVIRONMENT
        command = [*sanitizer.command(program, log), str(toolchain.python), str(script)]
        try:
            done = run_bounded(command, patience_s, folder, environment)
        except subprocess.TimeoutExpired:
            if deadline.over:
                raise BudgetUsed from None
            return NotMeasured(f"it did not end within {patience_s:g} s")
        except OSError as error:
            return NotMeasured(f"{program.name} cannot be started: {error.strerror}")
        try:
            text = sanitizer.written(log).replace(f"{script.parent}/", "")
        except OSError as error:
            return NotMeasured(f"{program.name} wrote nothing: {error.strerror}")
    printed = done.stdout.decode(errors="replace")
    report = sanitizer.parsed(text)
    # Without an error it counts only if the kernel ran.
    if report is not None and (report.errors or launch_script.RAN in printed):
        return report
    return NotMeasured(_reason(printed, done.stderr.decode(errors="replace"), text)[:_MOST_REASON])


def _reason(printed: str, errors: str, text: str) -> str:
    if launch_script.CANNOT_TELL in printed:
        return printed.rpartition(launch_script.CANNOT_TELL)[2].partition("\n")[0]
    if fault := sanitizer.fault(text):
        return fault
    last = (errors.strip() or printed.strip()).rpartition("\n")[2].strip()
    return f"the process below it ended with: {last}" if last else "the process below it ended and printed nothing"
