"""The driver could not load or run a kernel, or the kernel failed on the device."""

from itertools import islice

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind, SourceLocation

# HIP's goes on with `Code: 1, Messsage: invalid argument` (sic).
# People retype it without brackets: `triton error cuda device kernel image is invalid`.
_TRITON = regex(
    r"[Tt]riton [Ee]rror:? \[?(?:(?P<driver>\w{1,16})\]|(?i:cuda|hip|xpu)):? {1,4}"
    r"(?:Code: \d{1,6}, Mess{1,2}age: )?(?P<text>\S.{0,300})"
)
# Intel's back end, which prints it before an exception without words.
_INTEL = regex(
    r"Error during Intel (?:loadBinary|\w{1,40}): (ZE_\w{1,80})"
    r"|(\bZE_RESULT_ERROR_\w{1,80})"
    # of its graphics compiler
    # of its translator, whose driver is older than the module
    r"|(?<!\w)(Invalid SPIR-V module: .{0,200})"
    r"|(?<!\w)(IGC: (?:LLVM Error|Internal Compiler Error).{0,200})"
)
# Triton 1.x wrote `CUDA: Error- misaligned address`.
_RUNTIME = regex(
    r"(?:CUDA|HIP|hip)?:? ?[Ee]rror(?::|-) (?P<text>(?:an? )?(?:illegal (?:memory access|instruction|address)"
    r"|misaligned address|unspecified launch failure|device kernel image is invalid|no kernel image is available"
    r"|invalid device function|too many resources requested).{0,200})"
)
# By the name of the error, as CuTe DSL's users pass it on.
_BY_NAME = regex(
    r"(?:(?:CUDA|HIP) [Ee]rror: |^\s{0,16}(?=\w{1,60} - ))(?P<text>(?:cuda|hip)Error"
    r"(?!NoDevice|InsufficientDriver|MemoryAllocation|OutOfMemory)[A-Z]\w{3,60}.{0,200})"
)
# As CuTe DSL reports it over several lines.
_REPORTED = regex(r"\bError name: .{0,100}\bb'(?P<text>cudaError(?!NoDevice|MemoryAllocation)[A-Z]\w{3,60})'")
_LAUNCH = regex(r"\bcuLaunchKernel(?:Ex)? failed: (?P<text>\S.{3,200})")
# The ROCm runtime's, which ends the process.
_FAULT = regex(r"Memory access fault by GPU node-\d{1,3}\b.{0,300}")
# The HSA runtime's, which aborts the process, and the run-times of Ascend and MetaX, which name the kernel.
_DEVICE = regex(
    r"\bHSA_STATUS_ERROR_(?:MEMORY_APERTURE_VIOLATION|MEMORY_FAULT|ILLEGAL_INSTRUCTION|EXCEPTION): .{0,300}"
    r"|\b(?i:ai ?(?:core|vec(?:tor)?)|vector core) (?i:kernel execute failed|(?:kernel )?exception\b).{0,400}"
    r"|\b(?i:ai(?:core|vec)) error exception\b.{0,200}|\breason=\[(?:vector core|ai ?core) [\w ]{1,60}\].{0,200}"
    r"|\bACL stream synchronize failed\b.{0,200}"
    r"|\btrapping: kernelName: .{0,300}|\bmc[A-Z]\w{2,60}: Returned mcError\w{3,60}"
    r"|\bThe (?:aicore|vector core|ai ?core) execution is abnormal.{0,200}"
)
# NVIDIA's compute-sanitizer, which names the line of the kernel below.
_SANITIZED = regex(
    r"^=========\s{1,8}(?P<text>"
    r"(?:Invalid|Misaligned|Out-of-range|Uninitialized) (?:Shared|Local|__\w{1,20}__) .{0,200}"
    r"|Barrier error detected\..{0,200}|(?:Error: )?(?:Race reported|Potential \w{3} hazard).{0,200})"
)
_DEVICE_FRAME = regex(
    r"^=========\s{1,12}at (?:(?P<kernel>\w{1,200})(?:\(.{0,400}\))?\+)?0x[\da-f]{1,16} in "
    r"(?P<file>\S{1,400}):(?P<line>\d{1,7})(?::(?P<function>\w{1,200}))?"
)
_ADDRESS = regex(r"^=========\s{1,8}(?P<text>(?:Address 0x|and is ).{1,200})")
#: Follows from an assertion that the device printed.
_ASSERTED = "device-side assert triggered"
#: Errors of loading the binary; all others are of launching or running it.
_LOADING = ("device kernel image is invalid", "no kernel image", "invalid device function")


_REPORT = 6
"""Lines of the sanitizer's report that tell where, and of what address."""


