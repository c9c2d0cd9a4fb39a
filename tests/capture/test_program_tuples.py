"""A kernel that takes tuples is captured as one that takes their elements."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from running import Bench, signatures

from triage.capture.program.names import Text
from triage.harness.toolchains import Toolchain

SPLITS = {
    "def f(xs):\n    return xs": "def f(xs_0, xs_1):\n    xs = (xs_0, xs_1)\n    return xs",
    "def f(a, xs: 'tuple', c):\n    return xs": "def f(a, xs_0, xs_1, c):\n    xs = (xs_0, xs_1)\n    return xs",
    "def f(a, xs=(1, (2, 3)), c=2): return a": "def f(a, xs_0=None, xs_1=None, c=2): xs = (xs_0, xs_1); return a",
    "def f(a=1, *, xs):\n    'Text.'\n    pass": "def f(a=1, *, xs_0=None, xs_1=None):\n    'Text.'\n    "
    "xs = (xs_0, xs_1)\n    pass",
}


@pytest.mark.parametrize(("source", "expected"), SPLITS.items(), ids=range(len(SPLITS)))
def test_a_parameter_becomes_several(source: str, expected: str) -> None:
    text, node = Text(source), ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    text.split_parameter(node, "xs", ["xs_0", "xs_1"], "xs = (xs_0, xs_1)")
    assert text.result() == expected


@pytest.mark.parametrize("version", ["newest", pytest.param("3.6.0", marks=pytest.mark.slow)])
def test_kernels_that_take_tuples_compile_from_their_folder_alone(
    bench_of: Callable[[str], Bench], release: Callable[[str], Toolchain], version: str
) -> None:
    bench = bench_of(version)
    done = bench.run("passes_tuples.py", options=("--keep-all",))
    assert (done.code, done.out) == (0, "ends\n"), done.err
    cases = bench.cases()
    assert [case.origin.get("notes") for case in cases] == [None] * 3
    assert dict(cases[0].signature) == {
        "xs_0": "*fp16", "xs_1_0": "*fp32", "xs_1_1": "i32", "xs_4": "fp32", "out_ptr": "*fp32", "n": "i32",
    }  # fmt: skip
    assert dict(cases[0].constexprs) == {"xs_2": None, "xs_3": 1, "BLOCK": 64}
    assert cases[0].divisible["xs_1_1"] == 16
    assert signatures(cases, release(version)) == ["compiles"] * 3
