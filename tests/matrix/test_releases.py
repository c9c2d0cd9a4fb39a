"""What ``--triton`` and ``--python`` texts mean as rows, and what bad ones get."""

from __future__ import annotations

import pytest
from golden_files import Golden
from hypothesis import given
from hypothesis import strategies as st

from triage.matrix.releases import Row, between, builds, select
from triage.model.errors import InputError
from triage.model.releases import RELEASES, sort_key

NEWEST_PATCHES = ("3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0")


@pytest.mark.parametrize(
    ("texts", "chosen"),
    [
        (["3.0..3.9"], NEWEST_PATCHES),
        (["3.2..3.3"], ("3.2.0", "3.3.1")),
        (["3.3..3.3"], ("3.3.1",)),
        (["v3.2 .. v3.3"], ("3.2.0", "3.3.1")),
        # A patch number at either end: every release.
        (["3.2.0..3.4"], ("3.2.0", "3.3.0", "3.3.1", "3.4.0")),
        (["3.2..3.3.0"], ("3.2.0", "3.3.0")),
        (["3.3.1..3.5.0"], ("3.3.1", "3.4.0", "3.5.0")),
        (["3.7.."], ("3.7.1", "3.8.0", "3.9.0")),
        (["..3.1"], ("3.0.0", "3.1.0")),
        ([".."], NEWEST_PATCHES),
        (["all"], RELEASES),
        (["installed"], ("3.2.0", "3.9.0+git1a2b")),
        (["3.6.0,3.2"], ("3.2.0", "3.6.0")),
        (["3.6.0", "3.2", "3.6"], ("3.2.0", "3.6.0")),
        (["3.9"], ("3.9.0",)),
        # Newer than what is known: the installer has to know.
        (["3.2,3.12"], ("3.2.0", "3.12")),
        (["3.0..3.1,installed"], ("3.0.0", "3.1.0", "3.2.0", "3.9.0+git1a2b")),
    ],
)
def test_rows(texts: list[str], chosen: tuple[str, ...]) -> None:
    assert select(texts, ["3.9.0+git1a2b", "3.2.0"]).chosen == chosen


def test_a_range_knows_the_patch_releases_that_it_does_not_take() -> None:
    selection = select(["3.2..3.5"], [])
    assert selection.known == ("3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0", "3.5.1")
    assert set(selection.chosen) < set(selection.known)
    assert select(["3.2,3.5"], []).known == ("3.2.0", "3.5.1")


@pytest.mark.parametrize(
    "text",
    [
        "3.9..3.0",
        "3.3.1..3.3.0",
        "3.0..3.12",
        "3.3.7..3.9",
        "2.1..3.0",
        "3.0..x",
        "3.0...3.9",
        "",
        "3.2,,3.3",
        "latest",
    ],
)
def test_bad_texts(golden: Golden, text: str) -> None:
    with pytest.raises(InputError) as error:
        select([text], [])
    golden(str(error.value))
    assert str(error.value).startswith("--triton ")


def test_nothing_installed() -> None:
    with pytest.raises(InputError, match="no Triton is installed"):
        select(["installed"], [])


@given(st.sampled_from(RELEASES), st.sampled_from(RELEASES))
def test_a_range_of_two_releases_is_all_from_one_to_the_other(first: str, last: str) -> None:
    if sort_key(first) > sort_key(last):
        first, last = last, first
    assert select([f"{first}..{last}"], []).chosen == RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1]


def test_between() -> None:
    assert between("3.2.0", "3.4.0", RELEASES) == ["3.3.0", "3.3.1"]
    assert between("3.2.0", "3.3.0", RELEASES) == []
    # A build of a release's own branch comes behind the release.
    assert between("3.4.0+git1", "3.5.1", RELEASES) == ["3.5.0"]


def test_builds() -> None:
    rows = builds(["main=/src/.venv", "/opt/a=b/bin/python", "python3.11"], ["3.2.0"])
    assert rows == [
        Row("main", python="/src/.venv"),
        Row("/opt/a=b/bin/python", python="/opt/a=b/bin/python"),
        Row("python3.11", python="python3.11"),
    ]


@pytest.mark.parametrize("texts", [["main=/a", "main=/b"], ["3.2.0=/a"], ["=/a"], ["my label=/a"], ["main="]])
def test_bad_builds(texts: list[str]) -> None:
    with pytest.raises(InputError, match=r"^--python "):
        builds(texts, ["3.2.0"])
