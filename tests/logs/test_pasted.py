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


@pytest.mark.parametrize(
    "traceback",
    [
        '  File "/x/triton/language/semantic.py", line 9, in dot\n    assert acc.type == expected\n'
        "           ^^^^^^^^^^^^^^^^^^\nAssertionError\n",
        "File ~/x/triton/language/semantic.py:9, in dot(lhs)\n      8 else:\n"
        "----> 9     assert acc.type == expected\n\nAssertionError: \n",
        "We call `tl.dot` and an `AssertionError` is raised:\n```\n    assert acc.type == expected\n```\n",
    ],
)
def test_an_assertion_without_a_text_is_told_by_what_it_asserts(traceback: str) -> None:
    assert diagnosed(traceback).headline == "AssertionError: assert acc.type == expected"


def test_too_many_threads_are_told_before_the_registers_that_each_then_has() -> None:
    refused = "ptxas fatal   : (C7602) Insufficient registers (32) to compile instruction at line 371 in function k."
    diagnosis = diagnosed(f"{refused}\n.visible .entry k()\n.reqntid 2048\n{{\n")
    assert (diagnosis.kind, diagnosis.resource) == (Kind.OUT_OF_RESOURCES, "threads")
    assert (diagnosis.required, diagnosis.limit) == (2048, 1024)
    assert diagnosed(f"{refused}\n.visible .entry k()\n.reqntid 512\n{{\n").kind is Kind.PTXAS


def test_ptx_given_to_amd_s_assembler_is_told_as_that() -> None:
    ptx = diagnosed("error: invalid instruction\n    cvt.rn.f16x2.f32 s3, v3, v4;\n    ^\n")
    assert ptx.headline == "PTX given to an AMD target: invalid instruction: cvt.rn.f16x2.f32 s3, v3, v4;"
    own = diagnosed("error: invalid instruction\n    v_bfe_u99 v1, v2, 0, 4\n    ^\n")
    assert own.headline == "The assembler refused the code: invalid instruction: v_bfe_u99 v1, v2, 0, 4"


def test_a_host_compiler_that_failed_without_the_exception_s_name() -> None:
    diagnosis = diagnosed(
        "[ERROR] kernel failed (Command '['C:\\\\p\\\\tcc.exe', 'C:\\\\T\\\\tmpab12cd34\\\\cuda_utils.c', '-O3']' "
        "returned non-zero exit status 1.); falling back\n"
    )
    assert (diagnosis.kind, diagnosis.exception) == (Kind.ENVIRONMENT, "CalledProcessError")


def test_an_assertion_that_was_wrapped_before_its_function() -> None:
    diagnosis = diagnosed(
        "python: lib/Dialect/Layouts.cpp:1008:  \nmlir::triton::Layout mlir::triton::{anonymous}::pick(\n"
        'mlir::MLIRContext*, int): Assertion `n >= 4 && \n"one warp fills a chunk"\' failed.\n'
    )
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Layouts.cpp", 1008, "pick")
    assert diagnosis.headline == "Assertion failed in pick: one warp fills a chunk"


@pytest.mark.parametrize(
    "text",
    [
        "OutOfResources: out of resource: shared memory, Required: 163842, Hardware limitation: 101376.",
        "triton.runtime.errors.OutOfResources: out of resource: shared memory,\n",
    ],
)
def test_out_of_resources_in_other_words_or_cut_off(text: str) -> None:
    diagnosis = diagnosed(text)
    assert (diagnosis.kind, diagnosis.resource) == (Kind.OUT_OF_RESOURCES, "shared memory")
    assert diagnosis.required in (163842, None)


def test_a_called_process_error_that_was_cut_off_is_told_by_its_frame() -> None:
    diagnosis = diagnosed(
        '  File "/venv/triton/backends/nvidia/compiler.py", line 356, in make_cubin\n    subprocess.run(cmd)\n'
        "subprocess.CalledProcessError: Command '['/venv/triton/backends/nvidia/bin/pt\n"
    )
    assert (diagnosis.kind, diagnosis.stage) == (Kind.PTXAS, "cubin")


