"""Conversions to fp32: of a failing function's argument, and at the loads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rewriting import HEAD, changed, proposed, write

BODY = """def kernel(x_ptr, i_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = {expression}
    tl.store(y_ptr + i, y)
"""


def lines(
    tmp_path: Path, expression: str, message: str, recipe: str = "argument-in-fp32", x: str = "*bf16"
) -> list[str]:
    case = write(tmp_path, HEAD + BODY.format(expression=expression), {"x_ptr": x, "i_ptr": "*i32", "y_ptr": "*fp32"},
                 {"BLOCK": 64})  # fmt: skip
    found = proposed(recipe, case, message, at="y = " if recipe.startswith("arg") else None)
    assert all(rewritten.results for rewritten in found if not re.search("sort|argmax", expression))
    return ["; ".join(after for _, after in changed(case, rewritten)) for rewritten in found]


GOT_BF16 = "Expected dtype ['fp32', 'fp64'] but got bf16"


@pytest.mark.parametrize(
    "expression, message, expected",
    [
        ("tl.exp(x)", GOT_BF16, ["y = tl.exp(x.to(tl.float32)).to(tl.bfloat16)", "y = tl.exp(x.to(tl.float32))"]),
        (
            "tl.exp(x - 1)",
            GOT_BF16,
            ["y = tl.exp((x - 1).to(tl.float32)).to(tl.bfloat16)", "y = tl.exp((x - 1).to(tl.float32))"],
        ),
        # Which of the two failed is not said: no result is rounded.
        ("tl.exp(x) + tl.log(x)", GOT_BF16, ["y = tl.exp(x.to(tl.float32)) + tl.log(x.to(tl.float32))"]),
        ("x.exp()", GOT_BF16, ["y = x.to(tl.float32).exp().to(tl.bfloat16)", "y = x.to(tl.float32).exp()"]),
        ("tl.sqrt(i)", "Expected dtype ['fp32', 'fp64'] but got int32", ["y = tl.sqrt(i.to(tl.float32))"]),
        ("tl.sum(x, axis=0)", "unexpected type fp8e5", ["y = tl.sum(x.to(tl.float32), axis=0)"]),
        (
            "tl.sort(x)",
            "unexpected type fp8e5",
            ["y = tl.sort(x.to(tl.float32)).to(tl.float8e5)", "y = tl.sort(x.to(tl.float32))"],
        ),
        ("tl.argmax(x, axis=0)", "unexpected type fp8e5", ["y = tl.argmax(x.to(tl.float32), axis=0)"]),
        ("x + x", GOT_BF16, []),
        ("tl.reduce((x, i), 0, f)", GOT_BF16, []),
    ],
)
def test_the_argument(expression: str, message: str, expected: list[str], tmp_path: Path) -> None:
    assert lines(tmp_path, expression, message) == expected


@pytest.mark.parametrize(
    "x, expression, expected",
    [
        ("*fp8e5", "x * x", ["x = tl.load(x_ptr + i).to(tl.float32)"]),
        ("*bf16", "x * x", ["x = tl.load(x_ptr + i).to(tl.float32)"]),
        ("*fp16", "x * x", []),
        ("*fp8e5", "tl.dot(x[:, None], x[None, :])", []),
        ("*fp8e5", "x.to(tl.int8, bitcast=True)", []),
        ("*fp8e5", "tl.load(x_ptr + tl.load(i_ptr + i)).to(tl.float16)", ["x = tl.load(x_ptr + i).to(tl.float32)"]),
        ("*fp8e5", "tl.load(i_ptr + i) * x", ["x = tl.load(x_ptr + i).to(tl.float32)"]),
    ],
)
def test_the_loads(x: str, expression: str, expected: list[str], tmp_path: Path) -> None:
    assert lines(tmp_path, expression, "", "loads-in-fp32", x) == expected * (2 if x == "*fp8e5" else 1)


def test_without_the_language_s_name_nothing_is_written(tmp_path: Path) -> None:
    case = write(
        tmp_path, "from kernels import *\n@jit\ndef kernel(x_ptr):\n    y = exp(load(x_ptr))\n", {"x_ptr": "*bf16"}, {}
    )
    assert proposed("argument-in-fp32", case, GOT_BF16, at="y = ") == []
