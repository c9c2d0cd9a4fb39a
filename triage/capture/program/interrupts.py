"""Exceptions that the program's own signal handlers raise while triage works in the program's thread.

A program that limits its time with an alarm raises TimeoutError, an OSError, out of whatever runs at that moment."""

import signal
import sys
from typing import Any, Set


def reraise() -> None:
    """Raise the exception being handled once more if it comes out of a signal handler of the program."""
    trace = sys.exc_info()[2]
    codes = _handlers()
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            raise  # noqa: PLE0704 - called while an exception is being handled
        trace = trace.tb_next


def _handlers() -> Set[Any]:
    """Code objects of the handlers that are Python functions, methods, or objects with ``__call__``."""
    codes = set()
    for number in range(1, signal.NSIG):
        try:
            handler: Any = signal.getsignal(number)
        except ValueError:  # a number without a signal
            continue
        handler = getattr(handler, "func", handler)  # functools.partial
        handler = handler if hasattr(handler, "__code__") else getattr(handler, "__call__", None)  # noqa: B004
        codes.add(getattr(handler, "__code__", None))
    return codes - {None}