def test_a_traceback_in_an_escaped_string() -> None:
    inner = (
        'Traceback (most recent call last):\\n  File "/v/triton/compiler/compiler.py", line 349, in compile\\n'
        '    m = f(m)\\n  File "/v/triton/backends/amd/compiler.py", line 9, in make_ttgir\\n'
        "    pm.run(mod)\\nRuntimeError: PassManager::run failed\\n"
    )
    text = f"error message:\n{{'message': 'InductorError: SubprocException: in a subprocess:\\n\\n{inner}'}}\n"
    diagnosis = diagnosed(text)
    assert (diagnosis.kind, diagnosis.stage) == (Kind.MLIR_DIAGNOSTIC, "ttgir")


def test_the_text_of_an_exception_on_the_line_after_its_name() -> None:
    diagnosis = diagnosed("triton.compiler.errors.ForkError:\n[ConvertIR] met an error: bad layout of an operand\n")
    assert diagnosis.headline == "ForkError: [ConvertIR] met an error: bad layout of an operand"


def test_an_error_with_its_place_behind_the_severity() -> None:
    diagnosis = diagnosed("error: k.py:211:0: stack frame size (164332) exceeds limit (131056) in function 'k'\n")
    assert diagnosis.kind is Kind.LLVM_DIAGNOSTIC
    assert diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("k.py", 211)


def test_a_name_that_the_front_end_does_not_find_is_of_the_kernel_s_source() -> None:
    assert diagnosed("NameError: BLOCK is not defined\n").stage == "source"
    assert diagnosed("NameError: name 'BLOCK' is not defined\n").stage is None


@pytest.mark.parametrize(
    ("text", "kind", "headline"),
    [
        ("ptxas fatal: Value 'sm_999' is not defined for option 'gpu-name'", Kind.PTXAS, "Value 'sm_999'"),
        ("`ptxas error: Feature '.tile' not supported on .target 'sm_121a'`", Kind.PTXAS, "Feature '.tile'"),
        ("'sm_999' is not a recognized processor for this target (x)", Kind.LLVM_DIAGNOSTIC, "not a recognized"),
        (
            "```loc(\"k.py\":7:2): error: failed to legalize operation 'tt.f' that was\n```",
            Kind.MLIR_DIAGNOSTIC,
            "tt.f",
        ),
        ("see triton.jit\n**k() got an unexpected keyword argument 'grid'**\n", Kind.PYTHON_EXCEPTION, "'grid'"),
        ("triton.jit: server error TypeError: k() takes too few of them\n", Kind.PYTHON_EXCEPTION, "TypeError: k()"),
        (
            "triton.compiler.errors.MLIRCompilationError: \n///-----[ERROR][Triton][BEG]-----\n"
            "[ToBinary] encounters error:\nxcompile: no such option\n",
            Kind.PYTHON_EXCEPTION,
            "MLIRCompilationError: xcompile: no such option",
        ),
    ],
)
def test_spellings_of_an_error(text: str, kind: Kind, headline: str) -> None:
    diagnosis = diagnosed(text)
    assert diagnosis.kind is kind
    assert headline in diagnosis.headline


@pytest.mark.parametrize(("gpu", "emulated"), [("NVIDIA H100 80GB", True), ("sm_100a", False), ("", False)])
def test_a_scaled_product_is_emulated_where_no_instruction_scales_blocks(gpu: str, emulated: bool) -> None:
    diagnosis = diagnosed(
        f"GPU: {gpu}\ntriton.compiler.errors.CompilationError: at 7:10:\n    a = tl.dot_scaled(a, sa, 'e2m1', b, sb)\n"
        "          ^\nInvalid format: e2m1.\n"
    )
    assert any("emulated" in note for note in diagnosis.notes) is emulated


def test_the_end_of_a_report_of_the_front_end() -> None:
    diagnosis = diagnosed("   if (low >= 0):\n  ^\nAssertionError('initial value for `v` is of type <[512], int32>')\n")
    assert (diagnosis.kind, diagnosis.stage) == (Kind.FRONTEND_ERROR, "source")


