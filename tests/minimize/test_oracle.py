"""The oracle's three answers: what is the same, what is not, and what it makes of not being able to tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, Milestone, PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.logs.outcomes import diagnose_outcome
from triage.minimize.failure import Identity
from triage.minimize.oracle import CountingRunner, Oracle
from triage.minimize.problem import BudgetUsed, RunBudget, Verdict
from triage.minimize.source.compiling import CandidateCompiler
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case, frozen
from triage.model.errors import EnvironmentFault, InputError
from triage.model.outcome import Outcome, PythonError, Stage, Status, Undecided

COMPILES = Outcome(Status.OK)
KILLED = Outcome(Status.CRASH, signal="SIGKILL", killed_from_outside=True)
LOST = Undecided("the server was lost")
TIMEOUT = Outcome(Status.TIMEOUT, Stage.TTGIR, limit_s=3.0, duration_s=3.0)


def failing(text: str, type_: str = "CompilationError", stage: Stage = Stage.SOURCE) -> Outcome:
    return Outcome(Status.ERROR, stage, exit_code=1, errors=(PythonError(type_, "triton", text),))


def assertion(function: str) -> Outcome:
    log = f"python: /root/llvm/lib/X.cpp:12: void {function}(int): Assertion `a == b' failed.\n"
    return Outcome(Status.CRASH, Stage.TTGIR, signal="SIGABRT", log=log, pipeline=True)


WANTED = failing("ValueError: shapes must match")


class Machine:
    """An engine whose outcomes are scripted: by the text of the kernel, one after the other."""

    jobs = 2

    def __init__(self, outcomes: dict[str, list[Any]]) -> None:
        self.outcomes, self.asked = {text: list(one) for text, one in outcomes.items()}, list[str]()
        self.last: Request | None = None

    def run(self, requests: Iterable[Request]) -> Iterator[Attempt]:
        for request in requests:
            self.last = request
            text = request.case.path.read_text()
            self.asked.append(text)
            given = self.outcomes[text]
            yield Attempt(request, given.pop(0) if len(given) > 1 else given[0])


class Asked:
    """An oracle that has learnt the original, and the parts around it."""

    def __init__(self, folder: Path, outcomes: dict[str, list[Any]], repeat: int | None, most: float) -> None:
        self.case = Case(folder / "user", "kernel.py", "kernel", frozen())
        self.machine = Machine({"original": [WANTED], **outcomes})
        toolchain = Toolchain(Path("python"), "3.9.0", "3.11", False, "id", Path("triton"))
        runner = CountingRunner(self.machine)
        self.compiler = CandidateCompiler(runner, toolchain, Limits(), folder / "all")
        self.failure = self.compiler.learn(Specimen("original", self.case, in_package=True), repeat)
        self.repeat = repeat or self.failure.repeats
        self.oracle = Oracle(runner, self.compiler.trials(self.failure), Specimen.key, self.repeat)
        self.budget = RunBudget(most)

    def judge(self, text: str) -> Verdict:
        return self.oracle.ask([Specimen(text, self.case)], budget=self.budget)[0]


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Asked]:
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "kernel.py").write_text("original")
    return lambda outcomes, repeat=None, most=1000: Asked(tmp_path, outcomes, repeat, most)


ANSWERS = [
    ([WANTED], Verdict.SAME),
    ([failing("ValueError: something else")], Verdict.OTHER),
    ([failing("ValueError: shapes must match", "AssertionError", Stage.TTIR)], Verdict.OTHER),
    ([assertion("f")], Verdict.OTHER),
    ([TIMEOUT], Verdict.OTHER),
    ([COMPILES], Verdict.COMPILES),
    ([Undecided("argument x has no value", input_error=True)], Verdict.OTHER),
    ([LOST], Verdict.UNKNOWN),
    ([KILLED], Verdict.UNKNOWN),
    ([LOST, WANTED], Verdict.SAME),
]


@pytest.mark.parametrize(("outcomes", "verdict"), ANSWERS)
def test_answers(ask: Any, outcomes: list[Any], verdict: Verdict) -> None:
    assert ask({"candidate": outcomes}).judge("candidate") is verdict


def test_the_same_assertion_in_another_function_is_another_bug(ask: Any) -> None:
    original, other = assertion("a::Here::run"), assertion("a::There::run")
    asked = ask({"original": [original], "same": [original], "other": [other]})
    assert (asked.judge("same"), asked.judge("other")) == (Verdict.SAME, Verdict.OTHER)


def test_other_failures_are_kept_as_findings(ask: Any) -> None:
    asked = ask({"candidate": [failing("ValueError: something else")]})
    asked.judge("candidate")
    assert list(asked.compiler.findings.values()) == ["ValueError: something else"]


def test_equal_candidates_are_compiled_once(ask: Any) -> None:
    asked = ask({"candidate": [COMPILES]})
    assert [asked.judge("candidate"), asked.judge("candidate")] == [Verdict.COMPILES] * 2
    assert asked.machine.asked.count("candidate") == 1


def test_a_broken_oracle_stops_the_search(ask: Any) -> None:
    names = ["one", "two", "three"]
    asked = ask({name: [LOST] for name in names})
    assert [asked.judge(name) for name in names[:2]] == [Verdict.UNKNOWN] * 2
    with pytest.raises(EnvironmentFault, match="could not be judged"):
        asked.judge(names[2])


def test_one_answer_in_between_says_that_it_works(ask: Any) -> None:
    asked = ask({**{name: [LOST] for name in "abcd"}, "works": [COMPILES]})
    assert [asked.judge(name) for name in ("a", "b", "works", "c", "d")].count(Verdict.UNKNOWN) == 4


def test_what_compiles_is_no_case(ask: Any) -> None:
    with pytest.raises(InputError, match="does not fail"):
        ask({"original": [COMPILES]})


def test_what_cannot_be_told_is_no_answer_for_the_original_either(ask: Any) -> None:
    with pytest.raises(EnvironmentFault, match=r"/user/kernel\.py::kernel: could not tell"):
        ask({"original": [LOST]})


def test_a_failure_that_comes_and_goes_is_repeated(ask: Any) -> None:
    """Seen in 3 of 5: 1 - 0.4**4 is the first over 95 %."""
    outcomes = [WANTED, COMPILES, WANTED, COMPILES, WANTED]
    asked = ask({"original": outcomes, "late": [COMPILES, COMPILES, COMPILES, WANTED], "never": [COMPILES]})
    assert (asked.failure.rate, asked.repeat) == (0.6, 4)
    assert (asked.judge("late"), asked.judge("never")) == (Verdict.SAME, Verdict.COMPILES)


def test_what_hangs_is_known_long_before_its_limit_and_confirmed_with_it(ask: Any) -> None:
    asked = ask({"original": [TIMEOUT], "candidate": [TIMEOUT]})
    assert asked.judge("candidate") is Verdict.SAME
    assert asked.machine.last.limits.timeout_s == 20  # Ten seconds, and a margin.
    candidate = asked.compiler.written(Specimen("candidate", asked.case))
    assert asked.compiler.confirm(candidate, asked.failure, 1) is not None
    assert asked.machine.last.limits.timeout_s == Limits().timeout_s
    assert asked.failure.hang_s(Limits()) == 10


OVER = Outcome(Status.ERROR, Stage.LOAD, exit_code=1, over_limit="shared memory: 262144 > 232448")
UNTIL = [
    (assertion("f"), Stage.TTGIR),
    (OVER, Milestone.ALLOCATED),
    (replace(assertion("f"), stage=Stage.LLIR), Milestone.CONVERTED),
    (replace(assertion("f"), stage=Stage.LLIR, pipeline=False), Stage.LLIR),
    (failing("ValueError: x"), Stage.TTIR),
    (failing("ptxas failed", stage=Stage.CUBIN), None),
]


@pytest.mark.parametrize(("original", "stage"), UNTIL)
def test_candidates_go_no_further_than_tells(ask: Any, original: Outcome, stage: Stage | Milestone | None) -> None:
    asked = ask({"original": [original], "candidate": [original]})
    assert asked.judge("candidate") is Verdict.SAME
    assert asked.machine.last.action == (PartialCompile(stage) if stage else FullCompile(use_cache=False))


@pytest.mark.parametrize(
    ("whole", "exception"),
    [(OVER, None), (TIMEOUT, None), (failing("ptxas failed", "PTXASError", Stage.CUBIN), "PTXASError")],
)
def test_what_is_over_a_limit_may_fail_before_it_is_loaded(ask: Any, whole: Outcome, exception: str | None) -> None:
    """ptxas is asked, and not waited for."""
    asked = ask({"original": [OVER, whole, OVER if exception is None else whole]})
    assert asked.failure.diagnosis.exception == exception
    assert asked.failure.rate == 1.0
    assert asked.failure.until == (Milestone.ALLOCATED if exception is None else None)


def test_the_budget_ends_it(ask: Any) -> None:
    asked = ask({"one": [COMPILES], "two": [WANTED]}, most=6)
    with pytest.raises(BudgetUsed):
        asked.judge("one")


def test_an_oracle_that_changes_its_mind_is_broken(ask: Any) -> None:
    """After many runs a candidate that failed alike is run again."""
    asked = ask({"same": [WANTED, COMPILES], **{str(number): [COMPILES] for number in range(201)}})
    assert asked.judge("same") is Verdict.SAME
    with pytest.raises(EnvironmentFault, match="no longer fails as it did"):
        for number in range(201):
            asked.judge(str(number))


def test_what_only_observing_tells_apart_is_run_twice(ask: Any) -> None:
    """The plain run looks the same; the pass that is observed does not."""
    asked = ask({"original": [WANTED]})
    plain, named = WANTED, failing("ValueError: in a pass")
    diagnosis = diagnose_outcome(named)
    assert diagnosis is not None
    failure = replace(asked.failure, diagnosis=diagnosis, identity=Identity.of(diagnosis))
    asked.machine.outcomes |= {"same": [plain, named], "other": [plain, failing("ValueError: in another")]}
    asked.machine.outcomes["compiles"] = [COMPILES]
    oracle = Oracle(asked.compiler.runner, asked.compiler.trials(failure), Specimen.key)
    texts = ("same", "other", "compiles")
    verdicts = oracle.ask([Specimen(text, asked.case) for text in texts])
    assert verdicts == [Verdict.SAME, Verdict.OTHER, Verdict.COMPILES]
    assert [asked.machine.asked.count(text) for text in texts] == [2, 2, 1]
