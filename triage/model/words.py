"""Words that every feature writes alike."""

import signal


def count(number: int | str, noun: str) -> str:
    """``1 kernel``, ``2 kernels``, ``no kernels``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def signal_name(number: int) -> str:
    """``SIGABRT``; real-time signals have no names of their own in Python."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
