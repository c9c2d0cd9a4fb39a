"""Lines as they were before terminals, runners and test programs wrapped them."""

from __future__ import annotations

import pytest

from triage.logs.clean import MAX_LINE, clean_lines

WRAPPED = [
    ("a\r\nb\r\n", ["a", "b"]),
    ("10%\r20%\rdone\n", ["done"]),
    ("\x1b[1;31merror:\x1b[0m x", ["error: x"]),
    ("\x1b]8;;http://x\x07link\x1b]8;;\x07", ["link"]),
    ("2025-03-01T12:00:00.1234567Z x", ["x"]),
    ("> > x", ["x"]),
    (">>> x", [">>> x"]),
    ("E   x\nE   \nE     y\nz", ["x", "", "  y", "z"]),
    ("E       x\nE           y", ["x", "    y"]),
    ("Error: x", ["Error: x"]),
    ("a\n\nb", ["a", "", "b"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "lines"), WRAPPED)
def test_wrappings_are_taken_away(text: str, lines: list[str]) -> None:
    assert list(clean_lines(text)) == lines


def test_lines_of_an_iterable_are_those_of_the_text() -> None:
    text = "a\n\nb\nc"
    assert list(clean_lines(text.split("\n"))) == list(clean_lines(text.splitlines(keepends=True)))


def test_a_line_without_end_is_cut() -> None:
    assert [len(line) for line in clean_lines("x" * (3 * MAX_LINE) + "\ny")] == [MAX_LINE, 1]
