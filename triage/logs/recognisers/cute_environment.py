"""CuTe DSL compiled a kernel and cannot load it on this machine: nothing is wrong with the kernel.

Until release 4.4 its JIT engine needs the CUDA driver for that, where there is a GPU or not:
``JIT session error: Symbols not found: [ cuFuncSetAttribute, cuLaunchKernel ]`` (4.2), then ``RuntimeError: Unknown
function cutlass_host_…``; ``DSLRuntimeError: 🧊🧊🧊 ICE 🧊🧊🧊`` around ``CudaDriverDependencyError`` (4.3 and 4.4).
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.compilers import CUTE
from triage.model.diagnosis import Kind

_NO_DRIVER = "CuTe DSL does not find the CUDA driver (libcuda), which it needs to load what it compiled"
_NO_LIBRARY = "CuTe DSL does not find its runtime library (CUTE_DSL_LIBS)"
#: What a line says, and the headline.
_STATED = (
    (
        # The library's wrappers of the driver's functions begin with an underscore.
        regex(r"JIT session error: Symbols not found: \[(?: ?_cu(?:da)?[A-Z]|[^\]]{0,2000}\bcuda_dialect_)"),
        f"{_NO_LIBRARY}, or another library is in its place",
    ),
    (regex(r"JIT session error: Symbols not found: \[ ?cu(?:da)?[A-Z]"), _NO_DRIVER),
    (regex(r"CudaDriverDependencyError|CUDA Driver Dependency Error"), _NO_DRIVER),
    (regex(r'DynamicLibNotFoundError: "cuda" is an NVIDIA driver library'), _NO_DRIVER),
)
# A consequence of the first two.
_UNKNOWN_FUNCTION = regex(r"RuntimeError: Unknown function (?:cutlass|_mlir)_\w")
#: The frame in which the DSL looks for the files that CUTE_DSL_LIBS names.
_OF_LIBRARIES = ", in get_shared_libs"
_EXCEPTION = regex(r"(?:[\w.]{1,200}\.)?(?P<name>[A-Z]\w{2,60}Error): ")


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if line.startswith(("raise ", "File ")):
        return None
    stated = _EXCEPTION.match(line)
    exception = stated["name"] if stated else None
    if _UNKNOWN_FUNCTION.search(line):
        headline = "CuTe DSL could not load what it compiled; a line above says why"
        return finding(
            window, Kind.ENVIRONMENT, headline, line, Specificity.EXCEPTION, exception=exception, stage="load"
        )
    if line.startswith("FileNotFoundError: ") and any(_OF_LIBRARIES in above for above in window.before):
        return finding(window, Kind.ENVIRONMENT, f"{_NO_LIBRARY}: {line}", line, exception=exception, stage="load")
    for pattern, headline in _STATED:
        if pattern.search(line):
            return finding(window, Kind.ENVIRONMENT, headline, line, exception=exception, stage="load")
    return None


RECOGNISER = Recogniser(
    anchors=(
        "JIT session error",
        "Driver Dependency Error",
        "DriverDependencyError",
        "DynamicLibNotFound",
        "Unknown function ",
        "FileNotFoundError: ",
    ),
    read=_read,
    examples=dict.fromkeys(
        (
            "JIT session error: Symbols not found: [ cuFuncSetAttribute, cuLaunchKernel ]",
            "JIT session error: Symbols not found: [ cuda_dialect_init_library_once, _cudaGetDevice ]",
            "base_dsl.common.CudaDriverDependencyError: CudaDriverDependencyError: CUDA Driver Dependency Error",
            "JIT session error: Symbols not found: [ _cuKernelGetAttribute, _cudaGetDevice ]",
            "RuntimeError: Unknown function cutlass_host_Tensorgmemo1281",
        ),
        Kind.ENVIRONMENT,
    ),
    compiler=CUTE,
)
