"""CuTe DSL's texts, from release 4.0 to 4.8. A name in `data_cute` is a kernel, `@` the release that it was run on."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

import triage
from triage.logs import diagnose_any, diagnose_text
from triage.logs.clean import strip_control
from triage.logs.cute_report import parse, unwrapped
from triage.model.compilers import CUTE, TRITON
from triage.model.diagnosis import Diagnosis, Kind

DATA = Path(__file__).parent / "data_cute"
FRONTEND, VERIFIER, PASSES = (
    (Kind.FRONTEND_ERROR, "trace"),
    (Kind.MLIR_DIAGNOSTIC, "verify"),
    (Kind.MLIR_DIAGNOSTIC, "passes"),
)
PTXAS, NVVM = (Kind.PTXAS, "cubin"), (Kind.LLVM_DIAGNOSTIC, "ptx")

#: What each kernel's failure is, and the line of its file where that shows on every release; else None.
EXPECTED: dict[str, tuple[tuple[Kind, str], int | None]] = {
    "barrier-id-99": (PTXAS, None),
    "block-of-zero": (PTXAS, None),
    "break-in-dynamic-loop": (FRONTEND, None),
    "cluster-two-dims": (FRONTEND, 12),
    "const-expr-of-dynamic": (FRONTEND, 13),
    "cpasync-from-generic-memory": (VERIFIER, 12),
    "cpasync-transposed-bf16": (VERIFIER, 27),
    "dynamic-smem-shape": (FRONTEND, 13),
    "early-return-in-dynamic-if": (FRONTEND, None),
    "grid-of-four-dims": (FRONTEND, 12),
    "inline-ptx-unknown-instruction": (PTXAS, None),
    "kernel-missing-argument": (FRONTEND, 12),
    "list-indexed-by-dynamic": (FRONTEND, 17),
    "no-driver": ((Kind.ENVIRONMENT, "load"), None),
    "printf-bf16": (VERIFIER, 9),
    "setmaxnreg-not-multiple-of-8": (VERIFIER, 9),
    "tcgen05-m192": (FRONTEND, 19),
    "tcgen05-n-20": (FRONTEND, 19),
    "tcgen05-on-hopper": (FRONTEND, 19),
    "tensor-for-int": (FRONTEND, None),
    "tiled-copy-96-threads-abort": ((Kind.ABORT, "trace"), 12),
    "tmem-on-hopper": (NVVM, None),
    "type-changes-in-loop": (FRONTEND, 16),
    "universal-copy-default-alignment": (VERIFIER, 12),
    "warp-mma-bf16-accumulator": (FRONTEND, 26),
    "wgmma-n-over-256": (FRONTEND, 33),
    "wgmma-smem-layout-mismatch": (PASSES, 20),
    "wgmma-tf32": (FRONTEND, 33),
}
#: Kernels that another check refuses on a later release.
OTHERWISE_LATER = {
    "f8-addition",  # the verifier, then the translation to LLVM
    "inline-ptx-output-mismatch",  # SIGILL, or SIGSEGV
    "struct-align-not-power-of-2",  # where it is used, then where it is defined
    "tmem-on-hopper",  # libNVVM has no words for it from 4.6 on
    "variable-born-in-dynamic-if",
    "zipped-divide-rank",  # the operation, then the function of Python that would build it
}
#: Kernels that break the same rule.
SAME_RULE = {frozenset({"tcgen05-n-20", "wgmma-n-over-256"})}


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None, text
    return diagnosis


def logs(kernel: str) -> list[Path]:
    return sorted(DATA.glob(f"{kernel}@*.log"))


@pytest.mark.parametrize("kernel", EXPECTED)
def test_every_release_shows_the_same_failure(kernel: str) -> None:
    (kind, stage), line = EXPECTED[kernel]
    for log in logs(kernel):
        diagnosis = diagnosed(log.read_text())
        assert (diagnosis.kind, diagnosis.compiler) == (kind, CUTE), log.name
        assert diagnosis.stage in (stage, None) if kind is Kind.ENVIRONMENT else diagnosis.stage == stage, log.name
        if line is not None:
            assert diagnosis.source is not None, log.name
            assert (Path(diagnosis.source.file).name, diagnosis.source.line) == ("kernel.py", line), log.name


@pytest.mark.parametrize("kernel", [kernel for kernel in EXPECTED if kernel not in {*OTHERWISE_LATER, "no-driver"}])
def test_one_signature_over_releases(kernel: str) -> None:
    signatures = {log.name: diagnosed(log.read_text()).signature for log in logs(kernel)}
    assert len(signatures) > 1 or kernel == "printf-bf16", "one wording is no test"
    assert len(set(signatures.values())) == 1, signatures


def test_the_text_of_a_line_that_a_frame_shows() -> None:
    diagnosis = diagnosed((DATA / "type-changes-in-loop@4.0.0.log").read_text())
    assert diagnosis.source is not None
    assert diagnosis.source.text == "for i in cutlass.range(n):"


def test_different_failures_have_different_signatures() -> None:
    of_kernel = {kernel: {diagnosed(log.read_text()).signature for log in logs(kernel)} for kernel in EXPECTED}
    merged = {frozenset(pair) for pair in combinations(of_kernel, 2) if of_kernel[pair[0]] & of_kernel[pair[1]]}
    assert merged == SAME_RULE


@pytest.mark.parametrize("log", sorted(DATA.glob("*.log")), ids=lambda log: log.stem)
def test_no_entry_for_triton_claims_a_failure_of_cutes(log: Path) -> None:
    both = {"libcuda-not-found", "family-environment", "jit-source-not-a-file", "value-does-not-dominate"}
    diagnosis = diagnosed(log.read_text())
    claims = {match.id for match in triage.match(diagnosis)} - both
    assert {claim for claim in claims if "cute" not in claim} == set()


#: The same check in the words of two releases, or in two configurations.
EQUAL = [
    (
        "DSLRuntimeError: Expect 3d grid!",
        "error[LAUNCH_INVALID_GRID]: Launch grid must have at most 3 dimensions, but got 4.",
    ),
    (
        "DSLAstPreprocessorError: dynamic for loop with else is not supported in DSL",
        "error[UNSUP_LOOP_ELSE]: A `for`/`while` loop with an `else:` clause is not supported in compiled code.",
    ),
    (
        "DSLRuntimeError: Unable to convert dynamic `Boolean` value to bool at compile time.",
        "error[PHASE_DYNAMIC_TO_STATIC_BOOL]: Cannot use a Runtime value where a Meta boolean is required",
    ),
    (
        "DSLRuntimeError: Failed to bind arguments to function `f` with signature `(a)`\n"
        "  Caused exception: missing a required argument: 'a'",
        "error[ARG_BIND_FAILED]: The arguments do not match the function signature.\n\n  --> k.py:3:5\n   |\n"
        "3 |     f().launch()\n   |     ^^^\n  = note: Caused exception: missing a required argument: 'b'",
    ),
    (
        "error: \"c(x)\"(\"k.py\":1:4): 'cute.copy' op '!cute_nvgpu.atom.universal_copy<f32, 128 b>' ptr alignment does"
        " not meet requirement",
        'error: "d(y)"("l.py":9:8): \'cute.copy\' op src ptr alignment (8 bits) does not meet requirement (64 bits) of'
        " atom '!cute_nvgpu.atom.universal_copy<f16, 64 b>'",
    ),
    (
        "cutlass.cute.nvgpu.common.OpError: OpError: expects arch to be one of ['sm_100a'], but got sm_90a",
        "cutlass.cute.nvgpu.common.OpError: \nerror: expects arch to be one of [base_dsl.Arch.sm_100a, "
        "base_dsl.Arch.sm_103f], but got sm_121a",
    ),
    (
        "error: NVVM backend compilation failed\n  note: backend log:\n        (error 9: NVVM_ERROR_COMPILATION), "
        "libNVVM\n        extra log: error: constraint 'n' expects an integer constant expression",
        "NVVM_ERROR_COMPILATION:\nconstraint 'n' expects an integer constant expression",
    ),
    (
        "DSLRuntimeError: `acc` is Float32 prior to this `for`, and update to Float16 inside of this `for` is not "
        "supported.",
        "error[TYPE_UNSTABLE_JOIN]: `n` has type `Int32` on one path and `Int64` on another.",
    ),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_the_same_check(one: str, other: str) -> None:
    assert diagnosed(one).signature == diagnosed(other).signature


DIFFERENT = [
    ("DSLRuntimeError: Expect 3d grid!", "DSLRuntimeError: Expect 3d block!"),
    (
        "error[UNSUP_EARLY_EXIT]: Early exit (break) is not allowed in `k`.",
        "error[UNSUP_EARLY_EXIT]: Early exit (return) is not allowed in `k`.",
    ),
    (
        "error[PHASE_REQUIRES_CONSTANT]: `const_expr()` requires a value known at code-read time",
        "error[PHASE_REQUIRES_CONSTANT]: `assert` requires a value known at code-read time",
    ),
    (
        "error: \"c\"(\"k.py\":1:4): 'cute.copy' op '!cute_nvgpu.atom.universal_copy<f32, 128 b>' ptr alignment does"
        " not meet requirement",
        "error: \"c\"(\"k.py\":1:4): 'cute.copy' op '!cute_nvgpu.atom.simt_async_copy<f32, 128 b>' ptr alignment does"
        " not meet requirement",
    ),
    (
        "cutlass.cute.nvgpu.common.OpError: OpError: expects arch to be one of ['sm_100a'], but got sm_90",
        "cutlass.cute.nvgpu.common.OpError: OpError: expects arch to be one of ['sm_90a'], but got sm_90",
    ),
    (
        "DSLRuntimeError: Failed to bind arguments to function `f`\n  Caused exception: missing an argument: 'a'",
        "DSLRuntimeError: Failed to bind arguments to function `f`\n  Caused exception: too many positional arguments",
    ),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_checks_that_look_alike(one: str, other: str) -> None:
    assert diagnosed(one).signature != diagnosed(other).signature


#: As people paste them: text, kind, headline.
PASTED = {
    "an exception of a worker": (
        "(EngineCore pid=87)     raise OpError(\n(EngineCore pid=87) cutlass.cute.nvgpu.common.OpError: OpError: "
        "expects arch to be one of ['sm_120a'], but got Arch.sm_121a\n",
        Kind.FRONTEND_ERROR,
        "expects arch to be one of ['sm_120a'], but got Arch.sm_121a",
    ),
    "a banner without its emoji, and its cause": (
        "  DSLRuntimeError: Error during runtime code generation for function `__call__`\n"
        "    Caused exception: cannot access local variable 'acc' where it is not associated with a value\n",
        Kind.FRONTEND_ERROR,
        "cannot access local variable 'acc' where it is not associated with a value",
    ),
    "a report in pytest's frame": (
        "E           cutlass.base_dsl.common.DSLUserCodeError: \nE           error[UNSUP_GLOBAL]: `global` is not "
        "supported in a compiled function.\nE           \nE             --> /w/attn.py:58:5\nE              |\n"
        "E           58 |     global n\nE              |     ^^^^^^^^\n",
        Kind.FRONTEND_ERROR,
        "`global` is not supported in a compiled function.",
    ),
    "a report of the back end without a reason": (
        "cutlass.base_dsl.compiler.CompilerDiagnosticError: error: NVVM backend compilation failed\n  error: libNVVM "
        "failed while compiling generated device IR.\n  note: target architecture: sm_100a\n  note: backend log:\n"
        "        NVVM backend compilation failed\n",
        Kind.LLVM_DIAGNOSTIC,
        "NVVM failed without a message",
    ),
    "the verifier's line of a report": (
        "  error: IR verification failed: 'cute.copy' op src expects global based memref, but got generic\n",
        Kind.MLIR_DIAGNOSTIC,
        "'cute.copy' op src expects global based memref, but got generic",
    ),
    "lines that somebody joined": (
        "DSLRuntimeError: \U0001f9ca ICE IR Verification Failed \U0001f9ca Caused exception: Verification failed: "
        'error: "f(a)"("/w/k.py":41:4): \'cute.copy\' op src expects global based memref, but got generic\n',
        Kind.MLIR_DIAGNOSTIC,
        "'cute.copy' op src expects global based memref, but got generic",
    ),
    "a cell of a notebook": (
        "DSLRuntimeError                           Traceback (most recent call last)\nCell In[7], line 20\n"
        "---> 20 compiled = cute.compile(host, a)\n\nFile /home/u/kernel.py:16, in k(a, n)\n"
        "---> 16 for i in cutlass.range(n):\n\nDSLRuntimeError: `y` is structured different after this `for`.\n",
        Kind.FRONTEND_ERROR,
        "`y` is structured different after this `for`.",
    ),
    "the driver refuses the binary": (
        "DSLCudaRuntimeError: CUDA_ERROR_NO_BINARY_FOR_GPU (error code: 209) \n",
        Kind.LAUNCH_ERROR,
        "CUDA_ERROR_NO_BINARY_FOR_GPU (error code: 209)",
    ),
}


@pytest.mark.parametrize("pasted", PASTED)
def test_what_people_paste(pasted: str) -> None:
    text, kind, headline = PASTED[pasted]
    diagnosis = diagnosed(text)
    assert (diagnosis.kind, diagnosis.headline, diagnosis.compiler) == (kind, headline, CUTE)


def test_of_two_compilers_in_a_log_the_one_that_failed_is_named() -> None:
    log = (
        "INFO: nvidia_cutlass_dsl kernels are in use, with cutlass.cute\nTraceback (most recent call last):\n"
        '  File "/w/attn.py", line 12, in <module>\n    k[grid](x)\n'
        "triton.compiler.errors.CompilationError: at 3:4:\n    x = tl.dot(a, b)\n    ^\n"
        "Both operands must be same dtype. Got fp16 and fp32\n"
    )
    assert diagnosed(log).compiler is TRITON


OTHERS = {
    "a build of CUTLASS with nvcc": "[3/9] nvcc -I/w/cutlass/include -arch=sm_90a -c gemm.cu -o gemm.o\n"
    '/w/cutlass/include/cute/layout.hpp(60): error: no instance of function template "cute::make_layout" matches\n'
    '2 errors detected in the compilation of "gemm.cu".\nninja: build stopped: subcommand failed.\n',
    "ptxas in such a build": "nvcc -std=c++17 -arch=sm_90 48_hopper_warp_specialized_gemm.cu\n"
    "ptxas /tmp/tmpxft_1_gemm.ptx, line 31; error   : Instruction 'wgmma.fence' not supported on .target 'sm_90'\n"
    "ptxas fatal   : Ptx assembly aborted due to errors\n",
    "rustc": "error[E0308]: mismatched types\n --> src/main.rs:4:5\n  |\n4 |     1\n  |     ^\n",
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_not_of_the_dsl(other: str) -> None:
    diagnosis = diagnose_any(OTHERS[other])
    assert diagnosis is None or (diagnosis.kind, diagnosis.compiler) == (Kind.OTHER, None)


def test_the_operation_with_its_layouts_is_noted_where_an_exception_below_the_report_has_it() -> None:
    located = 'error: "cute.copy(a, b)"("/w/k.py":27:8): \'cute.copy\' op dst ptr alignment (16 bits) is too small'
    log = (
        f"cutlass._mlir._mlir_libs._cutlass_ir._mlir.ir.MLIRError: Verification failed:\n{located}\n"
        ' note: "cute.copy(a, b)"("/w/k.py":27:8): see current operation: "cute.copy"(%1) : (!m<"(8):(64)">)\n\n'
        "During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
        "base_dsl.common.DSLRuntimeError: \nerror[INTERNAL]: The compiler could not build valid IR for this code.\n"
        "  error: IR verification failed: 'cute.copy' op dst ptr alignment (16 bits) is too small\n"
    )
    assert "(8):(64)" in diagnosed(log).notes[0]


def test_a_report_is_unwrapped() -> None:
    head, *after = map(strip_control, (DATA / "barrier-id-99@4.6.3.log").read_text().split("\n"))
    report = parse(head, after)
    assert report is not None
    assert report.source is not None and report.source.text == "@cute.kernel"
    assert report.block("ptxas log:")[0].endswith("out of range, expected to be in range [0..15]")
    assert unwrapped(["a" * 9, "b", "c"], 10) == ["a" * 9 + " b", "c"]


def test_the_runtime_library_of_cute_that_is_not_found() -> None:
    diagnosis = diagnose_any(
        '  File "/v/nvidia_cutlass_dsl/python_packages/cutlass/base_dsl/dsl.py", line 1063, in get_shared_libs\n'
        "    raise FileNotFoundError(\nFileNotFoundError: [Errno 2] No such file or directory: '/x/librt.so'\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.stage) == (Kind.ENVIRONMENT, "load")


@pytest.mark.parametrize(("module", "is_cutes"), [("", True), ("cutlass._mlir._mlir_libs.", True), ("iree.ir.", False)])
def test_the_error_that_the_binding_of_mlir_lists_is_cute_dsl_s(module: str, is_cutes: bool) -> None:
    diagnosis = diagnose_text(
        f"It happens after a reduction of the block, and I do not know why.\n{module}MLIRError: Verification failed:\n"
        "error: unknown: operand #0 does not dominate this use\n note: unknown: operand defined here\n"
    )
    shown = diagnosis.headline if diagnosis else ""
    assert (shown == "operand #0 does not dominate this use") is is_cutes
