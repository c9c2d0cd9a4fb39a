"""Whose a failure is: without evidence of Triton, Gluon or CuTe it is another program's, and is only named."""

from __future__ import annotations

import pytest

import triage
from triage.logs import diagnose_any, diagnose_text
from triage.model.compilers import CUTE, TRITON
from triage.model.diagnosis import Diagnosis, Kind

OTHERS = {
    "a build with nvcc": (
        "[2/3] nvcc -c sampler.cu -o sampler.o\nptxas fatal   : Unresolved extern function '_Z4normf'\n"
        "ninja: build stopped: subcommand failed.\n",
        "ptxas fatal : Unresolved extern function '_Z4normf'",
    ),
    "a link by hand": (
        '"/opt/rocm/llvm/bin/ld.lld" -o a.out /lib/crt1.o\nld.lld: error: undefined symbol: main\n'
        "clang: error: linker command failed with exit code 1\n",
        "ld.lld: error: undefined symbol: main",
    ),
    "another compiler of Python": (
        "Error invoking compiler tool x-compile\nDiagnostics:\n/w/modeling.py:409:1: error: failed to legalize "
        "operation 'arith.cmpi'\n                attention_mask > 0,\n^\n"
        '/w/modeling.py:221:1: error: failed to run translation for backend #hal.executable.target<"vulkan">\n',
        'modeling.py:221:1: error: failed to run translation for backend #hal.executable.target<"vulkan">',
    ),
    "an exception that shows another compiler's words": (
        "When we compile an encoder of ours, x-compile ends in this error:\n"
        '  File "/v/lib/site-packages/x/tools/binaries.py", line 196, in invoke\n    raise CompilerToolError(p)\n'
        "x.compiler.tools.binaries.CompilerToolError: Error invoking x-compile\nDiagnostics:\n"
        "<eval>.3:651:14: error: failed to legalize operation 'arith.constant'\n",
        "<eval>.3:651:14: error: failed to legalize operation 'arith.constant'",
    ),
    "MLIR's own program": (
        "[mlir](convert-arith-to-amdgpu) mlir-opt crashes at Casting.h:566 with assertion `isa<To>(Val) && "
        '"cast<Ty>() argument of incompatible type!"\' failed.\n\nFixed since.\n',
        "[mlir](convert-arith-to-amdgpu) mlir-opt crashes at Casting.h:566 with assertion `isa<To>(Val) && "
        '"cast<Ty>() argument of incompatible type!"\' failed.',
    ),
    "an extension's build": (
        "running build_ext\nbuilding 'pack._gpu' extension\n/usr/bin/ld: cannot find -lcuda\n"
        "collect2: ld returned 1 exit status\nerror: command 'gcc' failed with exit status 1\n",
        "ld: cannot find -lcuda",
    ),
    "a program without a driver": (
        "I run evaluate.py of this project and it stops:\nRuntimeError: Found no NVIDIA driver on your system.\n",
        "RuntimeError: Found no NVIDIA driver on your system.",
    ),
    "a build with cmake": (
        "# Compile bug: ptxas fatal : Ptx assembly aborted due to errors\n\n"
        "[ 51%] Building CUDA object src/CMakeFiles/x.dir/mm.cu.o\n",
        "ptxas fatal : Ptx assembly aborted due to errors",
    ),
    "a program whose name has a dot": (
        "core 7\nsim-1.2.out: /w/sim/core.cc:88: void core::step(unsigned int): Assertion `p != NULL' failed.\n",
        "sim-1.2.out: core.cc:88: void core::step(unsigned int): Assertion `p != NULL' failed.",
    ),
    "a device error of torch": (
        'Traceback (most recent call last):\n  File "/app/train.py", line 40, in step\n    loss.backward()\n'
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call.\n",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
    ),
    "the inference server": (
        "I1105 01:26:08 server.cc:120] Initializing Triton Inference Server\n"
        "Signal (11) received.\n 0# 0x0000560F0A in /opt/tritonserver/bin/tritonserver\n"
        " 1# 0x00007F3200 in triton::core::Model::Init() in /opt/tritonserver/lib/libtritonserver.so\n"
        "Segmentation fault (core dumped)\n",
        "Segmentation fault (core dumped)",
    ),
    "another program named Triton": (
        "Program received signal SIGSEGV, Segmentation fault.\n"
        "#0  0x00007ffff662c750 in triton::arch::Register::size() const ()\n   from /usr/lib/python3/triton.so\n"
        "#1  0x00007ffff672b8ae in triton::engines::symbolic::Engine::ast(int) () from /usr/lib/python3/triton.so\n",
        "A crash in Register::size",
    ),
    "a kernel of nvcc's": (
        "ptxas /tmp/tmpxft_0019_0000-7_attention.ptx, line 9; error   : Unexpected types for 'wgmma.mma_async'\n"
        "subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.\n",
        "ptxas tmpxft_0019_0000-7_attention.ptx, line 9; error : Unexpected types for 'wgmma.mma_async'",
    ),
    "an assertion in another library's namespace": (
        "/src/optimizer/split.cpp:658: void engine::ir::split(engine::ir::graph*): Assertion `ok == done' failed.\n",
        "split.cpp:658: void engine::ir::split(engine::ir::graph*): Assertion `ok == done' failed.",
    ),
    "an assertion in another library's anonymous namespace": (
        'select.cpp:23: void shade::{anonymous}::store(shade::context*): Assertion `!done && "later"\' failed.\n',
        'select.cpp:23: void shade::{anonymous}::store(shade::context*): Assertion `!done && "later"\' failed.',
    ),
    "an instruction of a CPU": (
        "LLVM ERROR: Cannot select: intrinsic %llvm.aarch64.neon.sdot\n"
        "1. Running pass 'AArch64 Instruction Selection' on function '@sum'\n",
        "LLVM ERROR: Cannot select: intrinsic %llvm.aarch64.neon.sdot",
    ),
    "LLVM's compiler by hand": (
        "$ llc -mtriple=amdgcn -mcpu=gfx1100 reduced.ll\n"
        "llc: Fold.cpp:135: bool llvm::fold(int): Assertion `isReg()' failed.\n",
        "llc: Fold.cpp:135: bool llvm::fold(int): Assertion `isReg()' failed.",
    ),
    "a program's kernel for OpenCL": (
        "Options used: -cl-std=CL1.2 -D_OPENCL_COMPILER ./opencl/k.cl\nld.lld: error: undefined hidden symbol: f\n",
        "ld.lld: error: undefined hidden symbol: f",
    ),
    "another user of MLIR": (
        "/x/fir.mlir:14:17: error: same-tile move without a register is illegal\n  ^bb1(%4: i64, %5: i32):\n"
        + "it reports this\n" * 8,
        "fir.mlir:14:17: error: same-tile move without a register is illegal",
    ),
    "another user of LLVM": (
        "$ bpftrace -e 'kprobe:f { @[comm] = count() }'\nAttaching 1 probe...\nLLVM ERROR: out of memory\n",
        "LLVM ERROR: out of memory",
    ),
    "a kernel of another language, launched with the same syntax": (
        "from numba import cuda\n@cuda.jit\ndef twice(x):\n    x[0] *= 2\ntwice[4, 32](x)\n"
        "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.9; current version is '8.4'\n",
        "ptxas application ptx input, line 9; fatal : Unsupported .version 8.9; current version is '8.4'",
    ),
    "an operation of another compiler's dialect": (
        "net.mlir:12:3: error: failed to legalize operation 'tosa.argmax' that was explicitly marked illegal\n",
        "net.mlir:12:3: error: failed to legalize operation 'tosa.argmax' that was explicitly marked illegal",
    ),
    "an operation of another compiler's dialect, in a file of Python": (
        "/x/net.py:12:3: error: failed to legalize operation 'torch.operator' that was explicitly marked illegal\n",
        "net.py:12:3: error: failed to legalize operation 'torch.operator' that was explicitly marked illegal",
    ),
    "an operation of another compiler's dialect, in an exception that a sentence quotes": (
        "# TTIR builder: reverse\nIt raises \"RuntimeError: failed to legalize operation 'ttir.reverse'.\"\n",
        "RuntimeError: failed to legalize operation 'ttir.reverse'.",
    ),
    "a program of LLVM's": (
        "LLVM ERROR: vector width out of range\nStack dump:\n0.\tProgram arguments: /usr/bin/llvm-mca -mattr=+v\n",
        "LLVM ERROR: vector width out of range",
    ),
    "another program, started below its own folder": (
        "```\n$ ./crash-07\n/x/llvm/Support/Cast.h:23: void llvm::cast(Y&): Assertion `isa<X>(Val)' failed.\n```\n",
        "Cast.h:23: void llvm::cast(Y&): Assertion `isa<X>(Val)' failed.",
    ),
    "clang's part of LLVM": (
        "no such target\nUNREACHABLE executed at F:\\src\\clang\\lib\\CodeGen\\CodeGenModule.cpp:279!\n",
        "no such target",
    ),
    "another compiler's program": (
        "iree-compile: /x/llvm-project/mlir/IR/Uses.h:98: mlir::List<int>::~List(): Assertion `empty()' failed.\n",
        "iree-compile: Uses.h:98: mlir::List<int>::~List(): Assertion `empty()' failed.",
    ),
    "a function of C++": (
        "error: local memory limit exceeded (98304) in _Z12scale_kernelILi128EPKfPfEviiT1_l\n",
        "error: local memory limit exceeded (98304) in _Z12scale_kernelILi128EPKfPfEviiT1_l",
    ),
    "a client of the inference server": (
        "tritonclient.utils.InferenceServerException: load failed for model 'net': version 1: unable to load shared "
        "library: /opt/tritonserver/backends/pytorch/libtriton_pytorch.so: undefined symbol: _ZN5torch3jit4loadE\n",
        "InferenceServerException: load failed for model 'net': version 1: unable to load shared library: "
        "libtriton_pytorch.so: undefined symbol: _ZN5torch3jit4loadE",
    ),
    "Mojo": (
        "$ mojo build k.mojo\nv[b]()\nmojo: /x/llvm/Support/Math.h:3: uint64_t llvm::f(int): Assertion `A' failed.\n",
        "mojo: Math.h:3: uint64_t llvm::f(int): Assertion `A' failed.",
    ),
    "an assertion of CUTLASS in C++": (
        'The example ends in\nAssertion 0 && "ERROR : no MMA for this capability" failed.\n'
        "../../include/cutlass/gemm/kernel/sm90_gemm.hpp:366\nError: aborted by the kernel\n",
        "Error: aborted by the kernel",
    ),
    "an error without a term of the compiler's": (
        "When the docs are built:\nerror: preparing the pages was refused\n",
        "error: preparing the pages was refused",
    ),
    "a target that Triton never had": (
        "I compile it for an old card.\nptxas error   : Feature 'f16 arithmetic' requires .target sm_53 or higher\n",
        "ptxas error : Feature 'f16 arithmetic' requires .target sm_53 or higher",
    ),
    "a symbol of a C file": (
        "our module:\nld.lld: error: undefined symbol: __assert_412\n>>> referenced by drivers/net/a.c\n",
        "ld.lld: error: undefined symbol: __assert_412",
    ),
    "a loader": (
        "/opt/bin/serve: error while loading shared libraries: libx.so.1: cannot open shared object file\n",
        "serve: error while loading shared libraries: libx.so.1: cannot open shared object file",
    ),
    "a compiler that nobody heard of": (
        "vexc: /src/llvm/lib/Target/Vex/VexISel.cpp:88: void select(): Assertion `node' failed.\n",
        "vexc: VexISel.cpp:88: void select(): Assertion `node' failed.",
    ),
    "a failure that somebody tells about something else": (
        "Since the update our shaders do not build on this GPU any more:\nLLVM ERROR: cannot select the load\n",
        "LLVM ERROR: cannot select the load",
    ),
    "an operation of another compiler's dialect, behind a name": (
        "<unknown>:0: error: loc(\"net/layer_0\"): failed to legalize operation 'tosa.variable.read'\n",
        "<unknown>:0: error: loc(\"net/layer_0\"): failed to legalize operation 'tosa.variable.read'",
    ),
    "a collective that timed out": (
        "[rank5]:[E205 05:37:45.123456789 ProcessGroupNCCL.cpp:629] [Rank 5] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=91, OpType=BROADCAST)\n",
        "[Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=91, OpType=BROADCAST)",
    ),
    "an installer": (
        "ERROR: Could not find a version that satisfies the requirement triton==9.9 (from versions: none)\n"
        "ERROR: No matching distribution found for triton==9.9\n",
        "ERROR: No matching distribution found for triton==9.9",
    ),
    "an import of something else": (
        'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n'
        "ImportError: /x/attn_cuda.so: undefined symbol: _ZN3c105ErrorC2Ev\n",
        "ImportError: attn_cuda.so: undefined symbol: _ZN3c105ErrorC2Ev",
    ),
}


