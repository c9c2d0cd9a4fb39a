"""Words of other programs, about their own work, in lines that a compile with Triton may print as well.

Builds with nvcc, the inference server and the library for binary analysis that are named Triton, other compilers on
LLVM and MLIR, other libraries for GPUs.
"""

import re
from collections.abc import Sequence

from triage.logs.patterns import regex
from triage.model.diagnosis import Diagnosis, Kind

_WORDS = regex(
    # builds
    r"\bnvcc\b(?!:)|\bhipcc\b|--offload-arch|\.cuh?\b"
    r"|\btmpxft_|\bninja: |CMakeFiles|CMake Error|\bcmake --build"
    r"|\bmake(?:\[\d\])?: \*\*\*|running build_ext|\bsetup\.py|linker command failed|\bcrt1\.o|collect2: error"
    r"|\bclang(?:\+\+)?(?:-\d\d)?: error"
    # the inference server, and the library for binary analysis, that are named Triton
    r"|tritonserver|tritonclient|Triton Inference Server|TRITONSERVER|TRITONBACKEND|triton_python_backend"
    r"|libtriton_\w{2,40}\.so|\bmodel_repository"
    r"|\[TensorRT|tensorrt_llm::|JonathanSalwan|TritonContext|pythonBindings|PIN_BIN_PATH|\bARCH\.X86"
    r"|triton::(?:backend|core|server|API|arch|engines|ast)"
    # other users of LLVM
    r"|Program arguments: (?:\S{0,300}/)?(?:llc|opt|clang|flang|rustc|(?:llvm|mlir)-\w{2,20})\b"
    r"|\bmlir-opt\b|\b[Nn]umba\b(?!=)|\bllvmlite\."
    r"|\bclang(?:\+\+|-\d\d)?: /|\[clang\]|\bclang crash|\bclang::"
    r"|\b(?:llc|flang(?:-new)?) (?:-|\S{1,200}\.ll\b)|^(?:llc|opt): \S{1,300}:\d{1,6}: "
    r"|\bld-temp\.o\b|/lld\+0x"
    r"|error in backend: (?!Cannot select: intrinsic %llvm\.(?:nvvm|amdgcn))"
    r"|Cannot select: intrinsic %llvm\.(?:x86|aarch64|arm|riscv|ppc|wasm|mips|s390|loongarch|hexagon)\."
    r"|-fsycl|\bcomgr[-_]|\bopencl\b|\bOpenCL\b|\bclBuild|OPENCL_COMPILER"
    r"|\bbpftrace\b|\brustc\b|\bcargo\b|\bswiftc?\b|\bjulia\b|\bvmlinux|llama\.cpp|\bggml"
    r"|>>> referenced by \S{1,200}\.(?:c|cc|cpp|cu|hip)\b"
    r"|\bnvJitLinkError|NVJITLINK_ERROR|libnvidia-ptxjitcompiler|\bterminated program cc1|\btoyc-ch\d"
    # CUTLASS in C++
    r"|\bcutlass/\S{1,200}\.(?:hpp|inl)\b|\bCUTLASS C\+\+"
    # other users of MLIR
    r"|\biree[-_]|\biree\b|\btorch[-_]mlir\b|\b(?:onnx|tpu|circt|mlir|stablehlo|flang|fir|hlo)-(?:mlir|opt|translate)\b"
    r"|external/(?:xla|org_tensorflow)/|\bxla::(?!gpu::triton)|\btvm::|\btilelang[./]|\bmojo (?:run|build)\b"
)
# Names of other languages and compilers for GPUs, of their libraries, and of programs with kernels of their own.
_NAMES = regex(
    # languages and their compilers
    r"\b[Mm]ojo\b|\.mojo\b|\bmodular(?:ml)?/|\b(?:jax|jaxlib|XLA|TVM|tvm|tilelang|TileLang|Halide|taichi|Taichi)\b"
    r"|\bwarp as wp\b|\bwp\.(?:kernel|launch)|\b[Nn]umba\b|@cuda\.jit\b|\bcupy\b|\bpycuda\b|\bCUDA\.jl\b|\bJulia\b"
    r"|\b[Rr]ust\b|\bnvfortran\b|\bnvc\+\+|\bnvrtc|\bNVRTC|\bSYCL\b|\bhipSYCL\b|\bAdaptiveCpp\b|\bacpp\b|\b(?:pocl|PoCL)\b"
    r"|\bHIPRTC\b|\bOpenMP\b|\bOpenACC\b|\bKokkos\b|\bEnzyme\b|\btinygrad\b|\bclang(?:\+\+)? (?:version )?\d{1,2}\b"
    r"|\bllc (?:on|with|for|from)\b|\bmlir-(?:opt|translate|cpu-runner)\b|\bIn function: _Z"
    r"|\bflang\b|\bHLSL\b|\bDXIL\b|\b[Zz]ig\b|\bGLSL\b"
    # libraries and programs
    r"|\bVulkan\b|\bMetal\b|\bOptiX\b|\b[Oo]llama\b|\bllama[-_.]cpp|\bonnxruntime\b|\btensorflow\b|\bTensorFlow\b"
    r"|\bTensorRT\b|\beBPF\b|\b[Bb]lender\b|\bllvm-project-rocm\b|\bGROMACS\b|\bOpenCV\b|\bkernel module\b"
    # builds, and targets that no kernel has
    r"|CUDA_ARCH|\bCMAKE_|\b[Cc][Mm]ake\b|\bARM\b|\bRISC-?V\b"
)
#: What the driver calls PTX that a program gives it to assemble; Triton assembles its own in a file.
_OF_DRIVER = "ptxas application ptx input"
# Namespaces of C++ in an assertion: those of the compiler's own code, and of other libraries, whose own are nested.
_OWN_SPACE = regex(r"\b(?:mlir|llvm|triton|cutlass|cute|proton)::")
_OTHER_SPACE = regex(
    r"(?<![\w:])(?!std::|__gnu_cxx::)"
    r"(?:[a-z_]\w{1,60}::(?:[a-z_]\w{1,60}|\{anonymous\}|\(anonymous namespace\))::"
    r"|(?:at|c10|torch|nvinfer1|tvm|cv|grpc|xla|v8)::)"
)
#: The dialects that kernels of Triton, Gluon and CuTe DSL pass through, then those of vendors' back ends.
_DIALECTS = frozenset(
    (
        "tt", "ttg", "ttng", "triton_gpu", "triton_nvidia_gpu", "amdg", "amdgpu", "nvg", "nvws", "nvgpu", "nvvm",
        "rocdl", "proton", "gluon", "cute", "cute_nvgpu", "cutlass", "lir", "arith", "math", "scf", "cf", "func",
        "llvm", "ub", "builtin", "ttig", "triton_gen", "triton_intel_gpu", "xevm", "tle", "hivm", "hfusion",
    )
)  # fmt: skip
_OPERATION = regex(
    r"^(?:failed to legalize operation )?'(?P<dialect>[a-z]\w{0,40})\.[a-z][\w.]{0,60}'(?: op\b| that was|$)"
)


