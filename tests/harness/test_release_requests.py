"""Releases as they are written on a command line: what they ask for, their order, their neighbours."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolchain_setups import assert_one_line

from triage.model.errors import InputError
from triage.model.releases import RELEASES, ReleaseRequest, nearest, parse, sort_key


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("3.2.0", "triton==3.2.0"),
        (" 3.2.0 ", "triton==3.2.0"),
        ("v3.2.0", "triton==3.2.0"),
        ("3.5.0rc1", "triton==3.5.0rc1"),
        ("3.3.1.post2", "triton==3.3.1.post2"),
        ("3.4.0+git1a2b3c", "triton==3.4.0+git1a2b3c"),
        ("3.3", "triton==3.3.1"),  # the series is over: its newest is known
        ("3.7", "triton==3.7.1"),
        ("3.9", "triton==3.9.*"),  # it may get another patch: the installer knows
        ("3.10", "triton==3.10.*"),
        ("4.0.1", "triton==4.0.1"),
    ],
)
def test_what_a_version_asks_for(text: str, requirement: str) -> None:
    assert parse(text).requirement == requirement


GARBAGE = (
    *("", "3", "3.", "latest", "3.2.0.0", "3.2.x", "03.2.0", "3.2.0;x", "3.2.0 ||", "-3.2.0", "3.2.0\n3.3.0"),
    *(
        "==3.2.0",
        "3.2.0 --index-url http://x",
        "../3.2.0",
        "3.2.0/..",
        "3.2rc1",
        "3.2.0+",
        "٣.2.0",
        "3.1٣.0",
        "3.999999.0",
    ),
)


@pytest.mark.parametrize("text", GARBAGE)
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(InputError) as told:
        parse(text)
    assert_one_line(told.value, "--triton")


@pytest.mark.parametrize("text", ["2.1", "2.3.1", "1.0.0", "0.4"])
def test_triton_before_3_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"Triton \d\.x is not supported; 3\.0 is the oldest"):
        parse(text)


@given(st.text())
def test_any_text_is_a_version_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        assert parse(text).requirement.startswith("triton==")


def test_versions_follow_each_other_as_releases_do() -> None:
    ordered = [
        *("unknown", "2.3.1", "3.0.0.dev1", "3.0.0a1", "3.0.0rc1", "3.0.0rc2", "3.0.0", "3.0.0+git1"),
        *("3.0.0.post1", "3.1.0", "3.9.0", "3.10.0"),
    ]
    shuffled = sorted(ordered, key=lambda version: version[::-1])
    assert sorted(shuffled, key=sort_key) == ordered
    assert sorted(RELEASES, key=sort_key) == list(RELEASES)


@pytest.mark.parametrize(
    ("request_", "version", "accepts", "is_met"),
    [
        (ReleaseRequest("3.4.0", False), "3.4.0", True, True),
        (ReleaseRequest("3.4.0", False), "3.4.0+git1a2b", True, False),  # an index may serve it, a stranger's is not it
        (ReleaseRequest("3.4.0", False), "3.4.1", False, False),
        (ReleaseRequest("3.1", True), "3.1.0", True, True),
        (ReleaseRequest("3.1", True), "3.10.0", False, False),
        (ReleaseRequest("3.1", True), "3.1.0rc1", False, False),
    ],
)
def test_which_version_answers_a_request(request_: ReleaseRequest, version: str, accepts: bool, is_met: bool) -> None:
    assert (request_.accepts(version), request_.is_met_by(version)) == (accepts, is_met)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.99.0", ["3.7.1", "3.8.0", "3.9.0"]),
        ("3.0.5", ["3.0.0", "3.1.0", "3.2.0"]),
        ("3.3.2", ["3.3.0", "3.3.1", "3.4.0"]),
    ],
)
def test_the_releases_near_one_that_does_not_exist(version: str, expected: list[str]) -> None:
    assert nearest(version, ["2.3.1", *RELEASES]) == expected
