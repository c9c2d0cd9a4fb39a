"""Every recipe on a kernel that really fails: the rewritten source compiles, and its diff is what was compiled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from failing_kernels import MORE, REPRODUCERS, UNROLLED, WRITTEN
from rewriting import Tried, compile_rewrites, patched, proposed, reproducer, write

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.outcome import Outcome, Status
from triage.source.module import diff
from triage.suggest.rewrites.catalogue import CATALOGUE

NAMES = tuple(REPRODUCERS.values())
SMALLER = {
    "dot-inner-extents": {"ROWS": 16},
    "dot-operand-types-differ": {"M": 16, "N": 16},
    "hip-tf32x3": {"M": 32, "N": 32},
    "wgmma-mn-major-warp-specialized": {"BLOCK_M": 64, "BLOCK_N": 16},
}
"""Tiles that fail alike and compile in a third of the time."""


ROWS = [*NAMES, *WRITTEN]
SOME = ROWS[::6]
"""For the fast set; the others run with the slow tests."""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    folder = tmp_path_factory.mktemp("kernels")
    found = {name: reproducer(name).with_changes(SMALLER.get(name, {})) for name in NAMES}
    for number, (name, (source, how)) in enumerate(WRITTEN.items()):
        found[name] = write(folder / str(number), source, **how)
    return found


@pytest.fixture(
    scope="module", params=[SOME, pytest.param([name for name in ROWS if name not in SOME], marks=pytest.mark.slow)]
)
def tried(
    request: pytest.FixtureRequest,
    cases: dict[str, Case],
    shared_engine: Engine,
    toolchains: Toolchains,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, list[Tried]]:
    names: list[str] = request.param
    folder = tmp_path_factory.mktemp("rewritten")
    found = compile_rewrites(shared_engine, toolchains.default(), [cases[name] for name in names], folder)
    return dict(zip(names, found, strict=True))


def test_a_rewrite_compiles(tried: dict[str, list[Tried]]) -> None:
    said = {
        name: [(one.rewritten.change, one.outcome.log[-600:]) for one in ones]
        for name, ones in tried.items()
        if not any(one.compiled for one in ones)
    }
    assert said == {}


def test_the_diff_applies_and_gives_the_text(tried: dict[str, list[Tried]], tmp_path: Path) -> None:
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed")
    for name, ones in tried.items():
        for number, one in enumerate(ones):
            before = one.case.path.read_text(encoding="utf-8")
            text = patched(one.case, diff(before, one.rewritten.text, one.case.file), tmp_path / f"{name}-{number}")
            assert text == one.rewritten.text, name


def test_every_recipe_has_its_kernel() -> None:
    assert set(REPRODUCERS) | {"static-range-rolled", "dot-accumulator-type"} == set(CATALOGUE)


@pytest.mark.slow
def test_an_unrolled_loop_is_rolled(shared_engine: Engine, toolchains: Toolchains, tmp_path: Path) -> None:
    case = write(tmp_path, UNROLLED, {"x_ptr": "*fp32", "y_ptr": "*fp32"}, {"BLOCK": 64})
    message = "The compile did not end within 10 s"
    [rewritten] = proposed("static-range-rolled", case, message)
    rolled = write(tmp_path / "rolled", rewritten.text, case.signature, case.constexprs)
    limits = Limits(timeout_s=10)
    requests = [Request(one, toolchains.default(), limits, FullCompile(use_cache=False)) for one in (case, rolled)]
    ended = {attempt.request.case.folder: attempt.result for attempt in shared_engine.run(requests)}
    results = [ended[case.folder], ended[rolled.folder]]
    assert [one.status for one in results if isinstance(one, Outcome)] == [Status.TIMEOUT, Status.OK]


@pytest.mark.slow
def test_more_reproducers(shared_engine: Engine, toolchains: Toolchains, tmp_path: Path) -> None:
    tried = compile_rewrites(shared_engine, toolchains.default(), [reproducer(name) for name in MORE], tmp_path)
    assert [name for name, ones in zip(MORE, tried, strict=True) if not any(one.compiled for one in ones)] == []


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.2.0"])
def test_recipes_on_an_old_release(
    version: str, release: Callable[[str], Toolchain], shared_engine: Engine, tmp_path: Path
) -> None:
    names = (
        "wgmma-tf32-mn-major", "exp-of-bf16", "loop-carried-dtype", "dot-operand-types-differ", "helper-without-jit",
        "global-variable", "if-branch-type", "hip-tf32x3", "fma-on-integers", "float-pointer-offset",
    )  # fmt: skip
    toolchain = release(version)
    found = [replace(reproducer(name), triton=version) for name in names]
    tried = compile_rewrites(shared_engine, toolchain, found, tmp_path)
    assert [name for name, ones in zip(names, tried, strict=True) if not any(one.compiled for one in ones)] == []