def names_another(line: str) -> bool:
    """True for a line that another program prints about its own work."""
    return _WORDS.search(line) is not None


# The programs whose failures are read, by their names alone.
_OURS = regex(r"\btriton\b(?!.server)|\binductor\b|\btorch\.compile\b|\bgluon\b|\bcutlass.dsl\b", re.IGNORECASE)


def is_named(line: str) -> bool:
    """True for a line with the name of another language, compiler or library for GPUs."""
    return _NAMES.search(line) is not None


def are_named(whole: Sequence[str]) -> bool:
    """True for a text that names other programs and none of those whose failures are read."""
    return any(map(is_named, whole)) and not any(map(_OURS.search, whole))


_CUTE_PACKAGE = regex(r"\bcutlass[-_]dsl\b|\bCu[Tt]e ?-?DSL\b", re.IGNORECASE)


def is_of_cute(diagnosis: Diagnosis, whole: Sequence[str]) -> bool:
    """True for an error of the driver's assembler in a text that names CuTe DSL, which has the driver assemble PTX."""
    return is_of_the_driver(diagnosis) and any(map(_CUTE_PACKAGE.search, whole))


def is_of_the_driver(diagnosis: Diagnosis) -> bool:
    """True for an error of the assembler in the driver, which other programs have assemble PTX."""
    return diagnosis.kind is Kind.PTXAS and _OF_DRIVER in diagnosis.message


def is_of_another_library(diagnosis: Diagnosis) -> bool:
    """True for an assertion in C, or in a C++ namespace that is none of the compiler's."""
    if diagnosis.kind is not Kind.ASSERTION or _OWN_SPACE.search(diagnosis.message):
        return False
    return (diagnosis.file or "").endswith(".c") or _OTHER_SPACE.search(diagnosis.message) is not None


# As compilers of C++ spell a function; Triton's and CuTe DSL's kernels keep their names.
_MANGLED = regex(r"(?<![\w@])_Z(?:N|\d)\w")
_OF_A_FUNCTION = frozenset({Kind.PTXAS, Kind.ASSEMBLER, Kind.LLVM_DIAGNOSTIC})


def is_about_cpp(diagnosis: Diagnosis) -> bool:
    """True for an error of the code generator's or an assembler's about a function of C++."""
    return diagnosis.kind in _OF_A_FUNCTION and _MANGLED.search(diagnosis.message[:1000]) is not None


# Triton has no release for GPUs before Volta.
_BEFORE_TRITON = regex(r"\brequires \.target sm_[2-6]\d\b")


def is_about_an_older_gpu(diagnosis: Diagnosis) -> bool:
    """True for an error that ptxas has for GPUs alone that Triton never supported."""
    return diagnosis.kind is Kind.PTXAS and _BEFORE_TRITON.search(diagnosis.message) is not None


# Terms of the compiler's, in an error that names neither file nor line.
_TERM = regex(
    r"'[a-z]\w{0,20}\.[a-z][\w.]{0,60}'|\b(?:MLIR|layout|encoding|MMA|mma|intrinsic|memdesc|tensor|operand|legaliz|pass"
    r"|shared memory|warps?|descriptor|block|kernel|convert|swizzl\w*|pipelin\w*|stages?|partition\w*|allocation"
    r"|elements)",
)


def is_without_terms(diagnosis: Diagnosis) -> bool:
    """True for a line `error: …` that any program may print."""
    bare = diagnosis.kind is Kind.MLIR_DIAGNOSTIC and diagnosis.source is None
    return bare and _TERM.search(diagnosis.headline) is None


def is_about_another_dialect(diagnosis: Diagnosis) -> bool:
    """True for an error about an operation of a dialect that no kernel of Triton's or CuTe's passes through."""
    if diagnosis.kind is not Kind.MLIR_DIAGNOSTIC:
        return False
    operation = _OPERATION.search(diagnosis.headline[:1000])
    return operation is not None and operation["dialect"] not in _DIALECTS