@pytest.mark.parametrize("what", sorted(OTHERS))
def test_another_program_s_failure_is_named_and_blamed_on_nobody(what: str) -> None:
    log, line = OTHERS[what]
    diagnosis = triage.diagnose(log)
    assert (diagnosis.kind, diagnosis.headline) == (Kind.OTHER, line)
    assert any(note.startswith("no failure of a Triton") for note in diagnosis.notes)
    assert diagnose_text(log) is None


def test_the_same_lines_count_where_triton_ran() -> None:
    """In each of these texts a frame, a kernel or a path shows who ran the program that failed."""
    frame = '  File "/venv/lib/python3.11/site-packages/triton/backends/nvidia/compiler.py", line 380, in make_cubin\n'
    kernel = "import triton.language as tl\n\n@triton.jit\ndef k(x):\n    tl.store(x, 1)\n" + "text\n" * 20
    texts = {
        Kind.PTXAS: f"{frame}ptxas fatal   : Unresolved extern function '__nv_normf'\n",
        Kind.LAUNCH_ERROR: f"{kernel}RuntimeError: CUDA error: an illegal memory access was encountered\n",
        Kind.SEGFAULT: f"{kernel}Segmentation fault (core dumped)\n",
        Kind.ASSEMBLER: f"{frame}ld.lld: error: undefined symbol: f\n",
    }
    for kind, log in texts.items():
        diagnosis = diagnose_text(log)
        assert diagnosis is not None, kind
        assert diagnosis.kind is kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("python: /p/Utility.cpp:9: bool mlir::isMMAv5(mlir::Value): Assertion `version < 5' failed.", Kind.ASSERTION),
        (
            "unknown:0: unknown: block: [0,0,0], thread: [3,0,0] Assertion `index out of bounds: 0 <= tmp1 < 3",
            Kind.LAUNCH_ERROR,
        ),
    ],
)
def test_a_line_shows_itself_whose_it_is(line: str, kind: Kind) -> None:
    diagnosis = diagnose_text("We start the server and it ends as soon as somebody asks it something.\n" * 12 + line)
    assert diagnosis is not None
    assert diagnosis.kind is kind


