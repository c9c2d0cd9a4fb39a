"""``tma``: copies against the assembler by enumeration, descriptors and boxes against Triton, and the map's own rules.

The driver is asked by ``tests/gpu/tma_encode.py``, where there is one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blackwell_compiles import compiled
from blackwell_ptx import disagreements, refused
from hypothesis import given
from hypothesis import strategies as st

from triage.harness.toolchains import Toolchain
from triage.legality import tma
from triage.legality.dtypes import parse
from triage.legality.tma import copy, descriptor
from triage.legality.tma.explain import swizzled
from triage.legality.tma.tensor_map import MODES

KERNELS = Path(__file__).with_name("blackwell_kernels.py").read_text()
SPELLED = {
    "tile": "tile",
    "gather4": "tile::gather4",
    "scatter4": "tile::scatter4",
    "im2col": "im2col",
    "im2col_w": "im2col::w",
    "im2col_w_128": "im2col::w::128",
}


def load(rank: int, mode: str, destination: str, multicast: bool, group: int | None) -> str:
    """As the ISA writes it; gathered rows have five coordinates, and the im2col modes take their offsets."""
    name = f"cp.async.bulk.tensor.{rank}d.{destination}.global.{SPELLED[mode]}.mbarrier::complete_tx::bytes"
    name += ".multicast::cluster" * multicast + (f".cta_group::{group}" if group else "")
    operands = ["[%r0]", f"[%rd1, {coordinates(rank, mode)}]", "[%r1]"]
    if mode.startswith("im2col"):
        count = max(rank - 2, 1) if mode == "im2col" else 2
        operands.append(f"{{{','.join(f'%h{place}' for place in range(count))}}}")
    return f"{name} {', '.join([*operands, *['%h9'] * multicast])};"


def store(rank: int, mode: str, reduce: bool) -> str:
    spelled = "im2col_no_offs" if mode == "im2col" else SPELLED[mode]
    name = f"cp.{'reduce.' * reduce}async.bulk.tensor.{rank}d.global.shared::cta{'.add' * reduce}.{spelled}.bulk_group"
    return f"{name} [%rd1, {coordinates(rank, mode)}], [%r0];"


def coordinates(rank: int, mode: str) -> str:
    count = 5 if mode in ("gather4", "scatter4") else rank
    return f"{{{','.join(f'%r{10 + place}' for place in range(count))}}}"


def copies(target: str) -> Iterator[tuple[str, bool]]:
    for rank, mode in itertools.product(range(1, 6), MODES):
        for destination, multicast, group in itertools.product(
            ("shared::cta", "shared::cluster"), (False, True), (None, 1, 2)
        ):
            found = copy.violations(
                mode=mode, rank=rank, destination=destination, multicast=multicast, cta_group=group, target=target
            )
            yield load(rank, mode, destination, multicast, group), found == []
        for reduce in (False, True):
            direction = "reduce" if reduce else "store"
            found = copy.violations(direction=direction, mode=mode, rank=rank, target=target)
            yield store(rank, mode, reduce), found == []


@pytest.mark.parametrize(
    "architecture",
    ["sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103f", "sm_110a", "sm_120a", "sm_121a"],
)
def test_copies_agree_with_the_assembler(tmp_path: Path, architecture: str) -> None:
    assert disagreements(copies(architecture), tmp_path, architecture) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "version"),
    [(f"sm_{number}{suffix}", "9.0") for number in (100, 103, 110, 120, 121) for suffix in ("", "a", "f")]
    + [("sm_80", "9.0"), ("sm_107a", "9.4")],
)
def test_copies_agree_on_every_target(tmp_path: Path, architecture: str, version: str) -> None:
    assert disagreements(copies(architecture), tmp_path, architecture, version) == []


def test_operands_are_those_of_the_mode(tmp_path: Path) -> None:
    """The number of coordinates and of im2col offsets follows from mode and rank, which is why neither is asked for."""
    right, wrong = [], []
    for mode, rank in (("tile", 3), ("gather4", 2), ("im2col", 4), ("im2col_w", 4)):
        line = load(rank, mode, "shared::cta", False, None)
        right.append(line)
        wrong.append(line.replace("%r10,", "", 1))
        if mode.startswith("im2col"):
            wrong.append(line.replace("{%h0,%h1}", "{%h0}"))
    assert refused(tmp_path, right) == {}
    assert sorted(refused(tmp_path, wrong)) == list(range(len(wrong)))


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ({"dtype": "bf16", "box": (64, 64), "swizzle": "128"}, []),
        ({"dtype": "fp16", "box": (128, 128), "swizzle": "128"}, ["tma.swizzle-span"]),
        ({"dtype": "fp16", "box": (128, 128)}, []),
        ({"dtype": "fp16", "box": (64, 4)}, ["tma.box-inner"]),
        ({"dtype": "fp16", "box": (257, 8)}, ["tma.box"]),
        ({"dtype": "fp16", "box": (0, 8)}, ["tma.box"]),
        ({"dtype": "fp16", "box": ()}, ["tma.rank"]),
        ({"dtype": "fp64", "box": (8, 16), "swizzle": "64"}, ["tma.swizzle-span"]),
        ({"dtype": "fp16", "box": (1,) * 5 + (8,)}, ["tma.rank"]),
        ({"dtype": "fp16", "box": (8, 8), "interleave": "16"}, ["tma.rank"]),
        ({"dtype": "fp16", "box": (2, 8, 8), "interleave": "32"}, ["tma.base-alignment"]),
        ({"dtype": "fp16", "box": (2, 8, 4), "interleave": "16"}, ["tma.box-inner"]),
        ({"dtype": "fp16", "box": (2, 8, 128), "interleave": "16", "swizzle": "32"}, []),
        ({"dtype": "u8", "box": (228, 16, 64)}, []),
        ({"dtype": "u8", "box": (229, 16, 64)}, ["tma.box-bytes"]),
        ({"dtype": "u8", "box": (64, 64, 256), "steps": (8, 1, 1)}, []),
        ({"dtype": "fp16", "box": (2, 8, 8), "interleave": "32", "swizzle": "32", "base_alignment": 32}, []),
        ({"dtype": "fp16", "box": (8, 8), "base_alignment": 8}, ["tma.base-alignment"]),
        ({"dtype": "fp16", "box": (8, 8), "shape": (100, 100), "strides": (100, 1)}, ["tma.strides"]),
        ({"dtype": "fp16", "box": (8, 8), "shape": (100, 100), "strides": (104, 1)}, []),
        ({"dtype": "fp16", "box": (8, 8), "strides": (104, 2)}, ["tma.contiguous"]),
        ({"dtype": "fp16", "box": (8, 8), "strides": (1 << 39, 1)}, ["tma.strides"]),
        ({"dtype": "fp16", "box": (8, 8), "strides": (8,)}, ["tma.contiguous", "tma.strides"]),
        ({"dtype": "fp16", "box": (8, 8), "shape": (0, 8)}, ["tma.shape"]),
        ({"dtype": "fp16", "box": (8, 8), "shape": ((1 << 32) + 1, 8)}, ["tma.shape"]),
        ({"dtype": "fp16", "box": (8, 8), "steps": (9, 1)}, ["tma.steps"]),
        ({"dtype": "fp16", "box": (8, 8), "steps": (8, 9)}, ["tma.steps"]),
        ({"dtype": "fp16", "box": (8, 8), "steps": (8, 8)}, []),
        ({"dtype": "fp16", "box": (1, 64), "mode": "gather4", "target": "cuda:100"}, []),
        ({"dtype": "fp16", "box": (4, 64), "mode": "gather4", "target": "cuda:100"}, ["tma.box"]),
        ({"dtype": "fp16", "box": (1, 64), "mode": "gather4", "target": "cuda:90"}, ["tma.target"]),
        ({"dtype": "fp16", "box": (1, 64), "mode": "scatter4", "target": "cuda:120"}, ["tma.target"]),
        ({"dtype": "fp16", "box": (1024, 64), "mode": "im2col", "shape": (8, 8, 8, 64)}, []),
        ({"dtype": "fp16", "box": (1025, 64), "mode": "im2col", "shape": (8, 64)}, ["tma.rank", "tma.box"]),
        ({"dtype": "fp16", "box": (8, 8), "target": "cuda:80"}, ["tma.target"]),
        ({"dtype": "e2m1", "box": (8, 32)}, []),
        ({"dtype": "e2m1", "box": (8, 16)}, ["tma.box-inner"]),
        ({"dtype": "e2m1", "box": (8, 32), "target": "cuda:90"}, ["tma.dtype"]),
        ({"dtype": "e2m1", "box": (8, 128), "padded": True, "base_alignment": 32, "swizzle": "128"}, []),
        ({"dtype": "e3m2", "box": (8, 64), "base_alignment": 16}, ["tma.box-inner", "tma.base-alignment"]),
        ({"dtype": "i1", "box": (8, 32)}, ["tma.dtype"]),
        ({"dtype": "?", "box": (8, 32)}, ["tma.dtype"]),
        ({"dtype": "fp16", "box": (8, 32), "swizzle": "96"}, ["tma.swizzle"]),
        ({"dtype": "fp16", "box": (8, 32), "interleave": "64"}, ["tma.interleave"]),
        ({"dtype": "fp16", "box": (8, 32), "mode": "im2row"}, ["tma.mode"]),
    ],
)
def test_what_is_wrong(arguments: dict[str, Any], rules: list[str]) -> None:
    assert [violation.rule for violation in tma.violations(**arguments)] == rules


BOXES = st.lists(st.one_of(st.integers(0, 300), st.sampled_from((8, 16, 32, 64, 128, 256))), min_size=1, max_size=5)


@given(st.sampled_from(("u8", "f16", "f32", "f64", "bf16")), BOXES, st.sampled_from(("none", "32", "64", "128")))
def test_what_is_said_to_be_nearest_is_legal(dtype: str, box: list[int], swizzle: str) -> None:
    found = tma.violations(dtype=dtype, box=box, swizzle=swizzle)
    for violation in found:
        assert set(violation.nearest) <= set(violation.allowed)
    if len(found) == 1 and found[0].nearest and found[0].parameter == "box":
        for near in found[0].nearest:
            assert isinstance(near, tuple)
            # One axis mended may show that the whole is too large, and nothing else.
            left = tma.violations(dtype=dtype, box=near, swizzle=swizzle)
            assert {violation.rule for violation in left} <= {"tma.box-bytes"} - {found[0].rule}


@given(st.sampled_from((32, 64, 128)), st.integers(0, 1 << 12))
def test_a_swizzle_exchanges_units_of_one_line(span: int, unit: int) -> None:
    assert swizzled(swizzled(unit, span), span) == unit
    assert swizzled(unit, span) // (span // 16) == unit // (span // 16)


def test_the_pattern_of_128_is_the_one_of_the_isa() -> None:
    lines = [[swizzled(8 * line + place, 128) - 8 * line for place in range(8)] for line in range(8)]
    assert lines[1] == [1, 0, 3, 2, 5, 4, 7, 6] and lines[7] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert [swizzled(8 * 2 + place, 64) - 16 for place in range(8)] == [2, 3, 0, 1, 6, 7, 4, 5]
    assert [swizzled(8 + place, 32) - 8 for place in range(8)] == [1, 0, 3, 2, 5, 4, 7, 6]


def made(dtype: str, block: tuple[int, ...], strides: tuple[int, ...] | None = None, warps: int = 4) -> dict[str, Any]:
    """A case of a kernel that makes its own descriptors; ``block`` and ``strides`` are for the tests."""
    used = strides or tuple(1 << 10 * place for place in reversed(range(len(block))))
    shape = (1024,) * len(block)
    constants: dict[str, Any] = {"S": shape, "T": used, "B": block, "Z": (0,) * len(block)}
    if len(block) == 2:
        constants = {f"{name}{place}": constants[name][place] for name in "STB" for place in range(2)}
    return {
        "kernel": "copy2" if len(block) == 2 else "copy",
        "target": 90,
        "types": {"a": f"*{dtype}", "c": f"*{dtype}"},
        "constants": constants,
        "options": {"num_warps": warps},
        "block": block,
        "strides": used,
    }


def check(cases: list[dict[str, Any]], python: str | None = None) -> None:
    """Boxes, swizzles and the number of copies are those that the rule says, and the map is legal."""
    answers = compiled(KERNELS, cases, python) if python else compiled(KERNELS, cases)
    for case, answer in zip(cases, answers, strict=True):
        dtype, block = case["types"]["a"][1:], case["block"]
        assert answer["error"] is None, (case, answer)
        expected = descriptor.boxes(dtype, block)
        rank = len(block)
        assert tuple(reversed(answer["maps"]["box_dim"][:rank])) == expected.box, case
        # From 3.9 on a mode of 0 is no constant of its own: it is taken from a register.
        codes = {"none": 0, "32": 1, "64": 2, "128": 3}
        assert (answer["maps"].get("swizzle_mode") or [0])[0] == codes[expected.swizzle], case
        instructions = expected.instructions(case["options"]["num_warps"])
        assert list(answer["copies"].values()) == [instructions] * 2, case
        assert tma.violations(dtype=dtype, box=expected.box, swizzle=expected.swizzle, target="cuda:90") == []


def test_boxes_are_those_that_triton_writes_into_its_maps() -> None:
    cases = [made("fp16", block) for block in ((8, 512), (4, 64), (512,), (2, 4, 16))]
    check([*cases, made("fp32", (512, 64)), made("i8", (16, 64), warps=8)])


@pytest.mark.slow
@pytest.mark.parametrize("version", ["newest", "3.8.0", "3.7.1", "3.6.0"])
def test_boxes_of_many_blocks(release: Callable[[str], Toolchain], version: str) -> None:
    blocks = [(m, n) for m, n in itertools.product((1, 4, 8, 64, 512), (16, 32, 64, 128, 512))]
    if version in ("newest", "3.8.0"):
        blocks += [(16,), (256,), (2048,), (2, 4, 64), (1, 2, 64), (4, 1, 128), (2, 2, 2, 32), (1, 2, 4, 8, 16)]
    cases = [
        made(dtype, block)
        for dtype, block in itertools.product(("i8", "fp16", "fp32", "fp64"), blocks)
        if block[-1] * parse(dtype).bits // 8 >= 16 and math.prod(block) <= 1 << 16
    ]
    check(cases, str(release(version).python))


REFUSED = [
    made("fp16", (8, 4)),
    made("i8", (8, 8)),
    made("fp16", (1,) * 5 + (8,)),
    made("fp16", (24, 64)),
    made("fp16", (64, 64), (1024, 2)),
    made("fp16", (64, 64), (1004, 1)),
]


def test_triton_refuses_the_descriptors_that_the_rule_has_illegal() -> None:
    fine = [made("fp16", (1, 8)), made("fp16", (64, 64), (1000, 1))]
    for case, answer in zip([*REFUSED, *fine], compiled(KERNELS, [*REFUSED, *fine]), strict=True):
        found = descriptor.violations(dtype=case["types"]["a"][1:], block=case["block"], strides=case["strides"])
        assert bool(found) == (answer["error"] is not None), (case, answer["error"])


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.8.0", "3.7.1", "3.6.0"])
def test_older_releases_look_at_all_but_the_strides(release: Callable[[str], Toolchain], version: str) -> None:
    """Before 3.9 a constant stride that is not a multiple of 16 bytes is left to the driver."""
    *same, stride = compiled(KERNELS, REFUSED, release(version).python)
    assert all(answer["error"] for answer in same)
    assert stride["error"] is None


def test_a_host_descriptor_of_short_rows_compiles() -> None:
    """The driver alone sees it: ``host`` says what is checked before."""
    text = "tensordesc<fp16[64,4]>"
    short = {"kernel": "host", "target": 90, "types": {"a": text, "c": text}, "options": {"num_warps": 4}}
    gather = {
        "kernel": "gather",
        "target": 90,
        "types": {"a": "*fp16", "c": "*fp16"},
        "constants": {"B": 64, "R": 16},
        "options": {"num_warps": 4},
    }
    of_host, of_gather = compiled(KERNELS, [short, gather])
    assert of_host["error"] is None
    assert descriptor.violations(dtype="fp16", block=(64, 4), host=True) == []
    assert [violation.rule for violation in tma.violations(dtype="fp16", box=(64, 4))] == ["tma.box-inner"]
    # Triton writes the instruction for Hopper too, and leaves it to ptxas to refuse it.
    assert of_gather["error"] is None
    assert any("tile::gather4" in name for name in of_gather["copies"])
    assert tma.violations(dtype="fp16", box=(1, 64), mode="gather4", target="cuda:90")[0].rule == "tma.target"
