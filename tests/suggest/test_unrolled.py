"""A row in one block that is too long to compile: the advice is a loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.model.case import Case, frozen
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.report import SuggestionKind
from triage.suggest.scene import Scene
from triage.suggest.unrolled import in_parts

SOFTMAX = """
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + column, mask=column < n, other=float("-inf"))
    scaled = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * n + column, scaled / tl.sum(scaled, axis=0), mask=column < n)
"""


def scene(block: int, kind: Kind = Kind.TIMEOUT, warps: int = 4) -> Scene:
    signature = frozen({"x": "*fp32", "y": "*fp32", "n": "i32"})
    case = Case(Path(), "kernel.py", "softmax", signature, frozen({"BLOCK": block}))
    case = case.with_changes({"num_warps": warps})
    return Scene.of(case, SOFTMAX, Diagnosis(kind, "", ""), "")


@pytest.mark.parametrize("kind", [Kind.TIMEOUT, Kind.OUT_OF_MEMORY])
def test_a_row_of_a_million_is_looped_over(kind: Kind) -> None:
    [advice] = in_parts(scene(1 << 20, kind))
    assert (advice.kind, advice.verified, advice.resources) == (SuggestionKind.SOURCE, False, None)
    assert advice.changes == {"source": "loop over BLOCK in blocks of 4096"}
    assert "8192 values a thread" in advice.why


@pytest.mark.parametrize(
    "other", [scene(1 << 13), scene(1 << 17, warps=32), scene(1 << 20, Kind.SEGFAULT)], ids=["short", "warps", "crash"]
)
def test_no_advice_for_others(other: Scene) -> None:
    assert list(in_parts(other)) == []
