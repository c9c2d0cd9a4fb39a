"""What is said when no entry matches: each kind of failure gets the steps that say more about it."""

from __future__ import annotations

import pytest

from triage import logs
from triage.knowledge.advice import next_steps

ASSERTION = "python: /src/Foo.cpp:12: void mlir::zork(): Assertion `a == b' failed.\n"


@pytest.mark.parametrize(
    ("text", "have_case", "said", "not_said"),
    [
        (ASSERTION, False, "MLIR_ENABLE_DUMP=1", "PYTHON_STACKTRACE"),
        (ASSERTION, False, "Foo.cpp a == b", "Foo.cpp:12"),
        (ASSERTION, True, "triage kb new", "MLIR_ENABLE_DUMP"),
        ("Aborted (core dumped)\n", False, "TRITON_ENABLE_PYTHON_STACKTRACE=1", "MLIR_ENABLE_DUMP"),
        ("RuntimeError: PassManager::run failed\n", False, "whole standard error", "PYTHON_STACKTRACE"),
    ],
)
def test_each_kind_gets_the_steps_that_say_more(text: str, have_case: bool, said: str, not_said: str) -> None:
    found = logs.diagnose_text(text)
    assert found is not None
    steps = "\n".join(next_steps(found, have_case))
    assert said in steps
    assert not_said not in steps


def test_what_is_not_the_kernel_s_gets_no_advice_about_kernels() -> None:
    other = logs.diagnose_any("ERROR: No matching distribution found for some-package==1.0\n")
    assert other is not None
    assert next_steps(other, have_case=False) == ()
    missing = logs.diagnose_any("ImportError: DLL load failed while importing libtriton: not found\n")
    assert missing is not None
    assert "triage check" not in "\n".join(next_steps(missing, have_case=False))
