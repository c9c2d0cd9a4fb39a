"""What the steps propose, and that no candidate is compiled which cannot be a kernel."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from triage.case import Case, frozen
from triage.minimize.search import cascaded
from triage.minimize.source import arguments, expressions, helpers, naming, statements
from triage.minimize.source.names import undefined
from triage.minimize.source.view import Step, View, sound, tidied
from triage.minimize.specimen import Specimen, body_lines, tokens

HEAD = "import triton\nimport triton.language as tl\n\n\n"
KERNEL = (
    HEAD
    + '''@triton.jit
def helper(x, y=2):
    z = x * y
    return z + 1


@triton.autotune(configs=[], key=[])
@triton.jit
def kernel(a_ptr, n, BLOCK: tl.constexpr, FLAG: tl.constexpr = True):
    """Says something."""
    offs = tl.arange(0, BLOCK)  # all of them
    if FLAG:
        x = tl.load(a_ptr + offs, mask=offs < n)
    else:
        x = tl.load(a_ptr + offs)
    unused = x + 1
    for i in range(0, n):
        x += helper(x, y=i)
    tl.store(a_ptr + offs, x)
'''
)


def specimen(text: str = KERNEL, **changes: object) -> Specimen:
    values = {"signature": {"a_ptr": "*fp32", "n": "i32"}, "constexprs": {"BLOCK": 64, "FLAG": True}, **changes}
    case = Case(Path("/nowhere"), "kernel.py", "kernel", **{k: frozen(v) for k, v in values.items()})  # type: ignore[arg-type]
    return Specimen(text, case)


def view(text: str = KERNEL, **changes: object) -> View:
    found = View.of(specimen(text, **changes))
    assert found is not None
    return found


def made(seen: View, steps: list[Step]) -> list[str]:
    """The texts that the steps give, one by one, without those that cannot be kernels."""
    return [one.text for one in (seen.apply([step]) for step in steps) if one is not None]


UNDEFINED = [
    ("x = 1\nx + y\n", {"y"}),
    ("def f(a):\n    return a + b\nb = 1\n", set()),
    ("def f(a):\n    if a:\n        c = 1\n    return c\n", set()),
    ("def f(a):\n    d = c\n    c = 1\n    return d\n", {"c"}),
    ("def f(a):\n    c += 1\n", {"c"}),
    ("def f(a):\n    for i in range(a):\n        j = i\n    return j\n", set()),
    ("def f(a):\n    return [i for i in a]\n", set()),
    ("from m import *\nx = y\n", set()),
    ("@jit\ndef f(a: tl.constexpr = n): pass\n", {"jit", "tl", "n"}),
]


@pytest.mark.parametrize(("text", "names"), UNDEFINED)
def test_names_that_nothing_has_bound(text: str, names: set[str]) -> None:
    assert undefined(ast.parse(text)) == names


UNSOUND = {
    "not Python": KERNEL + "(",
    "no kernel": HEAD,
    "not jitted": KERNEL.replace("@triton.autotune(configs=[], key=[])\n@triton.jit\n", ""),
    "a name undefined": KERNEL.replace("offs = tl.arange(0, BLOCK)", "pass"),
    "an argument of the case gone": KERNEL.replace("a_ptr, n, BLOCK", "a_ptr, BLOCK"),
}


def test_the_original_is_sound() -> None:
    assert sound(specimen())


@pytest.mark.parametrize("text", UNSOUND.values(), ids=UNSOUND.keys())
def test_what_is_not_worth_a_compile(text: str) -> None:
    assert not sound(specimen(text))


def test_a_constexpr_is_no_argument() -> None:
    assert not sound(specimen(signature={"a_ptr": "*fp32", "n": "i32", "BLOCK": "i32"}, constexprs={"FLAG": True}))


def test_tidied_leaves_the_pass_that_a_block_needs() -> None:
    text = "def f():\n    pass\n    x = 1\n    if x:\n        pass\n        pass\n"
    assert tidied(text) == "def f():\n    x = 1\n    if x:\n        pass\n"


def test_a_statement_goes_and_the_rest_stays_as_it_was() -> None:
    texts = made(view(), statements.at_depth(view(), 1))
    assert KERNEL.replace("    unused = x + 1\n", "") in texts
    assert all("offs = " in text for text in texts)


def test_branches_and_loops_give_way_to_what_is_in_them() -> None:
    texts = made(view(), statements.flattened(view()))
    assert any("    x = tl.load(a_ptr + offs, mask=offs < n)\n    unused" in text for text in texts)
    assert any("    x = tl.load(a_ptr + offs)\n    unused" in text for text in texts)
    assert any("    x += helper(x, y=0)\n    tl.store" in text for text in texts)


def test_what_nothing_reads_goes_at_once() -> None:
    text = HEAD + "import os\n\n@triton.jit\ndef kernel(a_ptr, n):\n    a = n\n    b = a\n    tl.store(a_ptr, 1)\n"
    left = cascaded(specimen(text, constexprs={}))
    assert left is not None
    assert "def kernel(a_ptr):\n    tl.store(a_ptr, 1)\n" in left.text
    assert "import os" not in left.text
    assert dict(left.case.signature) == {"a_ptr": "*fp32"}


PARAMETERS = [
    ("a_ptr", "kernel(n, BLOCK: tl.constexpr, FLAG: tl.constexpr = True)"),
    ("n", "kernel(a_ptr, BLOCK: tl.constexpr, FLAG: tl.constexpr = True)"),
    ("FLAG", "kernel(a_ptr, n, BLOCK: tl.constexpr)"),
]


@pytest.mark.parametrize(("name", "left"), PARAMETERS)
def test_a_parameter_goes_with_its_annotation_and_default(name: str, left: str) -> None:
    seen = view()
    assert seen.kernel is not None
    argument = next(one for one in seen.kernel.args.args if one.arg == name)
    text = seen.module.edited([statements.without_parameter(seen, seen.kernel, argument)])
    assert text is not None
    assert left in text


def test_constexprs_give_way_to_their_values_and_leave_the_case() -> None:
    found = [one for step in arguments.constants(view()) if (one := view().apply([step])) is not None]
    block = next(one for one in found if "BLOCK" not in one.case.constexprs)
    assert "tl.arange(0, 64)" in block.text


LITERALS = [(128, "128"), ("tl.float32", "tl.float32"), ("ieee", "'ieee'"), ([1, [2]], "(1, (2,))"), (None, "None")]


@pytest.mark.parametrize(("value", "text"), LITERALS)
def test_a_constexpr_as_the_source_spells_it(value: object, text: str) -> None:
    assert arguments.literal(value) == text


def test_expressions_give_way_to_their_parts() -> None:
    texts = made(view(), expressions.parts(view()))
    assert any("tl.store(a_ptr, x)" in text for text in texts)
    assert any("tl.store(offs, x)" in text for text in texts)


def test_operands_keep_their_grouping() -> None:
    seen = view(HEAD + "@triton.jit\ndef kernel(a_ptr, n):\n    tl.store(a_ptr, n * -(n + 1 + n))\n", constexprs={})
    assert any("n * -((n + 1))" in text or "n * -(n + 1)" in text for text in made(seen, expressions.parts(seen)))


def test_a_helper_gives_way_to_its_body() -> None:
    (text,) = made(view(), helpers.inlined_calls(view()))
    assert "        z = x * i\n        x += (z + 1)\n" in text
    assert "def helper" not in text


def test_siblings_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("import triton\n\n\n@triton.jit\ndef double(x):\n    return x * 2\n")
    text = HEAD + "import ops\n\n\n@triton.jit\ndef kernel(a_ptr):\n    tl.store(a_ptr, ops.double(1))\n"
    case = Case(tmp_path, "kernel.py", "kernel", frozen({"a_ptr": "*fp32"}))
    whole = helpers.with_siblings(Specimen(text, case))
    assert "def double" in whole.text
    assert "tl.store(a_ptr, double(1))" in whole.text
    assert sound(whole)


def test_comments_and_docstrings_go() -> None:
    text = naming.stripped(specimen()).text
    assert "Says something" not in text
    assert "# all of them" not in text
    assert 'print("# no comment")' in naming.stripped(specimen(KERNEL + 'print("# no comment")\n')).text


def test_names_are_nobodys() -> None:
    changed = naming.renamed(specimen())
    assert sound(changed)
    assert "def kernel(a0, a1, a2: tl.constexpr, a3: tl.constexpr = True)" in changed.text
    assert "def f0(a0, a1=2)" in changed.text
    assert "x1 += f0(x1, a1=x3)" in changed.text
    assert dict(changed.case.constexprs) == {"a2": 64, "a3": True}


def test_size() -> None:
    assert tokens("x = 1  # one\n\ny = 2\n") == 6
    assert body_lines(KERNEL, "kernel") == 9
