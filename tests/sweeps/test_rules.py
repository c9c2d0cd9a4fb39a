"""Rules: learnt from compiles, refuted by others, and written as a program."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.target import Target
from triage.sweeps.exhaustive import ExhaustiveStrategy
from triage.sweeps.grid import Cell, CellSet, Grid, SweepAxis, cells_of, set_of
from triage.sweeps.observation import CellObservation, CellState, Predicted, PredictedCells
from triage.sweeps.rule import SweepRule
from triage.sweeps.rules import program
from triage.sweeps.rules.search import TESTS, RuleSearch

Truth = Callable[[Mapping[str, Any]], str | None]
GRID = Grid(
    [
        SweepAxis("BM", (16, 32, 64, 128, 256)),
        SweepAxis("BN", (16, 32, 64, 128, 256)),
        SweepAxis("BK", (16, 32, 48, 64)),
        SweepAxis("num_warps", (2, 4, 8)),
        SweepAxis("dtype", ("fp16", "fp32", "fp8e5")),
        SweepAxis("target", ("cuda:80", "cuda:90", "hip:gfx942")),
        SweepAxis("WS", (True, False)),
    ]
)
LETTERS = {name: name for name in "ABCD"}


def truth(values: Mapping[str, Any]) -> str | None:
    """What fails, in the order in which a compiler would meet it."""
    if values["BK"] % 32 != 0 and values["dtype"] == "fp8e5":
        return "D"
    if values["dtype"] == "fp8e5" and values["target"] == "cuda:80":
        return "C"
    if values["num_warps"] == 4 and values["dtype"] == "fp32" and values["WS"] and values["BM"] >= 64:
        return "A"
    if values["BM"] * values["BN"] / values["num_warps"] >= 8192:
        return "B"
    return None


def observe(grid: Grid, cell: Cell, of: Truth = truth) -> CellObservation:
    signature = of(grid.values(cell))
    return CellObservation(CellState.FAILED if signature else CellState.COMPILED, signature)


def search(grid: Grid, count: int, seed: int = 0, of: Truth = truth, budget: int | None = None) -> RuleSearch:
    """A finished search that starts from cells drawn at random."""
    drawn = random.Random(seed).sample(sorted(cells_of(grid.allowed)), count)
    rules = RuleSearch(grid, {cell: observe(grid, cell, of) for cell in drawn}, Target.parse("cuda:90"), budget=budget)
    while not rules.is_done:
        for cell in rules.propose(8):
            rules.learn(cell, observe(grid, cell, of))
    return rules


def precision(grid: Grid, rule: SweepRule, of: Truth = truth) -> float:
    cells = list(cells_of(rule.cells))
    return sum(of(grid.values(cell)) is not None for cell in cells) / len(cells)


@pytest.fixture(scope="module")
def rules() -> list[SweepRule]:
    return search(GRID, 600).rules(LETTERS)


@pytest.mark.slow
def test_thresholds_products_ratios_remainders_and_values(rules: list[SweepRule]) -> None:
    assert {rule.failure: {*rule.text.removeprefix("illegal where ").split(" and ")} for rule in rules} == {
        "A": {"num_warps = 4", "dtype = fp32", "WS", "BM ≥ 64"},
        "B": {"BM * BN / num_warps ≥ 8192"},
        "C": {"dtype = fp8e5", "target = cuda:80"},
        "D": {"dtype = fp8e5", "BK % 32 ≠ 0"},
    }


@pytest.mark.parametrize(
    ("times", "per", "text"),
    [
        (3, 1, "illegal where 3 * BM ≥ BN"),
        (2, 3, "illegal where 2 * BM ≥ 3 * BN"),
        (1, 1, "illegal where BM ≥ BN"),
        (1, 4, "illegal where BM / BN ≥ 4"),
    ],
)
def test_ratios_are_written_in_whole_numbers(times: int, per: int, text: str) -> None:
    extents = (16, 32, 48, 64, 96, 128, 192, 256)
    grid = Grid([SweepAxis("BM", extents), SweepAxis("BN", extents)])
    seen = {
        cell: observe(grid, cell, lambda values: "A" if times * values["BM"] >= per * values["BN"] else None)
        for cell in range(grid.size)
    }
    (rule,) = RuleSearch(grid, seen, Target.parse("cuda:90")).rules(LETTERS)
    assert rule.text == text
    assert all(eval(rule.python, {}, grid.values(cell)) == bool(rule.cells >> cell & 1) for cell in range(grid.size))


@pytest.mark.parametrize(
    ("holds", "text"),
    [
        (lambda vector, rows: vector == 1, "illegal where VECTOR = 1"),
        (lambda vector, rows: vector * rows <= 1, "illegal where VECTOR * ROWS ≤ 1"),
        (lambda vector, rows: vector * rows <= 1.5, "illegal where VECTOR * ROWS ≤ 1.5"),
    ],
)
def test_numbers_that_are_no_ratios_stay_on_their_side(holds: Callable[[float, float], bool], text: str) -> None:
    """One, and fractions."""
    grid = Grid([SweepAxis("VECTOR", (1, 1.5, 2, 4, 8)), SweepAxis("ROWS", (1, 2, 4, 8))])
    seen = {
        cell: observe(grid, cell, lambda values: "A" if holds(values["VECTOR"], values["ROWS"]) else None)
        for cell in range(grid.size)
    }
    (rule,) = RuleSearch(grid, seen, Target.parse("cuda:90")).rules(LETTERS)
    assert rule.text == text
    assert all(eval(rule.python, {}, grid.values(cell)) == bool(rule.cells >> cell & 1) for cell in range(grid.size))


def test_what_is_over_a_limit_is_told_by_the_formula_and_the_limits() -> None:
    """From cells that compile and cells that do not, at limits that differ by target."""
    axes = [SweepAxis("BM", (32, 64, 128, 256)), SweepAxis("BK", (32, 64, 128)), SweepAxis("num_stages", (2, 3, 4))]
    grid = Grid([*axes, SweepAxis("dtype", ("fp16", "fp32")), SweepAxis("target", ("cuda:80", "cuda:86"))])

    def shared(values: Mapping[str, Any]) -> CellObservation:
        limit = {"cuda:80": 166912, "cuda:86": 101376}[values["target"]]
        number = values["num_stages"] * values["BM"] * values["BK"] * {"fp16": 2, "fp32": 4}[values["dtype"]]
        if number <= limit:
            return CellObservation(CellState.COMPILED, resources=Resources(number, None, None, TensorCore.NONE))
        return CellObservation(
            CellState.FAILED, "A", resource="shared memory", required=number, limit=limit, stage="load"
        )

    drawn = random.Random(3).sample(range(grid.size), 50)
    rules = RuleSearch(grid, {cell: shared(grid.values(cell)) for cell in drawn}, Target.parse("cuda:80"))
    while not rules.is_done:
        for cell in rules.propose(8):
            rules.learn(cell, shared(grid.values(cell)))
    (rule,) = rules.rules(LETTERS)
    assert rule.text == "illegal where BM * BK * num_stages * bytes(dtype) > the shared memory of target"
    assert all(
        (rule.cells >> cell & 1) == (shared(grid.values(cell)).signature is not None) for cell in range(grid.size)
    )
    for cell in range(grid.size):
        assert eval(rule.python, {}, grid.values(cell)) == bool(rule.cells >> cell & 1)


@pytest.mark.parametrize("seed", [0, 6])
def test_a_rule_says_no_more_than_what_the_others_leave(seed: int) -> None:
    """Products and quotients that happen to cover more of a sample than either cause are not shown."""
    axes = [SweepAxis("EXPERTS", (8, 60, 64, 128)), SweepAxis("TOPK", (1, 2, 6, 8))]
    grid = Grid([*axes, SweepAxis("ROWS", (1, 4, 16)), SweepAxis("num_warps", (1, 4, 32))])
    found = search(grid, 60, seed, lambda values: "A" if values["EXPERTS"] == 60 or values["TOPK"] == 6 else None)
    assert {rule.text for rule in found.rules(LETTERS)} == {"illegal where EXPERTS = 60", "illegal where TOPK = 6"}


def test_two_failures_under_one_rule() -> None:
    def fails(values: Mapping[str, Any]) -> str | None:
        return ("A" if values["BN"] > 64 else "B") if values["BM"] >= 128 and values["WS"] else None

    rules = search(GRID, 600, of=fails).rules(LETTERS)
    assert {rule.failure for rule in rules} >= {"A"} or [rule.failure for rule in rules] == [None]
    assert all(precision(GRID, rule, fails) == 1 for rule in rules)


def test_a_rule_was_tested_before_it_is_shown(rules: list[SweepRule]) -> None:
    assert all(rule.counter_examples_tried >= TESTS and rule.exceptions == 0 for rule in rules)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_rules_from_few_compiles_hold_on_the_whole_grid(seed: int) -> None:
    shown = search(GRID, 150, seed).rules(LETTERS)
    assert shown and all(precision(GRID, rule) >= 0.99 for rule in shown)


def test_a_small_grid_that_was_compiled_whole_has_rules_as_well() -> None:
    grid = Grid([SweepAxis("BM", (32, 64, 128)), SweepAxis("num_warps", (4, 8))])
    seen = {
        cell: observe(grid, cell, lambda values: "A" if values["BM"] >= 64 and values["num_warps"] == 4 else None)
        for cell in range(grid.size)
    }
    assert [rule.text for rule in RuleSearch(grid, seen, Target.parse("cuda:90")).rules(LETTERS)] == [
        "illegal where BM ≥ 64 and num_warps = 4"
    ]


def test_where_nothing_is_legal_the_rule_is_everywhere() -> None:
    grid = Grid([SweepAxis("A", (1, 2, 3))])
    seen = {cell: observe(grid, cell, lambda values: "A" if values["A"] > 1 else "B") for cell in range(grid.size)}
    (rule,) = RuleSearch(grid, seen, Target.parse("cuda:90")).rules(LETTERS)
    assert (rule.text, rule.python, rule.failure, rule.support) == ("illegal everywhere", "True", None, 3)


@pytest.mark.slow
def test_failures_at_random_make_no_rule() -> None:
    """What fits by chance is no rule: writing it down takes more than a list."""
    failing = set(random.Random(1).sample(range(GRID.size), GRID.size // 10))
    assert (
        search(
            GRID,
            300,
            of=lambda values: (
                "A" if GRID.number(axis.values.index(values[axis.name]) for axis in GRID.axes) in failing else None
            ),
        ).rules(LETTERS)
        == []
    )


def test_without_budget_for_its_tests_a_rule_is_not_shown() -> None:
    assert search(GRID, 600, budget=0).rules(LETTERS) == []


class _Map(ExhaustiveStrategy):
    """It predicts the same whatever it learns."""

    def __init__(self, grid: Grid, legal: CellSet, illegal: CellSet) -> None:
        super().__init__(grid)
        self._predicted = Predicted((PredictedCells(legal, True, 0.9), PredictedCells(illegal, False, 0.9, "A")))

    def predict(self) -> Predicted:
        return self._predicted


@pytest.mark.parametrize("agrees", [True, False])
def test_a_rule_needs_fewer_tests_where_the_map_agrees_and_is_not_shown_where_it_contradicts(agrees: bool) -> None:
    grid = Grid([SweepAxis("BM", tuple(range(8))), SweepAxis("BN", tuple(range(8)))])
    ill = grid.selected({0: (4, 5, 6, 7)})
    known = [cell for cell in range(grid.size) if cell % 4 == 0]  # eight of the rule's 32 cells

    def fails(values: Mapping[str, Any]) -> str | None:
        return "A" if values["BM"] >= 4 else None

    unknown = grid.whole & ~set_of(known)
    legal = unknown & ~ill | (0 if agrees else unknown & grid.selected({0: (7,)}))
    rules = RuleSearch(
        grid,
        {cell: observe(grid, cell, fails) for cell in known},
        Target.parse("cuda:90"),
        _Map(grid, legal, unknown & ~legal),
        budget=1,
    )
    (tested,) = rules.propose(8)
    assert ill >> tested & 1 and (agrees or legal >> tested & 1)  # what the map doubts is compiled first
    rules.learn(tested, observe(grid, tested, fails))
    assert rules.is_done
    assert [rule.text for rule in rules.rules(LETTERS)] == ["illegal where BM ≥ 4"] * agrees


def test_what_could_not_be_told_counts_for_nothing() -> None:
    grid = Grid([SweepAxis("BM", tuple(range(16))), SweepAxis("BN", tuple(range(16)))])
    seen = {
        cell: observe(grid, cell, lambda values: "A" if values["BM"] >= 8 else None)
        if cell % 3
        else CellObservation(CellState.UNTOLD, reason="no disk")
        for cell in range(grid.size)
    }
    (rule,) = RuleSearch(grid, seen, Target.parse("cuda:90")).rules(LETTERS)
    assert (rule.text, rule.exceptions, rule.counter_examples_tried) == ("illegal where BM ≥ 8", 0, 0)


def test_time_outs_and_memory_limits_make_no_rule() -> None:
    grid = Grid([SweepAxis("BM", tuple(range(16))), SweepAxis("BN", tuple(range(16)))])
    for kind in ("timeout", "out-of-memory"):
        slow = CellObservation(CellState.FAILED, kind, kind=kind)
        seen = {
            cell: slow if grid.values(cell)["BM"] >= 8 else CellObservation(CellState.COMPILED)
            for cell in range(grid.size)
        }
        assert RuleSearch(grid, seen, Target.parse("cuda:90")).rules(LETTERS) == []


# --- as a program -----------------------------------------------------------------------------------------------------


class Config:
    """As triton.Config."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def all_kwargs(self) -> dict[str, Any]:
        return dict(self._values)


