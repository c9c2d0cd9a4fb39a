"""What the user chose for a triage: toolchain, limits, extent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from triage.harness.limits import Limits
from triage.model.case import Case
from triage.model.compilers import CUTE, TRITON
from triage.model.errors import InputError
from triage.suggest.budget import Budget


@dataclass(frozen=True, slots=True)
class Options:
    """Toolchain, limits and extent of a triage.

    ``triton``, ``cute`` and ``python`` choose the toolchain for every case of that compiler; without them it is the
    case's own ``toolchain``, else the compiler beside triage. ``jobs``: compiles at a time, None for one per core.
    ``knowledge``: folders with knowledge-base entries beside those that ship with triage. ``bench``: time the
    suggestions on this machine's GPU and order them by that; ``sanitize``: also launch each under compute-sanitizer.
    ``configurations_only``: suggest other numbers of a configuration, and neither sources, releases nor targets; the
    cases are of one kernel, whose searches share what the front end says of its tiles.
    """

    triton: str | None = None
    cute: str | None = None
    python: str | None = None
    limits: Limits = field(default_factory=Limits)
    jobs: int | None = None
    cache: bool = True
    suggest: bool = True
    configurations_only: bool = False
    budget: Budget = field(default_factory=Budget)
    bench: bool = False
    sanitize: bool = False
    knowledge: tuple[Path, ...] = ()

    def release(self, case: Case) -> str | None:
        """The release of its compiler that compiles a case; None for the default, or that of ``python``. Raises
        InputError where that of another compiler alone is stated."""
        stated, others = (self.cute, self.triton) if case.compiler == CUTE else (self.triton, self.cute)
        if others and not stated:
            other, own = (TRITON, CUTE) if case.compiler == CUTE else (CUTE, TRITON)
            raise InputError(f"{other.option} {others}: {case.name} is compiled by {own.title}; use {own.option}")
        return stated or (None if self.python else case.release)