def test_a_long_log_is_of_what_ran_near_the_failure() -> None:
    filler = "".join(f"[{n}/900] building part {n} of 900\n" for n in range(900))
    error = "LLVM ERROR: cannot select the load\n"
    assert diagnose_text(filler + error) is not None
    assert diagnose_text(f"{filler}$ vexc -O2 main.vex\n{error}") is None


def test_a_list_of_packages_makes_no_failure_triton_s() -> None:
    for package in ("triton-ascend==3.2.0", "| FlagTree | 0.6.0 |", "flag_gems    5.0.0"):
        assert diagnose_text("it says\n" * 12 + f"{package}\nSegmentation fault (core dumped)\n") is None


def test_a_failure_alone_is_what_was_asked_about() -> None:
    for line in (
        "Segmentation fault (core dumped)",
        "ptxas fatal   : Value 'sm_999a' is not defined for option 'gpu-name'",
    ):
        assert diagnose_text(line) is not None
    assert diagnose_text("it says\n" * 12 + "Segmentation fault (core dumped)\n") is None


def test_an_error_above_what_triton_raises_of_it_is_triton_s() -> None:
    error = "error: LLVM Translation failed for operation: builtin.unrealized_conversion_cast"
    diagnosis = diagnose_text(
        f"The test fails on that GPU:\n{error}\nRuntimeError: failed to translate module to LLVM IR\n" + "more\n" * 12
    )
    assert diagnosis is not None and error.endswith(diagnosis.headline)


