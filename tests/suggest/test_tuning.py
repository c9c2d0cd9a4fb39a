"""Where a kernel needs more than there is, the static model proposes what to compile: real searches."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.model.case import Case, frozen
from triage.model.gpus import TensorCore
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.source.roles import RoleKind, roles
from triage.suggest.budget import Budget
from triage.suggest.tuning.space import Space

MATMUL = """
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    rows = (pid // across) * BM + tl.arange(0, BM)
    columns = (pid % across) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    left = a + rows[:, None] * K + ks[None, :]
    right = b + ks[:, None] * N + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(left), tl.load(right), acc)
        left += BK
        right += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(tl.float16))
"""


@pytest.fixture
def matmul(tmp_path: Path) -> Case:
    (tmp_path / "kernel.py").write_text(MATMUL)
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    return Case(
        tmp_path,
        "kernel.py",
        "matmul",
        frozen(signature),
        frozen({"BM": 128, "BN": 256, "BK": 64}),
        frozen(dict.fromkeys(signature, 16)),
        options=frozen({"num_warps": 4, "num_stages": 6}),
    )


@pytest.fixture
def report(matmul: Case, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    with Session(Options(budget=Budget(compiles=4))) as session:
        return session.check(matmul)


def test_a_pipeline_that_is_too_deep_gets_the_configuration_that_is_fast(report: Report) -> None:
    first = report.suggestions[0]
    assert first.resources is not None and first.expected is not None
    assert first.resources.tensor_core is TensorCore.WGMMA and not first.resources.spill_bytes
    # Four warps hold 256 registers of the accumulator each, and spill it: eight do not, at any of these tiles.
    assert first.resources.threads == 256 or {"BM", "BN"} & set(first.changes)
    assert first.expected.time_ratio[1] < 1
    assert not first.results
    assert any(tried.compiled for tried in report.tried[:3])
    assert [one for one in report.suggestions if set(one.changes) & {"M", "N", "K"}] == []


def test_the_space_moves_tiles_alone(matmul: Case) -> None:
    space = Space(matmul, matmul.text(), multiplies=True)
    assert dict(space.tiles) == {"BM": 128, "BN": 256, "BK": 64}
    assert all(roles(matmul.text(), "matmul")[name].kind is RoleKind.TILE for name, _ in space.tiles)
    beside = [dict(tiles) for tiles in space.beside(space.tiles)]
    assert {"BM": 256, "BN": 256, "BK": 64} in beside and {"BM": 256, "BN": 128, "BK": 64} in beside
    assert all(max(tiles.values()) <= 256 for tiles in beside)


def test_stages_vary_only_where_a_loop_is_pipelined(matmul: Case) -> None:
    space = Space(matmul, matmul.text(), multiplies=True, pipelines=False)
    assert len({options.get("num_stages") for options in space.options()}) == 1


def test_what_made_a_neighbour_compile_stays(matmul: Case) -> None:
    base = matmul.with_changes({"num_warps": 8})
    space = Space(base, matmul.text(), multiplies=True, changed={"num_warps": 8})
    assert {options["num_warps"] for options in space.options()} == {8}
    assert space.changes(space.tiles, {"num_warps": 8, "num_stages": 3}, matmul) == {"num_warps": 8, "num_stages": 3}
