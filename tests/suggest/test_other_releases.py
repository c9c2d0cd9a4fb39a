"""Releases to try an unchanged case with, and those that have an API for whose lack others refused it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.compilers import TRITON, Compiler
from triage.model.errors import EnvironmentFault
from triage.model.report import SuggestionKind, Tried
from triage.model.target import Target
from triage.pipeline import Options, Session
from triage.suggest.budget import Budget
from triage.suggest.releases import fix_to_make, near, with_api

GONE = "AttributeError: module 'triton.language' has no attribute '_experimental_descriptor_load'"

MATMUL = """
import triton
import triton.language as tl


@triton.jit
def matmul(a_desc, b_desc, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl._experimental_descriptor_load(a_desc, [row, k], [BM, BK], tl.float32)
        b = tl._experimental_descriptor_load(b_desc, [k, column], [BK, BN], tl.float32)
        sums = tl.dot(a, b, sums)
    rows, columns = row + tl.arange(0, BM), column + tl.arange(0, BN)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], sums)
"""


def stub(version: str, folder: Path, text: str = "") -> Toolchain:
    """A toolchain whose package consists of one file."""
    package = folder / version
    package.mkdir(parents=True)
    (package / "core.py").write_text(text)
    return Toolchain(package / "python", version, "3.11.7", True, version, package)


def attempt(release: str, headline: str = "") -> Tried:
    return Tried({"triton": release}, SuggestionKind.TOOLCHAIN, compiled=not headline, headline=headline)


def test_the_nearest_newer_releases_come_first_then_the_newest_and_one_older(tmp_path: Path) -> None:
    installed = [stub(f"3.{minor}.0", tmp_path) for minor in range(7)]
    assert [each.release for each in near("3.2.0", installed)] == ["3.3.0", "3.4.0", "3.6.0", "3.1.0"]


@pytest.mark.parametrize(
    ("own", "refused", "expected"),
    [
        pytest.param("3.2.0", {"3.9.0": GONE}, ["3.5.0", "3.4.0"], id="the newest that have it"),
        pytest.param(
            "3.9.0", {"3.9.0": GONE, "3.8.0": GONE}, ["3.5.0", "3.4.0"], id="older ones, for one that lacks it"
        ),
        pytest.param("3.2.0", {"3.9.0": "No module named 'triton.ops'"}, [], id="a module that none has"),
        pytest.param(
            "3.2.0", {"3.9.0": "TypeError: dot() got an unexpected keyword argument 'scale'"}, [], id="keyword"
        ),
    ],
)
def test_releases_that_name_what_others_lack(
    own: str, refused: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    has_it = "def _experimental_descriptor_load(): ..."
    texts = {f"3.{minor}.0": has_it if minor in range(3, 6) else "" for minor in range(10)}
    installed = [stub(release, tmp_path, text) for release, text in texts.items()]
    found = with_api(own, installed, [attempt(release, text) for release, text in refused.items()], refused)
    assert [each.release for each in found] == expected


@pytest.mark.parametrize(
    ("own", "fixed_in", "tried", "expected"),
    [
        ("3.2.0", "3.3.0", ["3.9.0"], "3.3.0"),
        ("3.2.0", "3.3.0", ["3.3.0", "3.9.0"], None),
        ("3.4.0", "3.3.0", ["3.9.0"], None),
        ("3.2.0", None, ["3.9.0"], None),
    ],
)
def test_the_release_of_the_fix_is_made_where_only_newer_ones_were_tried(
    own: str, fixed_in: str | None, tried: list[str], expected: str | None
) -> None:
    attempts = [attempt(release, GONE if release == "3.9.0" else "another failure") for release in tried]
    assert fix_to_make(own, fixed_in, attempts, {"3.9.0": GONE}) == expected


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel's: what one search compiled, the others remember."""
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "kernel.py").write_text(MATMUL)
    return folder


def check(
    monkeypatch: pytest.MonkeyPatch, folder: Path, installed: list[Toolchain], triton: str
) -> tuple[dict[str, bool], list[str]]:
    """Which releases were tried and whether they compiled, and those that are suggested, on a machine with a few."""
    signature = {"a_desc": "*fp32", "b_desc": "*fp32", "c_ptr": "*fp32", "N": "i32", "K": "i32"}
    constexprs = {"BM": 64, "BN": 16, "BK": 32}
    case = Case(folder, "kernel.py", "matmul", signature, constexprs, target=Target.parse("cuda:90"), triton=triton)
    monkeypatch.setattr(Toolchains, "installed", lambda self, compiler=TRITON: installed)
    with Session(Options(triton=triton, budget=Budget(compiles=6))) as session:
        report = session.check(case)
    releases = {one.changes["triton"]: one.compiled for one in report.tried if one.kind is SuggestionKind.TOOLCHAIN}
    suggested = [one.changes["triton"] for one in report.suggestions if one.kind is SuggestionKind.TOOLCHAIN]
    return releases, suggested


@pytest.mark.slow
def test_the_release_that_has_the_fix_is_tried_where_the_newest_lacks_the_api(
    release: Callable[[str], Toolchain], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """The kernel aborts 3.2.0, is fixed in 3.3.0, and uses a function that 3.4.0 removed."""
    installed = [release("3.2.0"), release("3.9.0")]
    tried, suggested = check(monkeypatch, folder, installed, "3.2.0")
    assert (tried, suggested) == ({"3.9.0": False, "3.3.0": True}, ["3.3.0"])


@pytest.mark.slow
def test_without_that_release_the_report_is_as_it_was(
    release: Callable[[str], Toolchain], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    resolve = Toolchains.managed

    def managed(self: Toolchains, version: str, compiler: Compiler = TRITON) -> Toolchain:
        if version == "3.3.0":
            raise EnvironmentFault("no package index answers")
        return resolve(self, version)

    installed = [release("3.2.0"), release("3.9.0")]
    monkeypatch.setattr(Toolchains, "managed", managed)
    assert check(monkeypatch, folder, installed, "3.2.0") == ({"3.9.0": False}, [])


@pytest.mark.slow
def test_a_release_that_lacks_the_api_is_led_back_to_the_last_one_with_it(
    release: Callable[[str], Toolchain], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    installed = [release(version) for version in ("3.2.0", "3.3.1", "3.6.0", "3.9.0")]
    tried, suggested = check(monkeypatch, folder, installed, "3.9.0")
    assert tried == {"3.6.0": False, "3.3.1": True, "3.2.0": False}
    assert suggested == ["3.3.1"]
