"""Lowering and descriptors against the compiler: layouts in its ttgir, instructions and descriptors in its PTX."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import triton_forks
from wgmma_trace import Issued, issued

from triage.harness.toolchains import Toolchain
from triage.legality import dtypes
from triage.legality.wgmma.descriptor import MatrixDescriptor, for_tile
from triage.legality.wgmma.layouts import OperandTile, SharedLayout, swizzle_of
from triage.legality.wgmma.lowering import DotLowering, lower
from triage.legality.wgmma.lowering import Path as Becomes

Case = dict[str, Any]
TYPES = ("f16", "bf16", "tf32", "ieee", "e5m2", "e4m3", "s8")
RELEASES = ("3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0")
_WORKER = Path(__file__).with_name("dots.py")
_BATCH = 200
"""Cases a process: so many end within its time limit on a busy machine."""
_REFUSALS = ("should have", "must be >= 16", "small blocks")


def compiled(toolchain: Toolchain, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """The results of the cases, in their order; a case that ends the process is an error of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON_", "PYTHON"))}
    results: list[dict[str, Any]] = []
    while len(results) < len(cases):
        batch = cases[len(results) : len(results) + _BATCH]
        done = triton_forks.run(str(_WORKER), json.dumps(batch), toolchain.python, environment)
        ended = [json.loads(line)[1] for line in done.stdout.splitlines() if line.startswith("[")]
        results += ended
        if len(ended) < len(batch):
            assert done.returncode < 0, done.stderr[-2000:]
            results.append({"died": done.stderr[-300:]})
    return results


def predicted(case: Case, release: str | None) -> DotLowering:
    left, _, right = case["type"].partition("/")
    precision = left if left in ("ieee", "tf32x3") else "tf32"
    a, b = ("f32", "f32") if left in ("tf32", "ieee", "tf32x3") else (left, right or left)
    return lower(case["m"], case["n"], case["k"], a, b, case.get("result"), precision, case["warps"], release=release)


def disagreement(case: Case, result: dict[str, Any], release: str | None) -> str | None:
    """What the prediction gets wrong, in words."""
    found = predicted(case, release)
    if "died" in result:
        seen: object = Becomes.CRASH
    elif "error" in result:
        seen = Becomes.REFUSED if any(text in result["error"] for text in _REFUSALS) else result["error"][-300:]
    elif result["mma"]:
        seen = Becomes.WGMMA
        if found.path is seen and found.instruction and found.warps:
            said = [*found.warps, found.instruction.n, found.instruction.k]
            # The three dots of tf32x3 feed one another, so some have all warps along M.
            if said not in result["mma"] or (len(result["mma"]) > 1 and found.passes == 1):
                return f"{case}: {said} predicted, {result['mma']} seen"
    else:
        seen = Becomes.MMA_SYNC if result["old_mma"] else Becomes.FMA
    return None if seen is found.path else f"{case}: {found.path} predicted, {seen} seen"


def disagreements(toolchain: Toolchain, cases: Sequence[Case], release: str | None) -> list[str]:
    results = compiled(toolchain, cases)
    return [text for case, result in zip(cases, results, strict=True) if (text := disagreement(case, result, release))]


def small_grid() -> Iterator[Case]:
    """A sample of every condition, and of the choice of N."""
    for kind, (m, n, k), warps in itertools.product(
        TYPES, ((64, 8, 32), (32, 64, 32), (128, 64, 16), (256, 256, 32)), (2, 8)
    ):
        yield {"type": kind, "m": m, "n": n, "k": k, "warps": warps}
    for kind, (m, n), warps in itertools.product(("f16", "s8", "tf32"), ((64, 256), (128, 16)), (4, 8, 16)):
        yield {"type": kind, "m": m, "n": n, "k": 32, "warps": warps}


def whole_grid() -> Iterator[Case]:
    sides = ((16, 32, 64, 128, 256), (8, 16, 32, 64, 128, 256), (16, 32, 64, 128))
    for kind, m, n, k, warps in itertools.product(TYPES, *sides, (1, 2, 4, 8)):
        yield {"type": kind, "m": m, "n": n, "k": k, "warps": warps}


