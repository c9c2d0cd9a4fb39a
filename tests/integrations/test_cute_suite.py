"""Tests of a suite that compile with CuTe DSL: what kills the compiler fails alone, with its diagnosis."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_suites import Session, suite


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, cute_interpreter: Path) -> Session:
    made = suite(tmp_path_factory.mktemp("cute"), "cute_suite.py", cute_interpreter)
    return made.run("--triage", "--strict-markers", "--triage-dir=kept", CUTE_DSL_ARCH="sm_100a")


@pytest.mark.slow
def test_each_test_ends_as_it_should(session: Session) -> None:
    failed = {name for name, (outcome, _) in session.tests.items() if outcome == "failure"}
    assert failed == {
        "test_aborts",
        "test_misaligned",
        "test_other_compiler[cuda:90-3.6.0]",
        "test_no_host[cuda:90]",
    }, session.out
    assert len(session.tests) == 10


@pytest.mark.slow
def test_a_death_of_the_compiler_is_a_failure_with_its_cause(session: Session) -> None:
    text = session.tests["test_aborts"][1]
    assert "CompileFailed: load [threads=96] for cuda:100 kills the compiler (SIGABRT)" in text
    assert "tiled copy" in session.diagnoses["test_aborts"] and "triage check " in session.diagnoses["test_aborts"]
    assert "1 test met a compile that would have ended the session" not in session.out, "two did, one expected it"
    assert "2 tests met a compile that would have ended the session" in session.out


@pytest.mark.slow
def test_an_exception_gets_its_diagnosis(session: Session) -> None:
    diagnosis = session.diagnoses["test_misaligned"]
    assert diagnosis.startswith("load [threads=64] for cuda:100 does not compile: 'cute.copy' op src ptr alignment")
    assert "known: " in diagnosis


@pytest.mark.slow
def test_bad_uses_are_told(session: Session) -> None:
    assert (
        "load is compiled by CuTe DSL, compile_matrix asks for Triton 3.6.0; write cute=[…]"
        in (session.tests["test_other_compiler[cuda:90-3.6.0]"][1])
    )
    assert "expected a function with @triton.jit, @gluon.jit or @cute.jit" in session.tests["test_no_host[cuda:90]"][1]
