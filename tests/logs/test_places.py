"""Where a failure is: the forms in which compilers and people state a place."""

from __future__ import annotations

import json

import pytest
from rows import each_row

from triage.logs import diagnose_text, findings
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
    (f'    # loc("/a/k.py":31:20):\nerror: {ERROR}', "/a/k.py", 31),
    (f"D:\\a\\k.py:31:20: error:\n{ERROR}", "D:\\a\\k.py", 31),
    (f"CI job 7: /a/k.py:31:20: error: {ERROR}", "/a/k.py", 31),
    (f"/a/k.py(31): error: {ERROR}", "/a/k.py", 31),
    (f"{ERROR}\n  at /a/k.py:31:20\nRuntimeError: PassManager::run failed", "/a/k.py", 31),
    (f"{ERROR}\n  (/a/k.py:31)", "/a/k.py", 31),
    # a pipeline's end
    (f"error: size mismatch when packing elements\n{ENDS}k.py:36:0: {FAILED}", "k.py", 36),
    (f"LLVM ERROR: Unsupported rounding mode for conversion.\n{DUMPED}{ENDS}", "k.py", 36),
    ('PassManager::run failed: loc("k.py":37:0)\nPipeline failed while executing [TritonGPUPipeline on', "k.py", 37),
    ('    loc("w"("k.py":64:23)):\n        Cannot bitcast\n        any type\n    ' + FAILED, "k.py", 64),
    (f"k.py:36:0: error:\nFailures have been detected\nk.py:36:0: note:\n{FAILED.removeprefix('note: ')}", "k.py", 36),
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


CRASH = """Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/v/lib/python3.12/site-packages/triton/backends/nvidia/compiler.py", line 300 in make_ttgir
  File "/v/lib/python3.12/site-packages/triton/compiler/compiler.py", line 279 in compile
"""


@each_row(
    ["stderr: ", "[stderr] ", "[3]: ", "ERROR: ", "# ", "    # ", "// ", " * ", "| ", "  | ", "\t", "    ", "\u00a0"]
)
def test_a_mark_on_every_line_hides_no_place(mark: str) -> None:
    diagnosis = diagnosed("\n".join(f"{mark}{line}".rstrip() for line in CRASH.split("\n")))
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("compiler.py", 300, "make_ttgir")


def test_a_text_without_its_indentation_has_its_frames() -> None:
    diagnosis = diagnosed("\n".join(line.strip() for line in CRASH.split("\n")))
    assert (diagnosis.file, diagnosis.line) == ("compiler.py", 300)


ASSERTED = 'python: /b/lib/Dialect.cpp:12: int mlir::A::f(int) const: Assertion `x >= 1 && "why"\' failed.'


@each_row(
    [
        ASSERTED,
        ASSERTED.replace("`", ""),
        ASSERTED.replace("12: int", "12\nint"),
        ASSERTED.replace("`", "\u2018").replace("'", "\u2019").replace('"', "\u201d"),
        ASSERTED.replace(" ", "\u00a0"),
        f"k.py:36:0: {FAILED}\nmore\n{ASSERTED}",
        repr(f"it printed\n{ASSERTED}\nand ended"),
    ]
)
def test_an_assertion_however_it_was_copied(text: str) -> None:
    diagnosis = diagnosed(text)
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Dialect.cpp", 12, "A::f")
    assert diagnosis.headline == "Assertion failed in A::f: why"
    assert diagnosis.pass_name == ("ConvertTritonGPUToLLVM" if FAILED in text else None)


@pytest.mark.parametrize("rest", [" ...]", "...]", "]", " \u2026]"])
def test_a_pass_whose_line_was_shortened(rest: str) -> None:
    diagnosis = diagnosed(f"note: Pipeline failed while executing [TritonGPUPipeline{rest}")
    assert diagnosis.pass_name == "TritonGPUPipeline"


def test_json_writes_a_character_as_two() -> None:
    text = f'DSLRuntimeError: \U0001f9ca ICE \U0001f9ca\n  {VERIFIED}\nerror: "copy(a)"("/a/k.py":61:16): {ERROR}'
    source = diagnosed(json.dumps({"log": text})).source
    assert source is not None
    assert (source.file, source.line) == ("/a/k.py", 61)


