"""Times of single launches, between two events on the GPU's own clock, each with a cold L2 cache."""

import math
import subprocess
import time
from typing import Any, Callable, List

_LEAST_LAUNCHES = 20
_MOST_LAUNCHES = 500
_TIMED_MS = 200.0
"""Launches are added until they take this long together …"""
_PATIENCE_MS = 30_000.0
"""… and fewer than the least are made where those would take longer than this."""
_WARM_UP_S = 0.2
"""An idle GPU runs at a sixth of its clock and needs tenths of a second of work to leave that."""
_FLUSH_BYTES = 256 << 20
"""More than any current L2 cache holds (60 MB on an H200, 126 MB on a B200, 256 MB of LLC on an MI300X); it is what
``triton.testing.do_bench`` writes as well."""


def measure(torch: Any, launch: Callable[[], Any]) -> List[float]:
    """Milliseconds of each launch. Raises what the launch raises, RuntimeError for an error of the GPU."""
    flush = torch.empty(_FLUSH_BYTES, dtype=torch.int8, device="cuda")
    once = _times(torch, launch, flush, 1)[0]
    until = time.monotonic() + _WARM_UP_S
    estimate = once
    while time.monotonic() < until and once < _PATIENCE_MS / _LEAST_LAUNCHES:
        estimate = min(_times(torch, launch, flush, 5))
    return _times(torch, launch, flush, count(estimate))


def count(estimate_ms: float) -> int:
    """How many launches to time."""
    # A launch shorter than the clock's resolution (half a microsecond) may read as 0.
    estimate_ms = max(estimate_ms, 1e-3)
    wanted = min(max(_LEAST_LAUNCHES, math.ceil(_TIMED_MS / estimate_ms)), _MOST_LAUNCHES)
    return max(1, min(wanted, max(int(_PATIENCE_MS / estimate_ms), 3)))


def _times(torch: Any, launch: Callable[[], Any], flush: Any, launches: int) -> List[float]:
    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(launches)]
    for begin, end in pairs:
        flush.zero_()
        begin.record()
        launch()
        end.record()
    torch.cuda.synchronize()
    return [float(begin.elapsed_time(end)) for begin, end in pairs]


def clock(torch: Any) -> str:
    """The clock right after the launches, as nvidia-smi reports it, else empty. triage locks no clock."""
    try:
        uuid = "GPU-%s" % torch.cuda.get_device_properties(0).uuid
        output = subprocess.run(
            ["nvidia-smi", "-i", uuid, "--query-gpu=clocks.sm,clocks.max.sm", "--format=csv,noheader,nounits"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10, check=True,
        ).stdout.decode()  # fmt: skip
        now, most = (int(field) for field in output.split(","))
    except Exception:  # no nvidia-smi, an old torch, a virtual GPU with N/A: a note is all that is lost
        return ""
    return "SM clock %d MHz right after, of %d; not locked" % (now, most)
