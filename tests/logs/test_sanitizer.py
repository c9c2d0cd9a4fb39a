"""What NVIDIA's compute-sanitizer reports of a kernel."""

from __future__ import annotations

import pytest

from triage import match
from triage.logs import diagnose_text
from triage.model.diagnosis import Kind

FRAMES = (
    "at 0xda0 in /u/moe/fused_moe.py:175:fused_moe_kernel",
    "at fused_moe_kernel+0xda0 in /u/moe/fused_moe.py:175",
)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("access", "address", "entry"),
    [
        (
            "Invalid __global__ read of size 16 bytes",
            "Address 0x763995f9f000 is out of bounds",
            "illegal-memory-access",
        ),
        ("Invalid __global__ write of size 8 bytes", "Address 0x763995f9f004 is misaligned", "misaligned-address"),
    ],
)
def test_the_line_of_the_kernel_and_the_address(frame: str, access: str, address: str, entry: str) -> None:
    report = (
        access,
        f"    {frame}",
        "    by thread (96,0,0) in block (44,0,0)",
        f"    {address}",
        "    Saved host backtrace",
    )
    diagnosis = diagnose_text("".join(f"========= {line}\n" for line in report))
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.kind, diagnosis.function) == (Kind.LAUNCH_ERROR, "fused_moe_kernel")
    assert (diagnosis.source.file, diagnosis.source.line) == ("/u/moe/fused_moe.py", 175)
    assert access in diagnosis.headline
    assert entry in [found.id for found in match(diagnosis)[:2]]


def test_a_kernel_of_cuda_cpp_is_an_extension_s() -> None:
    report = (
        "========= Invalid __global__ read of size 4 bytes\n=========     at add(float*)+0xa0 in /u/csrc/add.cu:12\n"
    )
    assert diagnose_text(report) is None
