"""Ranges and numbers of versions. Their order, and what a user may write: tests/harness/test_release_requests.py."""

from __future__ import annotations

import pytest

from triage.model.releases import in_range, is_range, numbers


@pytest.mark.parametrize(
    ("version", "wanted", "inside"),
    [
        ("3.2.0", "<3.3", True),
        ("3.3.0", "<3.3", False),
        ("3.10.0", ">3.9", True),
        ("3.2.0", ">=3.0,<3.3", True),
        ("2.3.0", ">=3.0,<3.3", False),
        ("3.2", "==3.2.0", True),
        ("3.2.0+git1234", "<=3.2", True),
        ("3.3.0.dev20250101", ">=3.3", True),
        ("3.3.0rc1", "<3.3", False),
        ("unknown", ">=3.3", False),
    ],
)
def test_ranges(version: str, wanted: str, inside: bool) -> None:
    assert in_range(version, wanted) is inside


@pytest.mark.parametrize("text", ["", "3.2", "<", "<x", "<3.3,", "~=3.2", "before 3.3"])
def test_what_is_no_range(text: str) -> None:
    assert not is_range(text)
    assert not in_range("3.2.0", text)


@pytest.mark.parametrize(
    ("version", "expected"),
    [("3.5.1", (3, 5, 1)), ("3.5", (3, 5)), ("3.5.1rc1", (3, 5, 1)), ("3.4.0+git1a", (3, 4, 0)), ("newest", ())],
)
def test_numbers(version: str, expected: tuple[int, ...]) -> None:
    assert numbers(version) == expected
