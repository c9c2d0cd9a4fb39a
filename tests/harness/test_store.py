"""Outcomes that are remembered: when one answers again, and when it must not."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import kernel_cases
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.harness import store
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.store import Store, key_of
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.gpus import TensorCore
from triage.model.outcome import Frame, Outcome, PythonError, Resources, Stage, StageTime, Status

GIB = 1 << 30
TOOLCHAIN = Toolchain(Path("/env/bin/python"), "3.9.0", "3.11.7", False, "identity", Path("/env/triton"))
OK = Outcome(Status.OK, exit_code=0, resources=Resources(0, 10, 0, TensorCore.NONE))
KEEP = FullCompile(keep=True)
FAILED = Outcome(Status.ERROR, Stage.LLIR, log="error: no", exit_code=1)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    path = tmp_path / "kernel.py"
    path.write_text("def add(): ...\n")
    return kernel_cases.case(path, "add", {"x_ptr": "*fp32"})


@pytest.fixture
def request_(case: Case) -> Request:
    return Request(case, TOOLCHAIN, Limits(10.0, GIB))


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_good_outcome_is_remembered_whatever_the_limits(kept: Store, request_: Request) -> None:
    assert kept.get(request_) is None
    kept.put(request_, OK, None, [])
    assert kept.get(request_) == OK
    assert kept.get(replace(request_, limits=Limits(1.0, 1), action=FullCompile(observe=True, keep=True))) == OK


@pytest.mark.parametrize(
    ("status", "asked", "answers"),
    [
        (Status.TIMEOUT, Limits(10.0, GIB), True),
        (Status.TIMEOUT, Limits(9.0, 4 * GIB), True),
        (Status.TIMEOUT, Limits(11.0, GIB), False),
        (Status.OUT_OF_MEMORY, Limits(99.0, GIB), True),
        (Status.OUT_OF_MEMORY, Limits(10.0, GIB + 1), False),
        (Status.ERROR, Limits(99.0, 9 * GIB), True),
    ],
)
def test_a_limit_that_was_met_holds_for_smaller_ones(
    kept: Store, request_: Request, status: Status, asked: Limits, answers: bool
) -> None:
    kept.put(request_, Outcome(status, Stage.LLIR, limit_s=10.0, limit_bytes=GIB), None, [])
    assert (kept.get(replace(request_, limits=asked)) is not None) == answers


def test_what_was_killed_from_outside_is_not_kept(kept: Store, request_: Request) -> None:
    kept.put(request_, Outcome(Status.CRASH, signal="SIGKILL", killed_from_outside=True), None, [])
    assert kept.get(request_) is None


def test_an_unobserved_failure_does_not_answer_who_wants_the_pass(kept: Store, request_: Request) -> None:
    kept.put(request_, FAILED, None, [])
    assert kept.get(replace(request_, action=FullCompile(observe=True))) is None
    kept.put(replace(request_, action=FullCompile(observe=True)), replace(FAILED, pass_name="cse"), None, [])
    found = kept.get(request_)
    assert found is not None
    assert found.pass_name == "cse"


def test_artifacts_are_kept_with_a_failure_and_asked_for(kept: Store, request_: Request, tmp_path: Path) -> None:
    kept.put(request_, FAILED, None, [])
    wanting = replace(request_, action=KEEP)
    assert kept.get(wanting) is None
    put = kept.put(wanting, FAILED, tmp_path, [])
    assert put.artifacts["log"].read_text() == "error: no"
    found = kept.get(wanting)
    assert found is not None
    assert found.artifacts == put.artifacts
    put.artifacts["log"].unlink()
    assert kept.get(wanting) is None


def test_a_changed_dependency_is_a_miss(kept: Store, request_: Request, tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("A = 1\n")
    kept.put(request_, OK, None, [str(helper)])
    assert kept.get(request_) == OK
    helper.write_text("A = 2\n")
    assert kept.get(request_) is None
    kept.put(request_, OK, None, [str(helper)])
    helper.unlink()
    assert kept.get(request_) is None


def test_the_key_holds_everything_that_decides(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    case = request_.case
    first = key_of(request_)
    others = [
        replace(request_, toolchain=replace(TOOLCHAIN, identity="other")),
        replace(request_, case=replace(case, options={"num_warps": 8})),
        replace(request_, case=replace(case, name="sub")),
    ]
    keys = [key_of(other) for other in others]
    case.path.write_text("def add(): pass\n")
    keys.append(key_of(request_))
    monkeypatch.setenv("DISABLE_LLVM_OPT", "1")
    keys.append(key_of(request_))
    assert len({first, *keys}) == 6
    same = replace(
        request_, limits=Limits(1.0, 1), tag=3, action=FullCompile(observe=True), case=replace(case, origin={"a": 1})
    )
    assert key_of(same) == key_of(request_)


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\0" + b"x" * 4096, b""])
def test_a_broken_file_means_not_remembered(tmp_path: Path, request_: Request, content: bytes) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / f"outcomes-{store._SCHEMA}.sqlite").write_bytes(content)
    broken = Store(folder)
    assert broken.get(request_) is None
    assert broken.put(request_, OK, None, []) == OK
    broken.close()


def test_a_folder_that_cannot_be_made_means_not_remembered(tmp_path: Path, request_: Request) -> None:
    (tmp_path / "file").write_text("")
    blocked = Store(tmp_path / "file" / "below")
    assert blocked.put(replace(request_, action=KEEP), FAILED, None, []) == FAILED
    assert blocked.get(request_) is None


def test_a_row_that_another_release_wrote_is_a_miss(kept: Store, request_: Request) -> None:
    kept.put(request_, OK, None, [])
    kept._try(lambda db: db.execute('UPDATE outcomes SET outcome = \'{"status": "ok"}\''))
    assert kept.get(request_) is None


def _put_many(folder: Path, request: Request, first: int) -> None:
    mine = Store(folder)
    for number in range(first, first + 50):
        mine.put(replace(request, case=replace(request.case, options={"num_warps": number})), OK, None, [])


def test_two_processes_at_once(tmp_path: Path, request_: Request) -> None:
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_put_many, args=(tmp_path / "both", request_, first)) for first in (0, 50)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    both = Store(tmp_path / "both")
    for number in range(100):
        asked = replace(request_, case=replace(request_.case, options={"num_warps": number}))
        assert both.get(asked) == OK, number


def test_the_longest_unused_failures_are_forgotten(
    kept: Store, request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_MOST_KEPT", 3)
    requests = [replace(request_, action=KEEP, case=replace(request_.case, name=f"k{number}")) for number in range(5)]
    for each in requests[:4]:
        kept.put(each, FAILED, tmp_path, [])
    assert kept.get(requests[0]) is None
    assert kept.get(requests[1]) is not None  # used again, so the next one goes first
    kept.put(requests[4], FAILED, tmp_path, [])
    assert [kept.get(each) is not None for each in requests] == [False, True, False, True, True]
    assert len(list((kept.folder / "artifacts").iterdir())) == 3


# --- outcomes as text -----------------------------------------------------------------------------------------------

texts = st.text(max_size=12)
maybe = st.none() | st.integers(0, 1 << 40)
frames = st.builds(Frame, texts, st.integers(0, 9999), texts, texts)
errors = st.builds(PythonError, texts, texts, texts, st.lists(frames, max_size=2).map(tuple), st.none() | frames, maybe)
outcomes = st.builds(
    Outcome,
    status=st.sampled_from(Status),
    stage=st.none() | st.sampled_from(Stage),
    stages=st.lists(st.builds(StageTime, st.sampled_from(Stage), st.floats(0, 1e6)), max_size=3).map(tuple),
    exit_code=maybe,
    signal=st.none() | texts,
    duration_s=st.floats(0, 1e6),
    max_rss_bytes=st.integers(0, 1 << 50),
    resources=st.none() | st.builds(Resources, st.integers(0, 1 << 20), maybe, maybe, st.sampled_from(TensorCore)),
    errors=st.lists(errors, max_size=2).map(tuple),
    log=texts,
    log_stages=st.lists(st.tuples(st.sampled_from(Stage), st.integers(0, 99)), max_size=2).map(tuple),
    pipeline=st.booleans(),
    pass_name=st.none() | texts,
    over_limit=st.none() | texts,
    cache_key=st.none() | texts,
    limit_s=st.none() | st.floats(0, 1e6),
    limit_bytes=maybe,
    killed_from_outside=st.booleans(),
    notes=st.lists(texts, max_size=2).map(tuple),
    environment=st.dictionaries(texts, texts, max_size=2),
)


@given(outcomes)
def test_an_outcome_comes_back_as_it_was(outcome: Outcome) -> None:
    assert store.loads(store.dumps(outcome), {}) == replace(outcome, artifacts={})


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"status": "fine"}'])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises((ValueError, InputError)):
        store.loads(text, {})
