"""Expressions over sizes: what they are worth, what is refused and in which words."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from golden_files import Golden
from hypothesis import given
from hypothesis import strategies as st

from triage.model import expression
from triage.model.expression import BadExpression

SIZES = {"M": 4096, "N": 100, "BLOCK": 64, "ZERO": 0}


def value(text: str, sizes: Mapping[str, int] = SIZES) -> int:
    def known(name: str) -> int:
        if name not in sizes:
            raise BadExpression(f"{name!r} is unknown")
        return sizes[name]

    return expression.evaluate(expression.parse(text), known)


VALUES = {
    "7": 7,
    "-7": -7,
    "M": 4096,
    " M * N ": 409600,
    "M - N - 1": 3995,
    "M // BLOCK % 7": 1,
    "-(M // 3)": -1365,
    "cdiv(N, BLOCK)": 2,
    "cdiv(N, BLOCK) * cdiv(M, BLOCK)": 128,
    "cdiv(0, 4)": 0,
    "min(M, N, 3)": 3,
    "max(M, N)": 4096,
    "next_power_of_2(N)": 128,
    "next_power_of_2(1)": 1,
    "next_power_of_2(BLOCK)": 64,
    "2 * 4096 * 4096 * 4096": 137438953472,
    "0x10": 16,
}


@pytest.mark.parametrize(("text", "wanted"), VALUES.items())
def test_values(text: str, wanted: int) -> None:
    assert value(text) == wanted


BAD = [
    "",
    "M +",
    "M; N",
    "M\0",
    "(" * 150 + "M" + ")" * 150 + "(",
    "M + 1" * 100,
    "M / 2",
    "M ** 2",
    "1 << 62",
    "M.bit_length()",
    "__import__('os')",
    "[M][0]",
    "M if N else 1",
    "lambda: M",
    "cdiv(M, b=2)",
    "cdiv(*M)",
    "min(M, *N)",
    "cdiv(M)",
    "min(M)",
    "next_power_of_2(M, N)",
    "1.5",
    "True",
    "'a'",
    "K",
    "M // ZERO",
    "M % ZERO",
    "cdiv(M, ZERO)",
    "next_power_of_2(ZERO)",
    "9223372036854775807 + 1",
    "9223372036854775808",
    "M * M * M * M * M * M",
]


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:40])
def test_errors(golden: Golden, text: str) -> None:
    with pytest.raises(BadExpression) as caught:
        value(text)
    golden(str(caught.value))


_ATOMS = st.sampled_from(["M", "N", "BLOCK", "1", "3", "17"])
_TREES = st.recursive(
    _ATOMS,
    lambda below: st.one_of(
        st.builds("({} {} {})".format, below, st.sampled_from(["+", "-", "*", "//", "%"]), below),
        st.builds("-{}".format, below),
        st.builds("cdiv({}, {})".format, below, st.sampled_from(["BLOCK", "3"])),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), below, below),
    ),
    max_leaves=8,
)


@given(_TREES)
def test_the_value_is_what_python_would_give(text: str) -> None:
    """Where both have one: Python has no bound, and its own word for a division by zero."""
    try:
        wanted = eval(text, {"cdiv": lambda a, b: (a + b - 1) // b, **SIZES})
    except ZeroDivisionError:
        wanted = None
    try:
        found = value(text)
    except BadExpression as error:
        assert wanted is None or "64 bits" in str(error) or len(text) > 400
    else:
        assert found == wanted


def test_names_are_those_whose_values_are_needed() -> None:
    assert expression.names(expression.parse("cdiv(M, min) + min(N, 2)")) == {"M", "N", "min"}
