"""Accesses beyond a block's shared memory, in machine code that ptxas makes of small texts."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from rows import one_in

from triage.harness.worker.disassembly import static_shared
from triage.harness.worker.ptx_text import Ptx
from triage.harness.worker.sass_text import Unreadable
from triage.harness.worker.shared_range import Range, range_of, shared_range

TARGETS = ("sm_80", "sm_90a", "sm_120a")
THREADS = 64
HEAD = """.version 8.7
.target {target}
.address_size 64
.extern .shared .align 16 .b8 smem[];
"""
KERNEL = """.visible .entry {name}(.param .u64 .ptr .global .align 16 data, .param .u32 count)
.reqntid 64
{{
.reg .pred %p<9>; .reg .b32 %r<60>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r50, [count];
mov.u32 %r0, %tid.x;
mov.u32 %r1, smem;
ld.global.v4.u32 {{%r40, %r41, %r42, %r43}}, [%rd1];
{body}
ret;
}}
"""
WRITE = "st.shared.v4.b32 [%r9], {%r40, %r41, %r42, %r43};"


def tool(name: str) -> Path:
    spec = importlib.util.find_spec("triton")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "backends" / "nvidia" / "bin" / name


def text_of(bodies: list[str], target: str) -> str:
    """PTX of ``kernel_0``, ``kernel_1``, …, a statement and a label a line, as LLVM writes it."""
    lines = [re.sub(r"(\$\w+:)", r"\n\1\n", body.replace(";", ";\n")) for body in bodies]
    kernels = (KERNEL.format(name=f"kernel_{index}", body=body) for index, body in enumerate(lines))
    return HEAD.format(target=target) + "".join(kernels)


class Printed:
    """What nvdisasm prints of kernels with these bodies, which are assembled together: the two tools start slowly."""

    def __init__(self, bodies: list[str], target: str, folder: Path) -> None:
        source, binary = folder / "kernel.ptx", folder / "kernel.cubin"
        source.write_text(text_of(bodies, target))
        subprocess.run([tool("ptxas"), f"--gpu-name={target}", source, "-o", binary], check=True, capture_output=True)
        self._binary = binary.read_bytes()
        command = [tool("nvdisasm"), "-c", "-ndf", binary]
        self._text = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def range(self, shared: int, index: int = 0) -> Range:
        """The range of a block with so much dynamic shared memory; ``end`` is counted from its first byte on."""
        name = f"kernel_{index}"
        static = static_shared(self._binary, name)
        result = shared_range(self._text, name, THREADS, static + shared)
        return result._replace(end=max(0, result.end - static))


# What is computed, and one past the highest byte that a thread writes.
ADDRESSES = {
    "a row a thread": ("shl.b32 %r2, %r0, 4; add.s32 %r9, %r1, %r2;", 64 * 16),
    "an offset": ("shl.b32 %r2, %r0, 4; add.s32 %r3, %r1, %r2; add.s32 %r9, %r3, 4096;", 4096 + 64 * 16),
    "swizzled": (
        "shl.b32 %r2, %r0, 4; and.b32 %r3, %r0, 24; shl.b32 %r4, %r3, 1; xor.b32 %r5, %r2, %r4; add.s32 %r9, %r1, %r5;",
        64 * 16,
    ),
    "a bit of the thread, replicated": (
        "bfe.s32 %r2, %r0, 5, 1; and.b32 %r3, %r2, 1040; and.b32 %r4, %r0, 7; shl.b32 %r5, %r4, 4;"
        "xor.b32 %r6, %r5, %r3; add.s32 %r9, %r1, %r6;",
        1024 + 7 * 16 + 16,
    ),
    "a product": ("mad.lo.s32 %r9, %r0, 272, %r1;", 63 * 272 + 16),
    "a remainder": ("and.b32 %r2, %r0, 15; prmt.b32 %r3, %r2, 0, 0x4440; mad.lo.s32 %r9, %r3, 16, %r1;", 16 * 16),
    "a choice": (
        "setp.lt.u32 %p1, %r0, 32; selp.b32 %r2, 0, 8192, %p1; shl.b32 %r3, %r0, 4; or.b32 %r4, %r2, %r3;"
        "add.s32 %r9, %r1, %r4;",
        8192 + 64 * 16,
    ),
    "the number of the warp, from its first lane": (
        "shr.u32 %r2, %r0, 5; shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; mad.lo.s32 %r9, %r3, 512, %r1;",
        512 + 16,
    ),
}


ROW = "shl.b32 %r2, %r0, 4; add.s32 %r9, %r1, %r2;"
ROWS = 64 * 16
# Around a write of a row a thread: which threads execute it, and one past the highest byte that they write; 0 where
# nobody can tell.
CONDITIONS = {
    "a guard on the thread": (f"{ROW} setp.lt.u32 %p1, %r0, 8; @%p1 {WRITE}", 8 * 16),
    "a branch on the thread": (
        f"{ROW} setp.ge.u32 %p1, %r0, 8; @%p1 bra $LATER; {WRITE} bar.sync 0; st.global.u32 [%rd1], %r0; $LATER:",
        8 * 16,
    ),
    "both": (
        f"{ROW} setp.ge.u32 %p1, %r0, 8; setp.lt.u32 %p2, %r0, 4; @%p1 bra $LATER; @%p2 {WRITE} membar.cta;"
        "st.global.u32 [%rd1], %r0; $LATER:",
        4 * 16,
    ),
    "a condition that all threads have in common": (f"{ROW} setp.gt.s32 %p1, %r50, 0; @%p1 {WRITE}", ROWS),
    "data": (f"{ROW} setp.gt.s32 %p1, %r40, %r0; @%p1 {WRITE}", 0),
    "after a branch on data": (
        f"{ROW} setp.gt.s32 %p1, %r40, %r0; @%p1 bra $LATER; st.global.u32 [%rd1], %r0; membar.cta; $LATER: {WRITE}",
        ROWS,
    ),
    "a loop over an argument": (
        f"{ROW} mov.u32 %r20, 0; $AGAIN: {WRITE} bar.sync 0; add.s32 %r20, %r20, 1; setp.lt.s32 %p1, %r20, %r50;"
        "@%p1 bra $AGAIN;",
        ROWS,
    ),
    "a stage of a loop": (
        f"{ROW} mov.u32 %r20, 0; mov.u32 %r21, %r9; $AGAIN: {WRITE.replace('%r9', '%r21')} bar.sync 0;"
        "add.s32 %r20, %r20, 1; rem.u32 %r22, %r20, 3; mad.lo.s32 %r21, %r22, 1024, %r9;"
        "setp.lt.s32 %p1, %r20, %r50; @%p1 bra $AGAIN;",
        0,
    ),
}


ALL = {**{name: (f"{computed}\n{WRITE}", end) for name, (computed, end) in ADDRESSES.items()}, **CONDITIONS}
PrintedFor = Callable[[str], Printed]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> PrintedFor:
    """The kernels of ``ALL``, in its order, for a target."""

    @cache
    def of_target(target: str) -> Printed:
        return Printed([body for body, _ in ALL.values()], target, tmp_path_factory.mktemp(target))

    return of_target


@pytest.mark.parametrize("target", one_in(len(TARGETS), TARGETS))
@pytest.mark.parametrize("name", ADDRESSES)
def test_the_highest_byte_is_that_of_all_threads(printed: PrintedFor, name: str, target: str) -> None:
    end, index = ADDRESSES[name][1], list(ALL).index(name)
    kernels = printed(target)
    within, beyond = kernels.range(end, index), kernels.range(end - 16, index)

    assert (within.decided, within.skipped, within.end, within.beyond) == (1, 0, end, [])
    assert [access.bytes for access in beyond.beyond] == [16]


@pytest.mark.parametrize("target", one_in(len(TARGETS), TARGETS))
@pytest.mark.parametrize("name", CONDITIONS)
def test_only_the_threads_that_do_execute_it_count(printed: PrintedFor, name: str, target: str) -> None:
    end, index = CONDITIONS[name][1], list(ALL).index(name)
    kernels = printed(target)

    assert kernels.range(end, index).end == end
    assert kernels.range(end or 16, index).beyond == []
    assert bool(kernels.range(end - 16 if end else 16, index).beyond) == bool(end)


@pytest.mark.parametrize("name", ALL)
def test_the_same_is_read_from_ptx(name: str) -> None:
    body, end = ALL[name]
    blocks = Ptx(text_of([body], "sm_90a")).blocks

    assert range_of(blocks, THREADS, end).end == end
    assert range_of(blocks, THREADS, end or 16).beyond == []
    assert bool(range_of(blocks, THREADS, end - 16 if end else 16).beyond) == bool(end)


PLACES = """.file 1 "/home/me" "kernel.py"
.file 2 "/lib" "standard.py"
.extern .shared .align 16 .b8 global_smem[];
.visible .entry kernel(
\t.param .u64 a
)
.reqntid 32
{
\t.loc\t1 7 3                          // kernel.py:7:3
\tmov.u32 %r1, %tid.x;
\tshl.b32 %r2, %r1, 4;
\tmov.b32 %r3, global_smem;
\t.loc\t2 99 1, function_name $L__info_string0, inlined_at 1 8 5 // standard.py:99:1 @[ kernel.py:8:5 ]
\tadd.s32 %r4, %r3, %r2;
\tst.shared.v4.b32 [%r4+16], {%r1, %r1, %r1, %r1};
\tret;
$L__func_end0:
}
"""


def test_the_line_is_the_kernels_own() -> None:
    ptx = Ptx(PLACES)
    (access,) = range_of(ptx.blocks, 32, 100).beyond

    assert (access.first, access.bytes, access.thread) == (32 * 16, 16, 31)
    assert ptx.source_line(access.at) == ("kernel.py", 8)


MATRICES = {"x4": 32, "x1": 8, "x2": 16}


@pytest.mark.parametrize("count", one_in(3, MATRICES))
def test_a_matrix_takes_its_rows_from_eight_lanes(count: str, tmp_path: Path) -> None:
    registers = ", ".join(f"%r{10 + index}" for index in range(int(count[1])))
    lane = "and.b32 %r3, %r0, 31; shl.b32 %r2, %r3, 4; add.s32 %r9, %r1, %r2;"
    load = f"ldmatrix.sync.aligned.m8n8.{count}.shared.b16 {{{registers}}}, [%r9]; st.global.u32 [%rd1], %r10;"
    result = Printed([lane + load], "sm_90a", tmp_path).range(1 << 17)

    assert (result.decided, result.end) == (1, 16 * MATRICES[count])


def test_a_register_that_is_clobbered_is_unknown(tmp_path: Path) -> None:
    """The address is loaded from memory into the register that had the thread's number."""
    body = f"add.s32 %r9, %r1, %r40; {WRITE}"
    result = Printed([body], "sm_90a", tmp_path).range(16)

    assert (result.decided, result.skipped, result.beyond) == (0, 1, [])


def test_a_branch_through_a_register_is_not_followed() -> None:
    with pytest.raises(Unreadable):
        shared_range('\t.section\t.text.kernel,"ax",@progbits\n        /*0000*/   BRX R2 -0x10 ;\n', "kernel", 32, 0)


def test_another_kernels_code_is_not_read() -> None:
    text = '\t.section\t.text.other,"ax",@progbits\n        /*0000*/  STS [RZ+0x1000], R2 ;\n        /*0010*/  EXIT ;\n'

    assert shared_range(text, "kernel", 32, 0) == Range([], 0, 0, 0)
    assert len(shared_range(text, "other", 32, 0).beyond) == 1
