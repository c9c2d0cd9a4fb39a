"""Rank correlation and regret of estimates against measured times."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.performance.agreement import Agreement, ModelRow, ModelTable, ModelTables, agreement, spearman

TIMES = st.lists(st.floats(0.001, 1000), min_size=3, max_size=20)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [30, 20, 10], -1.0),
        ([1, 2, 3, 4], [1, 3, 2, 4], 0.8),
        ([1, 1, 2], [1, 2, 3], math.sqrt(3) / 2),
        ([1, 1, 1], [1, 2, 3], None),
    ],
)
def test_spearman(first: list[float], second: list[float], expected: float | None) -> None:
    assert spearman(first, second) == (None if expected is None else pytest.approx(expected))


@given(TIMES)
def test_times_in_the_right_order_agree(times: list[float]) -> None:
    found = agreement((2 * time, time) for time in times)
    assert found is not None
    assert (found.first, found.first_three, found.configurations) == (1.0, 1.0, len(times))
    assert found.correlation is None or found.correlation == pytest.approx(1.0)


@given(TIMES)
def test_regret_is_at_least_one_and_falls_with_more_choices(times: list[float]) -> None:
    found = agreement((-time, time) for time in times)
    assert found is not None
    assert found.first == pytest.approx(max(times) / min(times))
    assert 1.0 <= found.first_three <= found.first


def test_rows_without_both_times_do_not_count() -> None:
    assert agreement([(1.0, 2.0), (None, 1.0), (3.0, None), (2.0, 3.0)]) is None
    assert agreement([(1.0, 2.0), (None, 1.0), (2.0, 4.0), (3.0, 3.0)]) == Agreement(3, 0.5, 1.0, 1.0)


def test_a_table_is_a_document_and_back() -> None:
    rows = tuple(ModelRow({"BLOCK": size}, 1.0 / size, 2.0 / size, "dram") for size in (1, 2, 4))
    tables = ModelTables("a GPU", "3.6.0", (ModelTable("add", {"a": 1}, rows), ModelTable("sub", {}, rows[:1])))
    document = tables.to_json()
    assert ModelTables.from_json(document) == tables
    assert document["overall"] == {"configurations": 3, "correlation": 1.0, "first": 1.0, "first_three": 1.0}
    assert document["kernels"][1]["agreement"] is None
