"""Failures whose message settles the cause: the mend is named, and no configuration is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from triage.model.case import Case, frozen
from triage.model.report import Report, SuggestionKind
from triage.pipeline import Options, Session

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
KERNELS: dict[str, tuple[str, dict[str, str], dict[str, Any], str]] = {
    "an annotation": (
        "def k(x, size):\n    i = tl.arange(0, size)\n    tl.store(x + i, 1)\n",
        {"x": "*fp32", "size": "i32"},
        {},
        "annotate size of k with tl.constexpr",
    ),
    "an argument that a function does not take": (
        "def k(x, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, tl.load(x + i, masked=i < 3))\n",
        {"x": "*fp32"},
        {"B": 64},
        "leave out masked on line 8",
    ),
    "a name that this release lacks": (
        "def k(x, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, tl.cosine_of(tl.load(x + i)))\n",
        {"x": "*fp32"},
        {"B": 64},
        "replace triton.language.cosine_of on line 8",
    ),
    "a number in place of a pointer": (
        "def k(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, tl.load(n + i))\n",
        {"x": "*fp32", "n": "i32"},
        {"B": 64},
        "address memory through a pointer on line 8",
    ),
}


@pytest.fixture(scope="module")
def session(cache: Path) -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_TRIAGE_CACHE", str(cache))
        with Session(Options()) as made:
            yield made


def checked(session: Session, folder: Path, text: str, signature: dict[str, str], constexprs: dict[str, Any]) -> Report:
    (folder / "kernel.py").write_text(HEAD + text)
    return session.check(Case(folder, "kernel.py", "k", frozen(signature), frozen(constexprs)))


@pytest.mark.parametrize("name", KERNELS)
def test_the_mend_is_named_and_no_configuration_is_tried(name: str, session: Session, tmp_path: Path) -> None:
    text, signature, constexprs, mend = KERNELS[name]
    report = checked(session, tmp_path, text, signature, constexprs)
    assert report.outcome.failed
    assert [tried for tried in report.tried if tried.kind is SuggestionKind.CONFIG] == []
    first = report.suggestions[0]
    assert str(first.changes["source"]).startswith(mend)
    assert not first.verified


def test_the_accumulator_of_a_product_of_doubles_is_the_mend(session: Session, tmp_path: Path) -> None:
    text = """def k(a, b, c, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.arange(0, 32)
    total = tl.zeros((B, 32), tl.float32)
    total = tl.dot(tl.load(a + i[:, None] * 32 + j[None, :]), tl.load(b + j[:, None] * 32 + j[None, :]), total)
    tl.store(c + i[:, None] * 32 + j[None, :], total)
"""
    report = checked(session, tmp_path, text, dict.fromkeys("abc", "*fp64"), {"B": 32})
    assert report.outcome.failed
    assert {tried.kind for tried in report.tried} == {SuggestionKind.SOURCE}
    assert report.suggestions[0].verified
    assert "float64" in (report.suggestions[0].diff or "")


def test_the_other_way_of_a_flag_is_tried_where_it_decides_about_the_line(session: Session, tmp_path: Path) -> None:
    text = """def k(x, B: tl.constexpr, NEW: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if NEW:
        tl.store(x + i, tl.not_in_this_release(tl.load(x + i)))
    else:
        tl.store(x + i, tl.exp(tl.load(x + i)))
"""
    report = checked(session, tmp_path, text, {"x": "*fp32"}, {"B": 64, "NEW": True})
    assert [dict(tried.changes) for tried in report.tried if tried.kind is SuggestionKind.CONFIG] == [{"NEW": False}]
