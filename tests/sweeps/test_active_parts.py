"""The parts of active sampling: bounds, draws, designs, formulas, rules."""

from __future__ import annotations

import random
from itertools import combinations
from math import log2
from statistics import median

import pytest

from triage.model.target import Target
from triage.sweeps.active.bound import upper_bound
from triage.sweeps.active.calibration import Calibration
from triage.sweeps.active.committee import counted
from triage.sweeps.active.design import Design
from triage.sweeps.active.draw import draw
from triage.sweeps.active.formula import Library
from triage.sweeps.active.hypotheses import Learner
from triage.sweeps.active.interpolation import Interpolation
from triage.sweeps.active.measures import MeasureBoxes, measures
from triage.sweeps.active.order import Order
from triage.sweeps.active.pieces import Sized
from triage.sweeps.active.predicates import Sample
from triage.sweeps.active.quantities import ResourceQuantity
from triage.sweeps.active.slowness import Slowness
from triage.sweeps.columns import columns
from triage.sweeps.grid import Grid, SweepAxis, cells_of, set_of

GRID = Grid(
    [
        SweepAxis("target", ("cuda:80", "cuda:90")),
        SweepAxis("BM", (32, 64, 128)),
        SweepAxis("BN", (32, 64, 128)),
        SweepAxis("BK", (32, 64)),
        SweepAxis("DTYPE", ("tl.float16", "tl.float32", "tl.float8e5")),
        SweepAxis("num_stages", (1, 2, 6)),
        SweepAxis("TMA", (False, True)),
    ]
)


@pytest.mark.parametrize(
    ("wrong", "seen", "bound"), [(0, 59, 0.0495), (0, 300, 0.00994), (1, 20, 0.2161), (5, 5, 1.0), (2, 100, 0.0616)]
)
def test_the_bound_is_clopper_and_pearson_s(wrong: int, seen: int, bound: float) -> None:
    assert upper_bound(wrong, seen) == pytest.approx(bound, rel=0.01)


def test_draws_are_distinct_members_and_every_member_is_drawn() -> None:
    rng = random.Random(3)
    cells = set_of(range(5, 2000, 7))
    for count in (1, 8, 285, 1000):
        chosen = draw(cells, count, rng)
        assert len(set(chosen)) == len(chosen)
        assert set_of(chosen) & ~cells == 0
    assert set_of(cell for _ in range(400) for cell in draw(cells, 8, rng)) == cells
    assert draw(0, 3, rng) == []


def test_the_design_has_every_pair_of_values() -> None:
    design = Design(GRID, random.Random(1))
    chosen = []
    while (best := design.choose(GRID.allowed)) is not None and best[1]:
        design.learn(best[0])
        chosen.append(best[0])
    pairs = {pair for cell in chosen for pair in combinations(enumerate(GRID.at(cell)), 2)}
    assert len(pairs) == sum(len(one.values) * len(other.values) for one, other in combinations(GRID.axes, 2))
    assert len(chosen) <= 24


@pytest.mark.parametrize(
    ("value", "bits"),
    [("tl.float8e4nv", 8), ("*bf16", 16), ("cutlass.TFloat32", 32), ("cutlass.Float8E4M3FN", 8), ("*i64", 64)],
)
def test_element_types_have_a_width(value: str, bits: int) -> None:
    (column,) = columns(Grid([SweepAxis("type", (value, "fp4" if bits != 4 else "fp8"))]))
    assert column.values[0] == bits


def _shared(cell: int) -> int:
    """Bytes as a pipelined loop uses them, with an epilogue that may need more."""
    at = GRID.values(cell)
    width = {"tl.float16": 2, "tl.float32": 4, "tl.float8e5": 1}[at["DTYPE"]]
    stages = at["num_stages"] if at["TMA"] else at["num_stages"] - 1
    loop = stages * (at["BM"] + at["BN"]) * at["BK"] * width
    return max(loop, at["BM"] * 64)


def test_a_formula_is_found_from_few_rows() -> None:
    cells = random.Random(5).sample([cell for cell in cells_of(GRID.allowed) if GRID.values(cell)["TMA"]], 24)
    rows = [(GRID.at(cell), float(GRID.values(cell)["num_stages"] * GRID.values(cell)["BM"] * 12)) for cell in cells]
    formula = Library(columns(GRID)).fit(rows)
    assert formula is not None
    assert str(formula) == "12*BM*num_stages"


