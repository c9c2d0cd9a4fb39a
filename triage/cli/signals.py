"""Signals that end a command: Ctrl-C, ``kill`` and the end of a terminal.

The first one raises KeyboardInterrupt, so that the command keeps what it has finished and cleans up. The second
one, or the first where that takes too long, ends the process at once; the nanny then removes what ran below it.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_CODE = 130
"""128 + SIGINT, as shells report Ctrl-C."""
LINE = "triage: interrupted"
_CLEAN_UP_S = 2.3
"""A command ends within 3 s of a signal; the rest is for the kill of what still runs, on a busy machine."""


class Ending:
    """The signal that ends this command, and the thread that sees to it. ``number``: None before there was one."""

    def __init__(self) -> None:
        self.number: int | None = None

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signals, in the main thread."""
        if self.number is None:
            self.number = number
            raise KeyboardInterrupt

    def watch(self, wakeups: int) -> None:
        """Read the numbers of signals as they arrive, also while the main thread is inside a call of the system that
        does not return; until the pipe is closed."""
        timer: threading.Timer | None = None
        while numbers := os.read(wakeups, 64):
            for number in numbers:
                # `triage run` handles signals itself while its program runs.
                if signal.getsignal(number) != self.handle:
                    continue
                if timer is not None:
                    _leave(number)
                timer = threading.Timer(_CLEAN_UP_S, _leave, (number,))
                timer.daemon = True
                with suppress(RuntimeError):
                    timer.start()
        os.close(wakeups)


@contextmanager
def handled() -> Iterator[Ending]:
    """Handle the signals in the body, which the main thread runs. Those that are ignored, as by ``nohup``, stay
    ignored."""
    ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    wakeup = -1
    # `ulimit -n` or `ulimit -u` may leave none: then a signal waits for a call that does not return.
    with suppress(OSError, RuntimeError):
        wakeup = _watched(ending)
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, ending.handle)
        yield ending
    finally:
        # After a signal the process is about to end, and must still end at once with the next one.
        if ending.number is None:
            for number, handler in before.items():
                signal.signal(number, handler)
            if wakeup >= 0:
                signal.set_wakeup_fd(-1)
                os.close(wakeup)


def _watched(ending: Ending) -> int:
    """Start the thread that watches; the descriptor that ends it when it is closed. Raises OSError, RuntimeError."""
    read, write = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(write, False)
    try:
        threading.Thread(target=ending.watch, args=(read,), name="signals", daemon=True).start()
    except RuntimeError:
        os.close(read)
        os.close(write)
        raise
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return write


def end_by(number: int) -> None:
    """End this process as the signal would have; returns for SIGINT, which has an exit code of its own."""
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _leave(number: int) -> None:
    """End the process now, with all that it started, but for the nannies: they end what they started, and clean up."""
    with suppress(OSError):
        os.write(2, f"{LINE}\n".encode())
    with suppress(Exception):
        # Imported here because `triage --help` does without it.
        from triage.harness.processes import below, kill_tree

        for pid in below(os.getpid()):
            kill_tree(pid)
    os._exit(EXIT_CODE if number == signal.SIGINT else 128 + number)
