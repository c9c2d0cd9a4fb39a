"""Maps of sweeps for tests, made without a compiler: a matmul's, and any size of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from triage.model.case import Case, frozen
from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.publish.compose.sweep import SweepView
from triage.publish.privacy import Scrubber
from triage.sweeps.commands import SweepCommands
from triage.sweeps.grid import CellSet, Grid, SweepAxis, cells_of, set_of
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellObservation, CellState, Predicted, PredictedCells, SweepFailure
from triage.sweeps.rule import SweepRule

ASSERTION = "v3|assertion|WGMMAOpPattern::getPtxAsm|transpose is only supported for f16 and bf16"
SHARED = "v3|out-of-resources|shared-memory"
MATCH = {
    "id": "wgmma-tf32-mn-major",
    "title": "WGMMA with a TF32 operand that is MN-major",
    "confidence": 0.98,
    "fixed_in": "3.3.0",
    "upstream": ["https://github.com/triton-lang/triton/issues/5713"],
}
COMMANDS = SweepCommands(("triage", "check", "matmul"), ("triage", "sweep", "matmul", "--set", "BM=64,128"))


def matmul_axes(stages: Sequence[int] = (2, 3, 4), targets: bool = True) -> list[SweepAxis]:
    """The axes of a matmul's sweep."""
    axes = [
        SweepAxis("dtype", ("tl.float16", "tl.float32")),
        SweepAxis("BM", (32, 64, 128, 256)),
        SweepAxis("BN", (32, 64, 128, 256)),
        SweepAxis("BK", (16, 32, 64, 128)),
        SweepAxis("num_warps", (2, 4, 8)),
        SweepAxis("num_stages", tuple(stages)),
        SweepAxis("EVEN", (True, False)),
    ]
    machines = [SweepAxis("target", ("cuda:80", "cuda:90", "cuda:120")), SweepAxis("triton", ("3.2.0", "3.6.0"))]
    return axes + machines if targets else axes


LIMITS = {"cuda:80": 166_912, "cuda:90": 232_448, "cuda:120": 101_376}


