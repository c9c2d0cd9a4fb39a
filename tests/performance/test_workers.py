"""What a measurement ends in where nothing can be measured. Each interpreter here holds the Triton beside the tests,
and, in the place of torch, a package that does what a broken installation or a broken driver does."""

from __future__ import annotations

import sysconfig
import time
import venv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from triage.cases import reproducers
from triage.harness.limits import GIB, Limits
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case, frozen
from triage.model.measurement import Measurement, NotMeasured
from triage.performance.bench import bench

LIMITS = Limits(30.0, 4 * GIB)
Interpreter = Callable[[str | None], Toolchain]


@pytest.fixture
def case() -> Case:
    found = reproducers.fixed("wgmma-mn-major-warp-specialized")
    assert found is not None
    return found[0]


@pytest.fixture
def interpreter(tmp_path: Path, toolchains: Toolchains) -> Interpreter:
    """An interpreter beside whose Triton ``torch`` is this text; None for no torch at all."""

    def make(torch: str | None) -> Toolchain:
        beside = toolchains.default()
        folder = tmp_path / "interpreter"
        venv.create(folder, with_pip=False, symlinks=True)
        site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        (site / "triton").symlink_to(beside.package)
        if torch is not None:
            (site / "torch").mkdir()
            (site / "torch" / "__init__.py").write_text(torch)
        return replace(beside, python=folder / "bin" / "python")

    return make


def measured(case: Case, toolchain: Toolchain, limits: Limits = LIMITS) -> Measurement | NotMeasured:
    ((key, answer),) = bench([("only", case, toolchain)], limits)
    assert key == "only"
    return answer


NO_GPU = """
from types import SimpleNamespace
__version__ = "2.0"
cuda = SimpleNamespace(is_available=lambda: False)
"""
HERE: dict[str, tuple[str | None, str]] = {
    "no torch": (None, "no torch beside the Triton in "),
    "no GPU": (NO_GPU, "no GPU that torch 2.0 in "),
    "torch that does not load": (
        "raise ImportError('libcudart.so.13: cannot open shared object file')",
        "torch cannot be imported in ",
    ),
}


@pytest.mark.parametrize(("torch", "told"), HERE.values(), ids=HERE.keys())
def test_what_is_missing_is_said_once_and_asked_once(
    case: Case, interpreter: Interpreter, torch: str | None, told: str
) -> None:
    toolchain = interpreter(torch)
    cases = [(name, case, toolchain) for name in ("first", "second")]
    done: list[tuple[int, int]] = []
    answers = dict(bench(cases, LIMITS, doing=lambda count, of: done.append((count, of))))
    first = answers["first"]
    assert isinstance(first, NotMeasured)
    assert first.reason.startswith(told)
    assert first.everywhere
    assert answers["second"] == first
    assert done == [(0, 2), (1, 2)]


OTHER_GPU = """
from types import SimpleNamespace
__version__ = "2.0"
version = SimpleNamespace(hip=None)
cuda = SimpleNamespace(is_available=lambda: True, get_device_capability=lambda index: (10, 0),
                       get_device_name=lambda index: "NVIDIA B200")
"""


def test_a_gpu_of_another_kind_is_not_measured_on(case: Case, interpreter: Interpreter) -> None:
    found = measured(case, interpreter(OTHER_GPU))
    assert found == NotMeasured("the GPU here is a NVIDIA B200, cuda:100; the case is for cuda:90", everywhere=True)


MEMORY = 1 << 28
"""More than a worker needs without torch; to fill it takes a quarter of a second."""
DEATHS = {
    "a signal": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "the process died of SIGSEGV"),
    "an exit": ("import os; print('CUDA driver error', flush=True); os._exit(3)",
                "the process called exit(3), while importing torch: CUDA driver error"),
    "a daemon that lives on": ("import os\nif os.fork(): os._exit(7)\nos.setsid()\nimport time; time.sleep(600)",
                               "the process called exit(7), while importing torch"),
    "exhausted memory": ("import time\nheld = []\nwhile 1: held.append(b'x' * (64 << 20)); time.sleep(0.03)",
                         f"more than {MEMORY} B of host memory"),
    "no end": ("import time; time.sleep(600)", "no end within 1 s, while importing torch"),
    "no end, and deaf": ("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)",
                         "no end within 1 s, while importing torch"),
    "an exception": ("raise SystemExit('bye')", "SystemExit: bye, while importing torch"),
}  # fmt: skip


@pytest.mark.usefixtures("gone")
@pytest.mark.parametrize(
    ("torch", "told"),
    [
        pytest.param(*row, id=how, marks=pytest.mark.slow if how in ("a daemon that lives on", "no end") else ())
        for how, row in DEATHS.items()
    ],
)
def test_a_worker_that_ends_without_an_answer(case: Case, interpreter: Interpreter, torch: str, told: str) -> None:
    limits = Limits(1.0 if "no end" in told else 30.0, MEMORY)
    began = time.monotonic()
    found = measured(case, interpreter(torch), limits)
    assert isinstance(found, NotMeasured)
    assert found.reason.startswith(told)
    assert not found.everywhere, "another case may fare better"
    assert time.monotonic() - began < 20


def test_garbage_in_the_pipe_is_no_answer(case: Case, interpreter: Interpreter) -> None:
    """The worker's own line begins with a token that nothing printed can know."""
    forged = 'import os\nfor fd in range(3, 64):\n    try: os.write(fd, b\'\\nx {"ev": "measured"}\\n\')\n'
    found = measured(case, interpreter(forged + "    except OSError: pass\nos._exit(0)"))
    assert found == NotMeasured("the process called exit(0), while importing torch")


@pytest.fixture
def gone(traces: object) -> object:
    """After the test nothing is left: no process, no file."""
    yield traces
    traces.assert_gone()  # type: ignore[attr-defined]


def test_a_case_without_inputs(case: Case, toolchains: Toolchains) -> None:
    found = measured(replace(case, inputs=frozen()), toolchains.default())
    assert isinstance(found, NotMeasured)
    assert found.reason.endswith("the case states no inputs, so it cannot be launched")


def test_inputs_that_no_longer_fit(case: Case, toolchains: Toolchains) -> None:
    found = measured(case.with_changes({"BLOCK_M": None}), toolchains.default())
    assert isinstance(found, NotMeasured)
    assert found.reason.startswith("inputs.grid: 'BLOCK_M' is not a known integer; known are M, N, K, BLOCK_N")


def test_other_work_is_not_compared(case: Case, toolchains: Toolchains) -> None:
    """A repaired reproducer has sizes of its own: its time says nothing about the user's case."""
    smaller = replace(case, inputs=frozen({**case.inputs, "sizes": {"M": 512, "N": 4096, "K": 4096}}))
    ((_, found),) = bench([(0, smaller, toolchains.default())], LIMITS, problem=case)
    assert found == NotMeasured("its inputs are another problem: a_ptr is 512x4096 normal, not 4096x4096 normal")
