"""Outcomes that are remembered: when one answers again, and when it must not."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import kernel_cases
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.capture.program import service
from triage.harness import database, environment, store
from triage.harness.limits import Limits
from triage.harness.reads import ModuleReads
from triage.harness.request import FullCompile, Request
from triage.harness.store import Store, key_of
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.gpus import TensorCore
from triage.model.outcome import BeyondShared, Frame, Outcome, PythonError, Resources, Stage, StageTime, Status
from triage.model.target import Target

GIB = 1 << 30
TOOLCHAIN = Toolchain(Path("/env/bin/python"), "3.9.0", "3.11.7", False, "identity", Path("/env/triton"))
OK = Outcome(Status.OK, exit_code=0, resources=Resources(0, 10, 0, TensorCore.NONE))
KEEP = FullCompile(keep=True)
FAILED = Outcome(Status.ERROR, Stage.LLIR, log="error: no", exit_code=1)


def read(*paths: Path, **variables: str | None) -> ModuleReads:
    """What a worker reports of a module that reads these files, a second from now."""
    facts = {str(path): (s.st_size, s.st_mtime_ns, s.st_ino, s.st_ctime_ns) for path in paths if (s := path.stat())}
    return ModuleReads(time.time() + 1, None, facts, variables)


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
    kept.put(request_, OK, None, read())
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
    kept.put(request_, Outcome(status, Stage.LLIR, limit_s=10.0, limit_bytes=GIB), None, read())
    assert (kept.get(replace(request_, limits=asked)) is not None) == answers


@pytest.mark.parametrize(
    "result",
    [
        Outcome(Status.CRASH, signal="SIGKILL", killed_from_outside=True),
        Outcome(Status.ERROR, Stage.SOURCE, exit_code=1, imported=False),
    ],
    ids=["killed from outside", "not imported"],
)
def test_what_is_not_the_kernels_doing_is_not_kept(kept: Store, request_: Request, result: Outcome) -> None:
    kept.put(request_, result, None, read())
    assert kept.get(request_) is None


def test_what_was_seen_under_a_limit_of_the_environment_counts_there_alone(
    kept: Store, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(store, "ulimits", lambda limits: {"-v": GIB})
        kept.put(request_, FAILED, None, read())
        assert kept.get(request_) == FAILED
    assert kept.get(request_) is None


def test_an_unobserved_failure_does_not_answer_who_wants_the_pass(kept: Store, request_: Request) -> None:
    kept.put(request_, FAILED, None, read())
    assert kept.get(replace(request_, action=FullCompile(observe=True))) is None
    kept.put(replace(request_, action=FullCompile(observe=True)), replace(FAILED, pass_name="cse"), None, read())
    found = kept.get(request_)
    assert found is not None
    assert found.pass_name == "cse"


def test_artifacts_are_kept_with_a_failure_and_asked_for(kept: Store, request_: Request, tmp_path: Path) -> None:
    kept.put(request_, FAILED, None, read())
    wanting = replace(request_, action=KEEP)
    assert kept.get(wanting) is None
    put = kept.put(wanting, FAILED, tmp_path, read())
    assert put.artifacts["log"].read_text() == "error: no"
    found = kept.get(wanting)
    assert found is not None
    assert found.artifacts == put.artifacts
    put.artifacts["log"].unlink()
    assert kept.get(wanting) is None


def test_a_changed_dependency_is_a_miss(kept: Store, request_: Request, tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("A = 1\n")
    kept.put(request_, OK, None, read(helper))
    assert kept.get(request_) == OK
    helper.write_text("A = 2\n")
    assert kept.get(request_) is None
    kept.put(request_, OK, None, read(helper))
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
    for name in ("DISABLE_LLVM_OPT", "ALLOW_LHS_TMEM_LAYOUT_CONVERSION", "PYTHONOPTIMIZE", "LD_PRELOAD"):
        monkeypatch.setenv(name, "1")
        keys.append(key_of(request_))
    keys.append(key_of(replace(request_, toolchain=replace(TOOLCHAIN, python=Path("/other/bin/python")))))
    assert len({first, *keys}) == 10
    same = replace(
        request_, limits=Limits(1.0, 1), tag=3, action=FullCompile(observe=True), case=replace(case, origin={"a": 1})
    )
    assert key_of(same) == key_of(request_)


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\0" + b"x" * 4096, b"", None, "link"])
def test_a_malformed_file_is_moved_aside(tmp_path: Path, request_: Request, content: bytes | str | None) -> None:
    folder = tmp_path / "broken"
    folder.mkdir(0o700)
    file = folder / f"outcomes-{store._SCHEMA}.sqlite"
    match content:
        case bytes():
            file.write_bytes(content)
        case None:
            (file / "below").mkdir(parents=True)
        case _:
            (tmp_path / "precious").write_text("precious")
            file.symlink_to(tmp_path / "precious")
    notes: list[str] = []
    broken = Store(folder, notes.append)
    assert broken.get(request_) is None
    assert broken.put(request_, OK, None, read()) == OK
    assert broken.get(request_) == OK
    broken.close()
    assert [line.partition(": ")[2].partition(";")[0] for line in notes] == ["malformed"] * bool(content != b"")
    assert file.is_file() and not file.is_symlink()
    assert content != "link" or (tmp_path / "precious").read_text() == "precious"


def test_a_file_that_breaks_while_it_is_used(kept: Store, request_: Request) -> None:
    kept.put(request_, OK, None, read())
    file = kept.folder / f"outcomes-{store._SCHEMA}.sqlite"
    file.write_bytes(b"SQLite format 3\0" + b"x" * (file.stat().st_size - 16))
    kept.put(request_, OK, None, read())
    assert kept.get(request_) == OK


def test_another_table_of_that_name(tmp_path: Path, request_: Request) -> None:
    (tmp_path / "other").mkdir(0o700)
    with sqlite3.connect(tmp_path / "other" / f"outcomes-{store._SCHEMA}.sqlite") as db:
        db.execute("CREATE TABLE outcomes (key TEXT)")
    other = Store(tmp_path / "other")
    other.put(request_, OK, None, read())
    assert other.get(request_) == OK


@pytest.mark.parametrize("how", ["another user's", "open to all", "a link of another user's"])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path, request_: Request, how: str) -> None:
    folder = tmp_path / "cache"
    Store(folder).put(request_, OK, None, read())
    match how:
        case "open to all":
            folder.chmod(0o777)
        case _ if os.geteuid() != 0:
            pytest.skip("may not give files away here")
        case "another user's":
            os.chown(folder, 12345, -1)
        case _:
            folder.rename(tmp_path / "elsewhere")
            folder.symlink_to(tmp_path / "elsewhere")
            os.lchown(folder, 12345, -1)
    before = sorted(folder.iterdir())
    notes: list[str] = []
    foreign = Store(folder, notes.append)
    assert foreign.get(request_) is None
    assert foreign.put(replace(request_, action=KEEP), FAILED, tmp_path, read()) == FAILED
    assert sorted(folder.iterdir()) == before
    assert len(notes) == 1
    assert "others may write to it" in notes[0]


def test_folders_are_closed_to_others(tmp_path: Path, request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache" / "outcomes").mkdir(parents=True)
    (tmp_path / "cache").chmod(0o755)
    ours = Store()
    ours.put(replace(request_, action=KEEP), FAILED, tmp_path, read())
    assert [folder.stat().st_mode & 0o777 for folder in (tmp_path / "cache", ours.folder)] == [0o700, 0o700]


def test_a_database_that_somebody_holds_is_given_up_once(
    kept: Store, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.put(request_, OK, None, read())
    monkeypatch.setattr(database, "_BUSY_S", 0.1)
    notes: list[str] = []
    waiting = Store(kept.folder, notes.append)
    holder = sqlite3.connect(kept.folder / f"outcomes-{store._SCHEMA}.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    for _ in range(50):
        assert waiting.get(request_) is None
        assert waiting.put(request_, OK, None, read()) == OK
    assert time.monotonic() - began < 2
    holder.close()
    assert ["locked" in note for note in notes] == [True]


def test_a_program_that_a_variable_names_is_in_the_key(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ptxas"
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(program))
    keys = [key_of(request_)]
    for text in ("one", "other"):
        program.write_text(text)
        keys.append(key_of(request_))
    assert len(set(keys)) == 3


def test_the_linker_is_in_the_key_for_amd(request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    amd = replace(request_, case=replace(request_.case, target=Target.parse("hip:gfx942")))
    before = key_of(amd), key_of(request_)
    (tmp_path / "ld.lld").touch(0o755)
    monkeypatch.setattr(store, "find_lld", lambda: tmp_path / "ld.lld")
    assert [key_of(amd) != before[0], key_of(request_) == before[1]] == [True, True]


def test_triage_and_its_guard_know_the_same_variables_of_the_compiler() -> None:
    assert environment.COMPILER == service.COMPILER


def test_a_folder_that_cannot_be_made_means_not_remembered(tmp_path: Path, request_: Request) -> None:
    (tmp_path / "file").write_text("")
    blocked = Store(tmp_path / "file" / "below")
    assert blocked.put(replace(request_, action=KEEP), FAILED, None, read()) == FAILED
    assert blocked.get(request_) is None


@pytest.mark.parametrize(
    "change",
    [
        'outcome = \'{"status": "ok"}\'',
        "outcome = CAST(x'ff' AS TEXT)",
        "outcome = replace(outcome, 'ok', 'timeout')",
        "dependencies = '[1]'",
        "artifacts = '{\"log\": 1}'",
        "digest = 7",
    ],
)
def test_a_row_that_does_not_parse_is_dropped(kept: Store, request_: Request, change: str) -> None:
    kept.put(request_, OK, None, read())
    db = sqlite3.connect(kept.folder / f"outcomes-{store._SCHEMA}.sqlite", isolation_level=None)
    db.execute(f"UPDATE outcomes SET {change}")
    assert kept.get(request_) is None
    assert db.execute("SELECT count(*) FROM outcomes").fetchone() == (0,)


def test_what_is_no_verdict_on_the_kernel_is_not_kept(kept: Store, request_: Request) -> None:
    kept.put(request_, replace(FAILED, imported=False), None, read())
    assert kept.get(request_) is None


def _put_for_ever(folder: Path, request: Request) -> None:
    while True:
        _put_many(folder, replace(request, action=KEEP), 0, FAILED)


@pytest.mark.slow
def test_writers_that_are_killed_leave_a_store_that_works(tmp_path: Path, request_: Request) -> None:
    fork = multiprocessing.get_context("fork")
    notes: list[str] = []
    for number in range(8):
        writers = [fork.Process(target=_put_for_ever, args=(tmp_path / "both", request_)) for _ in range(2)]
        for writer in writers:
            writer.start()
        time.sleep(0.03 + number * 0.011)
        for writer in writers:
            writer.kill()
            writer.join()
    both = Store(tmp_path / "both", notes.append)
    both.put(request_, OK, None, read())
    assert both.get(request_) == OK
    assert notes == []


def test_the_least_recently_used_go_first_where_the_limit_is_reached(
    tmp_path: Path, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.LIMIT, "64M")
    monkeypatch.setattr(store, "_BETWEEN_LOOKS", 0.0)
    limited = Store(tmp_path / "limited")
    limited._limit = 10_000
    long = replace(OK, log="x" * 1000)
    requests = [replace(request_, case=replace(request_.case, name=f"k{number}")) for number in range(12)]
    for each in requests:
        limited.put(each, long, None, read())
        assert limited.get(requests[0]) == long
    remembered = [limited.get(each) is not None for each in requests]
    assert remembered[:3] == [True, False, False]
    assert all(remembered[-3:])


def test_artifacts_count_and_go_with_their_outcome(
    tmp_path: Path, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_BETWEEN_LOOKS", 0.0)
    limited = Store(tmp_path / "limited")
    limited._limit = 10_000
    for number in range(4):
        each = replace(request_, action=KEEP, case=replace(request_.case, name=f"k{number}"))
        limited.put(each, replace(FAILED, log="x" * 3000), None, read())
    assert len(list((limited.folder / "artifacts").iterdir())) == 1


def test_what_earlier_versions_left_is_removed(kept: Store, request_: Request) -> None:
    artifacts = kept.folder / "artifacts"
    old, new = artifacts / ("0" * 32), artifacts / (32 * "1" + "-12345678")
    for folder in (old, new, artifacts / "users-own"):
        folder.mkdir(parents=True)
    (kept.folder / "outcomes-2.sqlite").touch()
    long_ago = time.time() - store._UNOWNED_S - 1
    for path in (old, artifacts / "users-own", kept.folder / "outcomes-2.sqlite"):
        os.utime(path, (long_ago, long_ago))
    kept.put(request_, OK, None, read())
    assert {path.name for path in artifacts.iterdir()} == {new.name, "users-own"}
    assert not (kept.folder / "outcomes-2.sqlite").exists()


def test_a_limit_that_is_no_size_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store.LIMIT, "much")
    with pytest.raises(InputError, match=f"{store.LIMIT} 'much'"):
        Store()


def _put_many(folder: Path, request: Request, first: int, outcome: Outcome = OK) -> None:
    mine = Store(folder)
    for number in range(first, first + 50):
        mine.put(replace(request, case=replace(request.case, options={"num_warps": number})), outcome, None, read())


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
        kept.put(each, FAILED, tmp_path, read())
    assert kept.get(requests[0]) is None
    assert kept.get(requests[1]) is not None  # used again, so the next one goes first
    kept.put(requests[4], FAILED, tmp_path, read())
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
    beyond_shared=st.none()
    | st.builds(BeyondShared, st.sampled_from(Stage), texts, *(st.integers(0, 1 << 20),) * 5, st.none() | texts, maybe),
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


def test_outcomes_of_a_module_share_what_it_read(kept: Store, request_: Request, tmp_path: Path) -> None:
    reads = read(request_.case.path)
    for number in range(3):
        kept.put(replace(request_, case=replace(request_.case, name=f"k{number}")), OK, None, reads)
    counts = "SELECT (SELECT count(*) FROM outcomes), (SELECT count(*) FROM dependencies)"
    assert kept._database.run(lambda db: db.execute(counts).fetchone()) == (3, 1)
