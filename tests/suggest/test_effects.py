"""What a change means for results and for the caller: nothing that changes results goes unsaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triage.model.case import Case, frozen
from triage.source import parameters as kernel_source
from triage.suggest.effects import Effects, effects

SOURCE = """
@triton.jit
def attention(q_ptr, k_ptr, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr,
              GROUP_M: tl.constexpr,
              CAUSAL: tl.constexpr, WS: tl.constexpr, ACC: tl.constexpr, PRECISION: tl.constexpr):
    pid = tl.program_id(0)
    rows = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, HEAD_DIM)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=ACC)
    for start in tl.range(0, N, BLOCK_N, warp_specialize=WS):
        k = tl.load(k_ptr + start)
        acc = tl.dot(acc, k, input_precision=PRECISION)
        if CAUSAL:
            acc = tl.where(rows[:, None] > start, acc, 0)
"""
CASE = Case(
    Path(),
    "kernel.py",
    "attention",
    frozen({"q_ptr": "*fp32", "k_ptr": "*fp32", "N": "i32"}),
    frozen(
        {
            "BLOCK_M": 64,
            "BLOCK_N": 64,
            "HEAD_DIM": 128,
            "GROUP_M": 8,
            "CAUSAL": True,
            "WS": True,
            "ACC": "tl.float32",
            "PRECISION": "tf32",
        }
    ),
)


@pytest.mark.parametrize(
    ("changes", "results", "caller"),
    [
        ({"num_warps": 8, "num_stages": 2}, "", ""),
        ({"BLOCK_M": 128}, "", ""),
        ({"BLOCK_N": 32}, "", ""),
        ({"GROUP_M": 4}, "", ""),
        ({"WS": False}, "", ""),
        ({"HEAD_DIM": 64}, "size: no loop and no grid steps by HEAD_DIM", ""),
        ({"CAUSAL": False}, "algorithm: CAUSAL may choose another branch", ""),
        ({"ACC": "tl.float16"}, "precision: ACC is fp16 in place of fp32", ""),
        ({"PRECISION": "ieee"}, "precision: PRECISION is ieee in place of tf32", ""),
        ({"q_ptr": "*fp16"}, "data: q_ptr holds fp16 in place of fp32", "pass q_ptr as *fp16"),
        ({"target": "cuda:80"}, "", "runs on cuda:80 only"),
    ],
)
def test_effects(changes: dict[str, Any], results: str, caller: str) -> None:
    meant = effects(CASE, kernel_source.read(SOURCE, "attention"), changes)
    assert meant.results.startswith(results)
    assert bool(meant.results) == bool(results)
    assert meant.caller == caller


def test_without_a_source_every_doubt_is_said() -> None:
    unread = kernel_source.read("", "attention")
    assert effects(CASE, unread, {"BLOCK_M": 128}).results != ""
    assert effects(CASE, unread, {"num_warps": 8}) == Effects()
