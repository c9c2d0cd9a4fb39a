"""``compile_matrix``: what compiles can be looked at, what does not fails the test, what could not be told skips it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from plugin_suites import PROGRAMS, Session, Suite, SuiteOf, suite
from rows import each_row

from triage.frontends import documents


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Session:
    made = suite(tmp_path_factory.mktemp("matrix"), "matrix.py", Path(sys.executable))
    shutil.copy(PROGRAMS / "beside.py", made.folder)
    return made.run("--strict-markers", "--triage-dir=kept")


@each_row(
    [
        ("test_tensor_cores[cuda:80-64]", "passed", ""),
        ("test_tensor_cores[cuda:80-128]", "passed", ""),
        ("test_tensor_cores[cuda:90-64]", "passed", ""),
        ("test_tensor_cores[cuda:90-128]", "passed", ""),
        ("test_values[hip:gfx942]", "passed", ""),
        ("test_in_a_function[cuda:90]", "passed", ""),
        ("test_file[cuda:90]", "passed", ""),
        ("test_bad[cuda:90]", "failure", "ones [N=3] for cuda:90 does not compile: ValueError: arange's range must be"),
        ("test_abort[cuda:90]", "failure", "kills the compiler (SIGABRT): LLVM gave up: Invalid $ operand number"),
        ("test_known[cuda:90]", "skipped", ""),
        (
            "test_misfit[cuda:90-function]",
            "failure",
            "expected a function with @triton.jit, @gluon.jit or @cute.jit, or",
        ),
        ("test_misfit[cuda:90-missing]", "failure", "ones: argument N of ones has no value (constexprs={'N': VALUE})"),
        ("test_misfit[cuda:90-type]", "failure", "ones: signature.x_ptr: expected a Triton type such as '*fp16'"),
        ("test_misfit[cuda:90-option]", "failure", "ones: options.num_warps: must be a power of two"),
        ("test_misfit[cuda:90-file]", "failure", "nowhere.py: no such file"),
        ("test_time[cuda:90]", "failure", "did not end within 0.02 s"),
        ("test_untold[cuda:90-3.1.0]", "skipped", "cuda:90-3.1.0: "),
        ("test_untold_fails[cuda:90-3.1.0]", "failure", "EnvironmentFault: cuda:90-3.1.0: "),
    ],
    lambda row: row[0],
)
def test_answers(row: tuple[str, str, str], matrix: Session) -> None:
    test, outcome, said = row
    found, text = matrix.tests[test]
    assert found == outcome, matrix.out
    assert said in text
    # A test's own line is the last of its traceback.
    assert "triage/pipeline" not in text


def test_what_could_not_be_told_is_no_expected_failure(matrix: Session) -> None:
    assert "1 skipped, 1 xfailed" in matrix.out


def test_a_failure_says_why_and_keeps_its_case(matrix: Session) -> None:
    text = matrix.tests["test_bad[cuda:90]"][1]
    assert "cause: Every extent of a block tensor" in text
    path = Path(next(line for line in text.splitlines() if "triage check" in line).rpartition(" ")[2])
    case = documents.load(path)
    assert (path.parent.name, case.name, dict(case.constexprs)) == ("kept", "ones", {"N": 3})


WRONG = {
    "": "the fixture compile_matrix needs its marker, as in @pytest.mark.compile_matrix(targets=[",
    "()": "targets: expected one or more texts, found None",
    "('sm90')": "target 'sm90': write cuda:NN",
    "('cuda:90', 'main')": "'main'",
    "('cuda:90', release='3.6.0')": "release: unknown; known are cute, memory, targets, timeout, triton, undecided",
    "('cuda:90', undecided='pass')": "undecided='pass': write 'skip' or 'fail'",
    "('cuda:90', timeout=0)": "timeout=0: write a number of seconds, more than 0",
}
"""What follows the marker's name, and what is said of it."""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest prints of a module for each wrong marker."""
    made = Suite(tmp_path_factory.mktemp("wrong"), Path(sys.executable))
    for number, given in enumerate(WRONG):
        marker = f"@pytest.mark.compile_matrix{given}\n" if given else ""
        text = f"import pytest\n{marker}def test_{number}(compile_matrix):\n    pass\n"
        (made.folder / f"test_{number}.py").write_text(text)
    newer = "@pytest.mark.compile_matrix(['cuda:90', 'cuda:160'])\ndef test_{}(compile_matrix):\n    pass\n"
    (made.folder / "test_newer.py").write_text("import pytest\n" + newer.format(1) + newer.format(2))
    return made.start("--collect-only").stdout


@pytest.mark.parametrize("given", WRONG)
def test_a_wrong_marker_is_a_line(wrong: str, given: str) -> None:
    said = [line for line in wrong.splitlines() if f"test_{list(WRONG).index(given)}: " in line]
    assert WRONG[given] in said[0]


def test_a_target_newer_than_the_table_is_a_warning(wrong: str) -> None:
    assert wrong.count("PytestWarning: triage: cuda:160 is newer than every architecture") == 1


@pytest.mark.slow
def test_releases(suite_of: SuiteOf) -> None:
    made = suite_of("matrix.py")
    done = made.run(
        "-k",
        "releases or lacks or never",
        RELEASES="3.1.0..3.3.1 3.6.0",
        TRITON_TRIAGE_CACHE=os.environ["TRITON_TRIAGE_CACHE"],
    )
    outcomes = {name: outcome for name, (outcome, _) in done.tests.items()}
    assert outcomes == {
        "test_releases[cuda:90-3.1.0]": "failure",
        "test_releases[cuda:90-3.2.0]": "failure",
        "test_releases[cuda:90-3.3.0]": "passed",
        "test_releases[cuda:90-3.3.1]": "passed",
        "test_releases[cuda:90-3.6.0]": "passed",
        "test_lacks[cuda:90-3.2.0]": "skipped",
        "test_never_released[cuda:90-3.99.0]": "failure",
    }, done.out
    assert "Assertion failed in WGMMAOpPattern::getPtxAsm" in done.tests["test_releases[cuda:90-3.2.0]"][1]
    never = done.tests["test_never_released[cuda:90-3.99.0]"][1]
    assert "triton 3.99.0: there is no such release of Triton; the nearest are 3." in never
    assert "not applicable: Triton 3.2.0 lacks" in done.tests["test_lacks[cuda:90-3.2.0]"][1]
