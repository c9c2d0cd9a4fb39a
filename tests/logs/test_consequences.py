"""Of two statements the one that says why something failed is the headline, wherever it stands."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text, findings
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
    "code in a sentence": "On triton 3.4 I get `{cause}` and then `{consequence}`.",
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


def test_a_name_that_a_title_quotes_is_the_reason_of_a_report_that_breaks_off() -> None:
    report = "triton.compiler.errors.CompilationError: at 37:24:\n    tmp8 = _tmp7 + tmp6"
    diagnosis = diagnose_text(f"# [inductor] \u201dtmp3 is not defined\u201c error in an embedding\n```\n{report}\n```")
    assert diagnosis is not None and diagnosis.kind is Kind.FRONTEND_ERROR
    assert diagnosis.headline == "NameError: tmp3 is not defined"
    assert diagnosis.source is not None and diagnosis.source.line == 37


def test_the_line_of_a_kernel_that_is_shown_without_its_caret() -> None:
    shown = "def k(x_ptr):\n    a = tl.load(x_ptr)\n    use = a or b or c\n    if use:\n        return"
    diagnosis = diagnose_text(f"triton.compiler.errors.UnsupportedLanguageConstruct: at 3:10:\n{shown}\n```\n")
    assert diagnosis is not None
    assert diagnosis.headline == "UnsupportedLanguageConstruct at use = a or b or c"


def test_text_below_an_assertion_that_a_title_cuts_off_is_not_part_of_it() -> None:
    printed = "python: /b/C.cpp:390: L mlir::triton::hopperMma(int\nx): Assertion `n == 16 || n == 32' failed."
    diagnosis = diagnose_text(f"# [bug] hopperMma(int x): Assertion `n == 16 || n == 32' faile\n\n```\n{printed}\n```")
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("C.cpp", 390, "hopperMma")
    assert diagnosis.headline == "Assertion failed in hopperMma: n == 16 || n == 32"


def test_an_assertion_of_a_kernel_of_cute() -> None:
    frames = (
        '  File "t.py", line 17, in <module>\n  File "my/cute/fwd.py", line 132, in __init__\n    assert n <= MOST\n'
    )
    diagnosis = diagnose_text(f"Traceback (most recent call last):\n{frames}AssertionError\n")
    assert diagnosis is not None and diagnosis.kind is Kind.PYTHON_EXCEPTION
    assert diagnosis.headline == "AssertionError: assert n <= MOST"
    assert diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("my/cute/fwd.py", 132)


def test_an_exception_that_pybind11_prints_is_at_its_first_frame() -> None:
    frames = "  /p/site-packages/triton_kernels/a.py(55): <module>\n  <frozen importlib._bootstrap>(488): _call\n"
    stated = "Internal: AttributeError: module 'triton.language' has no attribute 'constexpr_function'"
    diagnosis = diagnose_text(f"{stated}\n\nAt:\n{frames}  /p/site-packages/triton_kernels/b.py(8): <module>\n")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file.rpartition("/")[2], diagnosis.source.line) == ("a.py", 55)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("it refers to line 58 of `my/cute/softmax.py`:", 58),
        ("Line 7 in softmax.py is where it stops.", 7),
        ("line 58 of a.py, or line 3 of b.py", None),
    ],
)
def test_a_place_in_words(told: str, line: int | None) -> None:
    stated = "cutlass.base_dsl.common.DSLRuntimeError: DSLRuntimeError: The 'for' statement is not supported"
    diagnosis = diagnose_text(f"CuTe DSL: {told}\n```\n{stated}\n```\n")
    assert diagnosis is not None
    assert (diagnosis.source.line if diagnosis.source else None) == line


@pytest.mark.parametrize(
    ("title", "is_cause"),
    [
        ("Unsupported DotOp found when converting TritonGPU to LLVM", True),
        ("[BUG] unsupported conversion from bf16 to f16 in ElementwiseOp", True),
        ("Failed to find a layout conversion for the operand", True),
        ("Cannot use LLVM 17?", False),
        ("Failed to run my kernel with triton on a new machine", False),
    ],
)
def test_a_title_that_consists_of_the_compiler_s_message(title: str, is_cause: bool) -> None:
    for consequence in (
        "/w/k.py:8:0: error: Failures have been detected while processing an MLIR pass pipeline",
        "RuntimeError: PassManager::run failed",
    ):
        diagnosis = diagnose_text(f"# {title}\n\nWith triton 3.4:\n```\n{consequence}\n```\n")
        assert diagnosis is not None
        assert (diagnosis.headline in title) is is_cause


#: Reasons that Python code of Triton's raises, and what other programs raise because of them.
REASONS = (
    "ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')",
    "NameError: Cannot access global variable C from within @jit'ed function.",
    "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered",
)
REPORTS = (
    "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:",
    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    "torch._inductor.select_algorithm.NoValidChoicesError: No choices to select",
    "RuntimeError: DataLoader worker (pid 12) exited unexpectedly",
)


@pytest.mark.parametrize("link", ["", "During handling of the above exception, another exception occurred:\n\n"])
def test_an_exception_that_only_reports_another_one_is_no_cause(link: str) -> None:
    for reason in REASONS:
        for report in REPORTS:
            frames = 'Traceback (most recent call last):\n  File "/w/k.py", line 9, in f\n    k[(1,)](x)\n'
            diagnosis = diagnose_text(f"Triton:\n{frames}{reason}\n\n{link}{frames}{report}\n")
            assert diagnosis is not None
            assert diagnosis.message.partition("\n")[0] in reason


@pytest.mark.parametrize("between", ["", "\nTraceback (most recent call last):\n"])
def test_a_front_end_s_text_is_the_reason_of_the_report_that_breaks_off_below_it(between: str) -> None:
    report = "triton.compiler.errors.CompilationError: at 5:10:\ndef k(x_ptr):"
    for reason in REASONS[:2]:
        diagnosis = diagnose_text(f"{reason}\n{between}{report}\n")
        assert diagnosis is not None and diagnosis.headline in reason
        assert diagnosis.source is not None and diagnosis.source.line == 5


#: What the host compiler or its linker prints, the words of it that the headline has, and its place.
OF_HOST = (
    ("/tmp/tmpab12cd34/cuda_utils.c:5:10: fatal error: Python.h: No such file or directory", "Python.h", 5),
    ("/tmp/tmpab12cd34/main.c:3:10: fatal error: 'cuda.h' file not found", "cuda.h", 3),
    ("cuda_utils.c(12): fatal error C1083: Cannot open include file: 'Python.h': No such file or directory",
     "Python.h", 12),
    ("/usr/bin/ld: cannot find -lcuda: No such file or directory", "-lcuda", None),
    ("cl : Command line error D8021 : invalid numeric argument '/Wno-psabi'", "invalid numeric argument", None),
    ("/usr/bin/ld: /tmp/cc1.o: relocation R_X86_64_32 against `.rodata' can not be used", "R_X86_64_32", None),
    ("clang: error: unknown argument: '-Wno-psabi'", "unknown argument", None),
)  # fmt: skip
HOST_FAILED = (
    "CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpab12cd34/cuda_utils.c', '-O3']' returned non-zero exit "
    "status 1.",
    "subprocess.CalledProcessError: Command '['C:\\\\VC\\\\cl.exe', 'C:\\\\Temp\\\\tmpab12cd34\\\\main.c', '-O2'",
)


@pytest.mark.parametrize(
    "shape",
    [
        "With triton:\n```python\n{failed}\n```\n\n```\n{printed}\n    5 | #inc\n```\n",
        "{failed}\n\nAnd the error cause was:\n{printed}\n",
        "Error in triton:\n{failed}\n\nsomebody\nThe same here.\n{failed}\nwith\n{printed}\n",
    ],
)
def test_what_the_host_compiler_printed_below_the_report_of_its_failure(shape: str) -> None:
    for printed, words, line in OF_HOST:
        for failed in HOST_FAILED:
            diagnosis = diagnose_text(shape.format(failed=failed, printed=printed))
            assert diagnosis is not None and diagnosis.kind is Kind.ENVIRONMENT
            assert words in diagnosis.headline
            assert diagnosis.line == line


def test_another_failure_below_that_of_the_host_compiler_is_one_of_its_own() -> None:
    other = "triton.compiler.errors.CompilationError: at 5:10:\n    x = y\n        ^\nNameError('y is not defined')"
    found = findings(f"{HOST_FAILED[0]}\n\nand later\n{other}\n")
    causes = [finding.diagnosis.kind for finding in found if finding.follows is None]
    assert causes == [Kind.ENVIRONMENT, Kind.FRONTEND_ERROR]


@pytest.mark.parametrize(
    "kernel", ["_fwd_kernel__Pbf16_Pbf16_Pfp32_i32_i32__11c1_15c1_28c64", "k__Pfp16_Pi32__1c1", "add_kernel_0d1d2d3de"]
)
@pytest.mark.parametrize("end", ["Aborted", "Aborted (core dumped)", "exit code 134"])
def test_the_name_of_a_kernel_of_an_old_release_tells_whose_a_failure_is(kernel: str, end: str) -> None:
    refused = "Invalid insertelement operands!\n  %4814 = insertelement <2 x half> %4813, i16 %4613, i32 1\n"
    error = f"```\n{refused}...\nin function {kernel}\nLLVM ERROR: Broken function found, compilation aborted!\n{end}\n"
    diagnosis = diagnose_text(f"# It fails for bfloat16\n\nHi, I get a lot of errors like this one\n{error}```\n")
    assert diagnosis is not None and diagnosis.kind is Kind.LLVM_FATAL
    assert diagnosis.headline == "LLVM gave up: Broken function found: Invalid insertelement operands!"


def test_torch_ends_the_process_after_the_exception_that_is_the_cause() -> None:
    diagnosis = diagnose_text(
        "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered\n"
        "terminate called after throwing an instance of 'c10::AcceleratorError'\n  what():  CUD\n"
    )
    assert diagnosis is not None
    assert diagnosis.kind is Kind.LAUNCH_ERROR


def test_what_the_driver_says_of_a_device_assertion_follows_from_it() -> None:
    error = "Triton Error [CUDA]: device-side assert triggered"
    asserted = (
        "unknown:0: unknown: block: [0,0,0], thread: [{},0,0] Assertion `index out of bounds: 0 <= tmp4 < 320` failed."
    )
    lines = "\n".join(asserted.format(number) for number in range(4))
    diagnosis = diagnose_text(f"Generation ends in: {error}\n\n{lines}\n")
    assert diagnosis is not None and "0 <= tmp4 < 320" in diagnosis.message
    alone = diagnose_text(error)
    assert alone is not None and alone.headline.endswith("device-side assert triggered")