def test_a_library_that_goes_on_without_triton_is_told_of_where_nothing_else_failed() -> None:
    warning = "WARNING: A matching Triton is not available.\nError caught was: No module named 'triton'\n"
    found = diagnose_any(warning)
    assert found is not None and found.kind is Kind.ENVIRONMENT
    assert "goes on without Triton" in found.notes[-1]
    assert [match.id for match in triage.match(found) if match.confidence < 0.5][:1] == ["triton-missing"]
    raised = diagnose_any("ModuleNotFoundError: No module named 'triton'\n")
    assert raised is not None and not raised.notes and triage.match(raised)[0].confidence > 0.9
    frame = 'Traceback (most recent call last):\n  File "C:\\a\\load.py", line 275, in '
    assert diagnose_text(f"{warning}{frame}load\n    open(name)\nFileNotFo") is None
    missing = f"{frame}_is_triton_available\n    import triton  # noqa\nModuleNotFoundError: No module named 'triton'\n"
    full = diagnose_any(f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 MiB.\n\n{missing}")
    assert full is not None and full.headline.startswith("OutOfMemoryError: ")
    assert all(found.confidence < 0.5 for found in triage.match(full))
    refused = "usage: train.py [-h] --model MODEL\n                [--steps STEPS]\n"
    assert diagnose_text(f"{warning}{refused}") is None
    went_on = (
        "prepare images\n0 images with repeating.\nmake buckets\nbatch_size: 1\nNo data. Please verify arguments\n"
    )
    assert diagnose_text(f"{warning}{went_on}") is None
    helped = diagnose_any(f"{warning}{refused}  -h, --help  show this help message and exit\n")
    assert helped is not None and helped.kind is Kind.ENVIRONMENT


DEVICE = (
    "/w/cutlass/subbyte.h:96: cutlass::subbyte<4>::subbyte(int): block: [26,1,0], thread: [8,10,0] Assertion "
    "`value < bound` failed.\n"
)
SEEN = (
    "python3: /w/dag.cpp:1050: engine::gen::dag_t::schedule(engine::ir::block*): Assertion `op->is_tensor()' failed.\n"
    '#2  0x00007f0e in __assert_fail_base (assertion=0x7f0c "op->is_tensor()", file=0x7f0c "/w/dag.cpp", '
    "line=1050, function=<optimized out>) at assert.c:92\n"
)
STATIC = 'inc/sm120.inl(158): error: static assertion failed with "CTA tile must have a contiguous extent."\n'


@pytest.mark.parametrize("log", [DEVICE, SEEN])
def test_an_assertion_of_another_program_s_code(log: str) -> None:
    diagnosis = diagnose_any(log)
    assert diagnosis is not None and diagnosis.kind is Kind.OTHER


def test_a_static_assertion_is_none_that_failed_as_the_compiler_ran() -> None:
    diagnosis = diagnose_any(f"[BUG] CuTe DSL: the build fails\n\n{STATIC}")
    assert diagnosis is not None and diagnosis.kind is not Kind.ASSERTION


def test_a_foreign_assertion_without_a_place_makes_no_other_failure_foreign() -> None:
    foreign = "void engine::core::Step(int): Assertion `p' failed.\n"
    diagnosis = diagnose_text(f"{foreign}\nRuntimeError: Triton Error [CUDA]: invalid argument\n")
    assert diagnosis is not None and diagnosis.kind is Kind.LAUNCH_ERROR


def test_an_error_that_processes_wrote_over_each_other_has_triton_s_words() -> None:
    garbled = 'loc("/w/k.pyloc(t"e/ntiony":110s/:w23)or: error: ksoperation scheduled before its operandsp\n'
    garbled += 'y"ps:/pi110t:_s23p)a: rerror: soperation scheduled before its operandse_\n'
    garbled += 'k.py":110:23): error: operation scheduled before its operands`\n'
    diagnosis = diagnose_text(
        f"I ran a benchmark, and it printed\n{garbled}" + "What does it mean for the results?\n" * 9
    )
    assert diagnosis is not None and diagnosis.kind is Kind.MLIR_DIAGNOSTIC


def test_what_another_program_s_compiler_says_as_it_stops_is_told_before_its_stack() -> None:
    error = "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.ldg"
    diagnosis = any_of(
        f"it says\n{error}\n0. Program arguments: llc k.ll\n #0 0x0000000002 llvm::sys::PrintStackTrace(int)\n"
        " #1 0x0000000003 llvm::report_fatal_error(llvm::Twine const&, bool) x.cpp:1:2\n"
    )
    assert (diagnosis.kind, diagnosis.headline) == (Kind.OTHER, error)


def test_the_driver_s_assembler_is_cute_dsl_s_where_that_is_named() -> None:
    error = "ptxas application ptx input, line 969; error   : Unexpected instruction types for '_mma'\n"
    diagnosis = diagnose_text(f"nvidia-cutlass-dsl==4.5.0 on sm_121a:\n{error}")
    assert diagnosis is not None and diagnosis.compiler is CUTE
    assert diagnose_text(f"our own compiler on sm_121a:\n{error}") is None


def any_of(log: str) -> Diagnosis:
    diagnosis = diagnose_any(log)
    assert diagnosis is not None
    return diagnosis


def test_a_report_of_another_process_s_failure_says_where_to_look() -> None:
    diagnosis = any_of(
        'Traceback (most recent call last):\n  File "/x/serving/client.py", line 8, in get\n    raise error\n'
        "serving.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above).\n"
    )
    assert diagnosis.kind is Kind.PYTHON_EXCEPTION
    assert "the cause is above it" in diagnosis.notes[0]
    assert all(match.confidence < 0.5 for match in triage.match(diagnosis))


@pytest.mark.parametrize(
    "log",
    [
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\nWhat is this?\n",
        'I run it\nand get the error "RuntimeError: CUDA error: an illegal memory access was encountered". Help?\n',
        "#0  0x00007ffff5bb325a in PyErr_Occurred ()\n   from /usr/lib/libpython2.7.so.1.0\n#1  0x00007fff in ?? ()\n",
        "Failed to load the layout of the panel\n" + "a line\n" * 6,
        "clang++: /src/llvm/CodeGen/Types.cpp:65: void f(): Assertion `x == y' failed.\n",
        "# [clang] Assertion `x == y' failed.\n",
        " fatal error: error in backend: Cannot select: 0x4cb5b20: f128 = bitcast 0x4ce65e0\n",
        "I0411 model_repository_manager.cc:1132] unloaded 'net'\nerror: creating server: failed to load all models\n",
    ],
)
def test_few_lines_are_not_triton_s_if_another_program_prints_them(log: str) -> None:
    assert diagnose_text(log) is None


HEALTHY = [
    "epoch 3: loss 0.12 [01:50<00:19, 1.65s/it]\nUserWarning: deprecated\n",
    "12 passed, 1 xfailed in 1.2 s\n",
    "Process completed with exit code 0.\nError: 0, warnings: 3\nno errors found\n",
    "DeprecationWarning: the argument 'device' is deprecated (ERROR in 3.0)\n",
]


@pytest.mark.parametrize("log", HEALTHY)
def test_nothing_is_found_where_nothing_failed(log: str) -> None:
    assert diagnose_any(log) is None


def test_a_text_without_its_last_line_end_is_read_whole() -> None:
    diagnosis = diagnose_text("we get\nInput shapes should have M >= 16, N >= 16 and K >= 16")
    assert diagnosis is not None


ASSEMBLED = "{program} /tmp/tmp0ab_12cd.ptx, line 31; error   : Instruction 'x.y' not supported on .target 'sm_120'\n"


@pytest.mark.parametrize("program", ["ptxas-blackwell", "ptxas"])
def test_output_and_not_prose_tells_the_compiler(program: str) -> None:
    prose = "I doubt that sm_120 has it: CuTe DSL lists the same instruction for sm_100 alone.\n\n"
    diagnosis = diagnose_text(prose + ASSEMBLED.format(program=program))
    assert diagnosis is not None and diagnosis.compiler is TRITON


def test_printed_lines_precede_sentences_as_evidence() -> None:
    stack = '  File "/x/triton/compiler/compiler.py", line 9, in compile\n'
    error = "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'\n"
    told = "This is the same as what CuTe DSL reports for our other kernel.\n"
    diagnosis = diagnose_text(told + stack + error)
    assert diagnosis is not None and diagnosis.compiler is TRITON


def test_prose_tells_the_compiler_where_nothing_printed_does() -> None:
    error = "error: failed to legalize operation 'vector.transfer_read'\n"
    diagnosis = diagnose_text(f"A kernel in CuTe DSL does not compile with the release of this week.\n\n{error}")
    assert diagnosis is not None and diagnosis.compiler is CUTE


def test_operations_of_a_vendor_s_dialect_are_triton_s() -> None:
    told = "On our cluster this happens with most of the kernels:\n"
    log = f"{told}error: triton_xpu.unpack reached lowering without a bufPtr\n"
    diagnosis = diagnose_text(log)
    assert diagnosis is not None and diagnosis.headline == "triton_xpu.unpack reached lowering without a bufPtr"
    assert diagnose_text(log.replace("triton_xpu", "triton_server")) is None


def test_the_end_of_a_process_whose_failure_is_another_program_s() -> None:
    diagnosis = diagnose_any(
        "python: Objects/methodobject.c:115: PyCFunction_Call: Assertion `!slp' failed.\nAborted\n"
    )
    assert diagnosis is not None and diagnosis.kind is Kind.OTHER


@pytest.mark.parametrize(
    "failure",
    [
        "/start.sh: line 15:   341 Segmentation fault      (core dumped) ./server --model x",
        "/aten/cuda/Indexing.cu:92: f: block: [0,0,0], thread: [32,0,0] Assertion `i < n` failed.",
        "/usr/bin/ld: cannot find -lcudart: No such file or directory\ncollect2: error: ld returned 1 exit status",
    ],
)
def test_a_list_of_packages_with_triton_makes_no_failure_triton_s(failure: str) -> None:
    assert diagnose_text(f"torch==2.6.0\ntriton==3.2.0\n\nI get this when I start training:\n\n{failure}\n") is None


SHUFFLE = "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32"
PIPELINE = "error: Failures have been detected while processing an MLIR pass pipeline"
CAST = 'Assertion `isa<To>(Val) && "cast<Ty>() argument of incompatible type!"\' failed'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            f"The benchmark of ours ends in `{SHUFFLE}\nAborted (core dumped)`.\n$ nvcc -V\n$ nvidia-smi\n",
            Kind.LLVM_FATAL,
        ),
        (f"{SHUFFLE} Aborted (core dumped)\n\nSince I have the card 'sm_120' is not known\n", Kind.LLVM_FATAL),
        (f"# {SHUFFLE}\nThis is a Tesla P40\n$ llvm-config --version\n14.0.0\n", Kind.LLVM_FATAL),
        (f"The program is written in Julia\n$ julia k.jl\n{SHUFFLE}\n", None),
        (f"I run the pass on a file of ours\n$ llc k.ll\n{SHUFFLE}\n", None),
        (f"950PR, fp8: {CAST}\nrun by the test of ours\nx = torch.rand(4)\n", Kind.ASSERTION),
        (f"950PR, fp8: {CAST}\nDTYPES = [torch.float16, torch.int8]\nby somebody in a comment\n", Kind.ASSERTION),
        (f"The build of ours with torch stops\n{CAST}\n", None),
        (f"We train it on a card of ours\ntorch.__version__ = 2.8.0\n{PIPELINE}\n\nIt is new.\n", Kind.MLIR_DIAGNOSTIC),
        (f"We lower it with torch-mlir of today\ntorch.__version__ = 2.8.0\n{PIPELINE}\n\nIt is new.\n", None),
        (f"The compiler of ours in Rust\nsays\nfor a program\n{PIPELINE}\n", None),
    ],
)
def test_what_only_triton_prints_among_programs_that_use_torch(text: str, kind: Kind | None) -> None:
    diagnosis = diagnose_text(text)
    assert (diagnosis.kind if diagnosis else None) is kind


