"""``wgmma.violations`` against the assembler, by enumeration, and what a violation says."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from wgmma_ptx import ACCUMULATORS, TYPES, TileRequest, beside, refused

from triage.harness.toolchains import Toolchains
from triage.legality import wgmma
from triage.legality.wgmma.instruction import instruction
from triage.legality.wgmma.types import OPERANDS

TRIPLES = [(a, b, d) for a, row in OPERANDS.items() for b in row.partners for d in row.accumulators]
MAJORS = list(itertools.product(("k", "mn"), repeat=2))
ORIGINS = ("shared", "registers")


def violated(asked: TileRequest) -> bool:
    found = wgmma.violations(
        a=asked.a,
        b=asked.b,
        d=asked.d,
        m=asked.m,
        n=asked.n,
        k=asked.k,
        a_major=asked.a_major,
        b_major=asked.b_major,
        a_from=asked.a_from,
        sparse=asked.sparse,
    )
    return found != []


def disagreements(ptxas: Path, folder: Path, asked: Iterable[TileRequest]) -> list[str]:
    """Where rule and assembler differ, in words."""
    batch = list(asked)
    bad = refused(ptxas, folder, [one.ptx() for one in batch])
    return [
        f"{one}: the rule says {'illegal' if violated(one) else 'legal'}, ptxas {bad.get(place, 'takes it')}"
        for place, one in enumerate(batch)
        if violated(one) != (place in bad)
    ]


def types_and_k() -> Iterator[TileRequest]:
    """Every pair of types with every accumulator and every K that some type has, and their neighbours."""
    for a, b, d, k in itertools.product(TYPES, TYPES, ACCUMULATORS, (4, 8, 16, 32, 64, 128, 256, 512)):
        for sparse in (False, True):
            yield TileRequest(a, b, d, 16, k, sparse=sparse)


def columns() -> Iterator[TileRequest]:
    """Every N for every triple of types; illegal types at a few N; M that is not 64."""
    for (a, b, d), sparse, n in itertools.product(TRIPLES, (False, True), range(273)):
        yield TileRequest(a, b, d, n, OPERANDS[a].k * (1 + sparse), sparse=sparse)
    for a, d, n in itertools.product(TYPES, ACCUMULATORS, (0, 7, 8, 24, 40, 248, 256, 264)):
        yield TileRequest(a, a, d, n, 16)
    for (a, b, d), m in itertools.product(TRIPLES, (0, 8, 16, 32, 63, 65, 128, 192, 256)):
        yield TileRequest(a, b, d, 16, OPERANDS[a].k, m=m)


def majors_and_origins(every: Iterable[int]) -> Iterator[TileRequest]:
    """Every combination of majors and origin of A, dense and sparse, at these N."""
    for (a, b, d), (left, right), origin, sparse in itertools.product(TRIPLES, MAJORS, ORIGINS, (False, True)):
        for n in every:
            k = OPERANDS[a].k * (1 + sparse)
            yield TileRequest(a, b, d, n, k, a_major=left, b_major=right, a_from=origin, sparse=sparse)


def test_types_accumulators_and_k(tmp_path: Path) -> None:
    assert disagreements(beside(), tmp_path, types_and_k()) == []


def test_n_and_m(tmp_path: Path) -> None:
    assert disagreements(beside(), tmp_path, columns()) == []


def test_majors_and_origin_of_a(tmp_path: Path) -> None:
    assert disagreements(beside(), tmp_path, majors_and_origins((8, 40, 64, 72, 100, 256))) == []
    odd = (("f16", "bf16", "f32"), ("tf32", "f32", "f32"), ("s4", "s4", "s32"), ("f64", "f64", "f64"))
    batch = [
        TileRequest(a, b, d, 64, k, a_major=left, b_major=right, a_from=origin)
        for (a, b, d), k, (left, right), origin in itertools.product(odd, (8, 16, 32), MAJORS, ORIGINS)
    ]
    assert disagreements(beside(), tmp_path, batch) == []


@pytest.mark.slow
def test_the_whole_product(tmp_path: Path) -> None:
    for sparse in (False, True):
        for a, b, d in TRIPLES:
            batch = [
                TileRequest(a, b, d, n, k * (1 + sparse), 64, left, right, origin, sparse)
                for n in range(273)
                for k in (8, 16, 32, 64, 256)
                for (left, right) in MAJORS
                for origin in ORIGINS
            ]
            assert disagreements(beside(), tmp_path, batch) == []


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.2.0", "3.3.1", "3.6.0", "3.7.1", "3.8.0", "newest"])
def test_every_assembler_takes_the_same(tmp_path: Path, toolchains: Toolchains, version: str) -> None:
    """12.4 (3.2.0) to 13.4 (the second assembler of 3.9.0); 3.0 and 3.1 have the one of 3.2.0, 3.4 and 3.5 that of
    3.6.0."""
    if version == "newest":
        folder = beside().parent
    else:
        python = Path(toolchains.resolve(version).python)
        [folder] = python.parent.parent.glob("lib/python*/site-packages/triton/backends/nvidia/bin")
    for ptxas in sorted(folder.glob("ptxas*")):
        batch = [*types_and_k(), *columns(), *majors_and_origins(range(0, 273, 4))]
        assert disagreements(ptxas, tmp_path, batch) == [], ptxas


def test_what_passes_the_parser_is_assembled(tmp_path: Path) -> None:
    """A few of every kind; the slow test assembles all."""
    batch = [one.ptx() for one in majors_and_origins((8, 24, 96)) if not violated(one)]
    assert refused(beside(), tmp_path, batch[::4], codegen=True) == {}


@pytest.mark.slow
def test_every_legal_instruction_is_assembled(tmp_path: Path) -> None:
    batch = [one.ptx() for one in majors_and_origins(range(8, 257, 8)) if not violated(one)]
    assert len(batch) > 2000
    for start in range(0, len(batch), 100):
        assert refused(beside(), tmp_path, batch[start : start + 100], codegen=True) == {}


@pytest.mark.parametrize("architecture", ["sm_90", "sm_100a", "sm_120a"])
def test_only_sm_90a_has_it(tmp_path: Path, architecture: str) -> None:
    assert wgmma.violations(a="f16", target="sm_90a") == wgmma.violations(a="f16", target="cuda:90") == []
    [violation] = wgmma.violations(a="f16", target=architecture)
    assert (violation.rule, violation.nearest) == ("wgmma.target", ("cuda:90",))
    # The assembler stops at the first instruction that its target lacks; PTX 8.7 is the first with all three.
    lines = [".version 8.7", f".target {architecture}", ".address_size 64", ".visible .entry k() {"]
    lines += [".reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p;", _SMALL, "ret;", "}", ""]
    (tmp_path / "one.ptx").write_text("\n".join(lines))
    command = [str(beside("ptxas-blackwell")), f"-arch={architecture}", str(tmp_path / "one.ptx"), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "wgmma" in done.stderr


_SMALL = "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r0,%r1}, %rd0, %rd1, %p, 1, 1, 0, 0;"


def said(**asked: object) -> dict[str, tuple[object, ...]]:
    """The violations by rule, with what is nearest."""
    return {one.rule: one.nearest for one in wgmma.violations(**asked)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"a": "tf32", "b_major": "mn"}, {"wgmma.b-major": ("k",)}),
        ({"a": "f32"}, {"wgmma.a": ("tf32", "bf16", "f16")}),
        ({"a": "float32", "b": "tf32"}, {"wgmma.a": ("tf32",)}),
        ({"a": "f16", "b": "bf16"}, {"wgmma.b": ("f16",)}),
        ({"a": "bf16", "d": "f16"}, {"wgmma.d": ("f32",)}),
        ({"a": "s8", "d": "fp32", "n": 40}, {"wgmma.d": ("s32",), "wgmma.n": (48, 32)}),
        ({"a": "f16", "n": 264}, {"wgmma.n": (256,)}),
        ({"a": "f16", "n": 12, "k": 8, "m": 128}, {"wgmma.m": (64,), "wgmma.n": (16, 8), "wgmma.k": (16,)}),
        ({"a": "fp8e4nv", "k": 32, "sparse": True}, {"wgmma.k": (64,)}),
        ({"a": "b1", "sparse": True}, {"wgmma.sparse": (False,)}),
        ({"a": "f16", "a_major": "M", "a_from": "reg"}, {"wgmma.a-major": ("k",)}),
        ({"a": "f16", "a_major": "row", "a_from": "smem"}, {"wgmma.a-major": ("k",)}),
        ({"a": "f16", "a_from": "tensor memory"}, {"wgmma.a-from": ()}),
        ({"a": "decimal"}, {"wgmma.a": ()}),
        ({"a": "f16", "target": "cuda:100"}, {"wgmma.target": ("cuda:90",)}),
        ({"a": "f16", "target": "a toaster"}, {"wgmma.target": ("cuda:90",)}),
        ({"a": "f16", "target": "sm_90"}, {"wgmma.target": ("cuda:90",)}),
    ],
    ids=str,
)
def test_everything_wrong_is_named_with_what_is_nearest(
    asked: dict[str, object], expected: dict[str, tuple[object, ...]]
) -> None:
    assert said(**asked) == expected
    for one in wgmma.violations(**asked):  # type: ignore[arg-type]
        assert set(one.nearest) <= set(one.allowed)
        assert one.source and one.message
        assert one.parameter in asked


def test_what_is_left_out_is_right() -> None:
    for name in ("f16", "torch.bfloat16", "tl.float8e5", "tf32", "int8", "uint8", "int1"):
        assert wgmma.violations(a=name) == []


def test_names_registers_and_operands() -> None:
    found = instruction("tf32", n=32)
    assert found.mnemonic == "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32"
    assert (found.shape, found.accumulator_registers) == ((64, 32, 8), 16)
    assert found.operands() == ("a-desc", "b-desc", "scale-d", "imm-scale-a", "imm-scale-b")
    half = instruction("f16", d="f16", n=256, sparse=True)
    assert half.mnemonic == "wgmma.mma_async.sp.sync.aligned.m64n256k32.f16.f16.f16"
    assert half.accumulator_registers == 64
    assert half.operands("registers")[0] == "a"
    assert "imm-trans-a" not in half.operands("registers")
    assert instruction("b1").mnemonic.endswith("m64n64k256.s32.b1.b1.and.popc")
    with pytest.raises(ValueError, match="N=40"):
        instruction("s8", n=40)
