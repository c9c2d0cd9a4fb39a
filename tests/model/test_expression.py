"""Expressions over sizes: what they are worth, what is refused and in which words."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
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


BAD = {
    "": "'' is no expression; write for instance 'cdiv(M, BLOCK_M)'",
    "M +": "'M +' is no expression",
    "M; N": "'M; N' is no expression",
    "M\0": "is no expression",
    "(" * 150 + "M" + ")" * 150 + "(": "is no expression",
    "M + 1" * 100: "an expression has at most 400 characters, this one has 500",
    "M / 2": "'/' is no integer operation; write '//' or cdiv(a, b)",
    "M ** 2": "'M ** 2' is not allowed; there are integers, names, + - * // % and cdiv, max, min, next_power_of_2",
    "1 << 62": "'1 << 62' is not allowed",
    "M.bit_length()": "'M.bit_length()' is not allowed",
    "__import__('os')": "\"__import__('os')\" is not allowed",
    "[M][0]": "'[M][0]' is not allowed",
    "M if N else 1": "'M if N else 1' is not allowed",
    "lambda: M": "'lambda: M' is not allowed",
    "cdiv(M, b=2)": "'cdiv(M, b=2)' is not allowed",
    "cdiv(*M)": "cdiv takes 2 arguments, not 1",
    "min(M, *N)": "'*N' is not allowed",
    "cdiv(M)": "cdiv takes 2 arguments, not 1",
    "min(M)": "min takes 2 to 8 arguments, not 1",
    "next_power_of_2(M, N)": "next_power_of_2 takes 1 argument, not 2",
    "1.5": "1.5 is no integer",
    "True": "True is no integer",
    "'a'": "'a' is no integer",
    "K": "'K' is unknown",
    "M // ZERO": "4096 // 0 has no value",
    "M % ZERO": "4096 % 0 has no value",
    "cdiv(M, ZERO)": "cdiv(4096, 0): the divisor must be positive",
    "next_power_of_2(ZERO)": "next_power_of_2(0): the argument must be positive",
    "9223372036854775807 + 1": "a value does not fit into 64 bits",
    "9223372036854775808": "a value does not fit into 64 bits",
    "M * M * M * M * M * M": "a value does not fit into 64 bits",
}


@pytest.mark.parametrize(("text", "told"), BAD.items())
def test_what_is_refused(text: str, told: str) -> None:
    with pytest.raises(BadExpression) as caught:
        value(text)
    assert told in str(caught.value)


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