class Tensor:
    """As torch.Tensor, as far as a pruning function looks."""

    dtype = "torch.float32"


def test_the_program_prunes_what_the_rules_say() -> None:
    grid = Grid(
        [SweepAxis("BM", (32, 64, 128)), SweepAxis("x_ptr", ("*fp16", "*fp32")), SweepAxis("num_warps", (4, 8))]
    )
    failing = {"A"}

    def fails(values: Mapping[str, Any]) -> str | None:
        return "A" if values["BM"] >= 64 and values["x_ptr"] == "*fp32" else None

    seen = {cell: observe(grid, cell, fails) for cell in range(grid.size)}
    shown = RuleSearch(grid, seen, Target.parse("cuda:90")).rules(LETTERS)
    text = program.module('k"""', grid, shown, len(seen), 'EVEN="""', dict.fromkeys(failing, 'it\'s "wrong"'))
    namespace: dict[str, Any] = {}
    exec(compile(text, "rules.py", "exec"), namespace)
    configs = [Config(BM=bm, num_warps=8) for bm in (32, 64, 128)]
    kept = namespace["early_config_prune"](configs, {"x_ptr": Tensor()}, EVEN=True)
    assert [config.all_kwargs()["BM"] for config in kept] == [32]
    assert len(namespace["early_config_prune"](configs, {}, EVEN=True)) == 3, "a type that is not known"
    assert len(namespace["early_config_prune"]([Config(BM=256, num_warps=8)], {"x_ptr": Tensor()})) == 1, "not swept"
    assert "BM" in namespace["illegal"](BM=64, x_ptr="*fp32", num_warps=4)
    compiles = namespace["restrictions"](x_ptr="*fp32")
    assert [compiles({"BM": bm, "num_warps": 4}) for bm in (32, 64)] == [True, False]
