"""How many configurations of a run compiled and failed: the one count behind every line, document and exit code."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from triage.model.words import count

if TYPE_CHECKING:
    from triage.capture.captured import Capture, Captured


@dataclass(frozen=True, slots=True)
class Counts:
    """Configurations, each of which counts once, however often and in however many processes the program asks for it.

    ``compiled``: those that compiled and load; ``cached``: those that were only found in a cache of their compiler's;
    ``failed``; ``passed_over``: those that failed, and that an autotuner skipped."""

    compiled: int = 0
    cached: int = 0
    failed: int = 0
    passed_over: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.compiled + other.compiled,
            self.cached + other.cached,
            self.failed + other.failed,
            self.passed_over + other.passed_over,
        )

    @property
    def good(self) -> int:
        return self.compiled + self.cached

    def summary(self) -> str:
        """The counts in words."""
        cached = f", {self.cached} taken from Triton's cache" if self.cached else ""
        over = f", {self.passed_over} passed over" if self.passed_over else ""
        return f"{count(self.compiled or 'no', 'kernel')} compiled{cached}, {self.failed or 'none'} failed{over}"


def by_kernel(capture: Capture, cut_short: Collection[Captured] = ()) -> dict[str, Counts]:
    """The counts of each kernel. ``cut_short``: captures that did not fail by themselves, and do not count."""
    bad: dict[str, tuple[str, bool]] = {}
    for captured in capture.failed_cases:
        if captured not in cut_short:
            kernel, passed_over = bad.get(captured.key, (captured.kernel, True))
            bad[captured.key] = kernel, passed_over and captured.autotuning
    kernels: dict[str, Counts] = {}
    for key, kernel in {**capture.cached, **capture.compiled}.items():
        if key not in bad:
            single = Counts(compiled=1) if key in capture.compiled else Counts(cached=1)
            kernels[kernel] = kernels.get(kernel, Counts()) + single
    for kernel, passed_over in bad.values():
        single = Counts(passed_over=1) if passed_over else Counts(failed=1)
        kernels[kernel] = kernels.get(kernel, Counts()) + single
    return kernels


def total(capture: Capture, cut_short: Collection[Captured] = ()) -> Counts:
    """The counts of a whole run."""
    return reduce(Counts.__add__, by_kernel(capture, cut_short).values(), Counts())