def test_an_assertion_while_a_module_is_deleted_follows_from_the_error() -> None:
    diagnosis = diagnosed(
        "k.py:9:8: error: failed to legalize operation 'tt.load' that was explicitly marked illegal\n"
        "x-opt: /b/UseDefLists.h:198: ~IRObjectWithUseList(): Assertion "
        '`use_empty() && "Cannot destroy a value that still has uses!"\' failed.\n'
    )
    assert diagnosis.kind is Kind.MLIR_DIAGNOSTIC
    assert diagnosis.source is not None and diagnosis.source.line == 9


@pytest.mark.parametrize("left", [": def scale(\n...", ""])
def test_a_front_end_s_report_of_which_the_kernel_was_left_out(left: str) -> None:
    for cause in ('TypeError("bad operand")', 'TypeError("bad\n            operand")'):
        diagnosis = diagnosed(f"triton.compiler.errors.CompilationError{left}\n{cause}\n")
        assert (diagnosis.kind, diagnosis.headline) == (Kind.FRONTEND_ERROR, "TypeError: bad operand")


def test_of_two_reports_without_a_reason_the_one_with_the_position() -> None:
    diagnosis = diagnosed("see `CompilationError`:\nInductorError: CompilationError\nCompilationError: at 14:20: ...\n")
    assert diagnosis.message.startswith("CompilationError: at 14:20")


def test_an_error_in_the_launcher_has_its_file_and_line() -> None:
    diagnosis = diagnosed("C:\\Temp\\tmpab12cd34\\__triton_launcher.c(123): error C2059: syntax error: '}'\n")
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.ENVIRONMENT, "__triton_launcher.c", 123)


def test_an_exception_of_cute_that_a_terminal_wrapped() -> None:
    diagnosis = diagnosed(
        "DSLRuntimeError: The operand of this operation is of a type that the\n"
        "instruction does not have on this\nGPU.\n\nThe kernel is short.\n"
    )
    assert diagnosis.headline == (
        "The operand of this operation is of a type that the instruction does not have on this GPU."
    )


def test_an_assertion_whose_line_number_somebody_left_out() -> None:
    diagnosis = diagnosed(
        'python: lib/IR/Layouts.cpp:\n  Dialect::toLayout(...): Assertion `0 && "no layout"\' failed.\n'
    )
    assert (diagnosis.file, diagnosis.function, diagnosis.line) == ("Layouts.cpp", "Dialect::toLayout", None)


def test_the_cell_of_a_table_that_has_an_error() -> None:
    row = "| t.py | RuntimeError: triton kernels require triton>=3.6.0 | [job](https://ci.example.org/1/2/3) |"
    assert diagnosed(f"{row}\n").headline == "RuntimeError: triton kernels require triton>=3.6.0"


def test_a_log_that_breaks_off_where_an_exception_is_raised() -> None:
    diagnosis = diagnosed(
        'ERROR 03-22 09:50:04 [core.py:340]   File "/v/site-packages/triton/runtime/build.py", line 32, in _build\n'
        'ERROR 03-22 09:50:04 [core.py:340]     raise RuntimeError("Failed to find C compiler. Please\n'
    )
    assert diagnosis.kind is Kind.ENVIRONMENT


def test_what_the_interpreter_met_is_in_the_kernel_s_source() -> None:
    diagnosis = diagnosed("triton.runtime.errors.InterpreterError: TypeError('bad operand')\n")
    assert (diagnosis.kind, diagnosis.stage) == (Kind.PYTHON_EXCEPTION, "source")


AT = r"at 3:4:\ndef k(x):\n    tl.load(x)\n    ^\nTypeError(\"bad thing\")"