def error_text(line: str) -> str | None:
    """The text of the driver's error in the line."""
    for pattern in (_TRITON, _RUNTIME, _BY_NAME, _REPORTED, _LAUNCH):
        if match := pattern.search(line):
            return match["text"].strip()
    intel = _INTEL.search(line)
    return next(filter(None, intel.groups())).strip() if intel else None


def _sanitized(window: Window, text: str) -> Finding:
    """What the sanitizer says of an access: its first frame and the address are on the lines below."""
    after = tuple(islice(window.after, _REPORT))
    frame = next(filter(None, map(_DEVICE_FRAME.match, after)), None)
    addresses = [address["text"] for address in map(_ADDRESS.match, after) if address]
    location = SourceLocation(frame["file"], int(frame["line"])) if frame else None
    return finding(
        window,
        Kind.LAUNCH_ERROR,
        f"The kernel failed on the device: {text}",
        " ".join([text, *addresses]),
        locations=(location,) if location else (),
        function=(frame["kernel"] or frame["function"]) if frame else None,
        stage="launch",
    )


def _read(window: Window) -> Finding | None:
    if sanitized := _SANITIZED.match(window.line):
        return _sanitized(window, sanitized["text"].strip())
    if fault := _FAULT.search(window.line):
        following = window.after[0].strip() if window.after and not window.line.rstrip().endswith(".") else ""
        return finding(window, Kind.LAUNCH_ERROR, f"{fault.group()} {following}".strip(), stage="launch")
    if device := _DEVICE.search(window.line):
        return finding(window, Kind.LAUNCH_ERROR, f"The kernel failed on the device: {device.group()}", stage="launch")
    error = error_text(window.line)
    if error is None:
        return None
    loading = error.startswith(_LOADING)
    headline = f"The driver could not {'load' if loading else 'run'} the kernel: {error}"
    specificity = Specificity.SYMPTOM if _ASSERTED in error else Specificity.DIAGNOSTIC
    return finding(window, Kind.LAUNCH_ERROR, headline, "", specificity, stage="load" if loading else "launch")


RECOGNISER = Recogniser(
    anchors=(
        "riton Error",
        "riton error",
        "Error during Intel",
        "ZE_RESULT_ERROR_",
        "IGC: ",
        "Invalid SPIR-V module: ",
        "cuLaunchKernel",
        "=========",
        "rror: ",
        "Error- ",
        "cudaError",
        "hipError",
        "Memory access fault",
        "HSA_STATUS_ERROR_",
        "execute failed",
        "execution is abnormal",
        "core exception",
        "error exception",
        "execution failed, reason=",
        "ACL stream synchronize",
        "trapping: kernelName",
        "Returned mcError",
    ),
    read=_read,
    examples={
        "RuntimeError: Triton Error [HIP]:  Code: 1, Messsage: invalid argument": Kind.LAUNCH_ERROR,
        "cuLaunchKernelEx failed: a kernel launch error has occurred due to cluster misconfiguration (912)": (
            Kind.LAUNCH_ERROR
        ),
        "Memory access fault by GPU node-1 on address 0x7f00. Reason: Page not present.": Kind.LAUNCH_ERROR,
        "Queue 0x7f00 aborting with error : HSA_STATUS_ERROR_MEMORY_FAULT: a page is not mapped. code: 0x2b": (
            Kind.LAUNCH_ERROR
        ),
        "Aicore kernel execute failed, device_id=0, stream_id=3, fault kernel_name=add_kernel_0": Kind.LAUNCH_ERROR,
        "mx_device.cpp :10106: trapping: kernelName: f ,commandIndex: 6 , trapType: Memory Violation(0x4)": (
            Kind.LAUNCH_ERROR
        ),
        "[MCR][E]mc_runtime_api.cpp :215 : 1960 : mcGetDevice: Returned mcErrorIllegalAddress": Kind.LAUNCH_ERROR,
        "The vector core execution is abnormal, errcode 0x1": Kind.LAUNCH_ERROR,
        "RuntimeError: IGC: LLVM Error: Diag: aborted": Kind.LAUNCH_ERROR,
        "Error during Intel loadBinary: ZE_RESULT_ERROR_INVALID_KERNEL_NAME": Kind.LAUNCH_ERROR,
        "RuntimeError: CUDA Error: cudaErrorInvalidValue": Kind.LAUNCH_ERROR,
        "cudaErrorInvalidValue - invalid argument": Kind.LAUNCH_ERROR,
        "triton error cuda: device kernel image is invalid": Kind.LAUNCH_ERROR,
        "RuntimeError: Triton Error [CUDA]: device kernel image is invalid": Kind.LAUNCH_ERROR,
        "RuntimeError: CUDA: Error- misaligned address": Kind.LAUNCH_ERROR,
        "========= Invalid __global__ read of size 16 bytes\n=========     at 0xda0 in /k.py:175:k": Kind.LAUNCH_ERROR,
        "========= Misaligned Shared or Local Address": Kind.LAUNCH_ERROR,
    },
)
