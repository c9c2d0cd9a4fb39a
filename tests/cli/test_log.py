"""``triage log``: text from a file or a pipe, without a Triton."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Triage

CRASH = (
    "2024-11-20T10:00:00.1234567Z python: /build/triton/third_party/nvidia/lib/NVGPUToLLVM/NVGPUToLLVMPass.cpp:528: "
    "std::string {anonymous}::WGMMAOpPattern::getPtxAsm(mlir::triton::nvgpu::WGMMAOp) const: "
    'Assertion `supported && "WGMMA type or shape is not supported"\' failed.\n'
    "2024-11-20T10:00:00.1234568Z Aborted (core dumped)\n"
)


@pytest.mark.parametrize("by", ["file", "-", "pipe"])
def test_a_failure_is_found_and_exits_with_1(cli: Triage, tmp_path: Path, by: str) -> None:
    (tmp_path / "ci.log").write_text(CRASH)
    done = cli("log", tmp_path / "ci.log") if by == "file" else cli("log", *["-"] * (by == "-"), stdin=CRASH)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[:5] == [
        "Assertion failed in WGMMAOpPattern::getPtxAsm: WGMMA type or shape is not",
        "supported",
        "",
        "What failed",
        "  assertion in WGMMAOpPattern::getPtxAsm, NVGPUToLLVMPass.cpp:528",
    ]
    assert "wgmma-operand-not-k-major" in done.out
    assert [line for line in done.out.splitlines() if len(line) > 80 or line != line.rstrip()] == []


def test_json(cli: Triage) -> None:
    done = cli("log", "--json", stdin=CRASH)
    assert done.document["diagnosis"]["function"] == "WGMMAOpPattern::getPtxAsm"
    assert done.document["matches"][0]["confidence"] < 1, "a log does not tell the target"
    assert (done.code, done.err) == (1, "")


@pytest.mark.parametrize("text", ["", "\n\n", "all 12 tests passed\n", "\x00\x01\x02" * 100])
def test_no_failure_exits_with_0(cli: Triage, text: str) -> None:
    assert cli("log", stdin=text).out == "no failure found\n"
    done = cli("log", "--json", stdin=text)
    assert (done.code, done.document) == (0, {"diagnosis": None, "matches": [], "findings": [], "next": []})


def test_a_log_s_terminal_escapes_are_not_printed(cli: Triage) -> None:
    done = cli("log", stdin=CRASH.replace("WGMMA type", "\x1b]0;title\x07WGMMA\u202etype"))
    assert done.code == 1
    assert not set(done.out) & {"\x1b", "\x07", "\u202e"}


def test_a_log_is_read_line_by_line(cli: Triage, tmp_path: Path) -> None:
    """Not as a whole: 200 MB of zeros without a line break, then the failure. It passes with 400 MB of memory."""
    with (tmp_path / "ci.log").open("wb") as log:
        log.truncate(200 << 20)
    with (tmp_path / "ci.log").open("a") as log:
        log.write("\n" + CRASH)
    assert cli("log", tmp_path / "ci.log").code == 1


OTHER = "k.py:3:4: error: 'tt.dot' op bad\nRuntimeError: PassManager::run failed\n"


def test_all_findings_are_reported_and_what_follows_is_marked(cli: Triage) -> None:
    done = cli("log", "--json", stdin=OTHER + CRASH)
    shown = [(one["headline"], one["rank"], one["follows"], one["log_line"]) for one in done.document["findings"]]
    assert shown == [
        ("'tt.dot' op bad", 1, None, 1),
        ("A pass failed without a message", 2, 1, 2),
        ("Assertion failed in WGMMAOpPattern::getPtxAsm: WGMMA type or shape is not supported", 3, None, 3),
        ("The compiler aborted (SIGABRT) without a message", 4, 3, 4),
    ]
    out = cli("log", stdin=OTHER + CRASH).out
    assert "Also failed in this log\n  line 3: Assertion failed in WGMMAOpPattern" in out
    assert "Follows from that\n  line 2: A pass failed without a message\n  line 4: The compiler aborted" in out


def test_several_logs_are_grouped_by_bug(cli: Triage, tmp_path: Path) -> None:
    texts = {"a": CRASH, "b": "all passed\n", "c": OTHER, "d": CRASH.replace("528", "531")}
    files = [tmp_path / name for name in texts]
    for file in files:
        file.write_text(texts[file.name])
    done = cli("log", *files)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[0] == "4 logs, 2 bugs, 1 without failure"
    assert [line[:2] for line in done.out.splitlines() if line[1:3] == "x "] == ["2x", "1x"]
    documents = [json.loads(line) for line in cli("log", "--json", *files).out.splitlines()]
    assert [Path(one["file"]).name for one in documents] == list(texts)
    assert [one["diagnosis"] is not None for one in documents] == [True, False, True, True]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(cli: Triage, tmp_path: Path) -> None:
    (tmp_path / "ci.log").write_text(CRASH)
    done = cli("log", tmp_path / "missing", tmp_path, tmp_path / "ci.log")
    assert done.code == 2
    assert [line.partition(": ")[2] for line in done.err.splitlines()] == [
        "cannot be read: No such file or directory; give a log file, or - for standard input",
        "cannot be read: Is a directory; give a log file, or - for standard input",
    ]
    assert done.out.startswith("1 log, 1 bug\n")
    assert cli("log", tmp_path / "missing", tmp_path).out == ""


def test_utf_16_as_windows_writes_it(cli: Triage, tmp_path: Path) -> None:
    (tmp_path / "ci.log").write_bytes(CRASH.replace("\n", "\r\n").encode("utf-16"))
    assert cli("log", "--json", tmp_path / "ci.log").document["diagnosis"]["line"] == 528


def test_explain_lists_what_almost_matches(cli: Triage) -> None:
    text = CRASH.replace("WGMMA type or shape is not supported", "WGMMA type or shape is unheard of")
    done = cli("log", "--explain", stdin=text)
    assert "Would match but for\n  wgmma-operand-not-k-major: " in done.out
    document = cli("log", "--explain", "--json", stdin=text).document
    near = {miss["id"]: miss["but_for"] for miss in document["near"]}
    assert any("does not contain" in lack for lack in near["wgmma-operand-not-k-major"])
    assert "near" not in cli("log", "--json", stdin=text).document


def test_every_cause_is_looked_up(cli: Triage) -> None:
    other = "RuntimeError: 0 active drivers ([]). There should only be one.\n"
    document = cli("log", "--json", stdin=CRASH + "\n" * 3 + OTHER + CRASH.replace("WGMMA type", "x") + other).document
    known = {finding["log_line"]: [known["id"] for known in finding["matches"]] for finding in document["findings"]}
    assert document["matches"][0]["id"] == "wgmma-operand-not-k-major"
    assert sum(bool(ids) for ids in known.values()) >= 1


def test_a_family_of_causes_says_so_and_how_to_learn_more(cli: Triage) -> None:
    done = cli("log", stdin="RuntimeError: PassManager::run failed\n")
    assert "pass-failed-silently" in done.out
    assert "a family of causes" in done.out
    assert "Next steps" in done.out
