"""A fork that compiles one configuration after the other, of which it is given several at once: what only happens there
is no answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fault_streams import module
from hypothesis import given
from hypothesis import strategies as st
from rows import one_in

from triage.harness import repeats
from triage.harness.boundedlog import BoundedLog
from triage.harness.engine import Engine
from triage.harness.judge import RunFacts
from triage.harness.limits import Limits
from triage.harness.pipes import Logs
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.run import Run
from triage.harness.toolchains import Toolchains
from triage.harness.work import Work
from triage.harness.worker import wire
from triage.harness.worker.recorder import MARK
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, Status, Undecided

BLOCKS = (16, 32, 64, 128, 256)
TOO_LARGE = 1 << 21
TIGHT = Limits(timeout_s=1.5, memory_bytes=3 << 27)


class Forks(Engine):
    """An engine that compiles one case at a time, and keeps which of the compiles shared a process with one before."""

    def __init__(self) -> None:
        super().__init__(jobs=1)
        self.repeated: list[bool] = []

    def _settle(self, work: Work, run: Run) -> None:
        self.repeated.append(run.repeated)
        super()._settle(work, run)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forks]:
    for limit in ("_FORK_S", "_BATCH_S"):
        monkeypatch.setattr(repeats, limit, 1000.0)  # whatever a compile takes
    with Forks() as engine:
        yield engine


def attempts(engine: Engine, toolchains: Toolchains, case: Case, *blocks: int, ahead: bool = True) -> Iterator[Attempt]:
    """Of the case with each block, as they end."""
    cases = [replace(case, constexprs=frozen({"BLOCK": block})) for block in blocks or BLOCKS]
    requests = [Request(case, toolchains.default(), TIGHT, FullCompile(), tag=at) for at, case in enumerate(cases)]
    return engine.run(requests, ahead)


def results(
    engine: Engine, toolchains: Toolchains, case: Case, *blocks: int, ahead: bool = True
) -> list[Outcome | Undecided]:
    """Of the case with each block."""
    ended = attempts(engine, toolchains, case, *blocks, ahead=ahead)
    return [attempt.result for attempt in sorted(ended, key=lambda attempt: attempt.request.tag)]


def counting(folder: Path, body: str) -> Case:
    """A module whose compiles add to the list ``compiled`` of their process first."""
    case = module(folder, f"compiled.append(1)\n{body}")
    case.path.write_text(case.path.read_text().replace("def fault():", "compiled = []\n\n\ndef fault():"))
    return case


def statuses(answers: list[Outcome | Undecided]) -> list[Status]:
    return [answer.status for answer in answers if isinstance(answer, Outcome)]


@pytest.mark.parametrize("ahead", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_fork_goes_on_after_a_success(forks: Forks, toolchains: Toolchains, tmp_path: Path, ahead: bool) -> None:
    answers = results(forks, toolchains, module(tmp_path, "pass"), ahead=ahead)
    assert statuses(answers) == [Status.OK] * len(BLOCKS)
    assert sum(forks.repeated) == len(BLOCKS) - 2, "the first is forked as nothing is known, the second as none waits"
    own = [answer.stages for answer in answers if isinstance(answer, Outcome)]
    assert len({tuple(time.stage for time in stages) for stages in own}) == 1


FAULTS = {
    "dies": "os.kill(os.getpid(), signal.SIGSEGV)",
    "raises": "raise RuntimeError('in the second compile of a process')",
    "prints garbage": "os.write(result_pipes()[0], b'\\n' * 10000); raise MemoryError",
    "exits": "os._exit(3)",
    "takes memory": "held = b'x' * (1 << 29); time.sleep(1000)",
}


@pytest.mark.parametrize("fault", one_in(3, FAULTS))
def test_what_fails_only_there_has_not_failed(forks: Forks, toolchains: Toolchains, tmp_path: Path, fault: str) -> None:
    case = counting(tmp_path, f"if len(compiled) == 3: {FAULTS[fault]}")
    assert statuses(results(forks, toolchains, case)) == [Status.OK] * len(BLOCKS)
    assert forks.repeated == [False, False, True, True, False, False], "the fourth was compiled twice"


def test_what_has_ended_does_not_wait_for_one_that_hangs(forks: Forks, toolchains: Toolchains, tmp_path: Path) -> None:
    case = counting(tmp_path, "if len(compiled) == 3: time.sleep(1000)")
    times = [(time.monotonic(), attempt.result) for attempt in attempts(forks, toolchains, case)]
    assert statuses([result for _, result in times]) == [Status.OK] * len(BLOCKS)
    assert forks.repeated == [False, False, True, True, False, False], "the fourth was compiled twice"
    assert times[3][0] - times[2][0] > TIGHT.timeout_s / 2


def test_each_has_what_it_printed(forks: Forks, toolchains: Toolchains, tmp_path: Path) -> None:
    answers = results(forks, toolchains, counting(tmp_path, "print('compile', len(compiled))"))
    logs = [answer.log for answer in answers if isinstance(answer, Outcome)]
    assert logs == [f"compile {number}\n" for number in (1, 1, 2, 3, 4)]


@given(st.lists(st.sampled_from(["", "a", "x" * 50, MARK, f"{MARK}0"]), min_size=1), st.integers(1, 40))
def test_a_log_is_divided_wherever_it_is_cut(texts: list[str], size: int) -> None:
    runs = [Run(Path(), 1.0, BoundedLog(), RunFacts(), repeats.Repeats(), is_fresh=False) for _ in texts]
    own = [f"{MARK}{run.token} source\n{text}" for run, text in zip(runs, texts, strict=True)]
    data, logs = "".join(own).encode(), Logs(runs)
    for at in range(0, len(data), size):
        logs.write(data[at : at + size])
    logs.close()
    assert [run.log.text() for run in runs] == own


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("os.environ['TRITON_DUMP'] = str(time.time())", id="environment"),
        pytest.param("os.chdir('/')", id="folder", marks=pytest.mark.slow),
        pytest.param("subprocess.Popen(['sleep', '100'])", id="process", marks=pytest.mark.slow),
    ],
)
def test_a_process_that_was_changed_compiles_nothing_else(
    forks: Forks, toolchains: Toolchains, tmp_path: Path, change: str
) -> None:
    assert statuses(results(forks, toolchains, module(tmp_path, change))) == [Status.OK] * len(BLOCKS)
    assert not any(forks.repeated)


def test_a_failure_is_one_of_a_fork_of_its_own(forks: Forks, toolchains: Toolchains, tmp_path: Path) -> None:
    answers = results(forks, toolchains, module(tmp_path, "pass"), 16, 32, 64, TOO_LARGE, 128)
    assert statuses(answers) == [Status.OK] * 3 + [Status.ERROR, Status.OK]
    assert forks.repeated == [False, False, True, True, False, False], "the fourth was compiled twice"


@pytest.mark.parametrize(
    "end",
    [
        {},
        {"seconds": 1.0, "max_rss_bytes": 1, "stages": [["ttir", -1.0]]},
        {"seconds": 1.0, "max_rss_bytes": 1, "stages": [["dinner", 1.0]]},
        {"seconds": 1.0, "max_rss_bytes": 1, "stages": [7]},
        {"seconds": 1.0, "max_rss_bytes": "much", "stages": []},
        {"seconds": float("nan"), "max_rss_bytes": 1, "stages": []},
        {"seconds": 1.0, "max_rss_bytes": 1 << 60, "stages": []},
    ],
)
def test_an_end_that_no_worker_reports_is_none(end: dict[str, Any]) -> None:
    run = Run(Path(), 1.0, BoundedLog(), RunFacts(), repeats.Repeats(), is_fresh=False)
    event = {"ev": "ended", "seconds": 1.0, "max_rss_bytes": 1, "stages": [["ttir", 0.5]]}
    assert run.take(f"{run.token} {wire.dumps(event)}".encode())
    assert not run.take(f"{run.token} {wire.dumps({'ev': 'ended', **end})}".encode())
    assert not run.take(f"other {wire.dumps(event)}".encode())


def test_rare_failures_and_short_compiles_make_it_pay() -> None:
    seen = repeats.Repeats()
    assert not seen.pay, "nothing is known"
    outcome = Outcome(status=Status.OK, stage=None)
    for _ in range(3):
        seen.add(outcome, 0.05)
    assert seen.pay
    assert seen.ahead == 9, "half a second in all"
    for _ in range(3):
        seen.add(replace(outcome, status=Status.CRASH), 0.05)
    assert not seen.pay
