"""Where a kernel needs more than there is, the static model proposes what to compile: real searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Request
from triage.harness.toolchains import Toolchains
from triage.model.case import Case, frozen
from triage.model.gpus import TensorCore
from triage.model.outcome import Resources, Status
from triage.model.report import Report
from triage.performance.drawbacks import SERIOUS_SPILL
from triage.pipeline import Options, Session
from triage.source import parameters
from triage.source.roles import RoleKind, roles
from triage.suggest.budget import Budget
from triage.suggest.tuning.expectations import Expectations
from triage.suggest.tuning.space import Space
from triage.suggest.tuning.tuner import MOST_COMPILES
from triage.suggest.tuning.tuning import Tuning

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
    with Session(Options(budget=Budget(compiles=2))) as session:
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


@pytest.mark.slow
def test_what_fails_alike_gets_what_was_chosen_before(
    matmul: Case, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    text = MATMUL.replace("BK: tl.constexpr)", "BK: tl.constexpr, GROUP: tl.constexpr)").replace(
        "// across", "// GROUP"
    )
    (matmul.folder / "kernel.py").write_text(text)
    cases = [replace(matmul, constexprs=frozen({**matmul.constexprs, "GROUP": group})) for group in (8, 16)]
    options = Options(budget=Budget(enough=1), configurations_only=True)
    with Session(options) as session:
        first, second = (report for report in session.check_all(cases) if isinstance(report, Report))
    assert [tried.changes for tried in second.tried] == [first.suggestions[0].changes]
    assert second.suggestions[0].resources == first.suggestions[0].resources
    assert second.suggestions[0].expected == first.suggestions[0].expected


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


NORM = """
import triton
import triton.language as tl


@triton.jit
def norm(x, y, n, R: tl.constexpr, D: tl.constexpr):
    tl.static_assert(R <= 4)
    rows = tl.program_id(0) * R + tl.arange(0, R)
    at = rows[:, None] * D + tl.arange(0, D)[None, :]
    values = tl.load(x + at, mask=(rows < n)[:, None], other=0.0)
    centred = values - (tl.sum(values, 1) / D)[:, None]
    scale = tl.rsqrt(tl.sum(centred * centred, 1) / D + 1e-6)
    tl.store(y + at, centred * scale[:, None], mask=(rows < n)[:, None])
"""


def norm(folder: Path, rows: int) -> Case:
    (folder / "kernel.py").write_text(NORM)
    signature, tiles = {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"R": rows, "D": 8192}
    return Case(folder, "kernel.py", "norm", frozen(signature), frozen(tiles), frozen({"x": 16, "y": 16}))


def check(case: Case, cache: Path, monkeypatch: pytest.MonkeyPatch, budget: Budget) -> Report:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    with Session(Options(budget=budget)) as session:
        return session.check(case)


@pytest.mark.slow
def test_a_tile_that_spills_is_not_left_for_another_that_spills(
    matmul: Case, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """256x256 fp32 results in four warps are 512 registers a thread, and in eight still too many."""
    case = matmul.with_changes({"a": "*fp32", "b": "*fp32", "BM": 256, "BN": 256, "BK": 32, "num_stages": 4})
    report = check(case, cache, monkeypatch, Budget(compiles=1))
    assert report.outcome.resources is not None and (report.outcome.resources.spill_bytes or 0) > 1000
    [suggestion] = report.suggestions
    assert suggestion.resources is not None and not suggestion.resources.spill_bytes


@pytest.mark.slow
def test_what_compiles_and_spills_is_repaired(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the front end refuses has no resources. The first neighbour that it takes holds 256 values a thread."""
    report = check(norm(tmp_path, 8), cache, monkeypatch, Budget(compiles=12))
    spilled = next(dict(tried.changes) for tried in report.tried if tried.compiled)
    assert spilled == {"R": 4}
    first = report.suggestions[0]
    assert first.resources is not None and not first.resources.spill_bytes
    assert first.changes["R"] < 4 or first.changes["num_warps"] > 4


@pytest.fixture
def front_end() -> Iterator[Engine]:
    with Engine(keep=True) as engine:
        yield engine


@pytest.mark.slow
def test_where_everything_spills_the_walk_goes_on(matmul: Case, front_end: Engine) -> None:
    """To fewer values a thread, however many were tried, until nothing nearby has fewer."""
    toolchain, expectations = Toolchains().default(), Expectations(Limits(60.0))

    def answer(requests: Iterable[Request]) -> None:
        for attempt in front_end.run(requests):
            expectations.take(attempt)

    source = parameters.read(matmul.text(), matmul.name)
    tuning = Tuning(matmul, toolchain, matmul.text(), source, True, expectations)
    answer(expectations.ask(matmul, toolchain))
    tuner = tuning.begin({})
    assert tuner is not None
    spilling = Resources(0, 255, 4000, TensorCore.WGMMA, threads=128)
    values, proposals = [], []
    for _ in range(100):
        while requests := list(tuner.probes()):
            answer(requests)
        if (proposal := tuner.next()) is None:
            break
        proposals.append(proposal)
        changed = matmul.with_changes(proposal.changes)
        tiles, warps = changed.constexprs, int(changed.options["num_warps"])
        values.append(tiles["BM"] * tiles["BN"] / warps)
        tuner.learn(changed, proposal.changes, replace(spilling, threads=32 * warps))
    assert len(proposals) > 3
    assert values[0] < 128 * 256 / 4
    assert min(values) <= 256  # Eight for each thread.


@pytest.mark.slow
def test_what_compiles_with_large_spills_has_faster_neighbours(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """512 values a thread, and half of them still spill: fewer rows a block, or more warps, hold them in registers."""
    case = norm(tmp_path, 4).with_changes({"D": 4096, "num_warps": 1})
    report = check(case, cache, monkeypatch, Budget())
    assert (report.outcome.status, report.diagnosis) == (Status.OK, None)
    assert any(clause.startswith("spills") for clause in report.outcome.drawbacks)
    assert 0 < report.searched <= MOST_COMPILES
    for suggestion in report.suggestions:
        assert suggestion.verified and not suggestion.results
        assert suggestion.resources is not None and (suggestion.resources.spill_bytes or 0) < SERIOUS_SPILL
        assert suggestion.expected is not None and suggestion.expected.time_ratio[1] < 1
    assert report.suggestions
    whys = [suggestion.why for suggestion in report.suggestions]
    assert [why for why in whys if why.startswith("fastest")] == whys[:1]


def test_what_compiles_well_is_not_searched(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = check(norm(tmp_path, 1), cache, monkeypatch, Budget())
    assert (report.outcome.drawbacks, report.tried, report.suggestions) == ((), (), ())
