"""What Triton makes of dots for datacenter Blackwell, against the rules of tcgen05: real compiles, up to PTX."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from blackwell_compiles import UNPIPELINED, compiled

from triage.harness.toolchains import Toolchain
from triage.legality import dtypes, tcgen05
from triage.legality.tcgen05.descriptor import InstructionDescriptor, decode
from triage.legality.tcgen05.lowering import lowered
from triage.model.target import Target

KERNELS = Path(__file__).with_name("blackwell_kernels.py").read_text()
GLUON = Path(__file__).with_name("blackwell_gluon.py").read_text()


def dot(
    a: str, tile: tuple[int, int, int], warps: int = 4, b: str | None = None, capability: int = 100, **more: int
) -> dict[str, Any]:
    """A case of the kernel ``dot``; ``AT``, ``BT``: load A, B transposed."""
    m, n, k = tile
    integer = int(a == "i8")
    return {
        "kernel": "dot",
        "target": capability,
        "types": {"a": f"*{a}", "b": f"*{b or a}", "c": "*i32" if integer else "*fp32"},
        "constants": {"M": m, "N": n, "K": k, "INT": integer, "AT": 0, "BT": 0, **more},
        "options": {"num_warps": warps},
    }


def read(answer: dict[str, Any]) -> list[InstructionDescriptor]:
    """The descriptors that Triton put into a kernel."""
    return [decode(bits, mnemonic.split("kind::")[1].split(".")[0]) for mnemonic, _, bits in answer["tcgen05"]]


def check(cases: list[dict[str, Any]], answers: list[dict[str, Any]], triton: str | None = None) -> None:
    """Triton's instructions are those that ``lowered`` says, and the rule has them legal."""
    for case, answer in zip(cases, answers, strict=True):
        a, b = (dtypes.parse(case["types"][name][1:]) for name in "ab")
        constants = case["constants"]
        tile = (constants["M"], constants["N"], constants["K"])
        target = Target("cuda", str(case["target"]))
        expected = lowered(a, b, tile, case["options"]["num_warps"], target, triton)
        assert answer["error"] is None, (case, answer)
        found = read(answer) if answer["tcgen05"] else []
        if expected.reason or answer["columns"] > 512:
            assert found == [], (case, expected)
            continue
        assert found, (case, expected)
        for one in found:
            assert (one.kind, one.m, one.n) == (expected.kind, expected.m, expected.n), (case, one)
            assert (one.a, one.b) == tuple("tf32" if name == "f32" else name for name in (a.name, b.name))
            if a.bits < 32:  # Triton copies a 32-bit operand so that K is contiguous
                majors = ("mn" if constants["AT"] else "k", "k" if constants["BT"] else "mn")
                assert (one.a_major, one.b_major) == majors, (case, one)
            legal = tcgen05.violations(
                a=one.a, b=one.b, d=one.d, m=one.m, n=one.n, a_major=one.a_major, b_major=one.b_major, target=target
            )
            assert legal == [], (case, legal)


def test_dots_become_the_instructions_that_the_rule_says() -> None:
    cases = [
        dot("fp16", (256, 64, 32), 8),
        dot("bf16", (64, 16, 32), AT=1),
        dot("fp16", (32, 64, 32)),
        dot("fp32", (128, 64, 32)),
        dot("fp8e4nv", (64, 32, 32), b="fp8e5", BT=1),
        dot("i8", (128, 16, 32)),
        dot("i8", (128, 16, 32), capability=103),
    ]
    cases = [{**case, "options": {**case["options"], **UNPIPELINED}} for case in cases]
    check(cases, compiled(KERNELS, cases))


def test_an_n_major_8_bit_operand_of_eight_columns_is_what_triton_cannot_lower() -> None:
    narrow, right = compiled(KERNELS, [dot("fp8e4nv", (128, 8, 32)), dot("fp8e4nv", (128, 8, 32), BT=1)])
    assert "failed to find valid tcgen05.mma layout for operand B" in narrow["error"]
    assert tcgen05.violations(a="e4m3", n=8, b_major="n")[0].rule == "tcgen05.n"
    assert right["error"] is None and [one.n for one in read(right)] == [8]
    assert tcgen05.violations(a="e4m3", n=8) == []


