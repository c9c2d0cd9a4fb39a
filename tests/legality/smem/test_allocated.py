"""The buffers of shared memory that TTGIR allocates, and what their sizes say of a kernel that is over the limit."""

from __future__ import annotations

import pytest

from triage.legality.smem import arithmetic, buffers
from triage.model.target import Target

MODULE = """\
#shared = #ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}}>
#barrier = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#nvmma = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-warps" = 8 : i32, ttg.target = "cuda:86"}} {{
{body}
}}
"""
A = "    %a = ttg.local_alloc : () -> !ttg.memdesc<4x128x64xf16, #shared, #smem, mutable>\n"
B = "    %b = ttg.local_alloc : () -> !ttg.memdesc<4x64x128xf16, #shared, #smem, mutable>\n"
SM86 = Target.parse("cuda:86")

SIZES = {
    "stages": (A, [(4, (128, 64), 65536)]),
    "of a value": (
        "    %q = ttg.local_alloc %v : (tensor<64x32xf8E5M2, #blocked>) -> !ttg.memdesc<64x32xf8E5M2, #nvmma, #smem>",
        [(1, (64, 32), 2048)],
    ),
    "barriers": ("    %m = ttg.local_alloc : () -> !ttg.memdesc<3xi64, #barrier, #smem, mutable>", [(1, (3,), 24)]),
    "booleans": ("    %m = ttg.local_alloc : () -> !ttg.memdesc<2x16x16xi1, #shared, #smem>", [(2, (16, 16), 512)]),
}


@pytest.mark.parametrize(("body", "expected"), SIZES.values(), ids=SIZES.keys())
def test_a_buffer_has_its_stages_its_shape_and_its_bytes(
    body: str, expected: list[tuple[int, tuple[int, ...], int]]
) -> None:
    found = buffers(MODULE.format(body=body))
    assert [(buffer.count, buffer.shape, buffer.bytes) for buffer in found] == expected


def test_what_is_required_is_the_sum_of_the_buffers() -> None:
    listed, fewer, command = arithmetic(MODULE.format(body=A + B), 131072, 101376, 5, SM86, "3.9.0")
    assert listed == "shared memory: 4 x 128x64 f16 (65536 B), 4 x 64x128 f16 (65536 B) of 131072 B"
    assert fewer == "a stage takes 32768 B: num_stages lower by 1 needs 98304 of 101376 B"
    assert command.endswith("--target cuda:86 --tile 128x128x64 --dtype fp16 --stages 5 --num-warps 8")


def test_what_the_buffers_leave_is_named() -> None:
    scratch, *_ = arithmetic(MODULE.format(body=A), 70000, 65536, 5, SM86, None)
    assert scratch.endswith("of 70000 B; the other 4464 B are scratch and barriers")
    shared, *more = arithmetic(MODULE.format(body=A + B), 100000, 65536, 5, SM86, None)
    assert shared.endswith("of 100000 B; 31072 B are shared by buffers that are not alive together")
    assert more == []


def test_no_number_of_stages_fits_a_tile_that_is_too_large_itself() -> None:
    _, fewer, *_ = arithmetic(MODULE.format(body=A + B), 131072, 20000, 5, SM86, "3.9.0")
    assert fewer == "a stage takes 32768 B: no number of stages fits 20000 B with this tile"


def test_ir_without_buffers_has_no_arithmetic() -> None:
    assert arithmetic(MODULE.format(body=""), 70000, 65536, 3, SM86, None) == []
