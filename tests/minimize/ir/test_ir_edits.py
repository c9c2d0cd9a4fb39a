"""LinePatchs made against one text, together: each touches its own place and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triage.ir.brackets import closing, gaps
from triage.minimize.ir.edits import LinePatch, apply

LINES = ["alpha beta", "call(a)", "call()", "omega"]


def made(*edits: LinePatch) -> list[str]:
    return apply(LINES, edits).split("\n")


def test_nothing_changes_nothing() -> None:
    assert made() == LINES


def test_lines_go_whole() -> None:
    assert made(LinePatch(drop=((1, 2),))) == ["alpha beta", "omega"]


def test_parts_of_a_line_by_their_columns_in_the_original() -> None:
    edits = [LinePatch(spans={(0, 6, 10): "b"}), LinePatch(spans={(0, 0, 5): "a"})]
    assert made(*edits)[0] == "a b"


def test_the_first_of_two_that_overlap_counts() -> None:
    assert made(LinePatch(spans={(0, 0, 5): "a"}), LinePatch(spans={(0, 2, 7): "?"}))[0] == "a beta"


def test_of_a_list_any_items_go_with_their_commas() -> None:
    line = "call(a, b: c<d, e>, f) {g = [1, 2]}"
    columns = list(gaps(line, 5, closing(line, 4) or 0))
    for gone, left in {
        (): line,
        (0,): "call(b: c<d, e>, f) {g = [1, 2]}",
        (1,): "call(a, f) {g = [1, 2]}",
        (2,): "call(a, b: c<d, e>) {g = [1, 2]}",
        (0, 1): "call(f) {g = [1, 2]}",
        (0, 2): "call(b: c<d, e>) {g = [1, 2]}",
        (1, 2): "call(a) {g = [1, 2]}",
        (0, 1, 2): "call() {g = [1, 2]}",
    }.items():
        assert apply([line], [LinePatch(spans={(0, *columns[number]): ""}) for number in gone]) == left


def test_items_come_with_the_commas_they_take_and_once_each() -> None:
    item = LinePatch(items={(1, 5): ("x",), (2, 5): ("x",)})
    other = LinePatch(items={(1, 5): ("y",)})
    assert made(item, other, item)[1:3] == ["call(x, y, a)", "call(x)"]


def test_new_lines_stand_before_a_line_that_is_dropped() -> None:
    assert made(LinePatch(drop=((1, 1),), before={1: ("new",)})) == ["alpha beta", "new", "call()", "omega"]


@given(st.lists(st.text(alphabet="ab(), ", max_size=8), min_size=1, max_size=8), st.sets(st.integers(0, 7)))
def test_only_what_is_dropped_goes(lines: list[str], drop: set[int]) -> None:
    text = apply(lines, [LinePatch(drop=((line, line),)) for line in drop])
    assert text == "\n".join(line for number, line in enumerate(lines) if number not in drop)