@pytest.mark.parametrize(
    "line",
    [
        f"future: <Task finished name='Task-5' coro=<run() done> exception=CompilationError('{AT}')>",
        f"[rank0]: CompilationError('{AT}')",
        f"ERROR: CompilationError('{AT}')",
    ],
)
def test_an_exception_that_a_repr_shows_is_read_as_it_would_be_printed(line: str) -> None:
    diagnosis = diagnosed(line)
    assert (diagnosis.kind, diagnosis.headline) == (Kind.FRONTEND_ERROR, "TypeError: bad thing")
    assert diagnosis.source is not None
    assert (diagnosis.source.line, diagnosis.source.text) == (3, "    tl.load(x)")


def test_an_exception_that_a_line_of_source_constructs_was_not_raised() -> None:
    source = '    raise ValueError("a\\nb: c")'
    assert diagnosed(f'  File "/x/triton/core.py", line 3, in f\n{source}\nValueError: other\n').headline == (
        "ValueError: other"
    )


def test_the_colours_in_a_repr_are_control_sequences() -> None:
    line = (
        r"task: <Task exception=DSLRuntimeError('\x1b[91merror:\x1b[0m cutlass.base_dsl\nICE IR Verification Failed')>"
    )
    assert "x1b" not in diagnosed(line).message


def test_the_assertion_of_a_notebook_s_frame_has_the_lines_below_it() -> None:
    frame = "File ~/x/triton/language/semantic.py:9, in dot(lhs)\n      8 x\n----> 9     assert pack >= 1\n     10 y\n"
    assert diagnosed(f"{frame}\nAssertionError\n").headline == "AssertionError: assert pack >= 1"


def test_what_stands_behind_a_cause_that_is_quoted_whole_is_not_its_text() -> None:
    diagnosis = diagnosed(
        "triton.compiler.errors.CompilationError: at 2:4:\ndef f(x):\n    g(x)\n    ^\nNameError('g is not defined')\n"
        "Warning: the process group was not destroyed before the program's end\n"
    )
    assert (diagnosis.headline, diagnosis.message) == ("NameError: g is not defined", "NameError: g is not defined")


@pytest.mark.parametrize(
    "below",
    ['Set TORCH_LOGS="+dynamo" for more', "'''", "2026-05-06 11:03:10,805 ERROR worker.py:438 -- Unhandled error"],
)
def test_what_is_below_the_caret_is_not_always_the_reason(below: str) -> None:
    diagnosis = diagnosed(f"CompilationError: at 8:11:\ndef k(x):\n    y = x.to(tl.float32)\n        ^\n{below}")
    assert diagnosis.headline == "CompilationError at y = x.to(tl.float32)"


@pytest.mark.parametrize("title", ["CompilationError: at 8:11", "CompilationError: at 8:11 y = x.to(tl.float32)"])
def test_a_title_has_the_line_of_the_kernel(title: str) -> None:
    diagnosis = diagnosed(f"# triton.compiler.errors.{title}\n\nSince 3.2.\n")
    assert diagnosis.source is not None and (diagnosis.source.line, diagnosis.source.column) == (8, 12)


def test_the_items_of_a_report_are_one_exception() -> None:
    report = "- **Exception Type:** RuntimeError\n- **Exception Message:** `ptxas` failed with error code 4294967295:\n"
    assert diagnosed(f"a triton kernel\n{report}").kind is Kind.PTXAS


