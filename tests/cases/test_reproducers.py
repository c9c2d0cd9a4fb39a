"""The reproducers that ship with triage: each fails as its knowledge entry says, and its fixed variant compiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rows import each_row

from triage import knowledge
from triage.cases import reproducers
from triage.cases.locate import locate
from triage.model.case import Case
from triage.model.errors import TriageError
from triage.model.gpus import TensorCore
from triage.model.outcome import Status
from triage.model.releases import RELEASES
from triage.model.report import Report
from triage.pipeline import Options, Session

PLAIN, SPECIALIZED = "wgmma-tf32-mn-major", "wgmma-mn-major-warp-specialized"
SIGNATURE = '|assertion|NVGPUToLLVMPass.cpp|supported && "WGMMA type or shape is not supported"'


SMALLER = {"BLOCK_M": 64, "BLOCK_N": 16}
"""Tiles that fail alike, and compile in a third of the time."""


@pytest.fixture(scope="module")
def session(cache: Path) -> Iterator[Session]:
    """One session with the tests' cache: its servers stay warm from case to case."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_TRIAGE_CACHE", str(cache))
        with Session(Options(suggest=False)) as made:
            yield made


def reports(session: Session, cases: list[Case]) -> list[Report]:
    answers = list(session.check_all(cases))
    assert [str(one) for one in answers if isinstance(one, TriageError)] == []
    return [one for one in answers if isinstance(one, Report)]


def fixed(name: str) -> Case:
    found = reproducers.fixed(name)
    assert found is not None, f"{name} has no fixed.json"
    return found[0]


def newest(case: Case) -> Case:
    """For the Triton beside triage, whatever release the case names."""
    return replace(case, triton=None)


def test_names_and_folders() -> None:
    names = reproducers.names()
    assert {PLAIN, SPECIALIZED} <= set(names)
    for name in names:
        folder = reproducers.folder(name)
        assert folder is not None
        assert (folder / "case.json").is_file()


@pytest.mark.parametrize("name", ["", ".", "..", "nowhere", "../reproducers/wgmma-tf32-mn-major", "/etc"])
def test_what_is_no_name(name: str) -> None:
    assert reproducers.folder(name) is None
    assert reproducers.fixed(name) is None


@cache
def evidence() -> set[str]:
    """Reproducers that an entry names."""
    return {name for entry in knowledge.load_all() for name in entry.reproducers}


@each_row(reproducers.names())
def test_every_reproducer_is_well_formed(name: str) -> None:
    """It names its release, is the evidence of an entry, and its fixed variant is the same configuration."""
    case = locate(name)
    assert case.release is not None
    assert name in evidence()
    found = reproducers.fixed(name)
    if found is not None:
        variant, change = found
        assert (variant.target, variant.release) == (case.target, case.release)
        assert change != "see fixed.py", "origin.change of fixed.json says in words what was changed"


@pytest.mark.parametrize("tiles", [SMALLER, pytest.param({}, id="as shipped", marks=pytest.mark.slow)])
def test_both_wgmma_reproducers_fail_alike_and_their_fixed_variants_keep_wgmma(
    session: Session, tiles: dict[str, int]
) -> None:
    plain, specialized = locate(PLAIN), newest(locate(SPECIALIZED))
    good = [fixed(PLAIN), newest(fixed(PLAIN)), newest(fixed(SPECIALIZED))]
    done = reports(session, [case.with_changes(tiles) for case in (plain, specialized, *good)])
    assert [one.diagnosis.function if one.diagnosis else None for one in done] == [
        "WGMMAOpPattern::getPtxAsm", "WGMMAOpPattern::getPtxAsm", None, None, None,
    ]  # fmt: skip
    for one in done[2:]:
        assert one.outcome.resources is not None
        assert one.outcome.resources.tensor_core is TensorCore.WGMMA
        assert one.outcome.resources.spill_bytes == 0


@pytest.mark.parametrize(
    "tiles", [[(32, 64)], pytest.param([(32, 32), (64, 32), (128, 32), (32, 64)], marks=pytest.mark.slow)], ids=len
)
def test_one_bug_has_one_signature_on_two_releases_and_for_every_tile(
    session: Session, tiles: list[tuple[int, int]]
) -> None:
    changed = [locate(PLAIN).with_changes({"BLOCK_N": n, "BLOCK_K": k}) for n, k in tiles]
    cases = [locate(PLAIN).with_changes(SMALLER), *changed, newest(locate(SPECIALIZED)).with_changes(SMALLER)]
    signatures = {one.diagnosis.signature for one in reports(session, cases) if one.diagnosis}
    assert len(signatures) == 1
    assert signatures.pop().endswith(SIGNATURE)


@pytest.mark.slow
def test_advice_that_was_published_does_not_help_and_the_entries_do_not_give_it(session: Session) -> None:
    """A larger BLOCK_N aborts as well; num_warps=2 compiles, but without wgmma."""
    case = locate(PLAIN)
    larger, fewer = reports(session, [case.with_changes({"BLOCK_N": 128}), case.with_changes({"num_warps": 2})])
    assert larger.outcome.status is Status.CRASH
    assert fewer.outcome.resources is not None
    assert fewer.outcome.resources.tensor_core is TensorCore.MMA_SYNC


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_reproducer_fails_as_an_entry_says_and_its_fixed_variant_compiles() -> None:
    """Each on the release that its case names."""
    names = reproducers.names()
    variants = [found[0] for name in names if (found := reproducers.fixed(name)) is not None]
    with Session(Options(suggest=False)) as made:
        done = reports(made, [locate(name) for name in names] + variants)
    for name, report in zip(names, done, strict=False):
        evident = {entry.id for entry in knowledge.load_all() if name in entry.reproducers}
        assert report.outcome.failed, name
        assert evident & {match.id for match in report.matches}, name
    broken = [one.case.path for one in done[len(names) :] if one.outcome.failed]
    assert broken == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("release", RELEASES)
def test_the_signature_is_the_same_on_every_release_that_fails(release: str) -> None:
    """The plain loop fails up to 3.2, the warp-specialized one from 3.4 on; 3.3 compiles the one, has no other."""
    minor = int(release.split(".")[1])
    name = PLAIN if minor <= 3 else SPECIALIZED
    with Session(Options(suggest=False, triton=release)) as made:
        report = made.check(locate(name))
    if minor == 3:
        assert report.outcome.status is Status.OK
    else:
        assert report.diagnosis is not None
        assert report.diagnosis.signature.endswith(SIGNATURE)
        assert report.diagnosis.pass_name == "convert-nv-gpu-to-llvm"
