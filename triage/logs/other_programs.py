"""Signs that a text is about another program, where nothing in it shows Triton, Gluon or CuTe DSL.

No names of programs but of two others that are named Triton, and of Python packages that contain LLVM: somebody writes
about something else, another program than Python ran, a symbol or an operation is none that a kernel has.
"""

import re
from collections.abc import Iterable, Sequence

from triage.logs.patterns import regex
from triage.model.diagnosis import Diagnosis, Kind

# The inference server, and the library for binary analysis.
_OTHER_TRITONS = regex(
    r"(?i:triton[-_ ]?(?:inference[-_ ]?)?(?:server|client)|tritonbackend|triton_python_backend)"
    r"|libtriton_\w{2,40}\.so|\bmodel_repository|JonathanSalwan|TritonContext|pythonBindings|PIN_BIN_PATH|\bARCH\.X86"
    r"|triton::(?:backend|client|common|core|server|API|arch|engines|ast)"
)
# What ran, where Triton has no program but Python: a prompt with another program, LLVM's line about its own, the name
# of a program before what it says of its source. The parts of LLVM that are no part of Triton. How clang begins LLVM's
# errors, and a tag of its issues. Functions of C++, sources in other languages, CPUs, what nvcc calls its files, and
# what a package's build ends in. What runs passes of MLIR, attributes of dialects that no kernel passes through, and
# what a shell says that it ran. nvcc and what ninja says of a build, and where a program that failed wants to have that
# reported.
_RAN = regex(
    r"^\s*\$ (?:\./(?!\S{0,100}(?:python|triton|\.sh\b|\.py\b))[\w.-]{1,100}(?:\s|$)"
    r"|(?!\w{1,40}=|python|pytest|torchrun|accelerate|TRITON|\.{0,2}/"
    r"|(?:nvidia|rocm)-smi|nvcc (?:-V|--version)|\S{1,40} --version)[\w./-]{2})"
    r"|[/\\](?:clang|clang-tools-extra|flang|lldb|bolt|polly|openmp|libcxx|compiler-rt)"
    r"[/\\](?:lib|include|tools|source|runtime)[/\\]"
    r"|Program arguments: (?!\S{0,300}(?:python|pytest|triton))"
    r"|^\s{0,3}(?!python|pytest|pt_|File: )\w[\w.+-]{1,40}: \S{1,400}\.(?:cpp|hpp|h|c|cc|inc)\b"
    r"|\berror in backend: (?!Cannot select: intrinsic %llvm\.(?:nvvm|amdgcn))|^\[(?:clang|flang)\]"
    r"|(?<!\w)_Z[A-Z\d](?!\w{0,200}(?:4mlir|6triton))|\w\.(?:cuh?|cl|hip|f90|rs|ll|bc|mojo|swift|jl)\b(?!\.(?!o\b))"
    r"|%llvm\.(?:x86|aarch64|arm|riscv|ppc|wasm|mips|s390|loongarch|hexagon|bpf)\."
    r"|\d\s{1,8}(?:Segmentation fault|Aborted|Killed)\s{2,20}(?:\(core dumped\)\s{1,4})?"
    r"(?!\(|\S{0,200}(?:py|torchrun|accelerate|deepspeed|triton|ptxas|sh\b|srun|mpirun|env\b))\S"
    r"|\btmpxft_|\bcommand '\S{1,80}' failed\b"
    r"|(?<![\w/-])(?!triton)[a-z][a-z-]{1,30}-opt(?=[ `]|$)"
    r"|[#!](?:hal|spirv|spv|stablehlo|mhlo|torch|tosa|util|flow)\.[a-z]"
    r"|\bnvcc(?:\.exe)?\"? -(?!V\b|-version\b)|^FAILED: \S{1,300}\.o\b"
    r"|(?:[Rr]eport|[Ss]ubmit|[Ff]ile) .{0,60}github\.com/(?!triton-lang|openai|llvm|pytorch|intel|ROCm|NVIDIA)"
)
# make and cmake build packages, and say which of their targets failed; Triton compiles its launcher without them.
_BUILT = regex(
    r"\bmake (?:-j|install\b)|\bmake(?:\[\d{1,2}\])?: \*\*\* \[.{1,300}\] Error \d|\bcmake (?:--build|-[BDGS])"
    r"|^\[ {0,2}\d{1,3}%\] (?:Building|Linking|Built)"
)
_PLAIN = regex(r"\b[A-Za-z][a-z]{1,30}\b")
# Words that only sentences and their parts have.
_JOINING = regex(
    r"(?:^|[\s(])(?:the|an?|is|was|for|with|when|while|from|of|on|by|at|it|my|our|we|I|to|in|this|and|as)(?= )",
    re.IGNORECASE,
)
_FEWEST_WORDS = 3
# A line of a program, not of a sentence.
_OF_TORCH = regex(r"(?:=|\(|\[|, |^import |^from ) ?torch(?:\.[a-z]|$)|^torch(?:\.__version__|\.version\.\w{1,9}|==)")
_PIPELINE = "while processing an MLIR pass pipeline"
# Where a logger or a traceback of Python was called, and where its packages are.
_OF_PYTHON = regex(
    r"\[\w{1,60}\.py:\d{1,6}\]|\.py\", line \d|[/\\](?:site|dist)-packages[/\\]"
    r"|(?<![\w.])(?:[A-Z][a-z]{1,20}){1,4}Error(?:: |\(['\"])"
)
_WITH_LLVM = regex(
    r"(?<![a-z])(?:numba|llvmlite|jax(?:lib)?|tvm|taichi|iree|torch[-_]mlir|tensorflow|halide|dace|pocl)(?![a-z])",
    re.IGNORECASE,
)
_COMPARED = 60
"""Characters that tell a message from others."""
# Of a report, a traceback, a stack or a dump, which may have sentences.
_OF_REPORTS = regex(
    r"^(?:    |\s{0,3}(?:File \"|#\d|\*? ?(?:frame|thread) #\d|(?:PC: )?@ {1,12}0x|0x|\d{1,4}\. ?\s|\d{1,6} \||PLEASE"
    r"|; \*\*\*|//|Traceback|During handling of|\w{0,40}[Ww]arning: ))"
    r"|\bRunning pass '|^The above exception"
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
#: The dialects that kernels of Triton, Gluon and CuTe DSL pass through, then those of vendors' back ends; their others
#: are named `triton_xpu` and the like.
_DIALECTS = frozenset(
    (
        "tt", "ttg", "ttng", "triton_gpu", "triton_nvidia_gpu", "amdg", "amdgpu", "nvg", "nvws", "nvgpu", "nvvm",
        "rocdl", "proton", "gluon", "cute", "cute_nvgpu", "cutlass", "lir", "arith", "math", "scf", "cf", "func",
        "llvm", "ub", "builtin", "ttig", "triton_gen", "triton_intel_gpu", "xevm", "tle", "hivm", "hfusion",
    )
)  # fmt: skip
_OPERATION = regex(
    r"(?:^(?:loc\(.{1,300}?\): )?|failed to legalize operation )"
    r"'(?P<dialect>[a-z]\w{0,40})\.[a-z][\w.]{0,60}'(?: op\b| that was|\.?$)"
)


def are_other_tritons(lines: Iterable[str]) -> bool:
    """True for a text about the inference server or the library for binary analysis that are named Triton."""
    return any(map(_OTHER_TRITONS.search, lines))


def has_run(line: str) -> bool:
    """True for a line that shows that another program ran."""
    return _RAN.search(line) is not None or is_of_a_build(line)


def is_of_a_build(line: str) -> bool:
    """True for a line of a build by make or cmake, or for its command."""
    return _BUILT.search(line) is not None


def has_sentences(lines: Iterable[str], messages: Sequence[str] = ()) -> bool:
    """True if any line is a sentence that is not part of the failures' messages.

    Only called for texts that name none of the supported compilers: a sentence in them is about something else.
    """
    stated = [(message, message.partition("\n")[0][:_COMPARED]) for message in messages]
    return any(
        is_sentence(line) and not any(first in line or line.strip()[:_COMPARED] in message for message, first in stated)
        for line in lines
    )


def is_of_python(lines: Sequence[str]) -> bool:
    """True for a text with output of a Python program: a frame, a path of a package, an exception; not where it names
    a package that contains LLVM."""
    return any(map(_OF_PYTHON.search, lines)) and not any(map(_WITH_LLVM.search, lines))


def is_of_torch(diagnosis: Diagnosis, whole: Sequence[str]) -> bool:
    """True for what only Triton prints among programs that use PyTorch: an assertion beside their code, a pipeline of
    MLIR's passes that failed, a shuffle between the lanes of a warp, as reductions have it, that LLVM does not know,
    and any error that LLVM stops a Python program with."""
    if diagnosis.kind is Kind.LLVM_FATAL:
        return "%llvm.nvvm.shfl.sync.bfly" in diagnosis.message or is_of_python(whole)
    is_pipeline = diagnosis.kind is Kind.MLIR_DIAGNOSTIC and _PIPELINE in diagnosis.message
    if is_pipeline and any(map(_WITH_LLVM.search, whole)):
        return False
    return (is_pipeline or diagnosis.kind is Kind.ASSERTION) and any(map(_OF_TORCH.search, whole))


def is_sentence(line: str) -> bool:
    """True for a sentence or a part of one."""
    words = _JOINING.search(line) is not None and len(_PLAIN.findall(line)) >= _FEWEST_WORDS
    return words and _OF_REPORTS.search(line) is None


_CUTE_PACKAGE = regex(r"\bcutlass[-_]dsl\b|\bcute[ -]?(?:python )?DSL\b", re.IGNORECASE)


def names_cute(line: str) -> bool:
    """True for a line that names CuTe DSL."""
    return _CUTE_PACKAGE.search(line) is not None


def is_of_cute(diagnosis: Diagnosis, whole: Sequence[str]) -> bool:
    """True for an error of the driver's assembler in a text that names CuTe DSL, which has the driver assemble PTX."""
    return is_of_the_driver(diagnosis) and any(map(names_cute, whole))


def is_of_the_driver(diagnosis: Diagnosis) -> bool:
    """True for an error of the assembler in the driver, which other programs have assemble PTX."""
    return diagnosis.kind is Kind.PTXAS and _OF_DRIVER in diagnosis.message


# On the device, in a kernel of C++; Triton's have the file of the kernel.
_ON_DEVICE = regex(r"\.(?:cuh?|h|hpp|inl|cpp|cc):\d{1,7}: .{1,2000}: block: \[")


def is_of_another_library(diagnosis: Diagnosis) -> bool:
    """True for an assertion in C, in a C++ namespace that is none of the compiler's, or in a kernel of C++."""
    if diagnosis.kind is Kind.ASSERTION and _ON_DEVICE.search(diagnosis.message):
        return True
    if diagnosis.kind is not Kind.ASSERTION or _OWN_SPACE.search(diagnosis.message):
        return False
    return (diagnosis.file or "").endswith(".c") or _OTHER_SPACE.search(diagnosis.message) is not None


_CUDA_CPP = regex(r"\w\.cuh?\b(?!\.)")


def names_cpp(line: str) -> bool:
    """True for a line with a file of CUDA C++, whose kernels are an extension's."""
    return _CUDA_CPP.search(line) is not None


# As compilers of C++ spell a function; Triton's and CuTe DSL's kernels keep their names.
_MANGLED = regex(r"(?<![\w@])_Z(?:N|\d)\w")
_OF_A_FUNCTION = frozenset({Kind.PTXAS, Kind.ASSEMBLER, Kind.LLVM_DIAGNOSTIC})


def is_about_cpp(diagnosis: Diagnosis) -> bool:
    """True for an error of the code generator's or an assembler's about a function of C++."""
    return diagnosis.kind in _OF_A_FUNCTION and _MANGLED.search(diagnosis.message[:1000]) is not None


# Terms of the compiler's, in an error that names neither file nor line.
_TERM = regex(
    r"'[a-z]\w{0,20}\.[a-z][\w.]{0,60}'|\b(?:MLIR|layout|encoding|MMA|mma|intrinsic|memdesc|tensor|operand|legaliz|pass"
    r"|shared memory|warps?|descriptor|block|kernel|conver(?:t|sion)|swizzl\w*|pipelin\w*|stages?|partition\w*"
    r"|allocation|elements)",
)


def is_without_terms(diagnosis: Diagnosis) -> bool:
    """True for a line `error: …` that any program may print."""
    bare = diagnosis.kind is Kind.MLIR_DIAGNOSTIC and diagnosis.source is None
    return bare and _TERM.search(diagnosis.headline) is None


def is_of_kernels(dialect: str) -> bool:
    """True for a dialect that kernels of Triton, Gluon or CuTe DSL pass through, a vendor's back end included."""
    return dialect in _DIALECTS or dialect.startswith("triton_")


def is_about_another_dialect(diagnosis: Diagnosis) -> bool:
    """True for an error about an operation of a dialect that no kernel of Triton's or CuTe's passes through."""
    if diagnosis.kind not in (Kind.MLIR_DIAGNOSTIC, Kind.PYTHON_EXCEPTION):
        return False
    operation = _OPERATION.search(diagnosis.headline[:1000])
    return operation is not None and not is_of_kernels(operation["dialect"])