def other_grid(tma: bool) -> Iterator[Case]:
    """Majors, mixed types, other accumulators, many warps; loads by TMA."""
    yes_no = (False, True)
    for kind, m, n, k, a_mn, b_mn in itertools.product(
        ("f16", "tf32", "e5m2", "s8"), (64, 256), (16, 256), (32, 128), yes_no, yes_no
    ):
        base = {"type": kind, "m": m, "n": n, "k": k, "a_mn": a_mn, "b_mn": b_mn}
        yield {**base, "warps": 8, "tma": tma, "stages": 2}
    for kind, warps in itertools.product(("e5m2/e4m3", "tf32x3", "f16"), (4, 16, 32)):
        yield {"type": kind, "m": 128, "n": 64, "k": 32, "warps": warps}
    for kind in ("f16", "e5m2", "e4m3"):
        yield {"type": kind, "m": 128, "n": 64, "k": 32, "warps": 4, "result": "fp16"}


@pytest.mark.slow
def test_a_dot_becomes_what_is_predicted(release: Callable[[str], Toolchain]) -> None:
    assert disagreements(release("newest"), list(small_grid()), None) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_dot_of_the_newest(release: Callable[[str], Toolchain]) -> None:
    cases = [*whole_grid(), *other_grid(True), *other_grid(False)]
    assert disagreements(release("newest"), cases, None) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", RELEASES)
def test_every_release_lowers_as_is_said(release: Callable[[str], Toolchain], version: str) -> None:
    rarely = [case for case in whole_grid() if case["m"] in (16, 64, 128) and case["n"] in (8, 16, 256)]
    cases = [case for case in rarely if case["k"] in (16, 64) and case["warps"] in (2, 8)]
    cases += other_grid(False)
    if version >= "3.4":  # the first with tl.make_tensor_descriptor
        cases += other_grid(True)
    assert disagreements(release(version), cases, version) == []


def instructions() -> Iterator[Case]:
    """Cases for PTX: every swizzle, both majors, several atoms along each side."""
    majors = ((False, False), (False, True), (True, True))
    for (m, n, k), (a_mn, b_mn) in itertools.product(((64, 16, 16), (128, 128, 64), (64, 32, 128)), majors):
        yield {"type": "f16", "m": m, "n": n, "k": k, "a_mn": a_mn, "b_mn": b_mn, "warps": 4, "stage": "ptx"}
    for kind, k in (("tf32", 32), ("e4m3", 64), ("s8", 32)):
        yield {"type": kind, "m": 128, "n": 64, "k": k, "warps": 8, "stage": "ptx"}
    yield {"type": "bf16", "m": 64, "n": 32, "k": 128, "b_mn": False, "warps": 4, "stage": "ptx"}


def more_instructions(tma: bool) -> Iterator[Case]:
    for kind, (m, n, k), (a_mn, b_mn) in itertools.product(
        ("f16", "tf32", "e5m2", "s8"),
        ((64, 16, 32), (64, 64, 64), (128, 32, 128), (64, 256, 32), (256, 64, 64)),
        ((False, False), (False, True), (True, False)),
    ):
        base = {"type": kind, "m": m, "n": n, "k": k, "a_mn": a_mn, "b_mn": b_mn}
        yield {**base, "warps": 8 if n > 64 or m > 128 else 4, "tma": tma, "stages": 2, "stage": "ptx"}


