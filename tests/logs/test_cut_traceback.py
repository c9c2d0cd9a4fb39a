"""Texts that break off in a traceback, before the exception."""

from __future__ import annotations

from triage.logs import diagnose_any
from triage.model.diagnosis import Kind

JIT = "/venv/lib/python3.11/site-packages/triton/runtime/interpreter.py"
CUT = f'''\
Traceback (most recent call last):
  File "/home/u/matmul.py", line 58, in matmul_kernel
    offs = pid * BLOCK + tl.arange(0, BLOCK)
  File "{JIT}", line 1180, in _rewrite_ast
    exec(compiled_cod'''
NOTEBOOK = f"""\
InterpreterError                          Traceback (most recent call last)
Cell In[2], [line 8](vscode-notebook-cell:?execution_count=2&line=8)
      [6](vscode-notebook-cell:?execution_count=2&line=6)     print(z)
----> [8](vscode-notebook-cell:?execution_count=2&line=8) mytest[(1,)](4)

File {JIT}:1095, in GridExecutor.__call__(self, *args_dev, **kwargs)
   [1093](https://vscode-remote+ssh"""


def test_the_user_s_line_is_the_place() -> None:
    for text, line in ((CUT, 58), (NOTEBOOK, 8)):
        diagnosis = diagnose_any(f"Thank you! Now I see this output of the triton kernel:\n\n{text}")
        assert diagnosis is not None and diagnosis.source is not None
        assert (diagnosis.kind, diagnosis.source.line) == (Kind.PYTHON_EXCEPTION, line)


def test_a_notebook_names_the_exception_first() -> None:
    diagnosis = diagnose_any(NOTEBOOK)
    assert diagnosis is not None and diagnosis.exception == "InterpreterError"


def test_a_sentence_that_states_the_failure_is_the_headline() -> None:
    diagnosis = diagnose_any(f"# Triton error: the interpreter fails to compile an exponent\n\n{CUT}")
    assert diagnosis is not None and "the interpreter fails to compile" in diagnosis.headline


def test_a_traceback_above_other_words_did_not_break_off() -> None:
    assert diagnose_any(f"{CUT}\n\nI solved it.\nThe tutorial of triton works.\nThank you.\nBye.\nM.\n") is None


def test_the_last_frame_s_source_names_the_exception() -> None:
    raised = CUT.replace("exec(compiled_cod", "raise errors.BadShape(shape)")
    diagnosis = diagnose_any(raised)
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.exception) == (Kind.PYTHON_EXCEPTION, "BadShape")


def test_a_command_of_triton_s_failed_is_the_host_compiler() -> None:
    build = """\
  File "/venv/site-packages/triton/runtime/build.py", line 48, in _build
    ret = subprocess.check_call(cc_cmd)
"""
    raised = """\
  File "/usr/lib/python3.10/subprocess.py", line 369, in check_call
    raise CalledProcessError(retcode, cmd)
"""
    for frames, kind in ((build + raised, Kind.ENVIRONMENT), (raised, Kind.PYTHON_EXCEPTION)):
        diagnosis = diagnose_any(f"Triton's `driver` does not start\n\nTraceback (most recent call last):\n{frames}")
        assert diagnosis is not None
        assert diagnosis.kind is kind