@pytest.mark.parametrize("listed", ["- Triton: 3.5.0", "triton==3.5.0", "| triton | 3.5.0 |", "  * triton 3.5.0"])
@pytest.mark.parametrize(
    "told",
    [
        "[Question] CUDA_ERROR_INVALID_IMAGE when a cubin is loaded on H100 (TileLang, TVM)",
        "The load of the library of ours fails: cudaErrorNoKernelImageForDevice",
        "Compiling the extension of ours hangs for hours on this machine",
    ],
)
def test_a_list_of_packages_with_triton_makes_nothing_told_triton_s(told: str, listed: str) -> None:
    assert diagnose_text(f"{told}\n\n- GPU: H100\n{listed}\n\nIt happens with every model.\n") is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "t.py::test_a[4] <unknown>:0: error: 'arith.addi' op not assigned a pipeline stage\n" * 12,
            "mlir-diagnostic",
        ),
        ("[gw1] k.py:3:4: error: 'tt.load' op not assigned a pipeline stage\n", "mlir-diagnostic"),
        (
            "The kernels of our Triton extension do not compile:\n\n```\nLLVM Translation failed for operation: "
            "builtin.unrealized_conversion_cast\n```\n\nThe service does not start.",
            "mlir-diagnostic",
        ),
        ("Our triton port says `LLVM Translation failed for operation: tt.load` and goes on.", "mlir-diagnostic"),
        (
            "With CuTe DSL the process reports:\n\nCUDA Dialect Assertion failed on CUDA error:\n"
            "cudaErrorInvalidValue - invalid argument\n\nFatal Python error: Aborted\n",
            "launch-error",
        ),
        (
            "# '.bf16' is refused\n\nI run it on an old card.\n"
            "ptxas /tmp/compile-ptx-src-b5bf24, line 3; error   : Feature '.bf16' requires .target sm_80 or higher\n",
            "ptxas",
        ),
        ("On Triton:\nhipErrorInvalidValue - invalid argument\nAborted (core dumped)\n", "launch-error"),
    ],
)
def test_words_that_are_a_compile_s(text: str, kind: str) -> None:
    diagnosis = diagnose_any(text)
    assert diagnosis is not None and diagnosis.kind.value == kind


