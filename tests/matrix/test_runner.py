"""The runner over a real engine: what is compiled, in which order, and what becomes of a release that cannot be had.

Releases that would have to be made are played by the Triton beside the tests under another name.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from commands import DATA

from triage.frontends.documents import load
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.matrix.cell import CellVerdict
from triage.matrix.releases import Row, Selection
from triage.matrix.runner import Runner
from triage.matrix.supply import Supply
from triage.matrix.table import MatrixTable
from triage.model.case import Case
from triage.model.compilers import TRITON, Compiler
from triage.model.errors import EnvironmentFault, InputError
from triage.model.progress import Progress
from triage.model.target import Target

LIMITS = Limits(timeout_s=60, memory_bytes=4 << 30)
KNOWN = ("3.2.0", "3.3.0", "3.3.1", "3.4.0")


class Played(Toolchains):
    """Every release is the Triton beside the tests, but those in ``missing``. ``before`` is called with each."""

    def __init__(
        self, *missing: str, installed: tuple[str, ...] = KNOWN, before: Callable[[str], None] = lambda name: None
    ) -> None:
        super().__init__()
        self._missing, self._installed, self._before = missing, installed, before
        self.made: list[str] = []

    def installed(self, compiler: Compiler = TRITON) -> list[Toolchain]:
        return [replace(self.default(), release=name) for name in self._installed]

    def resolve(self, release: str | None = None, python: str | None = None, compiler: Compiler = TRITON) -> Toolchain:
        name = release or "build"
        self._before(name)
        self.made.append(name)
        if name in self._missing:
            raise EnvironmentFault(f"{name}: the disk is full")
        return replace(self.default(), release=name)


def case(name: str) -> Case:
    return load(DATA / f"{name}.json")


def runner(engine: Engine, toolchains: Toolchains, name: str = "ok", progress: Progress | None = None) -> Runner:
    return Runner({"cuda:90": case(name)}, engine, toolchains, LIMITS, progress=progress)


def verdicts(table: MatrixTable) -> dict[str, str]:
    return {name: cell.verdict.value for (name, _), cell in table.cells.items()}


def test_a_release_that_cannot_be_had_could_not_be_told_and_the_others_go_on(shared_engine: Engine) -> None:
    table = runner(shared_engine, Played("3.3.1")).table(Selection(KNOWN, KNOWN))
    assert verdicts(table) == {**dict.fromkeys(KNOWN, "compiles"), "3.3.1": "could not tell"}
    assert table.cells["3.3.1", "cuda:90"].reason == "3.3.1: the disk is full"
    assert not table.failed


@pytest.mark.parametrize("bisect", [False, True])
def test_an_interrupt_keeps_the_cells_until_then(shared_engine: Engine, bisect: bool) -> None:
    def step(line: str) -> None:
        raise KeyboardInterrupt

    toolchains = Played()
    interrupted = runner(shared_engine, toolchains, progress=Progress(step=step))
    table = (interrupted.bisect if bisect else interrupted.table)(Selection(KNOWN, KNOWN))
    assert list(verdicts(table).values()) == ["compiles"]
    assert interrupted.interrupted
    assert toolchains.deadline.over, "nothing more is installed"
    assert json.loads(json.dumps(table.to_json()))["cells"][0]["verdict"] == "compiles"


def test_an_interrupt_before_any_answer_is_raised(shared_engine: Engine) -> None:
    def step(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner(shared_engine, Played(*KNOWN), progress=Progress(step=step)).table(Selection(KNOWN, KNOWN))


def test_nothing_that_could_be_told_is_triage_s_own_failure(shared_engine: Engine) -> None:
    with pytest.raises(EnvironmentFault, match=r"^3.2.0: could not tell: .* disk is full \(3 more cells"):
        runner(shared_engine, Played(*KNOWN)).table(Selection(KNOWN, KNOWN))


def test_a_case_that_does_not_fit_makes_no_environment_after_the_first(
    shared_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triage.matrix.supply._ABANDON_S", 0.1)
    misfit = replace(case("ok"), constexprs={})
    told = threading.Event()

    def before(name: str) -> None:
        assert name == "3.4.0" or told.wait(30)

    toolchains = Played(installed=("3.4.0",), before=before)
    with pytest.raises(InputError, match=r"kernels.py::add: argument BLOCK of add has no value"):
        Runner({"cuda:90": misfit}, shared_engine, toolchains, LIMITS).table(Selection(KNOWN, KNOWN))
    told.set()
    # The one that was being made goes on to its end.
    assert set(toolchains.made) <= {"3.4.0", "3.2.0"}


def test_what_is_installed_compiles_while_the_others_are_made(shared_engine: Engine) -> None:
    """The release that has to be made is not there before the installed ones have been compiled with."""
    compiled: list[str] = []
    seen = threading.Event()

    def step(line: str) -> None:
        compiled.append(line)
        if len(compiled) == 2:
            seen.set()

    def before(name: str) -> None:
        if name == "3.2.0":
            assert seen.wait(60), "nothing was compiled meanwhile"

    toolchains = Played(installed=("3.3.1", "3.4.0"), before=before)
    chosen = ("3.2.0", "3.3.1", "3.4.0")
    table = runner(shared_engine, toolchains, progress=Progress(step=step)).table(Selection(chosen, chosen))
    assert toolchains.made == ["3.3.1", "3.4.0", "3.2.0"]
    assert verdicts(table) == dict.fromkeys(chosen, "compiles")
    assert [row.name for row in table.rows] == list(chosen)


def test_every_target_is_a_column_and_a_build_is_a_row(shared_engine: Engine) -> None:
    cases = {name: replace(case("ok"), target=Target.parse(name)) for name in ("cuda:90", "cuda:80")}
    table = Runner(cases, shared_engine, Played(), LIMITS).table(
        Selection(("3.4.0",), ("3.4.0",)), [Row("main", python="build")]
    )
    assert set(table.cells) == {(name, target) for name in ("3.4.0", "main") for target in ("cuda:90", "cuda:80")}
    assert [one.runs[0].releases for one in table.histories] == [("3.4.0",), ("3.4.0",)]


def test_a_bisection_compiles_no_more_than_it_says(shared_engine: Engine) -> None:
    toolchains = Played()
    table = runner(shared_engine, toolchains, "undefined-name").bisect(Selection(("3.2.0", "3.4.0"), KNOWN))
    assert table.bisected is not None
    assert (table.bisected.releases, table.bisected.budget, dict(table.bisected.compiles)) == (4, 4, {"cuda:90": 4})
    assert verdicts(table) == dict.fromkeys(KNOWN, "fails")
    assert sorted(toolchains.made) == sorted(KNOWN)


def test_what_is_remembered_is_not_compiled_again(shared_engine: Engine, tmp_path: Path) -> None:
    toolchains = Played()
    for cached in (False, True):
        store = Store(tmp_path)
        with Engine(jobs=1, store=store) as engine:
            table = runner(engine, toolchains).table(Selection(("3.4.0",), ("3.4.0",)))
        store.close()
        assert table.cells["3.4.0", "cuda:90"].cached is cached


def test_a_defect_in_the_background_is_raised_and_not_waited_for() -> None:
    def broken(row: Row) -> Toolchain:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Supply(broken, [Row("3.2.0")]).take(wait=True)


def test_a_supply_that_was_stopped_begins_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.matrix.supply._ABANDON_S", 0.1)
    begun: list[str] = []
    started, stopped = threading.Event(), threading.Event()

    def resolve(row: Row) -> Toolchain:
        begun.append(row.name)
        started.set()
        assert stopped.wait(30)
        raise EnvironmentFault(row.name)

    supply = Supply(resolve, [Row("first"), Row("second")])
    assert started.wait(30)
    supply.stop()
    stopped.set()
    arrived = supply.take(wait=True)
    assert arrived is not None
    assert arrived[0].name == "first"
    assert begun == ["first"]


def test_edges_inside_a_range_are_narrowed_down_to_a_release(
    shared_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure up to 3.3.0, which a range does not take: it is compiled because its neighbours differ."""
    found = runner(shared_engine, Played())
    ask = found._request

    def request(row: Row, target: str, toolchain: Toolchain):  # type: ignore[no-untyped-def]
        failing = case("undefined-name" if row.name in ("3.2.0", "3.3.0") else "ok")
        return replace(ask(row, target, toolchain), case=failing)

    monkeypatch.setattr(found, "_request", request)
    table = found.table(Selection(("3.2.0", "3.3.1", "3.4.0"), KNOWN))
    assert [row.name for row in table.rows] == list(KNOWN)
    [history] = table.histories
    assert (history.last_bad, history.fixed_in) == ("3.3.0", "3.3.1")
    assert table.cells["3.3.0", "cuda:90"].verdict is CellVerdict.FAILS
