"""A search from the outside: what is compiled first, where a rewritten source lives, what the budget stops, and what
is only advice."""

from __future__ import annotations

import math
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from triage.cases.reproducers import folder
from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchains
from triage.model.case import Case, frozen
from triage.model.errors import InputError
from triage.model.match import Match
from triage.model.report import Report, SuggestionKind
from triage.performance.cost import FastPath
from triage.pipeline import Options, Session
from triage.source.package_copy import rewritten_case
from triage.suggest.budget import Budget
from triage.suggest.neighbour import Neighbour
from triage.suggest.plan import advice
from triage.suggest.search import Search


def reproducer(name: str) -> Case:
    found = folder(name)
    assert found is not None
    return replace(documents.load(found), triton=None)


@pytest.fixture
def packaged(tmp_path: Path) -> Case:
    """The warp-specialized matmul as a module of a package that imports from its siblings."""
    case = reproducer("wgmma-mn-major-warp-specialized").with_changes({"BLOCK_M": 64, "BLOCK_N": 32})
    inner = tmp_path / "library" / "kernels"
    inner.mkdir(parents=True)
    (tmp_path / "library/__init__.py").touch()
    (inner / "__init__.py").touch()
    (inner / "common.py").write_text("import triton.language as tl\nZERO = tl.constexpr(0.0)\n")
    text = case.path.read_text().replace(
        "import triton.language as tl\n", "import triton.language as tl\nfrom .common import ZERO\n"
    )
    (inner / "matmul.py").write_text(text.replace("BLOCK_N), dtype=tl.float32)", "BLOCK_N), dtype=tl.float32) + ZERO"))
    return replace(case, folder=inner, file="matmul.py")


def check(case: Case, cache: Path, monkeypatch: pytest.MonkeyPatch, budget: Budget) -> Report:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    with Session(Options(budget=budget)) as session:
        return session.check(case)


def test_the_user_s_own_package_is_rewritten_and_left_alone(
    packaged: Case, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = packaged.path.read_text()
    report = check(packaged, cache, monkeypatch, Budget(compiles=1))
    [tried] = report.tried
    [suggestion] = report.suggestions
    assert (tried.kind, tried.compiled, suggestion.kind, suggestion.verified) == (
        SuggestionKind.SOURCE,
        True,
        SuggestionKind.SOURCE,
        True,
    )
    assert suggestion.resources is not None and suggestion.resources.warp_specialized
    assert packaged.path.read_text() == before
    assert sorted(path.name for path in packaged.folder.iterdir()) == ["__init__.py", "common.py", "matmul.py"]
    assert suggestion.diff is not None
    subprocess.run(["patch", "-p1"], input=suggestion.diff, cwd=packaged.folder, text=True, check=True)
    assert ".T" in packaged.path.read_text()


def test_a_shadow_links_everything_but_the_file(packaged: Case, tmp_path: Path) -> None:
    shadow = rewritten_case(packaged, "changed", tmp_path / "shadows")
    assert shadow.path.read_text() == "changed"
    assert (shadow.folder / "common.py").resolve() == (packaged.folder / "common.py").resolve()
    assert (shadow.folder.parent / "__init__.py").exists()
    assert rewritten_case(packaged, "changed", tmp_path / "shadows").path == shadow.path


@pytest.mark.parametrize(
    ("text", "compiles", "seconds"), [("20", 20, Budget().seconds), ("30s", Budget.most, 30.0), (" 1 ", 1, 90.0)]
)
def test_a_budget_is_compiles_or_seconds(text: str, compiles: int, seconds: float) -> None:
    assert (Budget.parse(text).compiles, Budget.parse(text).seconds) == (compiles, seconds)


@pytest.mark.parametrize("text", ["", "0", "0s", "-1", "1m", "many", "1.5"])
def test_a_budget_that_is_none(text: str) -> None:
    with pytest.raises(InputError, match=r"--budget .*: give compiles \(20\) or seconds \(30s\)"):
        Budget.parse(text)


@pytest.mark.slow
def test_a_search_that_has_what_it_needs_waits_for_no_neighbour_that_hangs(
    engine: Engine, toolchains: Toolchains, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HANGING)
    case = Case(tmp_path, "kernel.py", "fill", signature=frozen({"x": "*fp32"}), constexprs=frozen({"BLOCK": 64}))
    neighbours = [
        Neighbour(changed, toolchains.default(), SuggestionKind.CONFIG, {"BLOCK": block}, 1.0, "")
        for block in (128, 256, 64)
        for changed in [case.with_changes({"BLOCK": block})]
    ]
    search = Search(engine, Limits(60.0), Budget(enough=1), FastPath())
    before = time.monotonic()
    assert [suggestion.changes["BLOCK"] for suggestion in search.run(neighbours, 0.0)] == [128]
    assert time.monotonic() - before < 10.0
    assert engine.deadline.until == math.inf


HANGING = """
import time
import triton
import triton.language as tl

_compile = triton.compile


@triton.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


def compile_(source, *arguments, **named):
    if 256 in source.constants.values():
        time.sleep(1000)
    return _compile(source, *arguments, **named)


triton.compile = compile_
"""


def test_what_only_a_reproducer_shows_is_advice() -> None:
    match = Match("an-entry", "t", "c", 1.0, evidence=("while-tensor-condition", "no-such-reproducer"))
    [suggestion] = advice((match,), ())
    assert (suggestion.verified, suggestion.resources, suggestion.diff) == (False, None, None)
    assert "shown on the reproducer while-tensor-condition" in suggestion.why
    assert suggestion.to_json()["resources"] is None
    applied = replace(suggestion, verified=True)
    assert list(advice((match,), (applied,))) == []
