"""Whose failure it is where nothing but a name in the text, or the line itself, tells."""

from __future__ import annotations

import pytest

import triage
from triage.logs import diagnose_any, diagnose_text
from triage.model.compilers import CUTE, TRITON, Compiler
from triage.model.diagnosis import Kind

RAISED = "TypeError: Runner.prepare() takes 2 positional arguments but 3 were given"


@pytest.mark.parametrize(
    ("name", "compiler"), [("triton", TRITON), ("the cute dsl", CUTE), ("triton and the cute dsl", None)]
)
def test_an_exception_is_of_the_compiler_that_its_text_names(name: str, compiler: Compiler | None) -> None:
    diagnosis = diagnose_text(f"With {name} installed my tool stops:\n{RAISED}\n" + "see above\n" * 12)
    assert diagnosis is not None
    assert diagnosis.compiler == compiler


@pytest.mark.parametrize("words", ["The CuTe Python DSL", "`cute.make_layout((6,), stride=(4,))`"])
def test_a_crash_is_of_cute_where_its_calls_are_shown(words: str) -> None:
    diagnosis = diagnose_text(f"{words} ends when the layout is printed\n\nmalloc(): unaligned tcache chunk detected\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.compiler) == (Kind.ABORT, CUTE)
    assert "compiler-heap-corrupted" in {match.id for match in triage.match(diagnosis)}


@pytest.mark.parametrize("line", ["triton==3.2.0", "- triton 3.2.0", "WARNING: triton not found; some are slow"])
def test_a_list_of_packages_and_a_missing_package_name_no_compiler(line: str) -> None:
    diagnosis = diagnose_any(f"{line}\n{RAISED}\n")
    assert diagnosis is not None
    assert (diagnosis.compiler, triage.match(diagnosis)) == (None, [])


def test_an_exception_of_triton_s_has_at_least_its_family() -> None:
    diagnosis = diagnose_text(f"The triton add-on stops:\n{RAISED}\n")
    assert diagnosis is not None
    assert [match.id for match in triage.match(diagnosis)] == ["family-python-exception"]


def test_an_exception_of_a_launch_is_triton_s_whatever_the_library() -> None:
    frames = '  File "/v/site-packages/lib/ops.py", line 8, in forward\n    kern[grid](q, k, SIZE=64)\n'
    diagnosis = diagnose_text(f"Traceback (most recent call last):\n{frames}{RAISED}\n")
    assert diagnosis is not None
    assert diagnosis.compiler == TRITON
    assert [match.id for match in triage.match(diagnosis)] == ["family-python-exception"]


def test_an_inference_server_named_triton_has_folders_of_its_own() -> None:
    text = (
        "Triton inference server, model_repository is set\nPermissionError: [Errno 13] Permission denied: '/triton-a'"
    )
    diagnosis = diagnose_any(text)
    assert diagnosis is None or diagnosis.kind is Kind.OTHER or not triage.match(diagnosis)


def test_an_error_above_the_pass_manager_s_end_is_the_reason() -> None:
    for before in ("", "Why does this happen to me?\n", 'Traceback (most recent call last):\n  File "k.py", line 2\n'):
        log = (
            f"{before}error: operand #1 does not dominate this use\nsee below\nRuntimeError: PassManager::run failed\n"
        )
        diagnosis = diagnose_text(log)
        assert diagnosis is not None
        assert diagnosis.headline == "operand #1 does not dominate this use"


def test_an_intrinsic_of_the_code_generator_s_is_any_compiler_s_where_sentences_name_none() -> None:
    line = "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.barrier0"
    told = "It aborts on all {}, after the reference was computed.\n" + line + "\nIt is fatal, the same each time.\n"
    assert diagnose_text(line) is not None
    assert diagnose_text(told.format("kernels of Triton")) is not None
    assert diagnose_text(told.format("seeds")) is None


def test_the_name_of_an_error_of_libnvvm_s_is_no_failure_of_cute_dsl() -> None:
    frames = 'Traceback (most recent call last):\n  File "/x/numba/cuda/cudadrv/nvvm.py", line 141, in check_error\n'
    log = f"{frames}    raise exc\nnumba.cuda.cudadrv.error.NvvmError: Failed to compile\n\nNVVM_ERROR_COMPILATION\n"
    assert diagnose_text(log) is None


def test_what_a_build_and_a_program_that_wants_reports_print_is_theirs() -> None:
    fatal = "LLVM ERROR: Cannot select: intrinsic %llvm.amdgcn.wmma.f16.16x16x16.f16\n"
    assert diagnose_text(fatal) is not None
    assert diagnose_text(f"{fatal}Please report issues to https://github.com/some/compiler/issues\n") is None
    header = "k.h(84): fatal error C1083: Cannot open include file: 'stddef.h': No such file or directory\n"
    assert diagnose_text(f'{header}[11/16] "C:\\CUDA\\bin\\nvcc" --generate-dependencies -c k.cpp\n') is None


@pytest.mark.parametrize(
    "line",
    [
        "a.py::test_b :0:rocdevice.cpp :2991: 3 us:  Queue aborting with error : HSA_STATUS_ERROR_EXCEPTION: trap",
        "npu_log:  Aicore kernel execute failed, device_id=0, fault kernel_name=add_0",
    ],
)
def test_run_times_name_a_kernel_that_failed_on_the_device(line: str) -> None:
    diagnosis = diagnose_text(f"with triton\n{line}\nFatal Python error: Aborted\n")
    assert diagnosis is not None
    assert diagnosis.kind is Kind.LAUNCH_ERROR


def test_a_shell_s_line_about_ptxas_that_a_terminal_wrapped() -> None:
    text = "sh: 77 Segmentation fault   (core dumped) pt  \nxas -v a\nERROR:x:Internal Triton PTX codegen error:\n"
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    assert diagnosis.headline == "ptxas: ended by signal SIGSEGV"


def test_a_row_of_an_autotuner_s_table_states_no_failure() -> None:
    row = "  triton_mm_7 0.0451 ms 100.0% ACC_TYPE='tl.float32', BLOCK_K=64, num_stages=5, num_warps=8\n"
    diagnosis = diagnose_any(row * 3 + "AUTOTUNE mm: the candidates cannot be compared\n")
    assert diagnosis is None or "ms 100.0%" not in diagnosis.headline


def test_the_pass_that_ascend_s_compiler_names_is_that_of_the_failure_below() -> None:
    log = "triton.compiler.errors.MLIRCompilationError:\n[ConvertXToY] encounters error:\nLLVM ERROR: gone\n"
    diagnosis = diagnose_text(log)
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.LLVM_FATAL, "ConvertXToY")
