"""From the facts of an ended attempt to its outcome: a table, without any process."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any

import kernel_cases
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import NO_LLD, RunFacts, judge, split_marks, unless_skipped
from triage.harness.limits import GIB, Limits
from triage.harness.store import dumps, loads
from triage.logs.outcomes import diagnose_outcome
from triage.model.document import decode
from triage.model.gpus import TensorCore
from triage.model.outcome import BeyondShared, Outcome, Stage, Status, Undecided

TOKEN = "0123456789abcdef"
LIMITS = Limits(10.0, 1 << 30)
RESOURCES = {
    "shared_bytes": 1024,
    "registers": 32,
    "spill_bytes": 0,
    "tensor_core": "wgmma",
    "tensor_memory_columns": None,
    "threads": 128,
    "warp_specialized": False,
    "register_copies": 0,
}
PRODUCT = "tt.dot %, %, % : tensor<64x64xf64> * tensor<64x64xf64> -> tensor<64x64xf64"
LOWERING = {"asked": [PRODUCT + ">"], "products": [PRODUCT + ", #mma>"], "block_scaled": False, "indexed": None}
DONE = {"ev": "done", "resources": RESOURCES, "lowering": LOWERING, "num_ctas": 1, "cache_entry": "KEY"}
BEGUN = [
    {"ev": "begin", "stage": "source"},
    {"ev": "end", "stage": "source", "seconds": 0.1},
    {"ev": "begin", "stage": "ttir"},
    {"ev": "end", "stage": "ttir", "seconds": 0.2},
    {"ev": "begin", "stage": "llir"},
]


def outcome(events: list[dict[str, Any]], **facts: Any) -> Outcome:
    result = judge(kernel_cases.add(), RunFacts(events=events, **facts), LIMITS, TOKEN)
    assert isinstance(result, Outcome), result
    return result


def mark(stage: str) -> str:
    return f"\x1e{TOKEN} {stage}\n"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"status": signal.SIGABRT}, (Status.CRASH, "SIGABRT", None)),
        ({"status": signal.SIGSEGV | 0x80}, (Status.CRASH, "SIGSEGV", None)),
        ({"status": signal.SIGRTMIN + 3}, (Status.CRASH, f"signal {signal.SIGRTMIN + 3}", None)),
        ({"status": 0}, (Status.CRASH, None, 0)),
        ({"status": 3 << 8}, (Status.CRASH, None, 3)),
        ({"status": signal.SIGKILL, "timed_out": True}, (Status.TIMEOUT, None, None)),
        ({"status": signal.SIGKILL, "over_memory": True}, (Status.OUT_OF_MEMORY, None, None)),
        ({"status": None, "lost_server": True}, (Status.CRASH, None, None)),
        ({"status": signal.SIGABRT, "log": "LLVM ERROR: out of memory\n"}, (Status.OUT_OF_MEMORY, None, None)),
    ],
)
def test_an_end_without_a_result(facts: dict[str, Any], expected: tuple[Status, str | None, int | None]) -> None:
    found = outcome(BEGUN, **facts)
    assert (found.status, found.signal, found.exit_code) == expected
    assert found.stage is Stage.LLIR
    assert [done.stage for done in found.stages] == [Stage.TTIR]
    assert (found.limit_s, found.limit_bytes) == (10.0, 1 << 30)


WORDLESS = {"status": signal.SIGSEGV}
ASSERTION = "a.cpp:1: f: Assertion `x' failed.\n"
NO_MEMORY = {"ev": "error", "errors": [{"type": "OSError", "module": "builtins", "message": "no"}], "no_memory": True}


@pytest.mark.parametrize(
    ("facts", "limits", "reason"),
    [
        ({"status": 70 << 8, "log": "Traceback\nOSError: no\n"}, {}, "triage's own worker failed: OSError: no"),
        ({"status": 70 << 8, "log": "_w.recorder.Unreported: no pipe\n"}, {}, "triage's own worker failed: no pipe"),
        ({"status": signal.SIGABRT, "log": "LLVM ERROR: out of memory\n"}, {"-v": 2 << 30}, "ulimit -v 2097152"),
        ({"status": signal.SIGABRT, "log": "LLVM ERROR: out of memory\n"}, {"-d": 2 << 30}, "ulimit -d 2097152"),
        (
            {"status": signal.SIGABRT, "log": "LLVM ERROR: IO failure on output stream: No space left on device\n"},
            {},
            "No space left on device",
        ),
        (
            {"status": signal.SIGABRT, "log": "LLVM ERROR: pthread_create failed: Resource temporarily unavailable\n"},
            {},
            "Resource temporarily unavailable",
        ),
        ({"status": signal.SIGXFSZ}, {"-f": 1 << 20}, "ulimit -f 1024"),
        ({"status": signal.SIGXCPU}, {"-t": 5}, "ulimit -t 5"),
        ({"status": signal.SIGKILL, "cpu_s": 4.9}, {"-t": 5}, "ulimit -t 5"),
        ({"status": signal.SIGKILL, "oom_kills": 1}, {}, "want of memory"),
        (WORDLESS, {"-s": 1 << 20}, "ulimit -s 1024"),
        (WORDLESS, {"-v": 1 << 29}, "ulimit -v 524288"),
        ({**WORDLESS, "max_rss_bytes": 1 << 30}, {"-v": 2 << 30}, "ulimit -v 2097152"),
    ],
)
def test_what_the_environment_ended_says_nothing_of_the_case(
    facts: dict[str, Any], limits: dict[str, int], reason: str
) -> None:
    result = judge(kernel_cases.add(), RunFacts(events=BEGUN, ulimits=limits, **facts), LIMITS, TOKEN)
    assert isinstance(result, Undecided), result
    assert reason in result.reason


@pytest.mark.parametrize(
    ("facts", "limits", "status"),
    [
        (WORDLESS, {"-v": 2 << 30}, Status.CRASH),
        ({**WORDLESS, "log": ASSERTION}, {"-v": 2 << 30}, Status.CRASH),
        ({"status": signal.SIGABRT, "log": ASSERTION}, {"-v": 2 << 30, "-s": 1 << 20}, Status.CRASH),
        ({"status": signal.SIGKILL, "cpu_s": 1.0}, {"-t": 5}, Status.CRASH),
        ({"status": signal.SIGKILL, "over_memory": True, "oom_kills": 1}, {"-v": 2 << 30}, Status.OUT_OF_MEMORY),
        ({"status": signal.SIGKILL, "timed_out": True}, {"-t": 5}, Status.TIMEOUT),
    ],
)
def test_what_has_another_cause_stays_what_it_is(facts: dict[str, Any], limits: dict[str, int], status: Status) -> None:
    assert outcome(BEGUN, ulimits=limits, **facts).status is status


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("`ptxas` failed with error code -9", "killed from outside (SIGKILL)"),
        ("ptxas failed with error code 137: \n", "killed from outside (SIGKILL)"),
        ("`ptxas` failed with error code -25", "wrote a file of more than 4 GiB"),
        ("`ptxas` raised SIGSEGV", "ulimit -s 1024"),
        ("Command '['ld.lld']' died with <Signals.SIGKILL: 9>.", "killed from outside (SIGKILL)"),
        ("Command '['ld.lld']' died with <Signals.SIGXCPU: 24>.", "processor time"),
        ("`ptxas` stderr:\nptxas fatal   : Memory allocation failure\n", "ulimit -v 1048576"),
        ("`ptxas` failed with error code 255", None),
        ("`ptxas` failed with error code -4", None),
    ],
)
def test_how_a_program_ended_that_the_compile_started(text: str, reason: str | None) -> None:
    event = {"ev": "error", "errors": [{"type": "PTXASError", "module": "triton", "message": text}]}
    facts = RunFacts(events=[*BEGUN, event], status=0, ulimits={"-v": GIB, "-s": 1 << 20})
    result = judge(kernel_cases.add(), facts, LIMITS, TOKEN)
    assert isinstance(result, Outcome) if reason is None else isinstance(result, Undecided) and reason in result.reason


def test_refused_memory_is_the_cases_where_only_triages_limit_was_met() -> None:
    assert outcome([*BEGUN, NO_MEMORY], status=0).status is Status.OUT_OF_MEMORY
    limited = RunFacts(events=[*BEGUN, NO_MEMORY], status=0, ulimits={"-v": 2 << 30})
    assert isinstance(judge(kernel_cases.add(), limited, LIMITS, TOKEN), Undecided)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_only_these_come_from_outside(number: int) -> None:
    assert outcome(BEGUN, status=number).killed_from_outside
    assert not outcome(BEGUN, status=signal.SIGABRT).killed_from_outside


@pytest.mark.parametrize(("number", "input_error"), [(signal.SIGABRT, True), (signal.SIGKILL, None)])
def test_ir_that_cannot_be_read_is_wrong_input(number: int, input_error: bool | None) -> None:
    """Unless somebody else ended the process."""
    case = replace(kernel_cases.add(), file="kernel.ttir")
    result = judge(case, RunFacts(events=BEGUN[:1], status=number), LIMITS, TOKEN)
    assert getattr(result, "input_error", None) == input_error


def test_a_signal_counts_more_than_a_result_that_was_told_before() -> None:
    assert outcome([*BEGUN, DONE], status=signal.SIGSEGV).status is Status.CRASH


def test_a_good_compile() -> None:
    found = outcome([*BEGUN, DONE], status=0)
    assert (found.status, found.stage, found.exit_code, found.cache_key) == (Status.OK, None, 0, "KEY")
    assert found.resources is not None
    assert (found.resources.tensor_core, found.resources.registers) == (TensorCore.WGMMA, 32)


@pytest.mark.parametrize("stage", ["ptx", "amdgcn", "llir", "cubin", "hsaco"])
def test_an_error_printed_by_the_back_end_makes_a_good_compile_suspect(stage: str) -> None:
    log = mark("ttir") + mark(stage) + "error: couldn't allocate output register for constraint 'x'\n" + mark("cubin")
    found = outcome([*BEGUN, DONE], status=0, log=log)
    assert (found.status, found.stage, found.resources) == (Status.SUSPECT, Stage(stage), None)


@pytest.mark.parametrize(
    "text", ["error: couldn't allocate output register for constraint 'x'\n", "the user's own: error: bad\n"]
)
def test_what_the_front_end_prints_is_the_users_own(text: str) -> None:
    """tl.static_print writes there."""
    assert outcome([*BEGUN, DONE], status=0, log=mark("source") + text + mark("ttir")).status is Status.OK


def test_what_is_legal_and_slow_is_told() -> None:
    assert outcome([*BEGUN, DONE], status=0).drawbacks == ()
    lowering = {**LOWERING, "products": [PRODUCT + ", #blocked1>"]}
    found = outcome([{**DONE, "resources": {**RESOURCES, "spill_bytes": 300}, "lowering": lowering}], status=0)
    assert (found.status, len(found.notes)) == (Status.OK, 2)
    assert found.drawbacks == ("spills 300 B a thread", "multiplies without tensor cores")


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ({"shared_bytes": 232448}, None),
        ({"shared_bytes": 232449}, "shared memory: 232449 > 232448"),
        ({"threads": 2048}, "threads: 2048 > 1024"),
        ({"tensor_memory_columns": 512}, "tensor memory: 512 > 0"),
    ],
)
def test_limits_that_only_a_launch_would_check(used: dict[str, int], expected: str | None) -> None:
    found = outcome([{**DONE, "resources": {**RESOURCES, **used}}], status=0)
    assert found.over_limit == expected
    assert found.stage is (Stage.LOAD if expected else None)
    assert found.exit_code == (1 if expected else 0)


BEYOND = {
    "stage": "cubin",
    "instruction": "STS.128", "address": 31504, "bytes": 16, "size": 9216, "thread": 47, "accesses": 128,
    "file": "k.py", "line": 10,
}  # fmt: skip


def test_an_access_beyond_the_shared_memory_makes_a_good_compile_suspect() -> None:
    found = outcome([*BEGUN, {**DONE, "beyond_shared": BEYOND}], status=0)
    assert (found.status, found.stage, found.exit_code, found.resources) == (Status.SUSPECT, Stage.CUBIN, 0, None)
    assert found.beyond_shared == decode(BeyondShared, BEYOND, "", exact=True)


@pytest.mark.parametrize("wrong", [{"address": "far"}, {"stage": "far"}, {"bytes": 1 << 50}, {"instruction": 5}])
def test_an_access_that_is_none_is_not_read(wrong: dict[str, Any]) -> None:
    assert outcome([*BEGUN, {**DONE, "beyond_shared": {**BEYOND, **wrong}}], status=0).beyond_shared is None


def test_the_third_answer() -> None:
    facts = RunFacts(events=[{"ev": "undecided", "reason": "no disk", "input_error": True}], status=0)
    assert judge(kernel_cases.add(), facts, LIMITS, TOKEN) == Undecided("no disk", input_error=True)


def test_an_assembler_that_refused_outweighs_a_missing_linker() -> None:
    events = [*BEGUN, {"ev": "undecided", "reason": NO_LLD}]
    log = mark("hsaco") + "<inline asm>:1:2: error: invalid instruction\n\tfrobnicate v1, v1\n\t^\n"
    assert outcome(events, status=0, log=log).status is Status.ERROR
    assert judge(kernel_cases.add(), RunFacts(events=events, status=0), LIMITS, TOKEN) == Undecided(NO_LLD)


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())), max_size=6))
def test_no_event_makes_it_stumble(garbage: list[dict[str, Any]]) -> None:
    """A kernel can write events of its own."""
    for kind in ("begin", "end", "pipeline", "missing", "error", "done", "undecided", "else"):
        events = [*BEGUN, *({"ev": kind, **fields} for fields in garbage)]
        assert isinstance(
            judge(kernel_cases.add(), RunFacts(events=events, status=0), LIMITS, TOKEN), Outcome | Undecided
        )


ODD = [None, True, -1, 10**400, 1e308, float("nan"), "", "x" * 9999, "\x1b[31m\na", "../..", [], [{}], {"a": 1}, "ttir"]
EVENTS: list[dict[str, Any]] = [
    *BEGUN,
    DONE,
    {"ev": "note", "text": "a note"},
    {"ev": "missing", "package": "torch"},
    {"ev": "importing"},
    {"ev": "undecided", "reason": "no disk", "input_error": True},
    {"ev": "error", "errors": [{"type": "X", "module": "m", "message": "bad"}], "no_memory": False},
]
FORGERIES = [
    {**event, **({"resources": {**RESOURCES, name: value}} if name in RESOURCES else {name: value})}
    for event in EVENTS
    for name in {*event, *(RESOURCES if event is DONE else ())} - {"ev"}
    for value in ODD
]
LINES = [["tt.dot"], [PRODUCT.replace("64", "9" * 5000)], [PRODUCT.replace("64", "9x" * 5000)], [PRODUCT] * 999, ["\0"]]
FORGERIES += [{**DONE, "lowering": {**LOWERING, name: value}} for name in LOWERING for value in (*ODD, *LINES)]


@pytest.mark.parametrize("last", [DONE, EVENTS[-1], None], ids=["done", "error", "nothing"])
def test_no_forged_field_makes_triage_stumble(last: dict[str, Any] | None) -> None:
    for forged in FORGERIES:
        for begun in ([], [{"ev": "importing"}]):
            events = [*begun, forged, *([last] if last else [])]
            result = judge(kernel_cases.add(), RunFacts(events=events, status=0), LIMITS, TOKEN)
            if isinstance(result, Undecided):
                shown = [result.reason]
            else:
                diagnose_outcome(result)
                assert sum(done.seconds for done in result.stages) < 1 << 41
                assert result.cache_key in (None, "KEY", "ttir")
                assert loads(dumps(result), {}) == result
                shown = list(result.notes)
            assert all(len(text) < 2200 and text.isprintable() for text in shown)


def test_a_compile_that_makes_no_binary_was_not_the_compilers() -> None:
    """A kernel's module can replace ``triton.compile``."""
    whole = outcome([*BEGUN, {"ev": "end", "stage": "cubin", "seconds": 0.1}, DONE], status=0)
    part = outcome([*BEGUN, DONE], status=0)
    failed = outcome(BEGUN, status=signal.SIGABRT)
    assert unless_skipped(kernel_cases.add(), whole) is whole
    assert unless_skipped(kernel_cases.add(), failed) is failed
    assert isinstance(unless_skipped(kernel_cases.add(), part), Undecided)


