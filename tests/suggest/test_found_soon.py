"""Real-looking kernels that fail on Triton 3.9.0: each has a legal neighbour on the release that its case names, the
search finds one with the Triton beside the tests, and finds it soon. The rules were made with these in sight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from triage.frontends.documents import load
from triage.model.case import Case
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.suggest.budget import Budget

KERNELS = Path(__file__).parent / "failing"
NAMES = sorted(path.name for path in KERNELS.iterdir() if (path / "case.json").is_file())
SOON = {"fp8-rtz-downcast-hopper": 2, "gluon-softmax-split-layout": 4, "integer-dot-int16": 6}
"""Compiles of neighbours within which one works. A mode, a layout and an element type; the crash of
test_report_document.py needs a rewritten source."""


def kernel(name: str) -> Case:
    """The case with the Triton beside the tests, whatever release it names."""
    return replace(load(KERNELS / name), triton=None)


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest, cache: Path) -> Iterator[Session]:
    """A session with the default budget, or the one that a test states."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_TRIAGE_CACHE", str(cache))
        with Session(Options(budget=getattr(request, "param", Budget()))) as made:
            yield made


def found(report: Report) -> int | None:
    """How many neighbours were compiled until the first that works; None where none does."""
    return next((place for place, tried in enumerate(report.tried, start=1) if tried.compiled), None)


@pytest.mark.parametrize(
    ("session", "name"),
    [
        pytest.param(Budget(compiles=most), name, id=name, marks=pytest.mark.slow if most > 4 else ())
        for name, most in SOON.items()
    ],
    indirect=["session"],
)
def test_a_neighbour_is_found_soon(session: Session, name: str) -> None:
    report = session.check(kernel(name))
    assert report.outcome.failed
    assert found(report) is not None
    assert any(suggestion.verified for suggestion in report.suggestions)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nine_of_ten_are_found_and_the_median_within_three(session: Session) -> None:
    reports = {name: session.check(kernel(name)) for name in NAMES}
    places = {name: found(report) for name, report in reports.items() if report.outcome.failed}
    assert len(places) >= 0.8 * len(NAMES), sorted(set(NAMES) - set(places))
    reached = [place for place in places.values() if place is not None]
    assert len(reached) >= 0.9 * len(places), [name for name, place in places.items() if place is None]
    assert median(reached) <= 3, places
