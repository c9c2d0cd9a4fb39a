"""The report in a terminal: its text at 80 columns, and no colour in a pipe."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import DATA, MAIN_JOB, Run, Triage
from golden_files import Golden
from rich.console import Console

from triage.model.case import Case, frozen
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.model.gpus import TensorCore
from triage.model.match import Match
from triage.model.measurement import Measurement, MemoryCheck
from triage.model.outcome import Outcome, PythonError, Resources, Stage, StageTime, Status
from triage.model.report import ExpectedTime, Report, Suggestion, SuggestionKind, Tried
from triage.model.target import Target
from triage.model.words import unit
from triage.performance.estimate.roofline import Bound
from triage.publish.compose.whole import compose
from triage.publish.finished import FinishedTriage
from triage.publish.formats import markdown, text
from triage.publish.formats.html import page
from triage.publish.formats.terminal import report as render
from triage.publish.words import best_change

CASE = Case(
    folder=Path("case"),
    file="kernel.py",
    name="matmul",
    signature=frozen({"a_ptr": "*fp32"}),
    constexprs=frozen({"BLOCK_M": 128, "BLOCK_N": 32, "BLOCK_K": 32}),
    options=frozen({"num_warps": 4}),
)
DONE = (StageTime(Stage.TTIR, 0.1), StageTime(Stage.TTGIR, 0.2))
FAST = Resources(20488, 80, 0, TensorCore.WGMMA)
CRASH = Report(
    CASE,
    Outcome(Status.CRASH, Stage.LLIR, DONE, signal="SIGABRT"),
    {"triton": "3.2.0"},
    Diagnosis(
        kind=Kind.ASSERTION,
        headline="Assertion failed in Pattern::emit: this shape is not supported",
        message="python: /src/lib/Pass.cpp:528: void Pattern::emit(): Assertion `ok' failed.",
        function="Pattern::emit",
        file="Pass.cpp",
        line=528,
        pass_name="convert-a-to-b",
    ),
    (
        Match("an-entry", "A title", "The cause. (A rule)", 0.95, fixed_in="3.3.0",
              does_not_help=("a larger tile: the same assertion (3.2.0)",)),
    ),
    (
        Suggestion({"source": "load B with its axes exchanged"}, SuggestionKind.SOURCE, 2, FAST, "",
                   why="it is K-major then", cost="keeps wgmma, no spills", caller="b_ptr must hold the transpose",
                   diff="--- a/kernel.py\n+++ b/kernel.py\n@@ -1 +1 @@\n-    b = load(p)\n+    b = load(p).T\n",
                   expected=ExpectedTime((0.9, 1.2), "tensor-cores")),
        Suggestion({"num_stages": 1}, SuggestionKind.CONFIG, 2, FAST, "", cost="keeps wgmma, no spills",
                   expected=ExpectedTime((1.8, 12.4), "l2")),
        Suggestion({"FLAG": True}, SuggestionKind.CONFIG, 2, FAST, "", why="FLAG on",
                   results="algorithm: FLAG may choose another branch of the kernel"),
        Suggestion({"triton": "3.3.0"}, SuggestionKind.TOOLCHAIN, 10, FAST, "", why="compiles it unchanged"),
        Suggestion({"source": "cast it"}, SuggestionKind.SOURCE, 2, None, "", verified=False, why="not compiled"),
    ),
    {"log": Path("/kept/1/log.txt"), "ir": Path("/kept/1/pass-input.mlir")},
    tried=(Tried({"num_warps": 8}, SuggestionKind.CONFIG, False, "v2|x", "x", True),) * 12,
    learnt=("fails the same with num_warps=8",),
)  # fmt: skip


def printed(report: Report, width: int = 80, **named: Any) -> str:
    """The report as it is printed."""
    file = io.StringIO()
    render.report(Console(file=file, width=width, highlight=False, **named), report, "triage check case")
    return file.getvalue()


def test_a_crash(golden: Golden) -> None:
    golden(printed(CRASH))


def test_a_compile_that_works(golden: Golden) -> None:
    golden(printed(Report(CASE, Outcome(Status.OK, duration_s=0.125, resources=FAST), {"triton": "3.9.0"})))


SLOW = Outcome(
    Status.OK,
    duration_s=0.125,
    resources=replace(FAST, spill_bytes=512),
    notes=("512 B of a thread's registers are spilled to memory", "warp_specialize=True had no effect"),
    drawbacks=("spills 512 B a thread", "is not warp-specialized"),
)


def test_a_compile_that_is_legal_and_slow(golden: Golden) -> None:
    report = Report(CASE, SLOW, {"triton": "3.9.0"})
    document = compose(FinishedTriage(report))
    golden(f"{printed(report)}\n{document.title}\n\n{text.render(document)}")
    for rendered in (markdown.render(document), page.render(document)):
        assert "compiles, but spills 512 B a thread and is not warp" in rendered
        assert all(note in rendered.replace("&#x27;", "'").replace("\\_", "_") for note in SLOW.notes)


FASTER = Suggestion(
    {"num_warps": 8}, SuggestionKind.CONFIG, 1, FAST, "", why="fastest by the static model",
    expected=ExpectedTime((0.2, 0.3), Bound.TENSOR_CORES.value),
)  # fmt: skip


def test_what_is_faster_than_a_slow_compile(golden: Golden) -> None:
    found = Report(
        CASE, SLOW, {"triton": "3.9.0"}, suggestions=(FASTER,), tried=(Tried({"num_warps": 8}, FASTER.kind, True),)
    )
    golden(f"{printed(found)}\n{printed(replace(found, suggestions=()))}")
    for rendered in (markdown.render(compose(FinishedTriage(found))), page.render(compose(FinishedTriage(found)))):
        assert "What is expected to be faster" in rendered


@pytest.mark.parametrize(("target", "said"), [("cuda:90", False), ("cuda:80", True), ("hip:gfx942", True)])
def test_estimates_that_were_never_measured_are_said_to_be(target: str, said: bool) -> None:
    report = replace(CRASH, case=replace(CASE, target=Target.parse(target)), suggestions=(FASTER,))
    document = compose(FinishedTriage(report))
    for rendered in (printed(report), markdown.render(document), text.render(document)):
        flat = " ".join(rendered.split())
        assert flat.count("Estimates are not measured on this architecture") == int(said)
        assert f"estimates within {'15' if said else '3'}% are equal" in flat


@pytest.mark.parametrize("errors", [0, 3])
def test_what_compute_sanitizer_reports(errors: int) -> None:
    checked = replace(
        FASTER, memory_check=MemoryCheck(errors, "Invalid __shared__ write at k in k.py:3" * bool(errors))
    )
    report = replace(CRASH, suggestions=(checked,))
    for rendered in (printed(report), text.render(compose(FinishedTriage(report)))):
        flat = " ".join(rendered.split())
        line = "compute-sanitizer: 3 errors, first: Invalid __shared__ write at k in k.py:3"
        assert (line if errors else "compute-sanitizer finds no invalid access") in flat


def test_a_front_end_error_points_at_the_source(golden: Golden) -> None:
    line = "    tl.store(x_ptr + offsets, nowhere + offsets)"
    error = replace(
        CRASH,
        outcome=Outcome(Status.ERROR, Stage.SOURCE, exit_code=1, errors=(PythonError("NameError", "builtins", "x"),)),
        diagnosis=Diagnosis(
            kind=Kind.FRONTEND_ERROR,
            headline="NameError: nowhere is not defined",
            message="NameError: nowhere is not defined",
            exception="NameError",
            source=SourceLocation("kernel.py", 15, line.index("nowhere") + 1, line),
        ),
        matches=(),
        suggestions=(),
        artifacts={},
        tried=(),
        learnt=(),
    )
    golden(printed(error))


def test_the_caret_of_a_real_error_is_under_the_name(check: Triage) -> None:
    lines = check(DATA / "undefined-name.json", "--no-suggest").out.splitlines()
    caret = next(number for number, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret].index("^") == lines[caret - 1].index("nowhere")


ENDINGS = [
    Outcome(Status.CRASH, Stage.LLIR, exit_code=1),
    Outcome(Status.CRASH, Stage.PTX, signal="SIGSEGV"),
    Outcome(Status.TIMEOUT, Stage.SOURCE, limit_s=2.5),
    Outcome(Status.OUT_OF_MEMORY, Stage.TTGIR),
    Outcome(Status.SUSPECT, Stage.PTX),
]


@pytest.mark.parametrize("outcome", ENDINGS, ids=lambda outcome: outcome.status.value)
def test_how_a_compile_ended(golden: Golden, outcome: Outcome) -> None:
    text = printed(replace(CRASH, outcome=outcome), width=200)
    golden(text.partition("What failed\n")[2].partition("\n\n")[0])


def test_every_format_has_the_expected_time_and_the_best_change() -> None:
    document = compose(FinishedTriage(CRASH))
    expected = "expected 0.9\u20131.2 \u00d7 of the time, same results, the caller changes too"
    best = f"Best change: load B with its axes exchanged ({expected})"
    order = "Ordered by expected time; estimates within 3% are equal, then the nearest change."
    second = "1.8\u201312 \u00d7 of the configuration you asked for, bound by the L2 cache"
    for rendered in (printed(CRASH), markdown.render(document), page.render(document), text.render(document)):
        words = " ".join(rendered.split())
        assert [words.count(part) for part in (best, order, second)] == [1, 1, 1]
        assert words.index(best) < words.index("What")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Best change: num_warps=8 (same results)"),
        ({"results": "data: b holds fp16"}, "Best change: num_warps=8 (results may differ)"),
        ({"verified": False}, "Best change: num_warps=8 (advice: not compiled)"),
        (
            {"measured": Measurement(0.125, 0.1, 0.2, 9, "H100")},
            "Best change: num_warps=8 (measured 0.125 ms, same results)",
        ),
    ],
)
def test_the_best_change(changes: dict[str, Any], expected: str) -> None:
    suggestion = replace(Suggestion({"num_warps": 8}, SuggestionKind.CONFIG, 1, FAST, ""), **changes)
    assert best_change(replace(CRASH, suggestions=(suggestion,))) == expected


def test_each_bound_of_the_model_reads_as_words() -> None:
    assert [unit(bound.value) for bound in Bound] == [
        "tensor cores",
        "shared memory",
        "the L2 cache",
        "the GPU's memory",
        "issuing instructions",
        "special functions",
        "latency",
        "spilled registers",
    ]


def test_no_neighbour_compiles(golden: Golden) -> None:
    golden(printed(replace(CRASH, suggestions=())))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal_but_paths_and_commands(width: int) -> None:
    lines = printed(CRASH, width=width).splitlines()
    assert [line for line in lines if len(line) > width and not line.startswith(("Kept in", "Again:"))] == []


def test_control_characters_of_others_are_not_printed() -> None:
    nasty = "a\x1b[31mb\x07\u202e"
    diagnosis = Diagnosis(
        kind=Kind.UNKNOWN, headline=nasty, message=nasty, source=SourceLocation(nasty, 1, 1, nasty), notes=(nasty,)
    )
    report = replace(
        CRASH,
        case=replace(CASE, name=nasty, constexprs=frozen({"A": nasty})),
        diagnosis=diagnosis,
        suggestions=(
            replace(
                CRASH.suggestions[0],
                changes={"source": nasty, "A": nasty},
                **dict.fromkeys(("why", "cost", "results", "caller", "diff"), nasty),
            ),
        ),
        learnt=(nasty,),
        artifacts={"log": Path(f"/{nasty}/log.txt")},
    )
    assert not set(printed(report)) & {"\x1b", "\x07", "\u202e"}
    good = replace(report, outcome=Outcome(Status.OK, resources=FAST, notes=(nasty,)), diagnosis=None)
    assert not set(printed(good)) & {"\x1b", "\x07", "\u202e"}


def test_markup_in_foreign_text_is_text() -> None:
    report = replace(CRASH, diagnosis=Diagnosis(kind=Kind.UNKNOWN, headline="[bold]x[/nope]", message="[red]"))
    assert "[bold]x[/nope]" in printed(report)


def test_colour_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in printed(CRASH)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31m" in printed(CRASH, force_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in printed(CRASH, force_terminal=True)


# ---- the main job, as a person sees it


@pytest.fixture(scope="module")
def read(check: Triage, reproduced: Run) -> Run:
    """The same as ``reproduced``, for people; remembered, so it costs little."""
    return check(*MAIN_JOB)


def test_the_report_of_the_main_job_tells_in_order(read: Run) -> None:
    assert read.code == 1
    assert read.out.startswith("Assertion failed in WGMMAOpPattern::getPtxAsm: WGMMA type or shape is not\nsupported\n")
    titles = [line for line in read.out.splitlines() if re.match(r"(What|Cause|Kept|Again)", line)]
    assert [re.split(" in |:", title)[0] for title in titles] == [
        "What failed",
        "Cause",
        "What compiles instead",
        "Kept",
        "Again",
    ]
    assert read.out.endswith(f"\nAgain: triage check {' '.join(MAIN_JOB)}\n")


def test_the_report_of_the_main_job_fits_80_columns(read: Run) -> None:
    wide = [line for line in read.out.splitlines() if len(line) > 80 and not line.startswith("Kept in ")]
    assert wide == []
    assert "\x1b" not in read.out
