"""When a compile has to have begun, to have ended, and to have been reported."""

import time

_REPORT_S = 1.0
"""A SIGKILL takes effect at once; a server that has not reported the end by then does not work any more. (A quarter of
the limit where that is less: a call may take twice its limit.)"""
START_S = 60.0
"""Importing Triton takes half a second warm and up to ten from a cold network disk."""
_BEGIN_S = (1.0, 5.0)
"""A fork takes milliseconds. One that has not begun after half its limit, but these seconds at least and at most, waits
for something that the module left in its server."""
_NEVER = float("inf")


class RunClock:
    """Deadlines of one run, in monotonic seconds."""

    def __init__(self, limit_s: float, fresh: bool) -> None:
        self._limit_s, self._fresh, self._begun, self._ended = limit_s, fresh, False, False
        self._report_deadline = self._begin_deadline = _NEVER
        self.started = time.monotonic()
        if fresh:
            # Triton's import is no part of the compile, and runs none of the user's code.
            self._deadline = self.started + max(limit_s, START_S)
        else:
            self._deadline = self.started + limit_s
            self._begin_deadline = self.started + min(max(limit_s / 2, _BEGIN_S[0]), _BEGIN_S[1])

    def restart(self) -> None:
        """The process exists. The time of a fork starts now."""
        if not self._fresh:
            self._start()

    def begin(self) -> None:
        """The process has reported something. The time of a fresh process starts with the first report."""
        if self._fresh and not self._begun and not self.killed:
            self._start()
        self._begun, self._begin_deadline = True, _NEVER

    def _start(self) -> None:
        self.started = time.monotonic()
        self._deadline = self.started + self._limit_s

    def kill(self) -> None:
        """The process was killed."""
        self._deadline = _NEVER
        self.end()

    def end(self) -> None:
        """The process has ended, or is about to; what is due next is its server's report."""
        if self._ended:
            return
        self._ended = True
        self._begin_deadline = _NEVER
        self._report_deadline = time.monotonic() + min(_REPORT_S, self._limit_s / 4)

    @property
    def is_fresh(self) -> bool:
        """Whether it is that of a fresh process."""
        return self._fresh

    @property
    def killed(self) -> bool:
        return self._deadline == _NEVER

    @property
    def next_deadline(self) -> float:
        """When one of the following may next become true."""
        return min(self._deadline, self._report_deadline, self._begin_deadline)

    def timed_out(self, now: float) -> bool:
        return now > self._deadline

    def stuck(self, now: float) -> bool:
        """True, once, when the process has not begun in time, or its end was not reported in time."""
        if now <= min(self._report_deadline, self._begin_deadline):
            return False
        self._report_deadline = self._begin_deadline = _NEVER
        return True
