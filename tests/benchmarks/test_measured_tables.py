"""The tables of timed configurations are whole, and their rows are cases that compile."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from measured.launches import LAUNCHES
from measured.launches.launch import TRITON, Launch
from measured.tables import Table, base_case, tables

from triage.harness.toolchains import Toolchain
from triage.model import launch_plan
from triage.model.outcome import Outcome, Stage, Status, Undecided


@pytest.fixture(scope="module")
def measured() -> list[Table]:
    return list(tables())


def test_every_kernel_has_a_table(measured: list[Table]) -> None:
    assert {table.kernel for table in measured} == {launch.name for launch in LAUNCHES}
    assert all(len(table.timed) >= 16 for table in measured)


def test_one_kernel_in_five_is_held_out(measured: list[Table]) -> None:
    kernels = {table.kernel: table.held_out for table in measured}
    assert 0.1 <= sum(kernels.values()) / len(kernels) <= 0.3


def test_a_row_has_a_time_or_an_error(measured: list[Table]) -> None:
    for table in measured:
        for row in table.rows:
            assert (row.ms is None) == bool(row.error), (table.kernel, row.configuration)
            assert row.ms is None or (row.registers and row.spills is not None and row.shared is not None)


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_every_row_is_a_case_with_a_launch(measured: list[Table], step: int) -> None:
    """A tenth of the rows in the fast set: there are thousands, made of the same dimensions."""
    for table in measured:
        problems = set()
        for row in table.rows[::step]:
            case = row.case
            plan = launch_plan.resolve(case.inputs, case.signature, case.constexprs, case.divisibility())
            problems.add(str(plan.problem()))
            settings = {**case.constexprs, **case.options}
            assert {name: settings[name] for name in row.configuration} == row.configuration
        assert len(problems) == 1, table.kernel


Compile = Callable[..., list["Outcome | Undecided"]]


@pytest.mark.slow
def test_rows_compile_as_measured(
    measured: list[Table], release: Callable[[str], Toolchain], compile_all: Compile
) -> None:
    """Three that ran take the shared memory that was measured, one that did not fit does not."""
    chance = random.Random(17)
    some = chance.sample(measured, 3)
    rows = [chance.choice(table.timed[: len(table.timed) // 2]) for table in some]
    too_large = [row for table in measured for row in table.rows if "shared memory" in row.error]
    *outcomes, refused = compile_all([*(row.case for row in rows), chance.choice(too_large).case], release(TRITON))
    for row, outcome in zip(rows, outcomes, strict=True):
        assert isinstance(outcome, Outcome) and outcome.status is Status.OK, row.case.settings()
        assert outcome.resources is not None
        assert outcome.resources.shared_bytes == row.shared, row.case.settings()
    assert isinstance(refused, Outcome) and refused.status is Status.ERROR and refused.stage is Stage.LOAD


@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: launch.name)
def test_a_launch_is_a_case(launch: Launch) -> None:
    assert base_case(launch).triton == TRITON


def test_some_tables_have_the_whole_space(measured: list[Table]) -> None:
    whole = [table for table in measured if table.whole]
    assert len(whole) >= 20
    assert any(table.held_out for table in whole)
    for table in whole:
        assert len({str(row.configuration) for row in table.rows}) == len(table.rows)