def scaled_case(a: str, b: str, tile: tuple[int, int, int], vector: int = 32, warps: int = 4) -> dict[str, Any]:
    m, n, k = tile
    types = {"e2m1": "*u8", "e4m3": "*fp8e4nv", "e5m2": "*fp8e5"}
    scale = "*u8" if vector == 32 else "*fp8e4nv"
    packed = {name: 2 if name == "e2m1" else 1 for name in (a, b)}
    return {
        "kernel": "scaled",
        "target": 100,
        "types": {"a": types[a], "b": types[b], "sa": scale, "sb": scale, "c": "*fp32"},
        "constants": {"M": m, "N": n, "K": k, "AF": a, "BF": b, "PA": packed[a], "PB": packed[b], "V": vector},
        "options": {"num_warps": warps},
    }


@pytest.mark.slow
def test_block_scaled_dots_have_descriptors_that_read_as_what_was_asked() -> None:
    asked = [("e5m2", "e2m1", 32, "mxf8f6f4"), ("e2m1", "e2m1", 32, "mxf4"), ("e2m1", "e2m1", 16, "mxf4nvf4")]
    answers = compiled(KERNELS, [scaled_case(a, b, (128, 32, 128), vector) for a, b, vector, _ in asked])
    for (a, b, vector, kind), answer in zip(asked, answers, strict=True):
        assert answer["error"] is None
        for one in read(answer):
            assert (one.kind, one.a, one.b, one.m, one.n) == (kind, a, b, 128, 32)
            assert one.scale == ("ue8m0" if vector == 32 else "ue4m3")
            found = tcgen05.violations(
                kind=kind, a=a, b=b, m=one.m, n=one.n, scale_vector=f"block{vector}", scale=one.scale, target="cuda:100"
            )
            assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("version", ["newest", "3.8.0", "3.7.1", "3.6.0"])
def test_the_grid_of_tiles(release: Callable[[str], Toolchain], version: str) -> None:
    newest = version == "newest"
    cases = [dot("fp16", (m, n, 32)) for m, n in itertools.product((16, 32, 64, 128, 256), (8, 16, 64, 256, 512))]
    cases += [dot("fp16", tile, warps) for tile in ((64, 64, 32), (128, 16, 64)) for warps in (1, 2, 8, 16)]
    tiles = ((64, 16), (128, 64), (128, 256)) if newest else ((64, 32),)
    cases += [
        dot(a, (m, n, 32), AT=at, BT=bt)
        for a, (m, n), at, bt in itertools.product(("bf16", "fp32", "fp8e4nv", "fp8e5", "i8"), tiles, (0, 1), (0, 1))
    ]
    if newest:
        cases += [dot("fp16", (128, 64, 32), capability=other) for other in (90, 103, 110, 120, 121)]
        cases += [dot("i8", (128, 64, 32), capability=other) for other in (103, 110, 120)]
    if version == "3.6.0":  # which says so where an accumulator is over 512 columns
        cases = [case for case in cases if case["constants"]["M"] * case["constants"]["N"] <= 1 << 16]
    check(cases, compiled(KERNELS, cases, release(version).python), None if newest else version)


def block(m: int, n: int, rows: int, columns: int) -> dict[str, Any]:
    return {
        "kernel": "mma",
        "target": 100,
        "types": {"c": "*fp32"},
        "constants": {"M": m, "N": n, "K": 64, "BM": rows, "BN": columns, "T": "dtype:fp16"},
        "options": {"num_warps": 4},
    }


@pytest.mark.parametrize(
    "version", ["newest", *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.8.0", "3.7.1"))]
)
def test_gluon_takes_the_same_blocks(release: Callable[[str], Toolchain], version: str) -> None:
    """A block of rows and columns in tensor memory is one instruction: Gluon takes no M but 64 and 128, and of the
    columns that the rule has legal the powers of two."""
    rows = (64, 128, 256) if version == "newest" else (32, 64, 128, 256)
    columns = (8, 24, 256) if version == "newest" else (8, 16, 24, 32, 64, 128, 256)
    cases = [block(max(m, 64), 256, m, n) for m, n in itertools.product(rows, columns)]
    for case, answer in zip(cases, compiled(GLUON, cases, release(version).python), strict=True):
        m, n = case["constants"]["BM"], case["constants"]["BN"]
        legal = tcgen05.violations(a="fp16", m=m, n=n, b_major="n", target="cuda:100") == []
        assert (answer["error"] is None) == (legal and n & (n - 1) == 0), (m, n, answer["error"])
        if answer["error"] is None:
            assert {(one.m, one.n) for one in read(answer)} == {(m, n)}