@given(st.lists(st.tuples(st.sampled_from([stage.value for stage in Stage]), st.text(max_size=20))))
def test_stage_marks_are_taken_out_and_placed(parts: list[tuple[str, str]]) -> None:
    texts = [text.replace("\x1e", "") for _, text in parts]
    log, marks = split_marks("".join(mark(stage) + text for (stage, _), text in zip(parts, texts, strict=True)), TOKEN)
    assert log == "".join(texts)
    assert [stage.value for stage, _ in marks] == [stage for stage, _ in parts]
    assert [at for _, at in marks] == [len("".join(texts[:place])) for place in range(len(texts))]


@pytest.mark.parametrize("forged", ["\x1e", f"\x1e{TOKEN}", f"\x1e{TOKEN} nonsense\n", "\x1eother ttir\n"])
def test_marks_that_are_none_stay_text(forged: str) -> None:
    log, marks = split_marks(forged + mark("ttir"), TOKEN)
    assert [stage for stage, _ in marks] == [Stage.TTIR]
    assert log.replace(" ", "").strip() in forged.replace(" ", "") or not log.strip()


# --- the bounded log ------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=64)), st.integers(1, 64), st.integers(1, 64))
def test_a_bounded_log_keeps_the_beginning_and_the_end(chunks: list[bytes], head: int, tail: int) -> None:
    log = BoundedLog(head, tail)
    for chunk in chunks:
        log.write(chunk)
    whole = b"".join(chunks)
    if log.dropped == 0:
        assert log.text() == whole[:head].decode("utf-8", "replace") + whole[head:].decode("utf-8", "replace")
        return
    assert len(whole) - log.dropped <= head + tail + 64
    assert len(whole) - log.dropped >= head + tail
    before, _, after = log.text().partition(f"\n[... {log.dropped} bytes not kept ...]\n")
    assert before == whole[:head].decode("utf-8", "replace")
    assert after == whole[head + log.dropped :].decode("utf-8", "replace")
