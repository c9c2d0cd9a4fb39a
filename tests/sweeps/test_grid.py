"""Cells by number, and sets of them."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from triage.sweeps.grid import Grid, SweepAxis, cells_of, set_of

AXES = (SweepAxis("BM", (32, 64, 128)), SweepAxis("dtype", ("fp16", "fp32")), SweepAxis("num_warps", (4, 8)))


def test_numbers_and_positions_are_inverse() -> None:
    grid = Grid(AXES)
    assert [grid.at(cell) for cell in range(grid.size)] == list(product(range(3), range(2), range(2)))
    assert all(grid.number(grid.at(cell)) == cell for cell in range(grid.size))
    assert grid.values(5) == {"BM": 64, "dtype": "fp16", "num_warps": 8}


def test_a_box_has_the_cells_with_its_values() -> None:
    grid = Grid(AXES)
    box = grid.selected({0: (1, 2), 2: (0,)})
    assert list(cells_of(box)) == [cell for cell in range(grid.size) if grid.at(cell)[0] > 0 and grid.at(cell)[2] == 0]


def test_neighbours_are_one_step_away_and_allowed() -> None:
    grid = Grid(AXES, allowed=Grid(AXES).whole & ~1)
    assert [grid.at(cell) for cell in grid.neighbours(grid.number((1, 0, 0)))] == [(2, 0, 0), (1, 1, 0), (1, 0, 1)]
    assert len(grid) == 11


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_the_cells_of_a_value(counts: list[int], data: st.DataObject) -> None:
    grid = Grid([SweepAxis(f"a{index}", tuple(range(count))) for index, count in enumerate(counts)])
    axis = data.draw(st.integers(0, len(counts) - 1))
    position = data.draw(st.integers(0, counts[axis] - 1))
    cells = [cell for cell in range(grid.size) if grid.at(cell)[axis] == position]
    assert grid.with_value(axis, position) == set_of(cells)
    assert list(cells_of(set_of(cells))) == cells
