"""How the configurations of a run are counted: each once, in every line."""

from __future__ import annotations

from pathlib import Path

from triage.capture.captured import Capture, Captured, CaptureState
from triage.capture.compile_only import CompileOnly
from triage.capture.counts import Counts, by_kernel, total
from triage.model.target import Target


def failure(key: str, kernel: str = "matmul", autotuning: bool = False) -> Captured:
    origin = {"hash": key, "kernel": kernel}
    return Captured(Path(key), CaptureState.RAISED, origin, autotuning=autotuning)


CAPTURE = Capture(
    # "large" compiled and did not load; two processes compiled "good", of which one found it in the cache.
    compiled={"good": "matmul", "large": "matmul", "sum": "add"},
    cached={"good": "matmul", "older": "matmul"},
    compiles=(
        failure("large", autotuning=True),
        failure("large", autotuning=True),
        failure("bad"),
        # No configuration of this tuner works: it asks for the first again, and raises.
        failure("last", "norm", autotuning=True),
        failure("last", "norm"),
        failure("cut", "add"),
    ),
)


def test_each_configuration_counts_once() -> None:
    cut = (CAPTURE.compiles[-1],)
    assert by_kernel(CAPTURE, cut) == {
        "matmul": Counts(compiled=1, cached=1, failed=1, passed_over=1),
        "add": Counts(compiled=1),
        "norm": Counts(failed=1),
    }
    assert total(CAPTURE, cut) == Counts(2, 1, 2, 1)
    assert CAPTURE.summary(cut) == (
        "2 kernels compiled, 1 taken from Triton's cache, 2 failed, 1 passed over, "
        "1 cut short by its end and good alone"
    )
    assert Capture().summary() == "no kernels compiled, none failed"


def test_the_lines_for_each_kernel_add_up(tmp_path: Path) -> None:
    reached = CompileOnly(Target("cuda", "90"), tmp_path).reached(CAPTURE)
    assert list(reached.lines()) == [
        "3 kernels reached, for cuda:90",
        "matmul: 4 configurations, 1 failed, 1 passed over",
        "add: 2 configurations, 1 failed",
        "norm: 1 configuration, 1 failed",
    ]
