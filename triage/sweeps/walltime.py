"""Walltimes of batch systems: a worker ends before its job is killed, and its chunk goes to another."""

from __future__ import annotations

import re

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_LONGEST_MARGIN_S = 300
"""What is left of a job at the most: several times what a chunk lasts."""
_TEXT = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
_BY_FIELDS = {
    # Slurm's sbatch: minutes, minutes:seconds, h:m:s, days-hours, days-h:m, days-h:m:s.
    "slurm": {1: (_MINUTE,), 2: (_MINUTE, 1), 3: (_HOUR, _MINUTE, 1)},
    # LSF's -W: minutes, or hours:minutes.
    "lsf": {1: (_MINUTE,), 2: (_HOUR, _MINUTE), 3: (_HOUR, _MINUTE, 1)},
}
_SECONDS_LAST = {1: (1,), 2: (_MINUTE, 1), 3: (_HOUR, _MINUTE, 1)}
"""PBS and Grid Engine: seconds, minutes:seconds, h:m:s."""


def walltime_s(text: str, queue: str) -> int | None:
    """Seconds of a walltime as this batch system reads it; None for any other text."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        return None
    numbers = [int(number) for number in match.groups()[1:] if number is not None]
    if match[1] is not None:
        units: tuple[int, ...] = (_HOUR, _MINUTE, 1)
    else:
        units = _BY_FIELDS.get(queue, _SECONDS_LAST)[len(numbers)]
    return int(match[1] or 0) * _DAY + sum(number * unit for number, unit in zip(numbers, units, strict=False))


def lifetime_s(walltime: int) -> tuple[int, int]:
    """Lifetime of a worker and by how much each differs from it, so that not all of them end at once; their sum leaves
    a margin below the walltime."""
    margin = min(walltime // 10, _LONGEST_MARGIN_S)
    return walltime - 2 * margin, margin
