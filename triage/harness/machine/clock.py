"""One deadline shared by all probes, and a way to ask a program that cannot outlast it."""

import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from triage.harness.environment import interpreter_environment

# A broken driver can hang nvidia-smi, and a large cache takes long to add up; a person waits no longer than this.
LIMIT_S = 4.0

# A probe that starts late still gets a moment: asking ptxas for its version takes about 10 ms.
_LEAST_S = 0.2


@dataclass(frozen=True, slots=True)
class Program:
    """One ``ptxas`` or ``ld.lld``. ``version``: None when it does not start or does not print one."""

    path: Path
    version: str | None


class Clock:
    """Counts down from its making."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._end = time.monotonic() + limit_s

    @property
    def left_s(self) -> float:
        """Seconds that the next probe may take."""
        return max(_LEAST_S, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._end

    def program(self, path: Path, version: re.Pattern[str]) -> Program:
        """Ask a program for its version, which ``version`` finds in the answer."""
        match = version.search(self.ask([str(path), "--version"]) or "")
        return Program(path, match.group(1) if match else None)

    def ask(self, command: Sequence[str]) -> str | None:
        """What ``command`` prints; None when it cannot be started, fails, or takes too long."""
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=interpreter_environment(),
            )
        except (OSError, ValueError):
            return None
        try:
            output, _ = process.communicate(timeout=self.left_s)
        except subprocess.TimeoutExpired:
            process.kill()
            # Not waited for any longer: a program stuck inside a driver does not even die of SIGKILL.
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LEAST_S)
            return None
        return output.decode("utf-8", "replace") if process.returncode == 0 else None
