"""Texts as people paste them: with a logger's prefixes, wrapped, cut, in an editor's or a notebook's spelling."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Diagnosis, Kind

ERROR = "k.py:3:4: error: 'tt.dot' op bad"
PREFIXES = [
    "[Warning] [App-0/STDERR] ",
    "[App-0/STDOUT] ",
    "  0%|          | 0/25 [00:00<?, ?it/s]",
    "Sampling:  40%|████      | 10/25 [00:10<00:15,  1.02it/s]",
    "[2025-06-18 19:45:55,713] torch._dynamo.convert_frame: [WARNING] ",
    "2025-06-18 19:45:55.713 | ERROR    | app.main:run:12 - ",
    "Feb 28 00:20:45 ",
    "# ",
    "### ",
    "│ ERROR 09-27 06:46:46 engine.py:157] ",
    "FAILED [0.1854s] test/test_k.py::Tests::test_dot - ",
]


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    return diagnosis


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_is_no_part_of_the_line(prefix: str) -> None:
    diagnosis = diagnosed(f"{prefix}{ERROR}   │\n" if prefix.startswith("│") else f"{prefix}{ERROR}\n")
    assert (diagnosis.kind, diagnosis.headline) == (Kind.MLIR_DIAGNOSTIC, "'tt.dot' op bad")
    assert diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("k.py", 3)


@pytest.mark.parametrize(
    "text",
    [
        "out of resource: shared memory, Required: 147456, Hardware limit: 101376.",
        "OutOfResources: out of resource: shared memory,\nRequired: 147456, Hardware limit: 101376",
        "OutOfResources: out of resource: shared memory,\n  Required: 147456,\n  Hardware limit: 101376.",
        "out of resource: shared memoryRequired: 147456Hardware limit: 101376 Reducing block sizes may help.",
    ],
)
def test_the_numbers_of_a_resource_in_any_layout(text: str) -> None:
    diagnosis = diagnosed(text)
    assert (diagnosis.kind, diagnosis.resource) == (Kind.OUT_OF_RESOURCES, "shared memory")
    assert (diagnosis.required, diagnosis.limit) == (147456, 101376)


def test_what_stands_behind_a_closing_fence_is_not_the_message() -> None:
    diagnosis = diagnosed("```\ntriton.runtime.errors.InterpreterError: bad\nmore\n```\nIt worked last week.\n")
    assert diagnosis.message == "InterpreterError: bad\nmore"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("torch._dynamo.exc.Unsupported: call of a triton kernel", "Unsupported"),
        ("helion.exc.TensorOperationInWrapper: not inside a kernel", "TensorOperationInWrapper"),
    ],
)
def test_an_exception_with_its_module_may_have_any_name(line: str, name: str) -> None:
    assert diagnosed(line).exception == name


def test_an_editor_shows_the_text_on_the_next_line() -> None:
    diagnosis = diagnosed("Exception has occurred: ValueError\narange's arguments must be of type tl.constexpr\n")
    assert diagnosis.headline == "ValueError: arange's arguments must be of type tl.constexpr"


GDB = """\
Thread 1 "python" received signal SIGSEGV, Segmentation fault.
{stopped}
#0  {first}
#1  0x00007ffed7580b00 in triton::Inner::run (this=0x0) at /b/lib/Inner.cpp:80
"""


def test_gdb_s_frames_without_address_and_its_stop_line() -> None:
    stopped = "0x00007ffed7580a34 in triton::ir::block::parent (this=0x0) at /b/include/block.h:54"
    cut = diagnosed(GDB.format(stopped=stopped, first="0x00007ffed7580a34 in triton::ir::bl"))
    assert (cut.kind, cut.function, cut.file, cut.line) == (Kind.SEGFAULT, "parent", "block.h", 54)
    bare = diagnosed(GDB.format(stopped="", first="triton::Outer::visit (op=0x0) at /b/lib/Outer.cpp:12"))
    assert (bare.function, bare.file, bare.line) == ("Outer::visit", "Outer.cpp", 12)


def test_the_frames_of_a_handler_are_not_where_it_crashed() -> None:
    diagnosis = diagnosed(
        "#0  __pthread_kill_implementation (signo=11) at pthread_kill.c:44\n"
        "#1  0x000071f4d1562e13 in handler_SIGSEGV(int, siginfo_t*, void*) ()\n"
        "   from /venv/lib/libtorch_python.so\n"
        "#2  <signal handler called>\n"
        "#3  0x000071f392131228 in mlir::triton::AxisInfo::join(int) ()\n"
        "   from /venv/lib/python3.11/site-packages/triton/_C/libtriton.so\n"
    )
    assert diagnosis.function == "AxisInfo::join"