def observed(values: dict[str, Any]) -> CellObservation:
    """What a compile with these values would show."""
    target, release = values.get("target", "cuda:90"), values.get("triton", "3.2.0")
    size = 4 if values["dtype"] == "tl.float32" else 2
    if values["BK"] == 16 and values["BM"] == 256 and values["BN"] == 256 and values["num_warps"] == 2:
        return CellObservation(CellState.UNTOLD, reason="120 s were not enough on this machine")
    if target == "cuda:90" and release == "3.2.0" and size == 4 and values["BM"] >= 64 and values["num_warps"] >= 4:
        headline = "transpose is only supported for f16 and bf16"
        return CellObservation(CellState.FAILED, ASSERTION, headline, "assertion", "crash", "llir")
    shared = (values["BM"] + values["BN"]) * values["BK"] * size * (values["num_stages"] - 1)
    if shared > LIMITS[target]:
        text = f"out of resource: shared memory, Required: {shared}, Hardware limit: {LIMITS[target]}"
        return CellObservation(
            CellState.FAILED, SHARED, text, "out-of-resources", "error", "load", "shared_memory", shared, LIMITS[target]
        )
    registers = min(255, 32 + values["BM"] * values["BN"] // (values["num_warps"] * 32))
    spill = max(0, values["BM"] * values["BN"] // (values["num_warps"] * 32) - 223) * 4
    core = TensorCore.MMA_SYNC if target != "cuda:90" else TensorCore.WGMMA
    return CellObservation(CellState.COMPILED, resources=Resources(shared, registers, spill, core))


@cache
def matmul(compiled: float = 0.15, stages: tuple[int, ...] = (2, 3, 4), targets: bool = True) -> SweepMap:
    """A map of which this part was compiled, chosen at random, and the rest predicted, always rightly."""
    random = Random(7)
    grid = Grid(matmul_axes(stages, targets))
    grid = Grid(grid.axes, grid.whole & ~grid.selected({1: (0,), 2: (3,)}))
    observations, predicted = {}, dict[tuple[str | None, float], list[int]]()
    for cell in cells_of(grid.allowed):
        seen = observed(grid.values(cell))
        if random.random() < compiled:
            observations[cell] = seen
        else:
            predicted.setdefault((seen.signature, random.choice((0.97, 0.99, 0.995))), []).append(cell)
    groups = tuple(
        PredictedCells(set_of(cells), signature is None, probability, signature)
        for (signature, probability), cells in predicted.items()
    )
    failures = (
        SweepFailure(SHARED, "out of resource: shared memory", "out-of-resources"),
        SweepFailure(ASSERTION, "transpose is only supported for f16 and bf16", "assertion", (MATCH,)),
    )
    case = Case(
        Path("kernels"),
        "matmul.py",
        "matmul_kernel",
        frozen({"a_ptr": "*fp16"}),
        frozen({"dtype": "tl.float16", "BM": 64, "BN": 64, "BK": 32, "EVEN": True}),
        options=frozen({"num_warps": 4, "num_stages": 3}),
    )
    known = Predicted(groups, 0.0042 if groups else None, 311 if groups else 0, {"EVEN": 96} if groups else {})
    return SweepMap(case, grid, observations, failures, known, rules(grid))


def with_text(map_: SweepMap, text: str) -> SweepMap:
    """The map with this text wherever a foreign one is."""
    failures = tuple(replace(failure, headline=text) for failure in map_.failures)
    observations = {
        cell: replace(seen, headline=text, reason=text if seen.reason else None)
        for cell, seen in map_.observations.items()
    }
    rules_ = tuple(replace(rule, text=text, python=text, explained_by=text) for rule in map_.rules)
    axes = [*map_.grid.axes]
    axes[0] = SweepAxis(text, (text, f"{text} "))
    case = replace(map_.case, constexprs=frozen({**map_.case.constexprs, text: text}))
    grid = Grid(axes, map_.grid.allowed)
    return replace(map_, failures=failures, observations=observations, rules=rules_, grid=grid, case=case)


def rules(grid: Grid) -> tuple[SweepRule, ...]:
    """Two rules of that matmul."""
    position = grid.positions
    cells: CellSet = grid.selected({0: (1,), position["BM"]: (1, 2, 3), position["num_warps"]: (1, 2)})
    if "target" in position:
        cells &= grid.selected({position["target"]: (1,), position["triton"]: (0,)})
    large = grid.selected({position["BK"]: (3,), position["BM"]: (3,)})
    return (
        SweepRule(
            "illegal where dtype = fp32 and BM \u2265 64 and num_warps \u2265 4",
            "B",
            48,
            0,
            12,
            "BM >= 64",
            "wgmma",
            cells=cells,
        ),
        SweepRule("illegal where BM * BK \u2265 32,768", "A", 131, 2, 16, "BM * BK >= 32768", "smem", cells=large),
    )


@cache
def large(cells: int = 864_000, compiled: int = 4_000) -> SweepMap:
    """A map of 864,000 cells: what is illegal follows rules, but for one cell in a thousand, as a model predicts it."""
    random = Random(11)
    sizes = {
        "BM": 5,
        "BN": 5,
        "BK": 6,
        "num_warps": 4,
        "num_stages": 6,
        "GROUP": 10,
        "dtype": 2,
        "target": 4,
        "triton": 3,
    }
    axes = [SweepAxis(name, tuple(f"{name}{index}" for index in range(size))) for name, size in sizes.items()]
    grid = Grid(axes)
    assert grid.size == cells
    at = grid.positions
    shared = grid.selected({at["BM"]: (3, 4), at["BN"]: (3, 4), at["BK"]: (4, 5), at["num_stages"]: (3, 4, 5)})
    shared |= grid.selected({at["BK"]: (5,), at["num_stages"]: (5,), at["target"]: (0, 2)})
    assertion = grid.selected({at["dtype"]: (1,), at["num_warps"]: (2, 3), at["triton"]: (0,)}) & ~shared
    noise = set_of(random.sample(range(grid.size), grid.size // 1000))
    shared, assertion = shared ^ noise, assertion & ~noise
    chosen = random.sample(range(grid.size), compiled)
    observations = {}
    for cell in chosen:
        if (shared | assertion) >> cell & 1:
            signature = SHARED if shared >> cell & 1 else ASSERTION
            observations[cell] = CellObservation(CellState.FAILED, signature, "out of resource", required=cell * 16)
        else:
            used = Resources(random.randrange(0, 230_000, 1024), random.randrange(24, 255), None, TensorCore.WGMMA)
            observations[cell] = CellObservation(CellState.COMPILED, resources=used)
    legal = grid.whole & ~shared & ~assertion
    groups = []
    # Probabilities differ from leaf to leaf of a tree, whose leaves are boxes.
    for warps, stages in product(range(4), range(6)):
        box = grid.selected({at["num_warps"]: (warps,), at["num_stages"]: (stages,)})
        for signature, cells_of_it in ((None, legal), (SHARED, shared), (ASSERTION, assertion)):
            groups.append(PredictedCells(cells_of_it & box, signature is None, random.uniform(0.8, 0.999), signature))
    small = matmul()
    rule = replace(small.rules[0], cells=assertion | noise)
    case = replace(small.case, constexprs=frozen(dict.fromkeys(sizes)))
    return SweepMap(case, grid, observations, small.failures, Predicted(tuple(groups), 0.004, 900), (rule,))


def view(map_: SweepMap, scrubber: Scrubber | None = None) -> SweepView:
    """What there is to show of it."""
    return SweepView(map_, COMMANDS, scrubber)
