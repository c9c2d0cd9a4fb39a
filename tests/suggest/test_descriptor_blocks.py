"""A descriptor that the caller passes has the block that the tiles step by: both change together, or neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.model.case import Case, frozen
from triage.source.descriptors import extents, steps, with_extents
from triage.source.parameters import read
from triage.suggest.descriptors import fixed, followed
from triage.suggest.effects import effects
from triage.suggest.tuning.space import Space

MATMUL = """
@triton.jit
def turn(b_desc, offs_n, k, BN: tl.constexpr):
    return tl.load_tensor_descriptor(b_desc, [offs_n, k])

@triton.jit
def matmul(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    pid_m = (pid // tl.cdiv(N, BN)) * GROUP + pid % GROUP
    offs_m = tl.multiple_of(pid_m * BM, BM)
    offs_n = (pid % tl.cdiv(N, BN)) * BN
    offs_k = 0
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([offs_m, offs_k]), turn(b_desc, offs_n, k, BN).T, acc)
        offs_k += BK
    c_desc.store([offs_m, offs_n], acc)
"""
SIGNATURE = {
    "a_desc": "tensordesc<fp16[128, 64]>", "b_desc": "tensordesc<fp16[128, 64]>",
    "c_desc": "tensordesc<fp32[128, 128]>",
    "M": "i32", "N": "i32", "K": "i32",
}  # fmt: skip


def case(source: str, tmp_path: Path) -> Case:
    (tmp_path / "kernel.py").write_text(source)
    constexprs = {"BM": 128, "BN": 128, "BK": 64, "GROUP": 8}
    return Case(tmp_path, "kernel.py", "matmul", frozen(SIGNATURE), constexprs=frozen(constexprs))


def test_each_axis_is_stepped_by_a_tile() -> None:
    assert {axis: set(names) for axis, names in steps(MATMUL, "matmul").items()} == {
        ("a_desc", 0): {"BM"}, ("a_desc", 1): {"BK"}, ("b_desc", 0): {"BN"}, ("b_desc", 1): {"BK"},
        ("c_desc", 0): {"BM"}, ("c_desc", 1): {"BN"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "changes, blocks",
    [
        ({"BK": 32}, {"a_desc": (128, 32), "b_desc": (128, 32)}),
        ({"BN": 256}, {"b_desc": (256, 64), "c_desc": (128, 256)}),
        ({"BM": 64, "BK": 128}, {"a_desc": (64, 128), "b_desc": (128, 128), "c_desc": (64, 128)}),
        ({"num_warps": 8}, {}),
    ],
)
def test_the_block_follows_the_tile(
    changes: dict[str, int], blocks: dict[str, tuple[int, ...]], tmp_path: Path
) -> None:
    asked = case(MATMUL, tmp_path)
    found = followed(asked, MATMUL, changes)
    assert {name: extents(type_) for name, type_ in found.items() if name.endswith("_desc")} == blocks
    meant = effects(asked, read(MATMUL, "matmul"), found)
    assert not meant.results
    assert all(name in meant.caller for name in blocks)


def test_the_number_of_blocks_is_no_extent(tmp_path: Path) -> None:
    assert followed(case(MATMUL, tmp_path), MATMUL, {"GROUP": 4}) == {"GROUP": 4}


def test_a_tile_of_which_the_axis_is_not_known_stays(tmp_path: Path) -> None:
    hidden = MATMUL.replace("offs_k += BK", "offs_k = step(offs_k)").replace(
        "[offs_m, offs_k]", "place(offs_m, offs_k)"
    )
    asked = case(hidden, tmp_path)
    assert fixed(asked, hidden) == {"BM", "BN", "BK"}
    assert Space(asked, hidden, multiplies=True).tiles == ()


def test_a_type_keeps_what_is_not_its_block() -> None:
    assert with_extents("tensordesc<fp16[128, 64], layout>", (64, 32)) == "tensordesc<fp16[64, 32], layout>"
    assert extents("*fp16") == ()