def test_inductor_without_triton() -> None:
    ends = "terminate called after throwing an instance of 'PlanException'\n  what():  no plan for this graph\n"
    raised = "torch._inductor.exc.InductorError: CalledProcessError: Command ['planner', '-d'] died with SIGABRT\n"
    assert diagnose_text(f"{ends}{raised}") is None
    of_triton = diagnose_text(f"{ends}{raised}\nWhat do the Triton kernels do?\n")
    assert of_triton is not None
    assert of_triton.kind is Kind.ABORT


def test_another_module_s_name_begins_with_triton_s() -> None:
    module = "partially initialized module '{}' has no attribute 'logging' (most likely due to a circular import)"
    for name, is_known in (("triton", True), ("tritondse", False)):
        diagnosis = diagnose_text(f"AttributeError: {module.format(name)}\n")
        assert diagnosis is not None
        assert any(found.id == "triton-shadowed" for found in triage.match(diagnosis)) is is_known


def test_an_assertion_that_a_sentence_quotes_of_another_library() -> None:
    asserted = (
        "demo: /r/gen/codegen.hpp:322: const string& engine::gen::crd_t::at(int) const: Assertion `i < n' failed."
    )
    diagnosis = diagnose_any(f"# Wrong result with torch\n\nIt ends with an error ``{asserted}`` on this model:\n")
    assert diagnosis is not None and diagnosis.kind is Kind.OTHER


