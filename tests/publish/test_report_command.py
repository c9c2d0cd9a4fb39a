"""``triage report``: what it reads, where it writes, what it says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import DATA, Run, Triage
from samples import FINISHED, copied

from triage.cli.main import main
from triage.publish.render import schema

Command = Callable[..., Run]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Command:
    """``triage report …`` in this process: nothing is compiled."""

    def run(*arguments: str | Path) -> Run:
        with pytest.raises(SystemExit) as ended:
            main(["report", *map(str, arguments)])
        out, err = capsys.readouterr()
        return Run(int(ended.value.code or 0), out, err)

    return run


def test_it_prints_markdown(report: Command) -> None:
    done = report(FINISHED)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("### Describe the bug\n\n**Assertion failed in WGMMAOpPattern::getPtxAsm: ")


@pytest.mark.parametrize(
    ("format_", "begins"),
    [("md", "### Describe the bug"), ("html", "<!doctype html>"), ("json", "{\n"), ("text", "Assertion failed in ")],
)
def test_it_writes_each_format(report: Command, tmp_path: Path, format_: str, begins: str) -> None:
    done = report(FINISHED, "--format", format_, "-o", tmp_path / "file")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "file").read_text().startswith(begins)


def test_the_same_report_twice_is_the_same(report: Command) -> None:
    assert report(FINISHED).out == report(FINISHED).out


def test_show_prints_exactly_what_is_written_and_says_what_was_taken_out(report: Command, tmp_path: Path) -> None:
    done = report(FINISHED, "--show", "-o", tmp_path / "file")
    assert done.out == (tmp_path / "file").read_text()
    assert done.err.startswith(f"triage: {len(done.out)} characters; removed or shortened: path (")


def test_what_is_private_stays_when_that_is_asked_for(report: Command) -> None:
    assert "/home/jdoe/" in report(FINISHED, "--format", "json", "--keep-private").out
    assert "jdoe" not in report(FINISHED, "--format", "json").out


def test_the_text_reads_at_80_columns(report: Command) -> None:
    done = report(FINISHED, "--format", "text")
    words = [line for line in done.out.splitlines() if not line.startswith((" ", ">>"))]
    assert [line for line in words if len(line) > 80] == []
    assert ">>      %0 = nvgpu.wgmma" in done.out


def test_a_case_is_checked_first(check: Triage, cli: Triage) -> None:
    done = cli("report", DATA / "undefined-name.json")
    assert done.code == 0
    assert "- Where: stage source, at `kernels.py:" in done.out
    assert "```python" in done.out


@pytest.mark.slow
def test_what_check_keeps_is_a_case_again_and_has_a_report(check: Triage, report: Command, tmp_path: Path) -> None:
    first = check("wgmma-tf32-mn-major", "--no-suggest", "-o", tmp_path / "out", "--json").document
    again = check(tmp_path / "out" / "case", "--no-suggest", "--json").document
    assert again["diagnosis"]["signature"] == first["diagnosis"]["signature"]
    made = report(tmp_path / "out").out
    assert "descriptors.py, which it imports" in made
    assert "With triage: `kernel.py, descriptors.py, case.json` in a folder, and `triage check FOLDER`" in made


@pytest.mark.slow
def test_what_compiles_says_so(cli: Triage) -> None:
    done = cli("report", DATA / "ok.json", "--format", "text")
    assert done.code == 0
    assert "add: it compiles" in done.out


def test_a_matrix_alone_has_its_table(report: Command, tmp_path: Path) -> None:
    folder = shutil.copytree(FINISHED / "matrix", tmp_path / "matrix")
    done = report(folder)
    assert "| 3.2.0 | \u2717 fails A |" in done.out
    assert "How to reproduce" not in done.out


def test_what_is_left_out_is_said(report: Command, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    path = folder / "minimized" / "minimized.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"signature": "v2|other"}))
    done = report(folder)
    assert done.err == f"triage: {path}: left out; it belongs to another failure, or is one of several\n"
    assert "reproducer.py" not in done.out


def test_the_schema_is_printed(report: Command) -> None:
    done = report("--schema")
    assert (done.code, done.out) == (0, schema())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "triage: triage report: name a CASE, or the FOLDER that check, minimize or matrix left with -o"),
        (("nowhere",), "triage: nowhere: no such case; give kernel.py::function, a case folder"),
        ((FINISHED, "--keep-private", "--anonymize"), "triage: --keep-private and --anonymize exclude each other"),
        ((FINISHED, "--format", "pdf"), "triage report: Invalid value for '--format': 'pdf' is not one of"),
    ],
)
def test_bad_input_is_one_line(report: Command, arguments: tuple[str | Path, ...], said: str) -> None:
    done = report(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(said)


def test_a_file_that_cannot_be_written_is_a_wrong_command_line(report: Command, tmp_path: Path) -> None:
    done = report(FINISHED, "-o", tmp_path)
    assert (done.code, done.err) == (2, f"triage: -o {tmp_path}: is a folder; name a file in it\n")


def test_a_reduction_with_its_names_is_not_anonymous(report: Command) -> None:
    done = report(FINISHED, "--anonymize")
    assert done.code == 2
    assert "is not anonymous; triage minimize CASE --anonymize -o DIR with a new folder renames" in done.err


SECRET_KERNEL = """
import triton
import triton.language as tl


@triton.jit
def acme_plan(acme_in, acme_out, ACME_BLOCK: tl.constexpr):
    acme_offsets = tl.arange(0, ACME_BLOCK)
    acme_value = tl.load(acme_in + acme_offsets)  # the acme trick
    acme_wide = acme_value + 1
    tl.store(acme_out + acme_offsets, tl.reshape(acme_wide, [ACME_BLOCK * 2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["md", "html", "json", "text"])
def test_anonymous_reports_have_none_of_the_kernel_s_names(
    check: Triage, tmp_path: Path, cli: Triage, format_: str
) -> None:
    (tmp_path / "acme.py").write_text(SECRET_KERNEL)
    given = ("--arg", "acme_in=*fp32", "--arg", "acme_out=*fp32", "--const", "ACME_BLOCK=64")
    done = cli("report", f"{tmp_path / 'acme.py'}::acme_plan", *given, "--anonymize", "--format", format_)
    assert done.code == 0, done.err
    assert "acme" not in done.out.lower()
    assert "def kernel(" in done.out or format_ == "json"


@pytest.mark.slow
def test_check_full_does_it_all(check: Triage, tmp_path: Path) -> None:
    done = check(DATA / "undefined-name.json", "--full", "-o", tmp_path / "out", "--no-suggest")
    assert done.code == 1
    for text in (
        "Describe the bug",
        "reproducer.py (paste and run)",
        "Triton releases and targets",
        "venv/bin/pip install",
    ):
        assert text in done.out
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"report.json", "report.md", "report.html", "minimized", "matrix", "case"} <= there
    assert (
        "It was run twice in fresh processes, and ended with 1 and 1." in (tmp_path / "out" / "report.md").read_text()
    )


@pytest.mark.slow
def test_check_full_of_what_compiles_is_a_check(check: Triage) -> None:
    done = check(DATA / "ok.json", "--full")
    assert done.code == 0
    assert done.out.startswith("compiles in ")
