"""What legality rules say of CuTe configurations, by the calls of a source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triage.model.case import Case, frozen
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.model.language import Language
from triage.model.target import Target
from triage.suggest.cute.neighbours import neighbours
from triage.suggest.cute.predictions import CallPredictions
from triage.suggest.cute.scene import CuteScene
from triage.suggest.proposal import Move, Proposal

SOURCE = """\
import cutlass
from cutlass import cute
from cutlass.cute.nvgpu import cpasync, tcgen05, warp
import cutlass.utils.hopper_helpers as helpers
MAJOR = {"K": warp.OperandMajorMode.K, "MN": warp.OperandMajorMode.MN}

class Host:
    def __init__(self, threads, cluster=(1, 1, 1)):
        self.block = (threads, 1, 1)
        self.cluster = cluster

    @cute.jit
    def __call__(self, a: cute.Tensor, TYPE: cutlass.Constexpr, TILE: cutlass.Constexpr, BITS: cutlass.Constexpr):
        rows, columns, depth = TILE
        warp.MmaF16BF16Op(TYPE, cutlass.Float32, (16, 8, TILE[2]))
        helpers.make_trivial_tiled_mma(TYPE, TYPE, MAJOR["K"], MAJOR["K"], cutlass.Float32, (1, 1, 1), (64, TILE[1]))
        cute.make_copy_atom(cpasync.CopyG2SOp(), TYPE, num_bits_per_copy=BITS)
        cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), a, layout, (TILE[0], 4 * TILE[0]))
        cute.arch.barrier(barrier_id=TILE[0] // 8, number_of_threads=64)
        kernel(a, columns).launch(grid=(1, 1, 1), block=self.block, cluster=self.cluster)
"""
LINES = {"warp": 15, "helper": 16, "copy": 17, "map": 18, "barrier": 19, "launch": 20}
LEGAL: dict[str, Any] = {"TYPE": "cutlass.Float16", "TILE": [64, 128, 16], "BITS": 128}


def scene(tmp_path: Path, line: int | None = None, threads: int = 128, **changes: Any) -> CuteScene:
    (tmp_path / "kernel.py").write_text(SOURCE)
    case = Case(
        folder=tmp_path,
        file="kernel.py",
        name="Host",
        signature=frozen({"a": "tensor<f16, (512,512):(512,1), align=16>"}),
        construct=frozen({"threads": threads, "cluster": [1, 1, 1]}),
        constexprs=frozen({**LEGAL, **changes}),
        target=Target("cuda", "90"),
        language=Language.CUTE,
    )
    source = SourceLocation("kernel.py", line) if line else None
    return CuteScene.of(case, SOURCE, Diagnosis(Kind.FRONTEND_ERROR, "it fails", "it fails", source=source), "")


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"TYPE": "cutlass.Float32"}, {"warp", "helper"}),
        ({"TYPE": "cutlass.Float6E2M3FN"}, set()),  # The rules have no such type: nothing is said.
        ({"TILE": [64, 128, 24]}, {"warp"}),
        ({"TILE": [64, 264, 16]}, {"helper"}),
        ({"TILE": [128, 128, 16]}, {"map", "barrier"}),
        ({"TILE": [64]}, set()),
        ({"BITS": 16}, {"copy"}),
        ({"threads": 2048}, {"launch"}),
    ],
)
def test_calls_that_break_a_rule(tmp_path: Path, changes: dict[str, Any], broken: set[str]) -> None:
    assert CallPredictions(scene(tmp_path, **changes)).broken == {LINES[name] for name in broken}


def test_what_leaves_a_confirmed_violation_is_excluded(tmp_path: Path) -> None:
    failing = scene(tmp_path, LINES["launch"], threads=2048)
    predictions = CallPredictions(failing)

    def weight(**changes: Any) -> float:
        return predictions.weight(Proposal(changes, Move.NUMBER, 0.0, 1.0, ""))

    assert weight(threads=256) < 0 < weight(threads=4096)
    assert weight(threads=256, BITS=16) > weight(threads=256)
    proposed = list(neighbours(failing))
    assert proposed
    assert all("threads" in proposal.changes for proposal in proposed)
    # What cannot be read any more is not repaired.
    unread = scene(tmp_path, LINES["warp"], TILE=[64, 128, 24])
    assert all(len(proposal.changes.get("TILE", [64, 128, 16])) == 3 for proposal in neighbours(unread))