@pytest.mark.parametrize("user", ["", '  File "/a/app.py", line 3, in main\n    k[grid](x)\n'])
def test_tritons_own_line_is_the_place_where_no_line_is_the_users(user: str) -> None:
    frame = '  File "/v/lib/python3.12/site-packages/triton/runtime/driver.py", line 8, in _create_driver\n    raise x'
    diagnosis = diagnosed(f"Traceback (most recent call last):\n{user}{frame}\nRuntimeError: 0 active drivers ([]).")
    stated = (diagnosis.file, diagnosis.line, diagnosis.function)
    assert stated == ((None, None, None) if user else ("driver.py", 8, "_create_driver"))
    assert (diagnosis.source is not None) == bool(user)


@pytest.mark.parametrize("folder", ["/v/dist-packages/triton", "/home/u/pytorch-nightly/triton"])
@pytest.mark.parametrize(
    "raised",
    [
        "AssertionError: Both operands must be same dtype. Got fp16 and bf16",
        "ValueError: numel (2097152) exceeds triton maximum tensor numel (1048576)",
    ],
)
def test_what_the_front_end_raised_is_at_its_line_where_the_kernels_is_not_stated(folder: str, raised: str) -> None:
    frames = "".join(
        f'  File "{folder}/language/{file}.py", line {line}, in {name}\n    f(x)\n'
        for file, line, name in (("core", 34, "wrapper"), ("semantic", 1551, "dot"))
    )
    diagnosis = diagnosed(f"Traceback (most recent call last):\n{frames}{raised}\n")
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("semantic.py", 1551, "dot")
    assert diagnosis.source is None


PACKAGE = "/v/lib/python3.12/site-packages/triton"
USERS = 'Traceback (most recent call last):\n  File "/a/app.py", line 3, in main\n    run()\n'


@pytest.mark.parametrize(
    ("file", "line", "function", "raised"),
    [
        (
            f"{PACKAGE}/runtime/cache.py",
            122,
            "put",
            "FileNotFoundError: [Errno 2] No file: '/x/.triton/cache/y'",
        ),
        (f"{PACKAGE}/runtime/build.py", 58, "_build", "RuntimeError: Failed to find C compiler"),
        (
            "D:\\v\\Lib\\site-packages\\triton\\runtime\\driver.py",
            8,
            "_create_driver",
            "RuntimeError: 0 active drivers",
        ),
        (f"{PACKAGE}/runtime/interpreter.py", 999, "_patch_lang", "ValueError: The truth value is ambiguous"),
        (
            f"{PACKAGE}/runtime/jit.py",
            801,
            "__call__     ",
            "RuntimeError: Cannot call @triton.jit'd outside of one",
        ),
    ],
)
def test_an_exception_is_where_its_own_traceback_says(file: str, line: int, function: str, raised: str) -> None:
    frame = f'  File "{file}", line {line}, in {function}\n    raise x\n{raised}\n'
    stated = (file.replace("\\", "/").rpartition("/")[2], line, function.strip())
    for begin in ("", 'Traceback (most recent call last):\n  File "...", line 22, in <module>\n    k[grid](x)\n'):
        for end in ("", f"\n{USERS}RuntimeError: the worker failed\n"):
            diagnosis = diagnosed(f"{begin}{frame}{end}")
            assert (diagnosis.file, diagnosis.line, diagnosis.function) == stated, (begin, end)


@pytest.mark.parametrize(
    "frame",
    [
        "File ~/v/lib/python3.12/site-packages/triton/backends/nvidia/driver.py:365, in Launcher.__call__(self, *args)",
        'File "/home/user/triton/python/triton/backends/nvidia/driver.py", line 365, in Launcher.__call__',
        '[rank0]:   File "/v/dist-packages/triton/backends/nvidia/driver.py", line 365, in Launcher.__call__',
    ],
)
def test_a_line_of_triton_s_however_the_frame_is_printed(frame: str) -> None:
    raised = "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)"
    diagnosis = diagnosed(f"{frame}\n    self.launch(*args)\n{raised}\n")
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("driver.py", 365, "Launcher.__call__")


