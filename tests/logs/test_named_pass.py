"""The pass that a text names although the failure in it does not."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Kind

ASSERTION = 'python: /b/Casting.h:578: auto llvm::cast(From*): Assertion `isa<To>(Val) && "bad type"\' failed.\n'
COMMAND = "0. Program arguments: triton-opt k.mlir --allocate-shared-memory --tritongpu-coalesce --tritongpu-pipeline\n"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        (
            "`tritonintelgpu-remove-layout-conversions ` triggers an assertion",
            "tritonintelgpu-remove-layout-conversions",
        ),
        (f"Crash in --convert-triton-amdgpu-to-llvm\n{COMMAND}", "convert-triton-amdgpu-to-llvm"),
        ("The `TritonGPUAccelerateMatmul` pass crashes", "TritonGPUAccelerateMatmul"),
        (
            "TritonGPUPipeline dominance failure on sm87\n  tritongpu-coalesce,\n  tritongpu-prefetch{a=1},",
            "TritonGPUPipeline",
        ),
        ("The problem is with TritonGPUCoalesce, specifically `f`", "TritonGPUCoalesce"),
        ("ICE in ConvertTritonGPUToLLVM: 1\nduring the `ConvertTritonGPUToLLVM` MLIR pass", "ConvertTritonGPUToLLVM"),
        ("Triton 2.1: assertion failure in Coalesce pass in functions with `if`", "Coalesce"),
        ("triton aborts during the `OptimizeThreadLocality` pass, on gfx942", "OptimizeThreadLocality"),
        ("[ICE] tl.load: crash in the Prefetch pass", "Prefetch"),
        ("a bug of Triton's WarpSpecialization pass", "WarpSpecialization"),
        ("Triton 3.2: wrong gradients in the Backward pass, a crash in the Second pass and in LLVM passes", None),
        (
            "Triton: a segfault in the FlagTree `ExpressionRestructing` MLIR pass in vLLM",
            "ExpressionRestructing",
        ),
        ("Segfault in Triton's ExpressionRestructing MLIR pass (Mul2Mul::matchAndRewrite)", "ExpressionRestructing"),
        ("[Bug] triton: 'LoopScheduling' compiler pass crashes", "LoopScheduling"),
        ("triton-ascend dies in the pass `DiscreteMaskAccess`, on 910B", "DiscreteMaskAccess"),
        ("in a pass (`ConvertTritonIRToLinalgIR`) of FlagTree, before bishengir", "ConvertTritonIRToLinalgIR"),
        ("llc of Triton's dies inside the **`MTGPU PreRA Optimization`** pass", "MTGPU PreRA Optimization"),
        ("Triton 3.4: the tests `TestA` pass and `TestB` does not; no MLIR pass is named", None),
        ("- failing pass: `TritonAMDGPUCanonicalizePointers`", "TritonAMDGPUCanonicalizePointers"),
        ("Triton 3.4: the failing pass is tritongpu-pipeline, as the dump shows", "tritongpu-pipeline"),
        ("The failing pass is:\nTritonIntelGPURemoveLayoutConversions\n", "TritonIntelGPURemoveLayoutConversions"),
        ("triton-opt crashed; crashing pass: 'AccelerateMatmul'", "AccelerateMatmul"),
        ("-> 'ConvertTritonXPUToLLVM' pass", "ConvertTritonXPUToLLVM"),
        ("# [BUG][NPU] TritonToLinalgUnstructured: a cast<Type> fails", "TritonToLinalgUnstructured"),
        ("TritonGPUCoalesce: wrong order of a tensor", "TritonGPUCoalesce"),
        ("[reproduced] TritonToUnstructure failed while lowering the kernel", "TritonToUnstructure"),
        ("TritonGPUDialect: not loaded", None),
        ("[OptimizeThreadLocality] Fix a crash of triton with several operands", "OptimizeThreadLocality"),
        ("triton: RemoveLayoutConversions and AccelerateMatmul are in RemoveLayoutConversions.cpp", None),
        ("With triton-ascend the failure is in **`hivm-plan-memory`** / `buildPipelines`", "hivm-plan-memory"),
        ("triton: ConvertTritonGPUOpToLLVMPattern does not match", None),
        (
            "TritonAMDGPUPipeline is new; the failing MLIR pass is tritonamdgpu-schedule-loops{num_stages=4}",
            "tritonamdgpu-schedule-loops",
        ),
        ("defined in TritonGPUDialect and in TritonGPUToLLVM/DotOpToLLVM.cpp", None),
        (COMMAND, None),
        ("In triton-opt of triton-windows, --tritongpu-coalesce works.\nSo does --tritongpu-pipeline.", None),
        ("a CuTe DSL issue where the MLIR `cute-to-nvvm` pass cannot legalize it", "cute-to-nvvm"),
        ("triton: 'canonicalize-pointers' pass dies", "canonicalize-pointers"),
        ("// -----// IR Dump After TritonGPUPipeline Failed (tritongpu-pipeline) //----- //", "tritongpu-pipeline"),
        ("triton, \u5931\u8d25 pass\uff1aVendorNormalize\uff08compare=true\uff09", "VendorNormalize"),
        ("See lib/Conversion/tritongpu-to-llvm/tritongpu-coalesce.mlir", None),
    ],
)
def test_a_pass_that_the_text_names(title: str, name: str | None) -> None:
    diagnosis = diagnose_text(f"{title}\n{ASSERTION}")
    assert diagnosis is not None and diagnosis.pass_name == name


def test_the_place_of_a_kernel_in_the_note_about_its_pass() -> None:
    note = "/w/k.py:8:0: note: Pipeline failed while executing [`TritonGPUCoalesce` on 'builtin.module' operation]: x\n"
    diagnosis = diagnose_text(note)
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line, diagnosis.pass_name) == ("/w/k.py", 8, "TritonGPUCoalesce")


def test_the_pass_that_somebody_names_in_the_words_of_its_failure() -> None:
    title = "# Pipeline failed while executing AllocateProtonGlobalScratchBufferPass on builtin.module operation\n"
    diagnosis = diagnose_text(title)
    assert diagnosis is not None and diagnosis.pass_name == "AllocateProtonGlobalScratchBufferPass"


@pytest.mark.parametrize("raised", ["MLIRCompilationError:", "triton.compiler.errors.MLIRCompilationError: it failed"])
def test_the_pass_of_an_exception_that_a_vendor_s_compiler_raises(raised: str) -> None:
    diagnosis = diagnose_text(
        f"# [NPU] TritonToLinalgUnstructured: a cast fails\n\ntriton-ascend 3.5:\n```\n{raised}\n```\n"
    )
    assert diagnosis is not None and diagnosis.pass_name == "TritonToLinalgUnstructured"


def test_a_pass_in_brackets_before_what_the_pass_manager_says() -> None:
    diagnosis = diagnose_text("# [Vendor] `_top_k` fails, [ConvertDialectToThreads] PassManager::run failed\n")
    assert diagnosis is not None
    assert diagnosis.pass_name == "ConvertDialectToThreads"


def test_a_vendor_s_pass_assigns_memory() -> None:
    diagnosis = diagnose_text(
        "A triton kernel of ours fails with UB overflow on the NPU.\nThe failure is in `hivm-plan-memory`.\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.OUT_OF_RESOURCES, "hivm-plan-memory")


def test_a_sentence_says_in_which_pass_it_crashes() -> None:
    sentence = "A cast survives into `tritonamdgpu-convert-buffer-ops`, where an analysis crashes."
    diagnosis = diagnose_text(f"Summary of a bug in Triton's back end\n\n{sentence} This is new.\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.UNKNOWN, "tritonamdgpu-convert-buffer-ops")
    assert diagnosis.headline.startswith(sentence)


def test_a_pass_that_is_named_as_one_of_what_it_is_about() -> None:
    diagnosis = diagnose_text(
        "Triton on ROCm: the CanonicalizePointer pass could not correctly legalize some casts\n\n"
        "I have looked at CanonicalizePointers and see no pattern.\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.MLIR_DIAGNOSTIC, "CanonicalizePointers")


def test_a_function_that_is_quoted_as_a_call_crashed() -> None:
    diagnosis = diagnose_text("segfault in `optimize_ttgir()` / `PassManager::run()`\n\nSee the Triton PR above.\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.function) == (Kind.SEGFAULT, "optimize_ttgir")


def test_a_vendor_s_stage_that_encounters_errors() -> None:
    diagnosis = diagnose_text(
        "E triton.compiler.errors.MLIRCompilationError:\nE ///------[ERROR][Triton][BEG]------\n"
        "E [ConvertGraphToBinary] encounters error:\n"
        'E loc("/tmp/k.ttadapter.mlir":3:3): error: ub overflow, requires 3072 bits while 1572 bits available!\n'
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.OUT_OF_RESOURCES, "ConvertGraphToBinary")


def test_a_crash_in_a_pass_and_a_function_that_a_title_names() -> None:
    diagnosis = diagnose_text(
        "# Crash in inferShapeOf function within remove-layout-conversions pass\n\ntriton 3.4, XPU\n"
    )
    assert diagnosis is not None
    assert diagnosis.kind is Kind.UNKNOWN
    assert (diagnosis.function, diagnosis.pass_name) == ("inferShapeOf", "remove-layout-conversions")