def test_an_extension_s_source_in_the_failing_line() -> None:
    diagnosis = diagnose_any(
        "CUDA Error: no kernel image is available for execution on the device csrc/norm/fwd_kernels.cuh 236\n\n"
        "That extension is old, use the triton version.\n"
    )
    assert diagnosis is not None and diagnosis.kind is Kind.OTHER


def test_a_header_that_a_kernel_of_cuda_c_includes() -> None:
    report = (
        "The extension does not build, and its triton path is slow here.\n\n"
        "In file included from {source}:9:\n"
        "/w/ext/gemm.h:12:10: fatal error: tiles/gemm.h: No such file or directory\n"
        '   12 | #include "tiles/gemm.h"\n      |          ^~~~~~~~~~~~~~\ncompilation terminated.\n'
    )
    built = diagnose_any(report.format(source="/w/ext/forward.cu"))
    assert built is not None and built.kind is Kind.OTHER
    launcher = diagnose_any(report.format(source="/tmp/tmpa1b2c3d4/main.c"))
    assert launcher is not None and launcher.kind is Kind.ENVIRONMENT


def test_a_target_that_make_builds() -> None:
    linked = diagnose_any(
        "I build a server of models here.\n\n/usr/bin/ld: cannot find -lcuda: No such file or directory\n"
        "collect2: error: ld returned 1 exit status\nmake[1]: *** [Makefile:763: main] Error 1\n"
    )
    assert linked is not None and linked.kind is Kind.OTHER


def test_the_modules_that_are_loaded_make_no_crash_triton_s() -> None:
    crash = "Segmentation fault in torch.distributed.all_reduce of 16 cards\n\n"
    modules = "torch._C, numpy.random._common, zmq.backend.cython._zmq, uvloop.loop, ray._raylet, cuda_utils, {}\n"
    listed = f"Extension modules: {modules.format('__triton_launcher (total: 7)')}"
    foreign = diagnose_any(crash + listed + "\n### Reproduction\n\nstart the server on each node\n")
    assert foreign is None or foreign.kind is Kind.OTHER
    assert diagnose_text(f"{crash}{listed}\nThe model has triton kernels.\n") is not None