@pytest.mark.parametrize("words", ["位于 fwd.py:386 epilogue", "at fwd.py:386, in the epilogue", "in fwd.py line 386"])
def test_a_title_that_quotes_an_error_names_its_line(words: str) -> None:
    title = f"# error: expects `coord` and shape of view are weakly congruent {words} -> f"
    source = diagnosed(f"{title}\n\nThe kernel of flash_attn.cute fails on this GPU.\n").source
    assert source is not None
    assert (source.file, source.line) == ("fwd.py", 386)


@each_row(
    [
        "With triton 3.3 it fails at `ops/align.py` lines 150 and 276, both of them loads",
        "The loads on lines 3, 7 and 9 of `align.py` are refused by triton",
        "In /v/site-packages/triton/compiler/compiler.py lines 3 to 8 it is raised",
        "With triton 3.3 the kernel of align.py fails in every configuration of ours",
    ]
)
def test_a_file_without_one_line_is_no_place(told: str) -> None:
    diagnosis = diagnosed(f"{told}\n\nerror: 'tt.dot' op is bad\n")
    assert (diagnosis.file, diagnosis.line, diagnosis.source) == (None, None, None)


@pytest.mark.parametrize(
    ("told", "file"),
    [
        ("My triton kernel fails with `CompilationError` in line 45 of kernel.py:", "kernel.py"),
        ("The kernel of ours in `ops/attn.py:45` does not compile with triton 3.3", "ops/attn.py"),
        ("I see this from attn.py, line 45, with triton 3.3", "attn.py"),
        ("With triton main it is the dot at line 45 in attn.py that is refused", "attn.py"),
        ("With triton it is raised in /v/site-packages/triton/compiler/compiler.py:45 of the package", None),
        ("With triton 3.3 the kernels at attn.py:45 and in mlp.py:12 are refused", None),
        ("triton 3.3 编译失败, 位于attn.py:45\u3002显卡是 H100", "attn.py"),
        ("triton 3.3 では ops/attn.py:45 でコンパイルに失敗する", "ops/attn.py"),
        ("triton 3.3 的内核编译失败\uff1aattn.py:45行", "attn.py"),
        ("triton 3.3 编译失败\uff0c位于attn.py:45 和 mlp.py:12", None),
    ],
)
def test_a_kernel_s_line_that_a_sentence_names(told: str, file: str | None) -> None:
    for error in (
        "LLVM ERROR: Unsupported rounding mode for conversion.",
        "error: 'tt.dot' op is bad",
    ):
        source = diagnosed(f"{told}\n\n{error}\n").source
        assert (source and (source.file, source.line)) == (file and (file, 45))


def test_in_a_long_text_failures_of_a_kind_are_not_of_one_place() -> None:
    long = "more\n" * 2000
    first, last = findings(f"k.py:31:20: error: {ERROR}\n{long}{'_' * 9} test_b {'_' * 9}\nerror: {ERROR} again\n")
    assert first.diagnosis.source is not None
    assert last.diagnosis.source is None


def test_a_failed_pass_is_at_the_kernel_s_line_where_the_caller_s_traceback_breaks_off() -> None:
    report = f"/w/k.py:36:0: {FAILED} generated at `std::errs`\n"
    caller = (
        "!!! Exception during processing !!! PassManager::run failed\nTraceback (most recent call last):\n"
        '  File "/w/run.py", line 345, in execute\n    result = call(node)\n             ^^^^^^^^^^\n'
    )
    diagnosis = diagnose_text(f"# PassManager::run failed on my card\n\n/w/{ENDS}{report}{caller}")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("/w/k.py", 36)
    alone = diagnose_text(caller)
    assert alone is not None and alone.source is not None and alone.source.file == "/w/run.py"


def test_an_error_that_is_told_twice_is_where_its_cut_print_says() -> None:
    told = "error: 'tt.load' op destroyed with uses\nLLVM ERROR: destroyed with uses\n"
    diagnosis = diagnose_text(
        f"My triton says\n{told}\n  0%|     | 0/8 [00:00<?]/w/k.py:17:26: error: 'tt.load' op destr"
    )
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.kind, diagnosis.source.file, diagnosis.source.line) == (Kind.LLVM_FATAL, "/w/k.py", 17)
