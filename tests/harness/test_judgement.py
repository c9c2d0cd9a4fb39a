"""A run with a long log is judged in another process, with the same result, while the limits of other runs hold."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kernel_cases
import pytest
from conftest import Traces
from fault_streams import LIMITS, SHORT, module

from triage.harness import judgement, observe
from triage.harness.engine import Engine
from triage.harness.judge import RunFacts
from triage.harness.judgement import Judged, Judging, Question
from triage.harness.request import Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.model.diagnosis import Kind
from triage.model.outcome import Outcome, Status, Undecided

DENSE = "".join(f"k.py:{number}:2: error: {number} is not supported here\n" for number in range(5_000))
ERROR = {"ev": "error", "errors": [{"type": "ValueError", "module": "builtins", "message": "bad", "frames": []}]}
DUMP = (
    "// -----// IR Dump Before ConvertA (convert-a) ('builtin.module' operation) //----- //\n"
    "module {\n  tt.func @k() {\n  }\n}\n"
)


def question(how: observe.How | None = None, **facts: Any) -> Question:
    return Question(kernel_cases.add(), RunFacts(**facts), LIMITS, "token", Path("/nowhere"), how)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(question(log=DENSE, status=6), id="crash"),
        pytest.param(question(log=DENSE, status=256, events=[ERROR]), id="exception", marks=pytest.mark.slow),
        pytest.param(question(log=DENSE, lost_server=True), id="lost", marks=pytest.mark.slow),
        pytest.param(question(log=DENSE, events=[{"ev": "undecided", "reason": "no disk"}], status=0), id="undecided"),
    ],
)
def test_another_process_judges_the_same(asked: Question) -> None:
    assert asked.is_long
    expected = asked.answer()
    assert Judging(asked).judgement() == expected
    assert isinstance(expected.result, Undecided) or expected.printed is not None


def test_an_observed_run_comes_back_without_its_dump() -> None:
    events = [{"ev": "begin", "stage": "ttgir"}, {"ev": "pipeline", "running": True}]
    asked = question(observe.How.DUMP, log=DENSE + DUMP, status=6, events=events)
    answered = Judging(asked).judgement()
    assert answered.seen is not None
    assert answered.seen == asked.answer().seen
    assert answered.seen.pass_name == "convert-a"
    assert isinstance(answered.result, Outcome)
    assert answered.result.failed
    assert answered.result.log == ""


def test_a_reader_that_is_killed_could_not_tell() -> None:
    judging = Judging(question(log=DENSE, status=6))
    with selectors.DefaultSelector() as selector:
        selector.register(judging.fd, selectors.EVENT_READ)
        judging.kill()
        assert selector.select(10)
    assert isinstance(judging.judgement().result, Undecided)


@pytest.mark.slow
def test_limits_hold_while_long_logs_are_read(
    engine: Engine, toolchains: Toolchains, traces: Traces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(asked: Question, original: Any = Question.answer) -> Judged:
        assert not asked.is_long, "a long log is read in the loop"
        judged: Judged = original(asked)
        return judged

    monkeypatch.setattr(judgement.Question, "answer", answer)
    shout = "os.write(2, b''.join(b'k.py:%d:2: error: %d is bad\\n' % (n, n) for n in range(30_000)))\nraise ValueError"
    cases = [module(tmp_path, shout, "loud.py"), module(tmp_path, "time.sleep(60)", "hanging.py")]
    limits = {"loud.py": LIMITS, "hanging.py": SHORT}
    requests = [Request(case, toolchains.default(), limits[case.file], tag=case.file) for case in cases]
    attempts = {attempt.request.tag: attempt for attempt in engine.run(requests)}
    hanging, loud = attempts["hanging.py"].result, attempts["loud.py"]
    assert isinstance(hanging, Outcome)
    assert hanging.status is Status.TIMEOUT
    assert hanging.duration_s < 2 * SHORT.timeout_s
    assert isinstance(loud.result, Outcome)
    assert loud.result.status is Status.ERROR
    assert len(loud.result.log) > judgement.LONG
    assert loud.printed is not None
    assert loud.diagnosis is not None
    assert loud.diagnosis.kind is Kind.MLIR_DIAGNOSTIC
    traces.assert_no_strays()


@pytest.mark.slow
def test_limits_hold_while_remembered_attempts_are_taken_slowly(
    toolchains: Toolchains, tmp_path: Path, shared_traces: Traces
) -> None:
    remembered = Request(kernel_cases.add(), toolchains.default(), LIMITS)
    body = f"open({str(tmp_path / 'hangs')!r}, 'w').close()\ntime.sleep(60)"
    hanging = Request(module(tmp_path, body), toolchains.default(), SHORT, tag="hanging")

    def requests() -> Iterator[Request | None]:
        yield hanging
        while not (tmp_path / "hangs").exists():
            yield None
        yield from [remembered] * 12

    with Engine(jobs=2, store=Store(tmp_path / "store")) as engine:
        assert not next(engine.run([remembered])).cached
        results = {}
        for attempt in engine.run(requests()):
            results[attempt.request.tag, attempt.cached] = attempt.result
            time.sleep(0.2 if attempt.cached else 0)
    assert (None, True) in results
    ended = results["hanging", False]
    assert isinstance(ended, Outcome)
    assert ended.status is Status.TIMEOUT
    assert ended.duration_s < 2 * SHORT.timeout_s
    shared_traces.assert_no_strays()


@pytest.mark.slow
def test_what_is_left_unread_is_not_left_running(
    engine: Engine, toolchains: Toolchains, traces: Traces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Judging] = []

    def start(judging: Judging, asked: Question, original: Any = Judging.__init__) -> None:
        original(judging, asked)
        started.append(judging)

    monkeypatch.setattr(Judging, "__init__", start)
    shout = "os.write(2, b'error: bad\\n' * 30_000)\nos.abort()"
    requests = iter([Request(module(tmp_path, shout), toolchains.default(), LIMITS)])
    # Requests are taken while another is under way; this one stops the stream once the log is being read.
    attempts = engine.run(next(requests, None) if not started else stop() for _ in range(10**9))
    with pytest.raises(KeyboardInterrupt):
        next(attempts)
    assert started
    traces.assert_no_strays()


def stop() -> Request:
    raise KeyboardInterrupt


def test_nothing_is_left_of_a_reader_that_cannot_be_watched(monkeypatch: pytest.MonkeyPatch, traces: Traces) -> None:
    def refused(_: int) -> int:
        raise OSError(24, "Too many open files")

    before = len(list(Path("/proc/self/fd").iterdir()))
    with monkeypatch.context() as patch:
        patch.setattr(os, "pidfd_open", refused)
        with pytest.raises(OSError, match="Too many"):
            Judging(question(log=DENSE, status=6))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert traces.processes() == {}
