"""Which names a kernel reads from elsewhere, and what editing its text by the places of its nodes gives."""

from __future__ import annotations

import ast

import pytest

from triage.capture.program.names import Text, reads

READS = {
    "def f(x):\n    return x + N": ["N"],
    "def f(x):\n    y = lib.sub.helper(x)\n    return y": ["lib.sub.helper"],
    "def f(x: tl.constexpr = N):\n    return x": ["tl.constexpr", "N"],
    "def f(x):\n    n = n + 1\n    return n": [],
    "def f(x):\n    y = n\n    n = 3\n    return n + y": ["n"],
    "def f(x):\n    for i in range(M):\n        x += i\n    return x": ["range", "M"],
    "def f(x):\n    return [i for i in x] + [g(i) for i in H]": ["g", "H"],
    "def f(x):\n    return load(x).to(tl.float32).value": ["load", "tl.float32"],
    "@jit\ndef f(x):\n    import os\n    return os.path": ["jit"],
    "class C(Base):\n    N = M\n    def f(self):\n        n = 1\n    def g(self):\n        return n + N": [
        "Base",
        "M",
        "n",
        "N",
    ],
    "class C:\n    def k(self):\n        return k\n    @k\n    def g(self): pass": ["k"],
}


@pytest.mark.parametrize(("source", "expected"), READS.items(), ids=range(len(READS)))
def test_reads(source: str, expected: list[str]) -> None:
    found = [".".join(read.parts) for read in reads(ast.parse(source).body[0])]
    assert sorted(found) == sorted(expected)


DEFAULTS = {
    ("def f(a, b: int, c):\n    pass", "b"): "def f(a, b: int = X, c = None):\n    pass",
    ("def f(a, b=1, *, c, d):\n    pass", "c"): "def f(a, b=1, *, c = X, d):\n    pass",
    ("def f(a, b: C = g(1, 2), c=3):\n    pass", "b"): "def f(a, b: C = X, c=3):\n    pass",
}


@pytest.mark.parametrize(("given", "expected"), DEFAULTS.items(), ids=range(len(DEFAULTS)))
def test_a_default_is_set(given: tuple[str, str], expected: str) -> None:
    source, name = given
    text = Text(source)
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    text.set_defaults(function, {name: "X"})
    assert text.result() == expected


PARAMETERS = {
    ("def f(a, b, c):\n    pass", "a"): "def f(b, c):\n    pass",
    ("def f(a, b, c):\n    pass", "c"): "def f(a, b):\n    pass",
    ("def f(a):\n    pass", "a"): "def f():\n    pass",
    ("def f(a, B: tl.constexpr, c=(1, 2)):\n    pass", "B"): "def f(a, c=(1, 2)):\n    pass",
    ("def f(a, B: tl.constexpr = g(1, 2), c=3):\n    pass", "B"): "def f(a, c=3):\n    pass",
    ("def f(\n    é: 'ü',\n    b: tl.constexpr = 1,\n):\n    pass", "b"): "def f(\n    é: 'ü',\n    ):\n    pass",
    ("def f(a, *, k=1, l=2):\n    pass", "l"): "def f(a, *, k=1):\n    pass",
}


@pytest.mark.parametrize(("given", "expected"), PARAMETERS.items(), ids=range(len(PARAMETERS)))
def test_a_parameter_goes(given: tuple[str, str], expected: str) -> None:
    source, name = given
    text, node = Text(source), ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    text.without_parameter(node, name)
    assert " ".join(text.result().split()) == " ".join(expected.split())
    ast.parse(text.result())
