"""The time of a case on a GPU: the document's ``measured``, its words, and the order by it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from triage.model.document import Amount, Count, Doc, Documented, Internal
from triage.model.words import count

K = TypeVar("K")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Difference(Documented):
    """How far the worst output is from the first suggestion's. ``absolute`` and ``relative`` (to the first one's
    largest magnitude) are None where one of the two is infinite or NaN. ``undefined`` counts
    the elements that are NaN or infinite in one alone."""

    output: str
    absolute: float | None
    relative: float | None
    undefined: Count
    tolerance: float
    elements: Count

    @property
    def agrees(self) -> bool:
        """True when the difference is within the tolerance."""
        return self.undefined == 0 and self.relative is not None and self.relative <= self.tolerance

    def words(self) -> str:
        """One clause: which output, how far, and how far it may be."""
        if self.undefined:
            return f"{self.output}: {self.undefined} of {self.elements} elements are NaN or infinite in one alone"
        if self.absolute is None or self.relative is None:
            return f"{self.output}: the difference is not finite"
        return (
            f"{self.output} by up to {self.absolute:.3g}, {self.relative:.2g} of its largest magnitude "
            f"(tolerance {self.tolerance:.2g})"
        )


@dataclass(frozen=True, slots=True)
class Measurement(Documented):
    """Times of one launch in milliseconds: the median, the 20th and the 80th percentile of ``launches`` launches,
    each with a cold L2 cache. ``tflops`` where the case states its operations. ``agrees``: whether the outputs are
    those of the first suggestion that ran (for that one itself: those of any other); None where nothing was
    compared. ``clock`` says at which clock the GPU ran."""

    median_ms: Annotated[Amount, Doc(digits=6)]
    p20_ms: Annotated[Amount, Doc(digits=6)]
    p80_ms: Annotated[Amount, Doc(digits=6)]
    launches: Count
    device: str
    clock: str = ""
    tflops: Annotated[float | None, Doc(digits=3)] = None
    agrees: bool | None = None
    difference: Difference | None = None
    reference: Internal[bool] = False
    """The others' outputs were compared with this one's."""

    def words(self) -> str:
        """One line: the time, the throughput, and a disagreement, which is never left out."""
        text = f"{self.median_ms:.4g} ms a launch"
        if self.tflops is not None:
            text += f", {self.tflops:.3g} TFLOP/s"
        if self.agrees is not False:
            return text
        other = f"the first one's: {self.difference.words()}" if self.difference else "every other one's"
        return f"{text}, but its results differ from {other}"


@dataclass(frozen=True, slots=True)
class MemoryCheck(Documented):
    """What compute-sanitizer's memcheck reports of one launch. ``first``: the first invalid access with kernel, line,
    thread and reason; empty where there is none."""

    errors: Count
    first: Annotated[str, Doc(blank=True)] = ""

    def words(self) -> str:
        """One line."""
        if not self.errors:
            return "compute-sanitizer finds no invalid access"
        return f"compute-sanitizer: {count(self.errors, 'error')}{f', first: {self.first}' if self.first else ''}"


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Why there is no measurement, in one line. ``everywhere``: it would be the same for every case with this
    toolchain and target, so nothing more was started for them."""

    reason: str
    everywhere: bool = False


def settled(results: Mapping[K, Measurement | NotMeasured]) -> dict[K, Measurement | NotMeasured]:
    """The same with a verdict on the reference: it agrees when any other agrees with it. When none does, it is unknown
    which of them is wrong, so the reference is marked as they are."""
    verdicts = [result.agrees for result in results.values() if isinstance(result, Measurement) and result.difference]
    if not verdicts:
        return dict(results)
    return {
        key: replace(result, agrees=any(verdicts)) if isinstance(result, Measurement) and result.reference else result
        for key, result in results.items()
    }


def by_time(
    items: Iterable[S], measured: Callable[[S], Measurement | None], doubtful: Callable[[S], bool] = lambda item: False
) -> list[S]:
    """The fastest first; behind all of these the fastest of those that are ``doubtful`` (they compute something else,
    and say so), then those without a measurement in the order they had, last those whose results differ unsaid."""

    def key(item: S) -> tuple[int, float]:
        measurement = measured(item)
        if measurement is None:
            return 2, 0.0
        if measurement.agrees is False:
            return 3, measurement.median_ms
        return int(doubtful(item)), measurement.median_ms

    return sorted(items, key=key)


def reasons(results: Iterable[Measurement | NotMeasured]) -> list[str]:
    """Each reason once, with how often it came, for a line to people."""
    counts: dict[str, int] = {}
    for result in results:
        if isinstance(result, NotMeasured):
            counts[result.reason] = counts.get(result.reason, 0) + 1
    return [f"not measured ({count}): {reason}" for reason, count in counts.items()]
