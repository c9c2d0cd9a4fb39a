"""Failures that people quote in a sentence or a title, or retell in their own words."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Diagnosis, Kind

ERROR = "k.py:3:4: error: 'tt.dot' op bad"


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    return diagnosis


IN_PROSE = [
    ("# NVIDIA backend: 'ttng.tensormap_create' op cannot be predicated (sm_90)",
     "'ttng.tensormap_create' op cannot be predicated (sm_90)"),
    ("[Bug] torch.compile + triton.jit: NameError: name 'constexpr' is not defined",
     "NameError: name 'constexpr' is not defined"),
    ("NameError(\"Cannot access global variable C from within @jit'ed function)",
     "NameError: Cannot access global variable C from within @jit'ed function"),
    ("with mamba2: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?). All is on the GPU.",
     "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)"),
    ("# Unimplemented primitive in Pallas GPU lowering: dynamic_slice.",
     "NotImplementedError: Unimplemented primitive in Pallas GPU lowering: dynamic_slice"),
    ("ValueError was: The Pallas Triton lowering currently requires that all operations have a size of 2**n",
     "ValueError: The Pallas Triton lowering currently requires that all operations have a size of 2**n"),
    ("# I get an error: llvm.fmul' op operand #0 must be a floating-point type, but got 'i8'",
     "'llvm.fmul' op operand #0 must be a floating-point type, but got 'i8'"),
    ("# [Bug]: failed to legalize operation 'tt.splat' marked as erased",
     "failed to legalize operation 'tt.splat' marked as erased"),
    ("it emits what the verifier refuses (\"Bad machine code: Virtual register defs don't dominate all uses\")",
     "LLVM gave up: Bad machine code: Virtual register defs don't dominate all uses"),
    ("# 在950上报错error: Failed to run buildFinalHIVMPipelines pipeline",
     "Failed to run buildFinalHIVMPipelines pipeline"),
    ("k.mlir:76:11: remark: PtrAnalysis: Failed to rewrite LoadOp", "PtrAnalysis: Failed to rewrite LoadOp"),
    ("# kernel() missing 1 required positional argument: 'X'", "kernel() missing 1 required positional argument: 'X'"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "headline"), IN_PROSE)
def test_the_text_of_a_failure_without_what_is_printed_before_it(line: str, headline: str) -> None:
    assert diagnosed(f"My triton kernel:\n{line}\n\n" + "more\n" * 10).headline == headline


PROSE = [
    ('the error in the title: "RuntimeError: PassManager::run failed" with my triton kernel', None),
    (
        "it crashes with PassManager::run failed at num_stages=4.\n"
        "The failing pass is tritonamdgpu-schedule-loops{num_stages=4}, see triton-lang/triton.",
        "tritonamdgpu-schedule-loops",
    ),
]


@pytest.mark.parametrize(("text", "pass_name"), PROSE)
def test_a_pass_manager_s_failure_in_a_sentence(text: str, pass_name: str | None) -> None:
    diagnosis = diagnosed(text + "\nmore" * 12)
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.MLIR_DIAGNOSTIC, pass_name)


FATAL = "ptxas fatal   : Unresolved extern function 'missing'"


@pytest.mark.parametrize(
    "told",
    [
        f"Our kernel crashes ({FATAL}) on A100.",
        f"\u8fd0\u884c triton \u5185\u6838\u62a5\u9519\uff1a{FATAL}",
        f"triton *{FATAL}*",
        f"<b>{FATAL}</b> with triton 3.2",
        f"triton error={FATAL}",
    ],
)
def test_an_error_however_a_sentence_sets_it_off(told: str) -> None:
    diagnosis = diagnosed(f"We use triton 3.2.\n{told}\n")
    assert diagnosis.kind is Kind.PTXAS
    assert "Unresolved extern function 'missing'" in diagnosis.headline


def test_words_of_ptxas_alone_in_a_sentence() -> None:
    told = (
        "The source build hangs; at run time Triton\u2019s ptxas dies: \u201cValue 'sm_121a' is not defined for option"
    )
    diagnosis = diagnosed(f"Installing takes long.\n{told} 'gpu-name'\u201d and torch warns.\n")
    assert (diagnosis.kind, diagnosis.message) == (Kind.PTXAS, "Value 'sm_121a' is not defined for option 'gpu-name'")


def test_an_error_quoted_in_a_sentence() -> None:
    diagnosis = diagnosed(
        "```python\n@cute.jit\ndef show(m: Int32):\n    cute.printf(m)\n```\n"
        + "text\n" * 8
        + "However, with one more line"
        " `a = cute.make_layout(m)` we get a `DSLRuntimeError: a dynamic Boolean has no value at compile time.` here.\n"
    )
    assert diagnosis.headline == "a dynamic Boolean has no value at compile time."


def test_what_the_compiler_stopped_itself_with_is_quoted_below_its_text_alone() -> None:
    diagnosis = diagnosed(
        '# Crash on H100 - "Failed to find a valid layout"\n\nIt crashes in triton here: https://x/MMAHelpers.h#L332'
        " with “LLVM ERROR: Failed to find a valid layout”.\n\n"
    )
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.LLVM_FATAL, "MMAHelpers.h", 332)


def test_several_pieces_of_code_in_a_line() -> None:
    text = "`tl.load(p)` in a `for` loop ends in `misaligned address` at run time\n" + "more of my triton kernel\n" * 9
    assert diagnosed(text).kind is Kind.LAUNCH_ERROR


@pytest.mark.parametrize(
    "quoted", ["`triton.language' has no attribute cast` [FIXED]", "triton.language has no attribute 'cast'"]
)
def test_a_missing_attribute_as_people_retype_it(quoted: str) -> None:
    diagnosis = diagnosed(f"# {quoted}\n" + "I use my triton.jit kernel\n" * 9)
    assert diagnosis.headline == "AttributeError: module 'triton.language' has no attribute 'cast'"


def test_a_quotation_over_several_lines() -> None:
    diagnosis = diagnosed("it stops with `LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.x\nAborted (core dumped)`.\n")
    assert diagnosis.kind is Kind.LLVM_FATAL


@pytest.mark.parametrize(
    ("text", "kind", "headline"),
    [
        (
            "the autotuner fails with `NoConfigFound` on this GPU\n@helion.kernel()\ndef f(x): ...\n",
            Kind.PYTHON_EXCEPTION,
            "NoConfigFound",
        ),
        (
            "It crashes with \u201cLLVM ERROR: Failed to find a layout\u201d.\n@triton.jit\ndef k(x): ...\n",
            Kind.LLVM_FATAL,
            "LLVM gave up: Failed to find a layout",
        ),
        (
            "It raises a TypeError that says Unsupported type <class 'tuple'> for (1, 2)\n@triton.jit\ndef k(x): ...\n",
            Kind.FRONTEND_ERROR,
            "Unsupported type <class 'tuple'> for (1, 2)",
        ),
    ],
)
def test_a_failure_that_a_sentence_tells(text: str, kind: Kind, headline: str) -> None:
    diagnosis = diagnosed(text)
    assert (diagnosis.kind, diagnosis.headline) == (kind, headline)


@pytest.mark.parametrize(
    ("text", "kind", "headline"),
    [
        (
            "[Bug] SomeErrorImpl('invalid operands of type triton.language.float16 and int8')\n@triton.jit\n",
            Kind.PYTHON_EXCEPTION,
            "SomeErrorImpl: invalid operands of type triton.language.float16 and int8",
        ),
        (
            "type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e5')\"\n@triton.jit\n",
            Kind.FRONTEND_ERROR,
            "type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e5')",
        ),
        (
            'every build has the same "stack frame size exceeds limit" issue\n@triton.jit\n',
            Kind.LLVM_DIAGNOSTIC,
            "LLVM: stack frame size exceeds limit",
        ),
        (
            "核心错误表现为无法找到AttrsDescriptor类\nimport triton.language as tl\n",
            Kind.ENVIRONMENT,
            "cannot import name 'AttrsDescriptor'",
        ),
    ],
)
def test_a_failure_as_people_retell_it(text: str, kind: Kind, headline: str) -> None:
    diagnosis = diagnosed(text)
    assert (diagnosis.kind, diagnosis.headline) == (kind, headline)


def test_mlir_s_words_in_a_heading() -> None:
    diagnosis = diagnosed(
        "# Error: failed to materialize conversion for result #0 of operation 'tt.load'\n@triton.jit\n"
    )
    assert diagnosis.kind is Kind.MLIR_DIAGNOSTIC


def test_a_report_that_was_cut_off_is_told_by_the_heading() -> None:
    diagnosis = diagnosed(
        "# Server: type fp8e4nv not supported in this architecture.\n"
        "ERROR 05-02 10:22:18 [core.py:396] RuntimeError: Worker failed with error 'at 1:0:\n"
    )
    assert diagnosis.kind is Kind.FRONTEND_ERROR
    assert diagnosis.headline == "type fp8e4nv not supported in this architecture."


def test_a_sentence_with_an_equals_sign_is_no_source() -> None:
    diagnosis = diagnosed(
        "Two kernels, NHWC. dtype=fp32 works, dtype=fp16 throws `LLVM ERROR: Broken function found!`\n"
    )
    assert diagnosis.kind is Kind.LLVM_FATAL


def test_an_assertion_of_which_a_sentence_has_only_the_function() -> None:
    diagnosis = diagnosed(
        "import triton.language as tl\nWith two CTAs there is a hard assertion\nabort in `LinearLayout::getBasis`.\n"
    )
    assert (diagnosis.kind, diagnosis.function) == (Kind.ASSERTION, "LinearLayout::getBasis")


def test_a_kernel_s_call_in_a_title() -> None:
    diagnosis = diagnosed(
        "# [BUG] `scale_kernel` missing 3 required positional arguments\nimport triton.language as tl\n"
    )
    assert diagnosis.headline == "`scale_kernel` missing 3 required positional arguments"


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("[3.12] Segfault on TorchInductor test happening in triton", Kind.SEGFAULT),
        ("[BUG] CuTe DSL: cudaErrorInvalidValue in compiled function", Kind.LAUNCH_ERROR),
        ("[Bug] the `cute-to-nvvm` pass of CuTe DSL can't legalize the copy", Kind.MLIR_DIAGNOSTIC),
        ("[BUG][mthreads] FlagTree: llc crash (SIGSEGV) in PreRA at compile time", Kind.SEGFAULT),
        ("[Issue]: Triton Compiler Takes Indefinite Time in ttgir -> llir Stage.", Kind.TIMEOUT),
        ("[BUG] Triton: llc non-termination on giant IR, compile hangs >15min", Kind.TIMEOUT),
    ],
)
def test_plain_words_of_a_title_tell_the_kind(title: str, kind: Kind) -> None:
    diagnosis = diagnosed(f"# {title}\n\nI do not know what to do about it.\n")
    assert (diagnosis.kind, diagnosis.headline) == (kind, title)


def test_an_assertion_of_which_only_the_function_was_pasted() -> None:
    diagnosis = diagnosed(
        "mlir::triton::LinearLayout mlir::triton::gpu::AMDWmmaEncodingAttr::toLinearLayout(llvm::ArrayRef<int>) const: "
        'Assertion `n >= nDim && "Unsupported tensor shape"\' failed.\n'
    )
    assert (diagnosis.function, diagnosis.headline) == (
        "AMDWmmaEncodingAttr::toLinearLayout",
        "Assertion failed in AMDWmmaEncodingAttr::toLinearLayout: Unsupported tensor shape",
    )


def test_the_tag_of_an_issue_before_a_location() -> None:
    diagnosis = diagnosed(
        "# [Bug]: /tmp/tmpw/ttshared.mlir:36:5: error: custom op 'x.y' is unknown\n\n@triton.jit\ndef f():\n"
    )
    assert diagnosis.source is not None and (diagnosis.source.file, diagnosis.source.line) == (
        "/tmp/tmpw/ttshared.mlir",
        36,
    )


def test_an_assertion_that_the_text_breaks_off_in_has_its_place() -> None:
    line = "python: /b/lib/Dialect/TritonGPU/IR/Dialect.cpp:52: unsigned int mlir::triton::gpu::A::f(int) const: Ass"
    diagnosis = diagnosed(f"my triton kernel\n{line}")
    assert diagnosis.kind is Kind.ASSERTION
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Dialect.cpp", 52, "A::f")


@pytest.mark.parametrize(
    "title",
    [
        "# The new release raises KeyError and TypeError: dot() got an unexpected keyword argument 'trans_b'",
        "[Bug] TypeError: dot() got an unexpected keyword argument 'trans_b' on A100",
        "We get a TypeError: dot() got an unexpected keyword argument 'trans_b' since triton 2.1",
        "It ends with `TypeError: dot() got an unexpected keyword argument 'trans_b'`, see below.",
    ],
)
def test_the_reason_of_a_report_that_is_cut_off_is_what_the_text_says_was_raised(title: str) -> None:
    raised = '  File "/v/triton/compiler.py", line 942, in build_triton_ir\n    raise CompilationError(fn.src)\n'
    report = f"{raised}triton.compiler.CompilationError: at 118:24:\ndef k(\n    Q,\n    K,\n"
    diagnosis = diagnosed(f"{title}\n\n{report}")
    assert diagnosis.kind is Kind.FRONTEND_ERROR
    assert "dot() got an unexpected keyword argument 'trans_b'" in diagnosis.headline
    assert diagnosis.source is not None and diagnosis.source.line == 118


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Unsupported conversion from bf16 to f16: works on A100 but not on V100", Kind.LLVM_FATAL),
        ("Unsupported DotOp found when converting TritonGPU to LLVM", Kind.LLVM_FATAL),
        ("[Bug] type object 'CompiledKernel' has no attribute 'launch_enter_hook'", Kind.PYTHON_EXCEPTION),
        ("V100 has sm70 while Feature 'cvt.bf16.f32' requires .target sm_80 or higher", Kind.PTXAS),
        ("'.bf16' requires .target sm_80 or higher with triton", Kind.PTXAS),
        ("[Vendor] triton rejects chained scalars - UnsupportedLanguageConstruct", Kind.FRONTEND_ERROR),
        ("triton raises `triton.compiler.errors.UnsupportedLanguageConstruct`", Kind.FRONTEND_ERROR),
        ("triton raises `triton.compiler.errors.CompilationError`", Kind.FRONTEND_ERROR),
        ('triton segfaults with "Unexpected mma -> mma layout conversion"', Kind.MLIR_DIAGNOSTIC),
        ("[convert-triton-intel-gpu-to-llvm]: triggers an assertion in the axis analysis", Kind.ASSERTION),
        ("dominance failure in triton's fused_moe_kernel on sm87", Kind.MLIR_DIAGNOSTIC),
    ],
)
def test_a_title_alone_tells_the_kind(title: str, kind: Kind) -> None:
    assert diagnosed(f"# {title}\n").kind is kind


def test_an_exception_of_the_front_end_that_a_mail_quotes() -> None:
    quoted = (
        "AssertionError('Loop-carried variable acc has initial type int32 but is re-assigned to fp32 in loop! Bad.')"
    )
    thanks = "Subject: Re: scan\nDate: Thu, 19 Nov 2026\n\nHi,\n\nthanks, that got me past the import on the node.\n"
    asked = (
        "Do I have to cast it somewhere?\nIt worked on the old image.\nIt fails on every node.\n\nBest,\n--\nA. B.\n"
    )
    mail = f'{thanks}The forward now stops with "{quoted}" whatever I do.\n{asked}'
    diagnosis = diagnose_text(mail)
    assert diagnosis is not None and diagnosis.kind is Kind.FRONTEND_ERROR
    assert diagnose_text(mail.replace("Loop-carried variable acc", "Variable acc")) is None


def test_a_chat_gives_the_reason_before_the_report() -> None:
    reason = "Descriptor block shape must have at least 16 bytes in the last dimension, but got 4 * 2 = 8 bytes"
    header = "triton.compiler.errors.CompilationError: at 2:8:"
    chat = (
        f"**a** 10:02\nanyone touched descriptors?\n\n**a** 10:03\nI want 4 columns and it says {reason} as I build\n\n"
        f"**b** 10:05\nthat is TMA\n\n**a** 10:05\nthe header is `def f(x_ptr):` with {header}\n\n**b** 10:09\nyep\n"
    )
    diagnosis = diagnose_text(chat)
    assert diagnosis is not None and diagnosis.kind is Kind.FRONTEND_ERROR
    assert diagnosis.headline.startswith("Descriptor block shape must have at least 16 bytes")
    assert diagnosis.source is not None and diagnosis.source.line == 2
