"""From the times of launches, as a worker answers them, to a measurement."""

import math
from collections.abc import Mapping
from typing import Any

from triage.model.launch_plan import LaunchPlan
from triage.model.measurement import Difference, Measurement

_QUANTILES = (0.2, 0.5, 0.8)


def measurement(answer: Mapping[str, Any], resolved: LaunchPlan, tolerance: float) -> Measurement:
    """The measurement in the answer of a worker. Raises LookupError, TypeError, ValueError, ArithmeticError and
    AttributeError where it cannot be read."""
    times = sorted(float(time_ms) for time_ms in answer["times_ms"])
    p20, median, p80 = (_quantile(times, share) for share in _QUANTILES)
    compared = answer["comparison"]
    difference = None
    if compared is not None and not compared.get("incomparable"):
        difference = Difference(
            output=str(compared["output"]),
            absolute=_finite(compared["absolute"]),
            relative=_finite(compared["relative"]),
            undefined=int(compared["undefined"]),
            tolerance=tolerance,
            elements=int(compared["elements"]),
        )
    return Measurement(
        median_ms=median,
        p20_ms=p20,
        p80_ms=p80,
        launches=len(times),
        device=str(answer["device"]),
        clock=str(answer["clock"]),
        # 1e9: milliseconds to seconds, and operations to their millions of millions.
        tflops=None if resolved.flops is None or median <= 0 else resolved.flops / median / 1e9,
        agrees=None if difference is None else difference.agrees,
        difference=difference,
        reference=compared is None and bool(resolved.outputs),
    )


def _quantile(times: list[float], share: float) -> float:
    """Interpolated as ``numpy.quantile`` does by default. Raises ValueError for no or bad times."""
    if not times or not all(math.isfinite(time_ms) and time_ms >= 0 for time_ms in times):
        raise ValueError("no times")
    position = share * (len(times) - 1)
    below = math.floor(position)
    above = min(below + 1, len(times) - 1)
    return times[below] + (times[above] - times[below]) * (position - below)


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
