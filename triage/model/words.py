"""Words that every feature writes alike."""

import signal

_UNITS = {
    "shared-memory": "shared memory",
    "l2": "the L2 cache",
    "dram": "the GPU's memory",
    "issue": "issuing instructions",
    "special-functions": "special functions",
    "spills": "spilled registers",
}
"""What a kernel waits for, where its name with spaces would not do."""


def count(number: int | str, noun: str) -> str:
    """``1 kernel``, ``2 kernels``, ``no kernels``; a number may be written already, as ``1,024``."""
    return f"{number} {noun}{'' if number in (1, '1') else 's'}"


def signal_name(number: int) -> str:
    """``SIGABRT``; real-time signals have no names of their own in Python."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def unit(bound: str) -> str:
    """What a kernel waits for: ``ExpectedTime.bound_by`` in words."""
    return _UNITS.get(bound, bound.replace("-", " "))
