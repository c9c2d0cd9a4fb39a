"""Native stacks of whatever printed them: the function that crashed, with its file and line where they are shown."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.logs.functions import function_name
from triage.logs.native_frames import EXAMPLES, first_stack, shown_frame
from triage.model.diagnosis import Kind

FUNCTION = "mlir::triton::gpu::toLayout(mlir::RankedTensorType)"
SYMBOL = "_ZN4mlir6triton3gpu8toLayoutENS_16RankedTensorTypeE"

STACKS: dict[str, str] = {
    "backtrace_symbols": f"/v/libtriton.so({FUNCTION}+0x1f) [0x7f1234567890]\n/v/libtriton.so(mlir::g()+0x2f) [0x7f12]",
    "with symbols": f"/v/libtriton.so({SYMBOL}+0x1f) [0x7f1234567890]\n/v/libtriton.so(_ZN4mlir1gEv+0x2f) [0x7f12]",
    "c10": f"frame #0: {FUNCTION} + 0x1f (0x7f1234567890 in /v/libtriton.so)\n"
    "frame #1: mlir::g() + 0x2f (0x7f12 in /v/libtriton.so)",
    "Boost": f" 0# 0x0000560F0A in python\n 1# {FUNCTION} in /v/libtriton.so\n 2# mlir::g() in /v/libtriton.so",
    "WinDbg": "libtriton!mlir::triton::gpu::toLayout+0x1f\nlibtriton!mlir::triton::g+0x2f\npython312!PyObject_Call+0x1",
    "py-spy": 'Thread 1234 (active): "MainThread"\n    mlir::triton::gpu::toLayout (libtriton.so)\n'
    "    mlir::triton::g (libtriton.so)\n    make_ttgir (triton/backends/nvidia/compiler.py:250)",
    "glog": f"PC: @     0x7f8e1234 {FUNCTION}\n    @     0x7f8f1e5d8390 (unknown)\n    @     0x7f8e1235 mlir::g()",
    "names alone": f"{FUNCTION}\nmlir::triton::g()\nmlir::triton::h()\nPyObject_Call()",
    "perf": f"  7f1234567890 {FUNCTION}+0x1f (/v/libtriton.so)\n  7f1234567891 mlir::g()+0x2f (/v/libtriton.so)",
    "coredumpctl": f"#0  0x00007f1234567890 {SYMBOL} (libtriton.so + 0x123)\n"
    "#1  0x00007f1234567891 _ZN4mlir1gEv (libtriton.so + 0x124)",
}
WITH_LINES: dict[str, str] = {
    "Boost": f" 0# {FUNCTION} at /b/lib/Layouts.cpp:1271\n 1# mlir::g() at /b/lib/A.cpp:12",
    "WinDbg": "libtriton!mlir::triton::gpu::toLayout+0x1f [C:\\b\\Layouts.cpp @ 1271]\nlibtriton!mlir::g+0x2f",
    "VS Code": f"libtriton.so!{FUNCTION} (/b/lib/Layouts.cpp:1271)\nlibtriton.so!mlir::g() (/b/lib/A.cpp:12)",
    "CodeLLDB": f"{FUNCTION} (/b/lib/Layouts.cpp:1271)\nmlir::g() (/b/A.cpp:12)\n__libc_start_main (@__libc:3)",
    "valgrind": f"==1==    at 0x4C2E: {FUNCTION} (Layouts.cpp:1271)\n==1==    by 0x4C2F: mlir::g() (A.cpp:12)",
    "a list": f"1. {FUNCTION} Layouts.cpp:1271\n2. mlir::g() A.cpp:12\n3. mlir::h() A.cpp:13",
    "LLVM on Windows": f" #0 0x00007ffb1234 {FUNCTION} C:\\b\\Layouts.cpp:1271:0\n #1 0x00007ffb1235 mlir::g()",
}


@pytest.mark.parametrize("printer", STACKS)
def test_the_function_that_crashed(printer: str) -> None:
    diagnosis = diagnose_text(f"With triton 3.2 the compile crashes:\n\n{STACKS[printer]}\n")
    assert diagnosis is not None
    assert (diagnosis.function, diagnosis.file) == ("toLayout", None)


@pytest.mark.parametrize("printer", WITH_LINES)
def test_the_line_that_crashed(printer: str) -> None:
    diagnosis = diagnose_text(f"With triton 3.2 the compile crashes:\n\n{WITH_LINES[printer]}\n")
    assert diagnosis is not None
    assert (diagnosis.function, diagnosis.file, diagnosis.line) == ("toLayout", "Layouts.cpp", 1271)


def test_a_stack_below_an_exception_of_c_plus_plus_says_where() -> None:
    diagnosis = diagnose_text(f"triton: IndexError: map::at\n\nCall stack:\n\n{WITH_LINES['CodeLLDB']}\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.PYTHON_EXCEPTION, "Layouts.cpp", 1271)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_format_has_an_example(example: str) -> None:
    shown = shown_frame(example)
    assert shown is not None and function_name(shown[0].partition(" ")[0]) in ("A::f", "f")


@pytest.mark.parametrize(
    "line",
    [
        "std::vector<int> x = f(a);",
        "See mlir::triton::gpu::toLayout, which is called by it.",
        '  File "/v/triton/compiler.py", line 3, in mlir::f',
        "python: /b/A.cpp:12: int mlir::A::f(int): Assertion `x' failed.",
    ],
)
def test_what_is_no_stack(line: str) -> None:
    assert first_stack([line, line.replace("f", "g")]) == []


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        (SYMBOL, "toLayout"),
        ("_ZNK4mlir6triton1A1fEi", "A::f"),
        ("_ZN12_GLOBAL__N_112PipelinePass14runOnOperationEv", "PipelinePass::runOnOperation"),
        ("_ZN4llvm4castIN4mlir5ValueENS1_2OpEEEDcRT0_", "cast"),
        ("_Z9matmul_fni", "matmul_fn"),
        ("_zeros", "_zeros"),
    ],
)
def test_the_names_of_a_symbol(symbol: str, name: str) -> None:
    assert function_name(symbol) == name
