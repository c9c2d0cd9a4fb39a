"""Native stacks and Python's, as signal handlers, debuggers and faulthandler print them."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Diagnosis, Kind


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    return diagnosis


GDB = """\
Thread 1 "python" received signal SIGSEGV, Segmentation fault.
{stopped}
#0  {first}
#1  0x00007ffed7580b00 in triton::ir::Inner::run (this=0x0) at /b/lib/Inner.cpp:80
"""


def test_gdb_s_frames_without_address_and_its_stop_line() -> None:
    stopped = "0x00007ffed7580a34 in triton::ir::block::parent (this=0x0) at /b/include/block.h:54"
    cut = diagnosed(GDB.format(stopped=stopped, first="0x00007ffed7580a34 in triton::ir::bl"))
    assert (cut.kind, cut.function, cut.file, cut.line) == (Kind.SEGFAULT, "block::parent", "block.h", 54)
    bare = diagnosed(GDB.format(stopped="", first="triton::ir::Outer::visit (op=0x0) at /b/lib/Outer.cpp:12"))
    assert (bare.function, bare.file, bare.line) == ("Outer::visit", "Outer.cpp", 12)


def test_the_frames_of_a_handler_are_not_where_it_crashed() -> None:
    diagnosis = diagnosed(
        "#0  __pthread_kill_implementation (signo=11) at pthread_kill.c:44\n"
        "#1  0x000071f4d1562e13 in handler_SIGSEGV(int, siginfo_t*, void*) ()\n"
        "   from /venv/lib/libtorch_python.so\n"
        "#2  <signal handler called>\n"
        "#3  0x000071f392131228 in mlir::triton::AxisInfo::join(int) ()\n"
        "   from /venv/lib/python3.11/site-packages/triton/_C/libtriton.so\n"
    )
    assert diagnosis.function == "AxisInfo::join"


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_crash_names_the_line_of_python_that_ran(between: str) -> None:
    report = (
        "Fatal Python error: Segmentation fault\n\nThread 0x00007b8e (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 324 in wait\n\n'
        "Current thread 0x00007b90 (most recent call first):\n"
        '  File "/venv/lib/python3.11/site-packages/triton/compiler/compiler.py", line 203 in make_llir\n'
    )
    diagnosis = diagnosed(report.replace("\n", between))
    assert (diagnosis.kind, diagnosis.stage) == (Kind.SEGFAULT, "llir")
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("compiler.py", 203, "make_llir")


def test_llvm_s_program_arguments_name_a_single_pass() -> None:
    crash = "Stack dump:\n0.\tProgram arguments: /b/triton-opt k.mlir{}\n #0 0x00007f01 mlir::A::f(int) A.cpp:1:2\n"
    assert diagnosed(crash.format(" -tritongpu-pipeline")).pass_name == "tritongpu-pipeline"
    assert diagnosed(crash.format(" -tritongpu-coalesce -tritongpu-pipeline")).pass_name is None


def test_the_stack_of_a_crashed_thread_without_the_line_that_names_the_signal() -> None:
    diagnosis = diagnosed(
        "Current thread 0x00007f43 (most recent call first):\n"
        '  File "/venv/lib/python3.10/site-packages/triton/compiler/compiler.py", line 54 in optimize_ttir\n'
    )
    assert (diagnosis.kind, diagnosis.headline) == (
        Kind.UNKNOWN,
        "The process crashed in optimize_ttir, compiler.py:54",
    )


def test_a_function_of_llvm_s_headers_is_not_where_it_crashed() -> None:
    diagnosis = diagnosed(
        "Program arguments: ./triton-opt k.mlir\n"
        " #0 0x00007f92 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (./triton-opt+0x1)\n"
        " #1 0x00007f93 getDialect<mlir::triton::T> /b/llvm/include/mlir/IR/MLIRContext.h:94:29\n"
        " #2 0x00007f94 toLayout /b/triton/lib/Dialect/Layouts.cpp:1317:15\n"
    )
    assert (diagnosis.function, diagnosis.file, diagnosis.line) == ("toLayout", "Layouts.cpp", 1317)


def test_a_stack_without_symbols_names_the_library() -> None:
    diagnosis = diagnosed(
        "#0  __pthread_kill_implementation (signo=6) at ./nptl/pthread_kill.c:44\n"
        "#1  0x00007f8b9b9d17f3 in __GI_abort () at ./stdlib/abort.c:79\n"
        "#2  0x00007f8a3972d4df in ?? ()\n"
        "   from /venv/nvidia_cutlass_dsl/python_packages/cutlass/_mlir/_mlir_libs/_cutlass_ir.cpython-312.so\n"
        "#3  0x00007f85d56f61f0 in ?? ()\n"
    )
    assert (diagnosis.kind, diagnosis.headline) == (Kind.ABORT, "The compiler aborted in _cutlass_ir.cpython-312.so")


def test_python_s_import_system_is_not_where_it_crashed() -> None:
    diagnosis = diagnosed(
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
        '  File "<frozen importlib._bootstrap_external>", line 1320 in create_module\n'
        '  File "/v/site-packages/triton/backends/nvidia/driver.py", line 71 in compile_module_from_src\n'
    )
    assert (diagnosis.file, diagnosis.line) == ("driver.py", 71)


@pytest.mark.parametrize(
    ("stack", "function", "file"),
    [
        (
            "12 triton-opt  0x0000000102f1f6c8 (anonymous namespace)::DotOpConversion::matchAndRewrite("
            "mlir::triton::DotOp, mlir::ConversionPatternRewriter&) const + 360\n"
            "13 triton-opt  0x0000000102d0f27c mlir::ConversionPattern::matchAndRewrite(mlir::Operation*) const + 12\n",
            "DotOpConversion::matchAndRewrite",
            None,
        ),
        (
            "* thread #1, name = 'python3', stop reason = signal SIGSEGV: invalid address (fault address: 0x0)\n"
            "  * frame #0: 0x00007f01 libtriton.so`mlir::triton::Loader::loadX4(this=0x01) const at Loader.cpp:214:11\n"
            "    frame #1: 0x00007f02 libtriton.so`mlir::triton::load(rewriter=0x02) at Loader.cpp:531:7 [opt]\n",
            "Loader::loadX4",
            "Loader.cpp",
        ),
        (
            "*** SIGSEGV received at time=1723020201 on cpu 12 ***\n"
            "PC: @     0x7f2b1c0d7a34  (unknown)  mlir::triton::coarseSchedule()\n"
            "    @     0x7f2d8e0b8520  (unknown)  (unknown)\n",
            "coarseSchedule",
            None,
        ),
        (
            "#0  mlir::detail::OperandStorage::OperandStorage\n#1  mlir::Operation::create\n"
            "#2  mlir::triton::gpu::(anonymous namespace)::BlockedToMMA::matchAndRewrite\n",
            "OperandStorage::OperandStorage",
            None,
        ),
    ],
    ids=["macos", "lldb", "abseil", "names-alone"],
)
def test_stacks_of_other_handlers_and_debuggers(stack: str, function: str, file: str | None) -> None:
    diagnosis = diagnosed(stack)
    assert (diagnosis.kind, diagnosis.function, diagnosis.file) == (Kind.SEGFAULT, function, file)


REPORTED = """#4  0x00007f01 in __assert_fail_base (fmt=0x7f02 "%s%s%s:%u: %s%sAssertion `%s' failed.\\n%n",
    assertion=assertion@entry=0x7f03 "i < n && \\"Invalid index!\\"", file=file@entry=0x7f04 "/b/llvm/ADT/ArrayRef.h",
    line=line@entry=257, function=function@entry=0x7f05 "const T& llvm::ArrayRef<T>::operator[](size_t) const")
    at ./assert/assert.c:92
