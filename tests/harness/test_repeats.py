"""A fork that compiles one configuration after the other: what only happens there is no answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fault_streams import LIMITS, module

from triage.harness import repeats
from triage.harness.engine import Engine
from triage.harness.messages import Exited
from triage.harness.request import FullCompile, Request
from triage.harness.run import Run
from triage.harness.toolchains import Toolchains
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, Status, Undecided

BLOCKS = (16, 32, 64, 128, 256)
TOO_LARGE = 1 << 21


class Forks(Engine):
    """An engine that compiles one case at a time, and keeps how each of its processes ended."""

    def __init__(self) -> None:
        super().__init__(jobs=1)
        self.ends: list[Exited] = []

    def exited(self, identity: str, end: Exited) -> None:
        # Processes that remove folders end as well.
        self.ends += [end for _, run in self._runs() if run.identity == identity]
        super().exited(identity, end)

    @property
    def repeated(self) -> int:
        """How many compiles shared a process with one before."""
        return sum(end.repeated for end in self.ends)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forks]:
    monkeypatch.setattr(repeats, "_FORK_S", 1000.0)  # whatever a compile takes
    with Forks() as engine:
        yield engine


def results(engine: Engine, toolchains: Toolchains, case: Case, *blocks: int) -> list[Outcome | Undecided]:
    """Of the case with each block, one after the other."""
    cases = [replace(case, constexprs=frozen({"BLOCK": block})) for block in blocks or BLOCKS]
    requests = [Request(case, toolchains.default(), LIMITS, FullCompile(), tag=at) for at, case in enumerate(cases)]
    return [attempt.result for attempt in sorted(engine.run(requests), key=lambda attempt: attempt.request.tag)]


def statuses(answers: list[Outcome | Undecided]) -> list[Status]:
    return [answer.status for answer in answers if isinstance(answer, Outcome)]


def test_a_fork_goes_on_after_a_success(forks: Forks, toolchains: Toolchains, tmp_path: Path) -> None:
    answers = results(forks, toolchains, module(tmp_path, "pass"))
    assert statuses(answers) == [Status.OK] * len(BLOCKS)
    assert forks.repeated == len(BLOCKS) - 2, "the first is forked as nothing is known, the second as none waits"
    own = [answer.stages for answer in answers if isinstance(answer, Outcome)]
    assert len({tuple(time.stage for time in stages) for stages in own}) == 1


FAULTS = {
    "raises": "raise RuntimeError('in the second compile of a process')",
    "dies": "os.kill(os.getpid(), signal.SIGSEGV)",
    "exits": "os._exit(3)",
    "prints garbage": "os.write(result_pipes()[0], b'\\n' * 10000); raise MemoryError",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_only_there_has_not_failed(forks: Forks, toolchains: Toolchains, tmp_path: Path, fault: str) -> None:
    body = f"compiled.append(1)\nif len(compiled) > 1: {FAULTS[fault]}"
    case = module(tmp_path, body)
    case.path.write_text(case.path.read_text().replace("def fault():", "compiled = []\n\n\ndef fault():"))
    assert statuses(results(forks, toolchains, case)) == [Status.OK] * len(BLOCKS)
    assert forks.repeated > 0


@pytest.mark.parametrize(
    "change",
    ["os.environ['TRITON_DUMP'] = str(time.time())", "os.chdir('/')", "subprocess.Popen(['sleep', '100'])"],
    ids=["environment", "folder", "process"],
)
def test_a_process_that_was_changed_compiles_nothing_else(
    forks: Forks, toolchains: Toolchains, tmp_path: Path, change: str
) -> None:
    assert statuses(results(forks, toolchains, module(tmp_path, change))) == [Status.OK] * len(BLOCKS)
    assert forks.repeated == 0


def test_a_failure_is_one_of_a_fork_of_its_own(forks: Forks, toolchains: Toolchains, tmp_path: Path) -> None:
    answers = results(forks, toolchains, module(tmp_path, "pass"), 16, 32, 64, TOO_LARGE, 128)
    assert statuses(answers) == [Status.OK] * 3 + [Status.ERROR, Status.OK]
    repeated = [end.repeated for end in forks.ends]
    assert repeated == [False, False, True, True, False, False], "the fourth was compiled twice"


def test_a_server_that_claims_it_each_time_is_asked_twice(
    forks: Forks, toolchains: Toolchains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Run.ended
    monkeypatch.setattr(Run, "ended", lambda self, end: ended(self, replace(end, repeated=True)))
    assert statuses(results(forks, toolchains, module(tmp_path, "raise ValueError"), 16)) == [Status.ERROR]
    assert len(forks.ends) == 2


def test_rare_failures_and_short_compiles_make_it_pay() -> None:
    seen = repeats.Repeats()
    assert not seen.pay, "nothing is known"
    outcome = Outcome(status=Status.OK, stage=None)
    for _ in range(3):
        seen.add(outcome, 0.05)
    assert seen.pay
    for _ in range(3):
        seen.add(replace(outcome, status=Status.CRASH), 0.05)
    assert not seen.pay