def test_an_error_of_ptxas_has_the_line_of_the_ptx_and_of_the_launch() -> None:
    frames = 'Traceback (most recent call last):\n  File "/x/k.py", line 12, in run\n    k[grid](x)\n'
    error = "ptxas /tmp/tmpab12cd34.ptx, line 22; error   : Feature '.bf16' requires .target sm_80 or higher"
    raised = "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error\n`ptxas` stderr:\n"
    diagnosis = diagnosed(f"{frames}{raised}{error}\n")
    assert (diagnosis.file, diagnosis.line) == ("tmpab12cd34.ptx", 22)
    assert diagnosis.source is not None
    assert diagnosis.source.line == 12


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            'RuntimeError: Triton Error [CUDA]: context is destroyed"',
            "The driver could not run the kernel: context is destroyed",
        ),
        (
            "fails with `Triton Error [ZE]: 0x78000011` on Windows.",
            "The driver could not run the kernel: 0x78000011",
        ),
        (
            "PermissionError: [Errno 13] Permission denied: '/home/me/.triton/cache/ab/k.ptx'",
            "PermissionError: [Errno 13] Permission denied: '.triton/cache/ab/k.ptx'",
        ),
        (
            'x/codecache.py", line 195, in get_system  from triton import y  ImportError: cannot import name '
            "'triton_key' from 'triton.compiler'",
            "ImportError: cannot import name 'triton_key' from 'triton.compiler'",
        ),
        (
            "RuntimeError: Internal Triton PTX codegen error: ptxas fatal : Value 'sm_120' is not defined for option",
            "ptxas: Value 'sm_120' is not defined for option",
        ),
        (
            "error: 'tt.descriptor_load' op is not known\nLLVM ERROR: Fatal pipeliner error",
            "LLVM gave up: Fatal pipeliner error: 'tt.descriptor_load' op is not known",
        ),
    ],
)
def test_a_headline_is_what_was_printed_and_no_more(text: str, headline: str) -> None:
    assert diagnosed(text).headline == headline


def test_a_fatal_error_behind_pytest_s_progress_has_the_frame_that_crashed() -> None:
    stack = (
        'Current thread 0x1 (most recent call first):\n  File "/x/triton/backends/nvidia/compiler.py", line 286 in f\n'
    )
    diagnosis = diagnosed(f"tests/ops/test_k.py Fatal Python error: Aborted\n\n{stack}")
    assert (diagnosis.file, diagnosis.line) == ("compiler.py", 286)


def test_dots_in_place_of_the_kernel_are_no_reason() -> None:
    diagnosis = diagnosed("triton.compiler.errors.CompilationError: at 12:4:\n...\n    def make_ir(self, options):\n")
    assert (diagnosis.kind, diagnosis.headline, diagnosis.source and diagnosis.source.line) == (
        Kind.FRONTEND_ERROR,
        "CompilationError at line 12 of the kernel",
        12,
    )


def test_the_reason_ends_the_traceback_below_the_caret() -> None:
    diagnosis = diagnosed(
        "triton.compiler.errors.CompilationError: at 2:4:\ndef k(a, n):\n    tl.store(a, n)\n    ^\n"
        "Traceback (most recent call last):\n"
        '  File "/venv/lib/python3.12/site-packages/triton/language/semantic.py", line 1219, in store\n'
        "    assert one == other, f'{one} and {other}'\nAssertionError: fp32 and fp64\n"
    )
    assert (diagnosis.kind, diagnosis.headline) == (Kind.FRONTEND_ERROR, "AssertionError: fp32 and fp64")
    assert diagnosis.source is not None
    assert diagnosis.source.line == 2


def test_what_pytest_prints_below_is_no_reason() -> None:
    diagnosis = diagnosed(
        "FAILED tests/test_k.py::test_k[1] - triton.compiler.errors.CompilationError: at 80:4:\n"
        "!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!\n"
    )
    assert diagnosis.headline == "CompilationError at line 80 of the kernel"


def test_the_reason_may_stand_below_an_empty_line() -> None:
    report = "triton.compiler.errors.CompilationError: at 2:4:\ndef k(a, n):\n    tl.store(a, n)\n    ^\n\n"
    assert diagnosed(f"{report}AssertionError: cannot cast int32 to fp8e4nv\n").headline == (
        "AssertionError: cannot cast int32 to fp8e4nv"
    )
    assert "Engine" not in diagnosed(f"{report}RuntimeError: Engine core failed to start\n").headline


def test_a_command_of_the_host_compiler_that_breaks_off() -> None:
    frame = '  File "/v/site-packages/triton/runtime/build.py", line 48, in _build\n    ret = check_call(cc_cmd)\n'
    raised = "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
    diagnosis = diagnosed(f"{frame}{raised}CalledProcessError: Command '['/usr/bin/gcc',\n")
    assert diagnosis.kind is Kind.ENVIRONMENT
    assert diagnosis.headline == "CalledProcessError: the host compiler failed; what it printed says why"
