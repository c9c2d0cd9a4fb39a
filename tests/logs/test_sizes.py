"""The arithmetic of a refused tile in a text, where the refusal states the numbers."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text

SHAPES = "All non-batch values in both first input shape ({}) and second input shape ({}) must be >= 16!"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[constexpr[64], constexpr[8]]", "[constexpr[8], constexpr[32]]"),
        ("['64', '8']", "['8', '32']"),
        ("[2, 64, 8]", "[2, 8, 32]"),
    ],
)
def test_a_dot_of_which_the_text_has_the_shapes(first: str, second: str) -> None:
    diagnosis = diagnose_text(f"triton==3.1.0 on sm_90\nAssertionError: {SHAPES.format(first, second)}\n")
    assert diagnosis is not None
    assert diagnosis.notes[-2:] == (
        "tl.dot of M = 64, N = 32, K = 8: too small is K = 8",
        "explained by: triage explain dot --m 64 --n 32 --k 8 --a TYPE --target cuda:90 --triton 3.1.0",
    )


def test_a_row_of_a_descriptor() -> None:
    text = "Descriptor block shape must have at least 16 bytes in the last dimension, but got 4 * 2 = 8 bytes"
    diagnosis = diagnose_text(f"ValueError: {text}\n")
    assert diagnosis is not None
    assert diagnosis.notes[-2:] == (
        "a row of the block has 4 elements of 2 B, and a descriptor takes 8 or more",
        "explained by: triage explain tma --dtype TYPE --box ROWSx4",
    )


def test_without_shapes_nothing_is_computed() -> None:
    diagnosis = diagnose_text("AssertionError: Input shapes should have M >= 16, N >= 16 and K >= 16\n")
    assert diagnosis is not None
    assert diagnosis.notes == ()
