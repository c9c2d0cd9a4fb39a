"""Tells triage's own failures from the compiler's."""

from contextlib import contextmanager
from typing import Iterator


class Fault(Exception):
    """Triage's own code failed, or the environment: nothing is known of the compile. The text is the reason."""


@contextmanager
def during(doing: str) -> Iterator[None]:
    """Around what is triage's own and not the user's: an exception is no failure of the compile."""
    try:
        yield
    except BaseException as error:  # what the module under test has put into the standard library raises anything
        raise Fault("%s: %s: %s" % (doing, type(error).__name__, error)) from error
