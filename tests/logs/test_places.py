"""Where a failure is: the forms in which compilers and people state a place."""

from __future__ import annotations

import pytest
from rows import each_row

from triage.logs import diagnose_text
from triage.model.diagnosis import Diagnosis, Kind

ERROR = "'ttg.convert_layout' op bad"
ENDS = "k.py:36:0: error: Failures have been detected while processing an MLIR pass pipeline\n"
FAILED = "note: Pipeline failed while executing [`ConvertTritonGPUToLLVM` on 'builtin.module' operation]: reproducer"
DUMPED = "  %1 = tt.x\n" * 99
OPERATION = 'note: see current operation: %1 = "tt.dot"(%2) : (i1) -> i1'
VERIFIED = "Caused exception: Verification failed:"

#: The text, and the kernel's file and line.
IN_KERNEL = [
    # MLIR's diagnostics
    (f"/a/k.py:31:20: error: {ERROR}", "/a/k.py", 31),
    (f'loc("/a/k.py":31:20): error: {ERROR}', "/a/k.py", 31),
    (f'loc("acc"("/a/k.py":31:20)): error: {ERROR}', "/a/k.py", 31),
    (f'loc(callsite("/t/triton/language/standard.py":2:3 at "/a/k.py":31:20)): error: {ERROR}', "/a/k.py", 31),
    (f'loc(callsite("f"("/a/h.py":7:3) at callsite("/a/m.py":3:4 at "/a/k.py":31:20))): error: {ERROR}', "/a/h.py", 7),
    (f'loc(fused<{{x = 1}}>["/a/k.py":31:20, "/a/k.py":33:4]): error: {ERROR}', "/a/k.py", 31),
    (f'loc(#loc7): error: {ERROR}\n#loc = loc("/a/k.py":20:0)\n#loc7 = loc("/a/k.py":31:20)', "/a/k.py", 31),
    # its notes
    (
        f'error: {ERROR}\n{OPERATION} loc("/a/k.py":31:20)',
        "/a/k.py",
        31,
    ),
    (f"<unknown>:0: error: {ERROR}\n/a/k.py:31:20: note: see current operation: %1 = tt.dot %2", "/a/k.py", 31),
    (
        f"error: {ERROR}\n{OPERATION} loc(#loc7)\n"
        '#loc6 = loc("/a/h.py":1:2)\n#loc7 = loc(callsite(#loc6 at #loc8))\n#loc8 = loc("/a/k.py":31:20)',
        "/a/h.py",
        1,
    ),
    # wrapped or retold
    (f"/a/k.py:31:20: error:\n{ERROR}", "/a/k.py", 31),
    (f"/a/k.py:31:20:\nerror: {ERROR}", "/a/k.py", 31),
    (f'loc("/a/k.py":31:20):\n  error: {ERROR}', "/a/k.py", 31),
    (f'loc("acc"("/a/k.py":31:20)):\n    {ERROR}', "/a/k.py", 31),
    (f"/a/k.py:31:20 error: {ERROR}", "/a/k.py", 31),
    (f"error at /a/k.py:31:20: {ERROR}", "/a/k.py", 31),
    (f"MLIR error in k.py line 31: {ERROR}", "k.py", 31),
    (f"CI job 7: /a/k.py:31:20: error: {ERROR}", "/a/k.py", 31),
    # a pipeline's end
    (f"error: size mismatch when packing elements\n{ENDS}k.py:36:0: {FAILED}", "k.py", 36),
    (f"LLVM ERROR: Unsupported rounding mode for conversion.\n{DUMPED}{ENDS}", "k.py", 36),
    ('PassManager::run failed: loc("k.py":37:0)\nPipeline failed while executing [TritonGPUPipeline on', "k.py", 37),
    ('    loc("w"("k.py":64:23)):\n        Cannot bitcast\n        any type\n    ' + FAILED, "k.py", 64),
    # the front end's
    ("triton.compiler.errors.CompilationError:\nat 3:8:\ndef k(x):\n    y = x @ 3\n        ^\nbad", "<kernel>", 3),
    ("it ends in CompilationError at 3:8:\n    y = x @ 3\n        ^\nbad", "<kernel>", 3),
    ("triton.compiler.errors.CompilationError: /a/k.py:19:4: bad", "/a/k.py", 19),
    # CuTe DSL's
    (f'DSLRuntimeError: ICE\n  {VERIFIED}\nerror: "copy(a)"("/a/k.py":61:16): {ERROR}', "/a/k.py", 61),
    (f'DSLRuntimeError: ______ ICE ______\n  {VERIFIED}\nerror: "/a/k.py":61:16: {ERROR}', "/a/k.py", 61),
    (f'error: "a"(callsite("a"("/a/h.py":3:2) at "k"("/a/k.py":61:16))): {ERROR}', "/a/h.py", 3),
]


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(f"{text}\n")
    assert diagnosis is not None
    return diagnosis


@each_row(IN_KERNEL)
def test_a_text_states_the_kernels_line(row: tuple[str, str, int]) -> None:
    text, file, line = row
    source = diagnosed(text).source
    assert source is not None
    assert (source.file, source.line) == (file, line)


@each_row(
    [
        # of another compile: the exception ends the first one
        f"LLVM ERROR: Cannot do it in mlir.\nRuntimeError: PassManager::run failed\n{ENDS}",
        f"LLVM ERROR: Cannot do it in mlir.\n_______ test_b _______\n{ENDS}",
        # not of the line that failed, or one of several
        f"[train.py:31:20] error: {ERROR}",
        f"a.py:1:2 and b.py:3:4 both end in error: {ERROR}",
        f"k.py:31:20: remark: vectorised\nerror: {ERROR}",
        f"error: {ERROR}\nnote: see current operation: %1 = tt.dot %2 loc(#loc7)",
    ]
)
def test_another_line_is_not_the_failures(text: str) -> None:
    assert diagnosed(text).source is None


def test_an_error_without_severity_is_the_cause_of_the_pipelines_end() -> None:
    diagnosis = diagnosed(f'loc("w"("k.py":64:23)):\n    Cannot bitcast\n    any type\n{FAILED}')
    assert diagnosis.headline == "Cannot bitcast any type"
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.MLIR_DIAGNOSTIC, "ConvertTritonGPUToLLVM")


@pytest.mark.parametrize("program", ["ptxas ", "ptxas-blackwell ", ""])
def test_a_line_of_ptx(program: str) -> None:
    diagnosis = diagnosed(f"{program}/tmp/tmpl9t_8axn.ptx, line 322; error   : Illegal vector size")
    assert (diagnosis.file, diagnosis.line) == ("tmpl9t_8axn.ptx", 322)


@each_row(["pthread_kill (/l/libc.so.6+0x1)", "__cxa_throw (/l/libc++.so.6+0x1)", "malloc_printerr () at malloc.c:5"])
def test_what_ends_a_process_is_not_what_failed(machinery: str) -> None:
    frames = ["raise (/l/libc.so.6+0x1)", machinery, "(anonymous namespace)::Alloc::run() /b/Alloc.cpp:77:9"]
    text = "\n".join(f"#{number} 0x00007f001122334{number} {frame}" for number, frame in enumerate(frames))
    diagnosis = diagnosed(f"{text}\n#4 0x00007f0011223349 (/v/triton/_C/libtriton.so+0x1)")
    assert (diagnosis.function, diagnosis.file, diagnosis.line) == ("Alloc::run", "Alloc.cpp", 77)
