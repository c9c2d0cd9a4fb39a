"""Of two statements the one that says why something failed is the headline, wherever it stands."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Kind

#: What states a cause, its kind, and the words of it that the headline has.
CAUSES = {
    "failed to legalize operation 'ttg.memdesc_index' that was explicitly marked illegal": (
        Kind.MLIR_DIAGNOSTIC, "failed to legalize operation 'ttg.memdesc_index'",
    ),
    "error: failed to legalize operation 'tle.local_pointers'": (
        Kind.MLIR_DIAGNOSTIC, "failed to legalize operation 'tle.local_pointers'",
    ),
    "/w/k.py:31:20: error: 'tt.dot' op bad operand types": (Kind.MLIR_DIAGNOSTIC, "'tt.dot' op bad operand types"),
    "Cannot select: intrinsic %llvm.nvvm.mma.x": (Kind.LLVM_FATAL, "Cannot select: intrinsic %llvm.nvvm.mma.x"),
    "LLVM ERROR: Unsupported rounding mode for conversion.": (Kind.LLVM_FATAL, "Unsupported rounding mode"),
    "python: /b/Dialect.cpp:85: int mlir::triton::f(int): Assertion `x && \"rank not handled\"' failed.": (
        Kind.ASSERTION, "rank not handled",
    ),
    "ptxas fatal   : Unresolved extern function '__nv_sinf'": (Kind.PTXAS, "__nv_sinf"),
}  # fmt: skip
#: What only follows.
CONSEQUENCES = (
    "RuntimeError: PassManager::run failed",
    "RuntimeError: PassManager::run fai",
    "Pipeline failed while executing [`ConvertTritonGPUToLLVM` on 'builtin.module' operation]",
    "/w/k.py:8:0: error: Failures have been detected while processing an MLIR pass pipeline",
    "/w/k.py:8:0: error: Failures have been detected while processing an MLIR pa",
    "Aborted (core dumped)",
    "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: PassManager::run failed",
    "torch._inductor.exc.InductorError: RuntimeError: PassManager::run failed",
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above).",
    "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGABRT",
    "LLVM ERROR: Failed to translate TritonGPU to LLVM IR.",
)
SHAPES = {
    "a log": "My triton kernel:\n```\n{cause}\n{consequence}\n```",
    "a title": "# [Bug] {cause}\n\nTriton 3.4 on H100.\n```\n{consequence}\n```",
    "a quotation in a title": '# It fails with "{cause}" on MI300\n\nUsing triton 3.4.\n```\n{consequence}\n```',
    "a list": "On triton 3.4:\n- {cause}\n- {consequence}",
    "indented": "About triton.\n    {cause}\n    {consequence}",
    "an unknown prefix": "About triton.\nsvc-7 | w1 >> {cause}\nsvc-7 | w1 >> {consequence}",
    "below": "About triton.\n{consequence}\n\nThe log above it has\n\n{cause}",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cause_is_the_headline(shape: str) -> None:
    for cause, (kind, words) in CAUSES.items():
        for consequence in CONSEQUENCES:
            text = SHAPES[shape].format(cause=cause, consequence=consequence)
            diagnosis = diagnose_text(text)
            assert diagnosis is not None, text
            assert words in diagnosis.headline, text
            assert diagnosis.kind is kind, text


@pytest.mark.parametrize("cause", [cause for cause in CAUSES if not cause.startswith("ptxas")])
def test_lines_that_were_joined(cause: str) -> None:
    kind, words = CAUSES[cause]
    for consequence in ("RuntimeError: PassManager::run failed", "Aborted (core dumped)"):
        diagnosis = diagnose_text(f"On triton 3.4 this: {cause} {consequence}")
        assert diagnosis is not None and diagnosis.kind is kind
        assert words in diagnosis.headline


@pytest.mark.parametrize(
    "text",
    [
        "Unsupported conversion from bf16 to f16\n\nUNREACHABLE executed at /b/E.cpp:816!",
        "    Unsupported conversion from bf16 to f16\n    UNREACHABLE executed at /b/E.cpp:816!",
        "triton: Unsupported conversion from bf16 to f16 UNREACHABLE executed at /b/E.cpp:816! Aborted",
    ],
)
def test_the_words_of_what_is_unreachable(text: str) -> None:
    diagnosis = diagnose_text(f"```\n{text}\n```")
    assert diagnosis is not None and diagnosis.line == 816
    assert diagnosis.headline == "Reached code marked unreachable in E.cpp: Unsupported conversion from bf16 to f16"


@pytest.mark.parametrize("above", ["I get:\n", "", "```\n", "module attributes {}\n"])
def test_what_is_unreachable_without_words(above: str) -> None:
    diagnosis = diagnose_text(f"{above}\nUNREACHABLE executed at /b/E.cpp:816!")
    assert diagnosis is not None
    assert diagnosis.headline == "Reached code marked unreachable in E.cpp"


@pytest.mark.parametrize("cause", CAUSES)
def test_a_report_that_breaks_off_before_its_reason_is_no_cause(cause: str) -> None:
    report = "triton.compiler.errors.CompilationError: at 5:10:\ndef k(x_ptr):"
    diagnosis = diagnose_text(f"My triton kernel:\n{cause}\n{report}")
    assert diagnosis is not None
    assert CAUSES[cause][1] in diagnosis.headline


def test_a_front_end_s_text_in_a_title_explains_no_failure_of_ptxas() -> None:
    text = "# arange's range must be a power of 2: also in triton 3.4?\n`ptxas` failed with error code 4294967295:\n"
    diagnosis = diagnose_text(text)
    assert diagnosis is not None and diagnosis.kind is Kind.PTXAS