"""


@pytest.mark.parametrize(
    ("frame", "function"),
    [
        (REPORTED, "ArrayRef::operator[]"),
        (" ".join(REPORTED.split()), "ArrayRef::operator[]"),
        (REPORTED[: REPORTED.index("function=")], None),
        (
            '#5  0x00007f01 in __assert_fail (assertion=0x7f03 "i < n && \\"Invalid index!\\"", '
            'file=0x7f04 "/b/llvm/ADT/ArrayRef.h", line=257, function=<optimized out>) at assert.c:101\n',
            None,
        ),
        (
            'frame #3: 0x00018 libsystem_c.dylib`__assert_rtn(func="f", file="/b/ArrayRef.h", line=257, '
            'expr="i < n && \\"Invalid index!\\"")',
            "f",
        ),
    ],
    ids=["gdb", "joined", "cut", "optimised", "lldb"],
)
def test_the_arguments_of_what_reports_an_assertion(frame: str, function: str | None) -> None:
    diagnosis = diagnosed(f"Thread 1 received signal SIGABRT, Aborted.\n(gdb) bt\n{frame}\n#9 0x0 in triton::f ()\n")
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.ASSERTION, "ArrayRef.h", 257)
    assert diagnosis.headline.endswith(": Invalid index!")
    assert diagnosis.function == function


@pytest.mark.parametrize(("signal", "kind"), [("SIGSEGV", Kind.SEGFAULT), ("SIGABRT", Kind.ABORT)])
def test_the_signal_at_which_gdb_stopped(signal: str, kind: Kind) -> None:
    diagnosis = diagnosed(
        f'Thread 1 "python" received signal {signal}, as it says.\n'
        "0x00007ffed7580a34 in mlir::triton::Fold::fold(mlir::Operation*) [clone .localalias] () from /x/libtriton.so\n"
    )
    assert (diagnosis.kind, diagnosis.function) == (kind, "Fold::fold")
    assert signal in diagnosis.headline


def test_what_glibc_found_is_an_argument_in_the_stack() -> None:
    diagnosis = diagnosed(
        "(gdb) bt\n"
        "#0  __GI_raise (sig=sig@entry=6) at ../sysdeps/unix/sysv/linux/raise.c:50\n"
        "#1  0x00007ffff7c4d859 in __GI_abort () at abort.c:79\n"
        '#2  0x00007ffff7cc02fc in malloc_printerr (str=str@entry=0x7ff "free(): invalid size") at malloc.c:5347\n'
        "#3  0x00007ffdc6f0495f in mlir::triton::Pool::clear() () from /x/triton/_C/libtriton.so\n"
    )
    assert (diagnosis.kind, diagnosis.headline) == (Kind.ABORT, "free(): invalid size in Pool::clear")


def test_a_stack_is_shown_below_the_signal_that_was_caught() -> None:
    caught = "Caught signal 11 (Segmentation fault: address not mapped to object at address 0x7ff0)"
    stack = " 0 0x0000000000042520 __sigaction()  ???:0\n 1 0x000000000065cdfc triton::driver::find()  ???:0\n"
    diagnosis = diagnosed(f"{caught}\n==== backtrace (tid:1479935) ====\n{stack}")
    assert (diagnosis.kind, diagnosis.function) == (Kind.SEGFAULT, "find")
    assert caught in diagnosis.message


def test_of_two_reports_of_a_crash_the_one_with_a_stack_says_where() -> None:
    diagnosis = diagnosed(
        "It ends in a Segmentation fault (exit code 139).\n\nFatal Python error: Segmentation fault\n\n"
        "Current thread 0x00007f1518f2e480 (most recent call first):\n"
        '  File "/venv/lib/python3.11/site-packages/triton/compiler/code_generator.py", line 223 in __init__\n'
    )
    assert (diagnosis.file, diagnosis.line) == ("code_generator.py", 223)


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("heap-use-after-free on address 0x60d000000c98 at pc 0x55d5c8f3a1b2", Kind.ABORT),
        ("stack-buffer-overflow on address 0x7ffd0c98 at pc 0x55d5c8f3a1b2", Kind.ABORT),
        ("SEGV on unknown address 0x000000000008", Kind.SEGFAULT),
    ],
)
def test_a_sanitizer_s_report(stated: str, kind: Kind) -> None:
    diagnosis = diagnose_text(
        f"==123==ERROR: AddressSanitizer: {stated}\nREAD of size 8 at 0x60d000000c98 thread T0\n"
        "    #0 0x55d5c8f3a1b2 in mlir::Operation::getBlock() /b/llvm/mlir/include/mlir/IR/Operation.h:205:23\n"
        "    #1 0x55d5c8f3a1c7 in mlir::triton::gpu::hoist(mlir::ModuleOp) /b/triton/lib/Transforms/Hoist.cpp:88:5\n"
        "    #2 0x55d5c8f3a1d9 in main /b/triton/bin/triton-opt.cpp:11:3\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.headline) == (kind, f"{stated.split(maxsplit=1)[0]} in hoist")
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Hoist.cpp", 88, "hoist")


def test_a_stack_without_its_top_names_no_place() -> None:
    frame = (
        "0x00005f9bedc645af mlir::OpConversionPattern<mlir::A>::matchAndRewrite(int) const /b/DialectConversion.h:538:3"
    )
    for number, line in ((38, None), (0, 538)):
        diagnosis = diagnose_text(f"# triton-opt crashes\n\n#{number} {frame}\n#{number + 1} {frame}\n")
        assert diagnosis is not None and diagnosis.line == line


def test_what_was_printed_before_abseil_reports_the_signal() -> None:
    diagnosis = diagnosed(
        "Unsupported way to convert to fp4: *** SIGABRT received by PID 61 (TID 61) on cpu 5; stack trace: ***\n"
        "PC: @     0x7fe65b6c9981  (unknown)  gsignal\n"
        "    @     0x7fe2a76bc561       1888  FailureSignalHandler()\n"
        "    @     0x7fe65b6cadf7        304  abort\n"
        "    @     0x7fe654786ca9       1504  mlir::triton::gpu::Convert::rewrite()\n"
    )
    assert (diagnosis.kind, diagnosis.function) == (Kind.ABORT, "Convert::rewrite")
    assert diagnosis.headline == "Unsupported way to convert to fp4 in Convert::rewrite"


def test_a_stack_without_its_top_names_the_pass() -> None:
    frames = (
        "#21 0x00007ff8b643238b in mlir::applyPartialConversion(mlir::Operation*) () from /w/_C/libtriton.so\n"
        "#22 0x00007ff8b48ef47a in (anonymous namespace)::ConvertTritonGPUToLLVM::runOnOperation () at /l/A.h:70\n"
        "#23 0x00007ff8b49b2695 in operator() (__closure=<error reading variable: Corrupted DWARF.>) at /l/B.h:8\n"
    )
    diagnosis = diagnosed(f"# Segfault on an Inductor test in triton\n\n{frames}")
    assert (diagnosis.kind, diagnosis.pass_name) == (Kind.SEGFAULT, "ConvertTritonGPUToLLVM")


def test_the_launcher_s_functions_in_a_stack_of_c() -> None:
    diagnosis = diagnose_text(
        "torch.compile ends so:\n==== backtrace (tid:3341850) ====\n"
        " 0 0x0000000000042520 __sigaction()  ???:0\n"
        " 1 0x000000000016a659 PyErr_SetString()  python-3.8.13/Python/errors.c:214\n"
        " 2 0x0000000000001403 gpuAssert.constprop.0()  main.c:0\n"
        " 3 0x0000000000001873 launch()  main.c:0\n"
        " 4 0x000000000013bf90 cfunction_call_varargs()  python-3.8.13/Objects/call.c:758\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.function) == (Kind.SEGFAULT, "gpuAssert")
    assert (diagnosis.file, diagnosis.line) == ("main.c", None)


def test_gdb_prints_locals_between_frames() -> None:
    full = diagnosed(
        "# Segmentation Fault in triton\n\n(gdb) bt full\n"
        "#0  0x00007fffd7b1de33 in std::__detail::_List_node_base::_M_hook(int*) () from /lib/libstdc++.so.6\n"
        "No symbol table info available.\n"
        "#1  0x00007ffed9c80eb2 in std::list<triton::ir::node*>::insert (this=0x5) at /u/include/c++/list.tcc:109\n"
        "        __tmp = 0x555597fb92c0\n"
        "#2  0x00007ffed9c80619 in triton::ir::builder::insert (this=0x5555) at /b/include/triton/ir/builder.h:65\n"
        "No locals.\n"
        "#3  0x00007ffed9ca26ad in triton::codegen::pipeline::run (this=0x7fff) at /b/lib/codegen/pipeline.cc:321\n"
        "        i = 0x555597fd3570\n"
    )
    assert (full.kind, full.function, full.line) == (Kind.SEGFAULT, "builder::insert", 65)


def test_the_library_that_llvm_s_stack_names_is_triton_s() -> None:
    stack = (
        "Stack dump without symbol names:\n0  {0}         0x00007f3a1ceeca27\n1  {0}         0x00007f3a18debb49\n"
        "2  libc.so.6            0x00007f3af8312520\n"
    )
    told = "Only one of the models does it:\n\nno such unit\nUNREACHABLE executed at /r/lib/Analysis/Units.cpp:80!\n"
    ours = diagnosed(told + stack.format("libtriton.so"))
    assert (ours.kind, ours.file, ours.line) == (Kind.UNREACHABLE, "Units.cpp", 80)
    assert diagnose_text(told + stack.format("libother.so ")) is None
