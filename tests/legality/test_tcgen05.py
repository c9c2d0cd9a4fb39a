"""``tcgen05.violations`` against the assembler by enumeration; descriptors, shapes and lowering against Triton."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from blackwell_ptx import disagreements, refused
from hypothesis import given
from hypothesis import strategies as st
from rows import one_in

from triage.harness.toolchains import Toolchain
from triage.legality import tcgen05
from triage.legality.tcgen05.descriptor import InstructionDescriptor, decode, encode
from triage.legality.tcgen05.instruction import COLLECTORS, WS_COLLECTORS
from triage.legality.tcgen05.kinds import KINDS, VECTORS, accumulators


class Asked(NamedTuple):
    """What ptxas sees of an instruction."""

    kind: str
    cta_group: int = 1
    sparse: bool = False
    ws: bool = False
    vector: str | None = None
    a_from: str = "shared"
    ashift: bool = False
    collector: str | None = None
    lanes: int = 0

    def ptx(self) -> str:
        """As the ISA writes it; with .block_scale where the kind has scales."""
        scaled = KINDS[self.kind].block_scaled
        name = f"tcgen05.mma{'.ws' * self.ws}{'.sp' * self.sparse}.cta_group::{self.cta_group}.kind::{self.kind}"
        name += ".block_scale" * scaled
        if self.vector:
            name += f".{self.vector}" if self.vector.startswith("block") else f".scale_vec::{self.vector}"
        name += ".ashift" * self.ashift + (f".collector::{self.collector}" if self.collector else "")
        operands = ["[%r0]", "%rd1" if self.a_from == "shared" else "[%r1]", "%rd2"]
        operands += ["[%r2]"] * self.sparse + ["%r3"] + ["[%r5]", "[%r6]"] * scaled
        operands += [f"{{{','.join(f'%r{10 + lane}' for lane in range(self.lanes))}}}"] * bool(self.lanes)
        return f"{name} {', '.join([*operands, '%p0'])};"

    def legal(self, target: str) -> bool:
        """What the rule says, with a shape that every form of the kind has."""
        kind = KINDS[self.kind]
        found = tcgen05.violations(
            kind=self.kind,
            a=kind.operands[0],
            m=kind.rows(1 if self.cta_group == 1 else 2, self.sparse, self.ws)[-1],
            n=64,
            cta_group=self.cta_group,
            a_from=self.a_from,
            scale_vector=self.vector,
            sparse=self.sparse,
            ws=self.ws,
            collector=self.collector,
            ashift=self.ashift,
            output_lanes=self.lanes,
            target=target,
        )
        return found == []


def forms(
    collectors: tuple[str | None, ...] = (None, "a::fill", "a::discard", "b0::fill", "b4::use"),
    lanes: tuple[int, ...] = (0, 4, 8),
) -> Iterator[Asked]:
    """Every combination of what ptxas checks, with neighbours that are none."""
    for every in itertools.product(
        KINDS,
        (1, 2),
        (False, True),
        (False, True),
        (None, *VECTORS),
        ("shared", "tmem"),
        (False, True),
        collectors,
        lanes,
    ):
        yield Asked(*every)


def differ(folder: Path, architecture: str, version: str, asked: Iterator[Asked]) -> list[str]:
    return disagreements(((one.ptx(), one.legal(architecture)) for one in asked), folder, architecture, version)


def test_forms_agree_with_the_assembler(tmp_path: Path) -> None:
    assert differ(tmp_path, "sm_100a", "9.0", itertools.islice(forms(), 0, None, 5)) == []


@pytest.mark.slow
def test_every_form_agrees_with_the_assembler(tmp_path: Path) -> None:
    assert differ(tmp_path, "sm_100a", "9.0", forms()) == []


@pytest.mark.parametrize("architecture", one_in(3, ["sm_120a", "sm_103a", "sm_110a", "sm_90a", "sm_100f"]))
def test_targets_agree_with_the_assembler(tmp_path: Path, architecture: str) -> None:
    assert differ(tmp_path, architecture, "9.0", forms((None,), (0,))) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "version"),
    [
        ("sm_100", "9.0"),
        ("sm_100a", "9.0"),
        ("sm_100f", "9.0"),
        ("sm_103", "9.0"),
        ("sm_103a", "9.0"),
        ("sm_103f", "9.0"),
        ("sm_107a", "9.4"),
        ("sm_110a", "9.0"),
        ("sm_110f", "9.0"),
        ("sm_120a", "9.0"),
        ("sm_120f", "9.0"),
        ("sm_121a", "9.0"),
        ("sm_90", "9.0"),
        ("sm_90a", "9.0"),
    ],
)
def test_every_collector_on_every_target(tmp_path: Path, architecture: str, version: str) -> None:
    every = (None, *COLLECTORS, *WS_COLLECTORS, "a::none", "b4::fill")
    assert differ(tmp_path, architecture, version, forms(every, (0,))) == []
    assert differ(tmp_path, architecture, version, forms((None, "a::lastuse", "b3::use"), (0, 4, 8))) == []


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.6.0", "3.7.1", "3.8.0"])
def test_every_assembler_takes_the_same(tmp_path: Path, release: Callable[[str], Toolchain], version: str) -> None:
    """12.9, 13.1 and 13.3; the one before 13.0 alone knows sm_101a."""
    python = Path(release(version).python)
    [ptxas] = python.parent.parent.glob("lib/python*/site-packages/triton/backends/nvidia/bin/ptxas-blackwell")
    for architecture in ("sm_100a", "sm_103a", *(("sm_101a",) if version == "3.6.0" else ("sm_110a",))):
        asked = list(forms())
        bad = refused(
            tmp_path, [one.ptx() for one in asked], architecture, "8.8" if version == "3.6.0" else "9.0", ptxas
        )
        assert [one for place, one in enumerate(asked) if one.legal(architecture) == (place in bad)] == []


def test_block_scale_is_written_exactly_with_the_kinds_that_have_scales(tmp_path: Path) -> None:
    lines, expected = [], []
    for kind, row in KINDS.items():
        written = Asked(kind, vector=row.vectors[0][0] if row.block_scaled else None).ptx()
        without = written.replace(".block_scale", "").replace(", [%r5], [%r6]", "")
        name, _, operands = written.partition(" ")
        wrong = without if row.block_scaled else f"{name}.block_scale {operands.replace('%r3', '%r3, [%r5], [%r6]')}"
        lines += [written, wrong]
        expected.append(len(lines) - 1)
    assert sorted(refused(tmp_path, lines)) == expected


def test_lists_of_what_would_be_right_are_right(tmp_path: Path) -> None:
    for kind, row in KINDS.items():
        for group, m, n in itertools.product((1, 2), (0, 32, 64, 100, 128, 256), (0, 8, 12, 24, 40, 100, 256, 264)):
            for violation in tcgen05.violations(
                kind=kind,
                a=row.operands[0],
                m=m,
                n=n,
                cta_group=group,
                scale_vector=row.vectors[0][0] if row.vectors else None,
            ):
                assert violation.parameter in ("m", "n")
                assert set(violation.nearest) <= set(violation.allowed)
                assert violation.given not in violation.allowed


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ({"a": "fp16", "d": "fp32", "m": 128, "n": 256}, []),
        ({"a": "fp16", "m": 128, "n": 8}, []),
        ({"a": "bf16", "d": "fp16"}, ["tcgen05.d"]),
        ({"a": "fp32"}, ["tcgen05.a"]),
        ({"a": "fp32", "b": "fp32"}, ["tcgen05.a", "tcgen05.b"]),
        ({"a": "fp16", "b": "bf16"}, ["tcgen05.b"]),
        ({"a": "e4m3", "b": "e2m1", "d": "fp16"}, []),
        ({"a": "s8", "b": "u8"}, []),
        ({"a": "s8", "n": 40}, ["tcgen05.n"]),
        ({"a": "s8", "n": 24}, []),
        ({"a": "s8", "n": 48, "m": 256, "cta_group": 2}, ["tcgen05.n"]),
        ({"a": "e4m3", "n": 8}, []),
        ({"a": "e4m3", "n": 8, "b_major": "n"}, ["tcgen05.n"]),
        ({"a": "e4m3", "n": 8, "a_major": "m"}, []),
        ({"a": "e4m3", "n": 48, "m": 256, "cta_group": 2, "b_major": "mn"}, ["tcgen05.n"]),
        ({"a": "e2m1", "scale_vector": "2X"}, []),
        ({"a": "e2m1", "scale_vector": "2X", "m": 64}, ["tcgen05.m"]),
        ({"a": "e2m1", "scale_vector": "4X", "scale": "ue4m3"}, []),
        ({"a": "e2m1", "scale_vector": "2X", "scale": "ue4m3"}, ["tcgen05.scale"]),
        ({"a": "e2m1", "scale_vector": "block16", "b_major": "n"}, ["tcgen05.b-major"]),
        ({"a": "e2m1", "scale_vector": "block16", "k": 96, "target": "cuda:103"}, []),
        ({"a": "e2m1", "scale_vector": "block16", "k": 96, "target": "cuda:100"}, ["tcgen05.k"]),
        ({"a": "e2m1", "kind": "mxf4nvf4"}, ["tcgen05.scale-vector"]),
        ({"a": "e4m3", "kind": "mxf8f6f4", "d": "fp16"}, ["tcgen05.d"]),
        ({"a": "fp16", "scale_vector": "1X", "kind": "f16"}, ["tcgen05.scale-vector"]),
        ({"a": "fp16", "a_from": "tmem", "a_major": "m"}, ["tcgen05.a-major"]),
        ({"a": "tf32", "k": 16}, ["tcgen05.k"]),
        ({"a": "tf32", "k": 16, "sparse": True}, []),
        ({"a": "fp16", "ws": True, "m": 32}, []),
        ({"a": "fp16", "ws": True, "m": 32, "n": 256, "sparse": True}, ["tcgen05.n"]),
        ({"a": "int8", "target": "cuda:103"}, ["tcgen05.target"]),
        ({"a": "fp16", "target": "cuda:120"}, ["tcgen05.target"]),
        ({"a": "fp16", "target": "hip:gfx942"}, ["tcgen05.target"]),
        ({"a": "nonsense"}, ["tcgen05.a"]),
        ({"a": "fp16", "kind": "f64"}, ["tcgen05.kind"]),
        ({"a": "fp16", "cta_group": 3}, ["tcgen05.cta-group"]),
    ],
)
def test_what_is_wrong(arguments: dict[str, Any], rules: list[str]) -> None:
    assert [violation.rule for violation in tcgen05.violations(**arguments)] == rules


def test_every_name_may_be_nonsense() -> None:
    names = ("d", "kind", "a_from", "a_major", "b_major", "scale_vector", "scale", "collector", "target")
    for name in names:
        found = tcgen05.violations(**{"a": "fp16", name: "?"})
        assert found and found[0].parameter == name, name


@given(st.data())
def test_descriptors_read_back(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(KINDS.values())))
    a, b = (data.draw(st.sampled_from(kind.operands)) for _ in range(2))
    scaled = kind.block_scaled
    value = InstructionDescriptor(
        kind.name,
        a,
        b,
        data.draw(st.sampled_from(accumulators(kind, a))),
        m=data.draw(st.sampled_from((128, 256) if scaled else (32, 64, 128, 256))),
        n=8 * data.draw(st.integers(1, 32)),
        a_major=data.draw(st.sampled_from(kind.majors)),
        b_major=data.draw(st.sampled_from(kind.majors)),
        sparse=data.draw(st.booleans()),
        negate_a=data.draw(st.booleans()),
        negate_b=data.draw(st.booleans()),
        selector=0 if scaled else data.draw(st.integers(0, 3)),
        shift=0 if scaled else data.draw(st.sampled_from((0, 8, 16, 32))),
        saturate=not scaled and data.draw(st.booleans()),
        scale=data.draw(st.sampled_from(("ue8m0", "ue4m3"))) if scaled else "ue8m0",
        scale_a=data.draw(st.integers(0, 3)) if scaled else 0,
        scale_b=data.draw(st.integers(0, 3)) if scaled else 0,
    )
    assert 0 <= encode(value) < 1 << 32
    assert decode(encode(value), kind.name) == value


def test_reserved_bits_and_unknown_types_are_refused() -> None:
    plain = encode(InstructionDescriptor("f16", "f16", "f16", "f32", 128, 64))
    for bit in (6, 23, 29):
        with pytest.raises(ValueError, match="reserved"):
            decode(plain | 1 << bit, "f16")
    with pytest.raises(ValueError, match="no operand types"):
        decode(plain | 7 << 7, "f16")
    with pytest.raises(ValueError, match="not one of"):
        decode(plain, "f64")
    with pytest.raises(ValueError, match="M=100"):
        encode(InstructionDescriptor("f16", "f16", "f16", "f32", 100, 64))