LOADED = (
    "Traceback (most recent call last):\n"
    '  File "/p/site-packages/chat_cpp/native.py", line 70, in _load\n    return ctypes.CDLL(path)\n'
    "OSError: libcuda.so.1: cannot open shared object file: No such file or directory\n\n"
    "During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
    '  File "/w/main.py", line 5, in <module>\n    from chat_cpp import Chat\n'
    "RuntimeError: Failed to load shared library '/p/libchat.so'\n"
)
LINKED = (
    "gcc -o node node.o util.o -lm -lcuda\n/usr/bin/ld: cannot find -lcuda: No such file or directory\n"
    "collect2: error: ld returned 1 exit status\nerror: could not compile `node`\n"
)
SERIALIZED = (
    "ptxas /tmp/mlir-gpumodname-nvptx64-nvidia-cuda-sm_90-b70e21.ptx, line 5; fatal   : Unsupported .version 8.6; "
    "current version is '8.4'\nerror: An error happened while serializing the module.\n"
)


@pytest.mark.parametrize(
    "log",
    [
        f"Docker: chat_cpp libcuda.so.1: cannot open shared object file: No such file or directory\n\n{LOADED}",
        f"I build the node of my miner like that:\n\n{LINKED}",
        LINKED + "make[1]: Leaving directory '/w/node'\n",
        SERIALIZED * 3,
    ],
)
def test_any_program_is_compiled_linked_and_loaded(log: str) -> None:
    diagnosis = diagnose_any(log)
    assert diagnosis is not None and diagnosis.kind is Kind.OTHER
    assert all(found.confidence < 0.5 for found in triage.match(diagnosis))
    named = diagnose_any(f"My triton kernel is launched here:\n\n{LINKED}")
    assert named is not None and named.kind is Kind.ENVIRONMENT


def test_progress_below_a_warning_is_no_failure() -> None:
    warned = "A matching Triton is not available.\nError caught was: No module named 'triton'\n"
    bar = "steps:   3%|██      | 96/3200 [01:02<33:41,  1.54it/s, loss=0.09]\n"
    assert diagnose_text(f"{bar}{warned}") is not None
    assert diagnose_text(f"{warned}{bar}epoch 2/10\n") is None


def test_a_server_that_disables_triton_goes_on() -> None:
    logged = "INFO 06-21 10:15:3{} [importing.py:{}] {}\n"
    disabled = logged.format(1, 43, "Triton is installed but 0 active driver(s) found. Disabling Triton to go on.")
    others = "".join(logged.format(n, n, text) for n, text in enumerate(("Platform cpu", "Port 80") * 3))
    assert diagnose_text(disabled + others) is None
    assert diagnose_text("RuntimeError: 0 active drivers ([]). There should only be one.\n" + others) is not None


@pytest.mark.parametrize(
    ("source", "is_launcher"),
    [
        ("/tmp/tmpa1b2c3d4/main.c", True),
        ("C:\\Users\\a\\AppData\\Local\\Temp\\tmpa1b2c3d4\\cuda_utils.c", True),
        ("/usr/include/python3.11/pyconfig.h", True),
        ("/w/ext/csrc/forward_kernel.h", False),
        ("build ends in /w/ext/csrc/forward_kernel.cc", False),
    ],
)
def test_a_header_is_missing_in_a_source_that_has_a_place(source: str, is_launcher: bool) -> None:
    error = f"{source}:7:10: fatal error: tiles/copy.h: No such file or directory\n"
    diagnosis = diagnose_any(f"With triton 2.0 and torch 2.0 I see:\n\n{error}")
    assert diagnosis is not None and (diagnosis.kind is Kind.ENVIRONMENT) is is_launcher


def test_an_environment_that_is_named_after_triton() -> None:
    raised = "AttributeError: 'DeepSpeedCPUAdam' object has no attribute 'ds_opt_adam'\n"
    built = (
        "[3/4] c++ -isystem /home/a/triton-env/lib/python3.11/site-packages/torch/include -std=c++17 -c adam_impl.cpp\n"
    )
    diagnosis = diagnose_any(f"{raised}\n{built}ninja: build stopped: subcommand failed.\n")
    assert diagnosis is not None and all(found.confidence < 0.5 for found in triage.match(diagnosis))


def test_what_reports_the_error_of_another_program_is_its_too() -> None:
    built = (
        "  [3/9] nvcc -c csrc/reduce.cu -o reduce.o\n"
        "  ptxas /tmp/tmpxft_0b1f_6_reduce.ptx, line 1180; error   : Feature '.x' requires .target sm_80\n"
        "  ptxas fatal   : Ptx assembly aborted due to errors\nSuccessfully built einops triton-utils\n"
    )
    imported = (
        "$ x-compile attn.mlir -o attn.vmfb\n"
        "attn.mlir:61:11: error: failed to legalize operation 'torch.aten.dot' that was explicitly marked illegal\n"
        "attn.mlir:3:3: error: Failures have been detected while processing an MLIR pass pipeline\n"
        "I do not go back to our Triton code for that.\n"
    )
    for log in (built, imported):
        diagnosis = diagnose_any(log)
        assert diagnosis is not None and diagnosis.kind is Kind.OTHER
    own = diagnose_any(built.replace("tmpxft_0b1f_6_reduce", "tmpa1b2c3d4"))
    assert own is not None and own.kind is Kind.PTXAS