def descriptor_disagreements(toolchain: Toolchain, cases: Sequence[Case], release: str | None) -> list[str]:
    """Instructions, their number and every operand's descriptor, against the PTX."""
    wrong = []
    for case, result in zip(cases, compiled(toolchain, cases), strict=True):
        assert result.get("ptx"), (case, result)
        found, seen = predicted(case, release), issued(result["ptx"])
        assert found.instruction is not None, case
        if (names := {one.mnemonic for one in seen}) != {found.instruction.mnemonic} or len(seen) != found.issued:
            wrong.append(f"{case}: {found.issued} {found.instruction.mnemonic} predicted, {len(seen)} {names} seen")
            continue
        for who in "ab":
            said, read = _expected(case, who, found), _seen(case, who, found, seen)
            if read is not None and said != read:
                wrong.append(f"{case}, {who}: {sorted(said, key=str)[:4]} predicted, {sorted(read, key=str)[:4]} seen")
    return wrong


Fields = tuple[int, "int | None", "int | None", int]


def _tile(case: Case, who: str, found: DotLowering) -> tuple[OperandTile, int]:
    """The operand's tile, and the rows of it that one instruction reads."""
    assert found.instruction is not None
    row = found.instruction.a if who == "a" else found.instruction.b
    rows = case["m"] if who == "a" else case["n"]
    # Only the 16-bit types stay MN-major in shared memory.
    along = row.transposes and case.get(f"{who}_mn", who == "b")
    layout = SharedLayout("mn" if along else "k", swizzle_of((rows if along else case["k"]) * row.dtype.bits // 8))
    return OperandTile(rows, case["k"], row.dtype, layout), 64 if who == "a" else found.instruction.n


def _read(descriptor: MatrixDescriptor, tile: OperandTile, rows: int, first: int) -> Fields:
    """The fields that the hardware reads for an instruction of so many rows; the start is counted from the first."""
    leading: int | None = descriptor.leading_byte_offset
    stride: int | None = descriptor.stride_byte_offset
    layout = tile.layout
    if layout.major == "k":
        leading = None if layout.swizzle else leading
        stride = None if rows <= 8 else stride
    elif rows <= layout.atom(tile.dtype)[0]:
        leading, stride = (None, stride) if layout.swizzle else (leading, None)
    return (descriptor.start_address - first) % (1 << 18), leading, stride, descriptor.swizzle


def _expected(case: Case, who: str, found: DotLowering) -> set[Fields]:
    """What the first warpgroup's instructions should be given."""
    assert found.instruction is not None and found.warps is not None
    tile, rows = _tile(case, who, found)
    step = rows * (found.warps[0] // 4 if who == "a" else found.warps[1])
    starts = itertools.product(range(0, tile.rows, step), range(0, tile.k, found.instruction.k))
    return {_read(for_tile(tile, 0, row, k), tile, rows, 0) for row, k in starts}


def _seen(case: Case, who: str, found: DotLowering, seen: Sequence[Issued]) -> set[Fields] | None:
    """What they are given; None where A is in registers."""
    tile, rows = _tile(case, who, found)
    values = [one.a if who == "a" else one.b for one in seen]
    read = [MatrixDescriptor.decode(value) for value in values if value is not None]
    if len(read) < len(values):
        assert who == "a"
        return None
    return {_read(one, tile, rows, read[0].start_address) for one in read}


def test_descriptors_are_the_compilers(release: Callable[[str], Toolchain]) -> None:
    """Every seventh instruction; all of them in the slow test below."""
    assert descriptor_disagreements(release("newest"), list(instructions())[::7], None) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("version", ["3.0.0", "3.2.0", "3.4.0", "3.6.0", "newest"])
def test_descriptors_of_every_kind(release: Callable[[str], Toolchain], version: str) -> None:
    cases = [case for case in instructions() if case["k"] > 16 or version not in ("3.0.0", "3.2.0")]
    cases += more_instructions(False)
    if version not in ("3.0.0", "3.2.0"):
        cases += more_instructions(True)
    assert descriptor_disagreements(release(version), cases, None if version == "newest" else version) == []


def test_dots_that_are_not_judged() -> None:
    assert lower(64, 64, 64, "f64").path is Becomes.UNKNOWN
    assert lower(64, 64, 64, "f16", "bf16").path is Becomes.UNKNOWN
    assert dtypes.parse("u8") and lower(64, 64, 64, "u8").path is Becomes.UNKNOWN
