"""A suite under ``--triage``: a test whose compile would end the session fails alone, with a diagnosis."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from plugin_suites import ROOT, Session, SuiteOf, suite
from rows import each_row

from triage.frontends import documents

STRIKES = ("strike:abort", "strike:segfault", "strike:exit")
REAL = {
    "newest": ("asm-operand-number", "asm-constraint-count", "gluon-ws-registers-sm80"),
    "3.2.0": ("wgmma-tf32-mn-major", "asm-operand-number", "asm-constraint-count"),
}
"""Reproducers that abort the release."""
SAID = {
    "wgmma-tf32-mn-major": "Assertion failed in WGMMAOpPattern::getPtxAsm: WGMMA type or shape is not supported",
    "asm-operand-number": "Invalid $ operand number in inline asm string",
    "asm-constraint-count": "number of input constraints does not match number of parameters",
    "gluon-ws-registers-sm80": "Cannot select: intrinsic %llvm.nvvm.setmaxnreg",
    "strike:abort": "The compiler aborted (SIGABRT) without a message",
    "strike:segfault": "The compiler crashed with a segmentation fault (SIGSEGV)",
    "strike:exit": "for cuda:90 kills the compiler: The compile ended with exit code 3 and printed nothing",
}


def slow(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("version", "aborts", "workers"),
    [
        ("newest", STRIKES, 1),
        *(slow("newest", STRIKES, workers) for workers in (0, 2)),
        *(slow(version, REAL[version], workers) for version in REAL for workers in (0, 2)),
    ],
)
def test_three_of_twenty_abort_and_seventeen_pass(
    suite_of: SuiteOf, version: str, aborts: tuple[str, ...], workers: int
) -> None:
    made = suite_of("suite.py", version)
    if workers:
        pytest.importorskip("xdist", reason="the dev extra brings it")
    named = [one if one.startswith("strike:") else str(ROOT / "reproducers" / one) for one in aborts]
    options = ("-p", "xdist", "-n", str(workers)) if workers else ()
    done = made.run("--triage", *options, ABORTS=" ".join(named))
    assert done.count() == {"failure": 3, "passed": 17}, done.out
    assert done.code == 1
    folder = made.folder / ".pytest_cache/d/triage"
    for test, abort in zip(("test_first", "test_second", "test_third"), aborts, strict=True):
        outcome, text = done.tests[test]
        assert outcome == "failure"
        assert SAID[abort] in text
        path = Path(done.diagnoses[test].rpartition("triage check ")[2])
        assert path.parent == folder
        assert documents.load(path).name in text
    assert "3 tests met a compile that would have ended the session" in done.out
    assert "the cases are in .pytest_cache/d/triage" in done.out
    # What only the session needed is gone.
    assert sorted(one.name for one in folder.iterdir() if not (one / "case.json").exists()) == []


def test_without_the_option_nothing_is_loaded_and_nothing_guarded(suite_of: SuiteOf) -> None:
    made = suite_of("edges.py")
    (made.folder / "test_edges.py").write_text(
        "import sys\n"
        "def test_light():\n"
        "    loaded = {name for name in sys.modules if name.startswith(('triage', 'triton'))}\n"
        "    plugin = {'triage.integrations', 'triage.integrations.pytest_plugin'}\n"
        "    assert loaded == {'triage', 'triage._version', *plugin}\n"
    )
    assert made.run().count() == {"passed": 1}
    assert not (made.folder / ".pytest_cache/d/triage").exists()


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Session:
    configuration = "triage = true\ntriage_dir = kept\ntriage_timeout = 2\n"
    made = suite(tmp_path_factory.mktemp("edges"), "edges.py", Path(sys.executable), configuration)
    imported = "import test_edges, toolbox\ntoolbox.launches_nothing()\ntest_edges.launch('segfault')\n"
    (made.folder / "test_imported.py").write_text(imported)
    options = ("--strict-markers", "--strict-config", "--continue-on-collection-errors")
    return made.run(*options, "-p", "pytest_timeout")


@each_row(
    [
        ("test_ways[abort]", "failure", "for cuda:90 kills the compiler (SIGABRT)"),
        ("test_ways[hang]", "failure", "for cuda:90 does not end: The compile did not end within 2 s"),
        ("test_raises", "failure", "CompilationError"),
        ("test_expected", "passed", ""),
        ("test_caught", "passed", ""),
        ("test_wrapped", "failure", "something else"),
        ("test_retold", "failure", "for cuda:90 kills the compiler (SIGABRT)"),
        ("test_thread", "failure", "for cuda:90 kills the compiler (SIGABRT)"),
        ("test_thread_that_catches", "passed", ""),
        ("test_thread_of_a_case", "failure", "for cuda:90 kills the compiler (SIGABRT)"),
        ("test_setup", "error", "for cuda:90 kills the compiler (SIGABRT)"),
        ("test_teardown", "error", "for cuda:90 kills the compiler (SIGABRT)"),
        ("test_imported", "error", "for cuda:90 kills the compiler (SIGSEGV)"),
        ("test_known", "skipped", ""),
        ("test_timeout", "failure", "for cuda:90 kills the compiler (SIGABRT)"),
        ("test_tuner_goes_on", "passed", ""),
        ("test_other_failure", "failure", "assert [1] == [2]"),
    ],
    lambda row: row[0],
)
def test_edges(row: tuple[str, str, str], edges: Session) -> None:
    test, outcome, said = row
    found, text = edges.tests[test]
    assert found == outcome, edges.out
    assert said in text


def test_a_failure_says_each_thing_once(edges: Session) -> None:
    """What the exception says in its line, the section does not repeat; what it cannot say, the section does."""
    line = "kernel [HOW=abort BLOCK=128 num_warps=4 num_stages=3] for cuda:90 kills the compiler (SIGABRT)"
    for test in ("test_ways[abort]", "test_thread", "test_setup"):
        assert line not in edges.diagnoses[test]
        assert "where: stage source" in edges.diagnoses[test]
        assert "triage check" in edges.diagnoses[test]
        assert "triton/runtime/jit.py" not in edges.tests[test][1]
    assert line in edges.diagnoses["test_wrapped"]
    assert "where: stage source" in edges.tests["test_retold"][1]
    assert "where:" not in edges.diagnoses["test_retold"]
    assert "does not compile" in edges.diagnoses["test_raises"]
    assert "test_other_failure" not in edges.diagnoses


def test_the_cases_of_what_failed_a_test_are_kept(edges: Session) -> None:
    """Not that of the exception that a test expected."""
    folder = Path(edges.diagnoses["test_raises"].rpartition("triage check ")[2]).parent
    assert folder.name == "kept"
    kept = [json.loads((one / "ended.json").read_text()) for one in folder.iterdir()]
    assert sorted(one["type"] for one in kept) == ["CompilationError", *["CompileFailed"] * 4]


@pytest.mark.slow
def test_a_session_can_be_stopped_and_taken_up(suite_of: SuiteOf) -> None:
    made = suite_of("edges.py")
    first = made.run("--triage", "-x", "-k", "abort or caught", "--show-capture=no", "--tb=line")
    assert first.count() == {"failure": 1}
    again = made.run("--triage", "--lf", "--triage-dir", "elsewhere")
    assert again.count() == {"failure": 1}
    assert [one.name for one in (made.folder / "elsewhere").iterdir()] == [
        Path(again.diagnoses["test_ways[abort]"].rpartition("/")[2]).name
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        slow(("--triage-timeout=-1",), "--triage-timeout: -1: write a number of seconds, more than 0"),
        slow(("-o", "triage_timeout=soon"), "triage_timeout = soon: write a number of seconds"),
        (("--triage-dir=pytest.ini/x",), "cannot be created: Not a directory"),
    ],
)
def test_bad_options_are_a_line(suite_of: SuiteOf, options: tuple[str, ...], said: str) -> None:
    done = suite_of("edges.py").start("--triage", *options)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [(), slow(("-p", "no:cacheprovider"))])
def test_a_machine_without_a_folder_for_temporary_files_is_a_line(suite_of: SuiteOf, options: tuple[str, ...]) -> None:
    suite = suite_of("edges.py")
    (suite.folder / "conftest.py").write_text("import tempfile\ntempfile.tempdir = '/dev/null'\n")
    done = suite.start("--triage", *options)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.startswith("ERROR: /dev/null: files cannot be made there (")
    assert done.stderr.count("\n") <= 2, done.stderr