def test_numbers_of_few_cells_tell_which_are_over_the_limit() -> None:
    """The formula differs by a flag, and another buffer is the largest where there are few stages."""
    quantity = ResourceQuantity(GRID, Target("cuda", "90"), "shared memory")
    for cell in random.Random(2).sample(range(GRID.size), 90):
        quantity.learn(cell, _shared(cell), None)
    assert quantity.refit()
    boxes = MeasureBoxes(GRID)
    over = boxes.by_value(quantity.measure(boxes))[True]
    limits = {"cuda:80": 163 * 1024, "cuda:90": 227 * 1024}
    expected = set_of(cell for cell in range(GRID.size) if _shared(cell) > limits[GRID.values(cell)["target"]])
    assert expected.bit_count() > 10
    assert (over ^ expected).bit_count() <= 2


def _rows(cells: list[int], limit: float = 1e5) -> list[Sized]:
    return [Sized(GRID.at(cell), float(_shared(cell)), limit) for cell in cells]


def test_larger_tiles_use_no_less_in_parts_that_nothing_contradicts() -> None:
    """A flag that changes the number divides the cells; targets, which do not, count as one."""
    rows = _rows(random.Random(3).sample(range(GRID.size), 100))
    order = Order(GRID, columns(GRID))
    parts = order.parts(rows, 1024.0)
    assert any(len(part.positions[6]) == 1 for part in parts)
    assert all(len(part.positions[0]) == 2 for part in parts)
    for part in parts:
        for number, row in enumerate(rows):
            if part.rows >> number & 1 and row.number > 1024:
                larger = [_shared(cell) for cell in cells_of(order.above(part, row.at))]
                assert sum(other >= row.number for other in larger) >= 0.95 * len(larger)


@pytest.mark.slow
def test_numbers_without_a_formula_are_interpolated() -> None:
    chosen = random.Random(7).sample(range(GRID.size), 90)
    order = Order(GRID, columns(GRID))
    interpolation = Interpolation(GRID, columns(GRID), order.parts(_rows(chosen), 1024.0), _rows(chosen))
    others = GRID.whole & ~set_of(chosen)
    errors = [
        abs(number - log2(_shared(cell))) for number, box in interpolation.numbers(others) for cell in cells_of(box)
    ]
    assert len(errors) == others.bit_count()
    assert median(errors) < 0.35
    assert interpolation.error < 1


def test_the_shortest_rules_are_those_that_made_the_failures() -> None:
    failing = GRID.selected({1: (2,), 4: (1,)}) & ~GRID.selected({6: (0,)})
    sample = Sample(GRID, measures(GRID))
    cells = random.Random(4).sample(range(GRID.size), 120)
    for cell in cells:
        sample.add(cell)
    positive = set_of(number for number, cell in enumerate(cells) if failing >> cell & 1)
    learner = Learner(sample.predicates(), positive, ((1 << len(cells)) - 1) & ~positive)
    (clause,) = learner.rules()
    assert clause.cells(MeasureBoxes(GRID), GRID.whole) == failing


def test_votes_are_counted_cell_by_cell() -> None:
    assert counted([0b0111, 0b0011, 0b0001], 0b1111) == (0b1000, 0b0100, 0b0010, 0b0001)


def test_probabilities_are_those_of_equal_votes() -> None:
    calibration = Calibration(9)
    for _ in range(19):
        assert calibration.learn(0, legal=True, is_random=True)
    assert not calibration.learn(4, legal=False, is_random=False)
    assert calibration.probability(9) == (False, pytest.approx(19.5 / 20))
    assert calibration.probability(3) == (True, pytest.approx(0.25))
    assert (calibration.probes, calibration.bound) == (19, pytest.approx(upper_bound(0, 19, 1 - 0.05 / 3)))


def test_chosen_cells_tighten_the_bound_until_one_is_predicted_wrong() -> None:
    calibration = Calibration(9)
    for _ in range(10):
        calibration.learn(0, legal=True, is_random=True)
    for _ in range(40):
        calibration.learn(0, legal=True, is_random=False)
    assert calibration.bound == pytest.approx(upper_bound(0, 50, 1 - 0.05 / 3))
    calibration.learn(0, legal=False, is_random=False)
    assert calibration.bound == pytest.approx(upper_bound(0, 10, 1 - 0.05 / 3))


def test_slow_cells_are_looked_for_beside_slow_ones() -> None:
    """Three axes multiply the time; the slowest cell is reached from those that take seconds."""
    slowness = Slowness(GRID)

    def seconds(cell: int) -> float:
        at = GRID.at(cell)
        return float(0.2 * 5 ** at[1] * 4 ** at[2] * (3 if at[0] else 1))

    left = GRID.whole
    for cell in random.Random(6).sample(range(GRID.size), 30):
        slowness.learn(cell, min(seconds(cell), 60.0))
        left &= ~(1 << cell)
    found = slowness.slowest(left)
    assert found is not None
    assert seconds(found) > 60
    quick = Slowness(GRID)
    quick.learn(0, 1.0)
    assert quick.slowest(GRID.whole) is None
