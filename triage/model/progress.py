"""Who is told what is going on while a triage works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """``note`` gets a line before anything that takes long and is worth keeping; ``step`` what is being done right
    now; ``tried`` how many neighbours were compiled and how many of them work; ``timing`` how many were timed, and of
    how many. Each may be left out."""

    note: Callable[[str], None] = lambda line: None
    step: Callable[[str], None] = lambda line: None
    tried: Callable[[int, int], None] = lambda tried, found: None
    timing: Callable[[int, int], None] = lambda done, of: None
