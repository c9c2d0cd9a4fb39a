"""How much the result changes along each axis, against the definition."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from triage.sweeps.grid import Grid, SweepAxis, set_of
from triage.sweeps.influence import AxisInfluence, influence


def slowly(grid: Grid, results: list[int]) -> list[AxisInfluence]:
    """By walking along every line."""
    measured = []
    for index, axis in enumerate(grid.axes):
        lines = changing = 0
        for cell in range(grid.size):
            at = list(grid.at(cell))
            if at[index]:
                continue
            along = [grid.number([*at[:index], position, *at[index + 1 :]]) for position in range(len(axis.values))]
            pairs = [(results[a], results[b]) for a, b in pairwise(along) if results[a] and results[b]]
            lines += bool(pairs)
            changing += any(a != b for a, b in pairs)
        measured.append(AxisInfluence(lines, changing))
    return measured


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_lines_along_which_the_result_changes(counts: list[int], data: st.DataObject) -> None:
    grid = Grid([SweepAxis(f"a{index}", tuple(range(count))) for index, count in enumerate(counts)])
    results = data.draw(st.lists(st.integers(0, 3), min_size=grid.size, max_size=grid.size))
    classes = [set_of(cell for cell in range(grid.size) if results[cell] == number) for number in (1, 2, 3)]
    assert list(influence(grid, classes)) == slowly(grid, results)


def test_the_axis_that_decides_has_all_of_the_influence() -> None:
    grid = Grid((SweepAxis("BM", (32, 64, 128)), SweepAxis("num_stages", (2, 3))))
    illegal = grid.with_value(0, 2)
    assert [axis.share for axis in influence(grid, (grid.whole & ~illegal, illegal))] == [1.0, 0.0]
