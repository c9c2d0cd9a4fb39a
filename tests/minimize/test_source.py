"""What the steps propose, and that no candidate is compiled which cannot be a kernel."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from triage.filesystem.files import ANYWHERE
from triage.minimize.source import arguments, expressions, helpers, naming, statements
from triage.minimize.source.reduce import without_dead
from triage.minimize.source.specimen import Specimen, body_lines, tokens
from triage.minimize.source.tidy import tidied
from triage.minimize.source.view import SourcePatch, View, sound
from triage.model.case import Case, frozen
from triage.source.imports import with_imports_inlined
from triage.source.names import undefined

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


def made(seen: View, steps: list[SourcePatch]) -> list[str]:
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
    ("def f(a):\n    if (b := a) and b:\n        return b\n    return c\n", {"c"}),
    ("def f(a):\n    with a as b:\n        return b\n", set()),
    ("def f(a):\n    return sum(b for b in a if b), b\n", {"b"}),
    ("def f(a):\n    b, c = a\n    return lambda d: b + c + d + e\n", {"e"}),
    ("match a:\n    case [b, *c]:\n        d = b, c\n    case d:\n        e = d, f\n", {"a", "f"}),
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
    left = without_dead(specimen(text, constexprs={}))
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
    found = [one for step in arguments.constexprs(view()) if (one := view().apply([step])) is not None]
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


HELPER = (
    HEAD
    + """@triton.jit
def helper(x, scale, SHIFT, unused=0):
    return x * scale + SHIFT


@triton.jit
def kernel(a_ptr, n):
    x = helper(tl.load(a_ptr), n, SHIFT=2, unused=n)
    tl.store(a_ptr, helper(x, n + 1, SHIFT=2))
"""
)


def test_parameters_of_helpers_go_with_what_calls_give_for_them() -> None:
    seen = view(HELPER, constexprs={})
    texts = made(seen, arguments.of_helpers(seen))
    assert len(texts) == 2  # x and scale differ from call to call
    assert any("def helper(x, scale, unused=0):\n    return x * scale + 2" in text for text in texts)
    assert any("helper(tl.load(a_ptr), n, SHIFT=2)\n" in text for text in texts)


def test_parameters_of_a_partition_go_with_what_it_is_given() -> None:
    text = HELPER.replace("    x = helper", "    tl.warp_specialize([(helper, (n, n, 2, n))], [4])\n    x = helper")
    seen = view(text, constexprs={})
    texts = made(seen, arguments.of_helpers(seen))
    assert any("(helper, (n, n, 2))" in one and "def helper(x, scale, SHIFT):" in one for one in texts)


def test_a_helper_that_is_handed_on_keeps_its_parameters() -> None:
    text = HELPER.replace("tl.load(a_ptr)", "tl.reduce(tl.load(a_ptr), 0, helper)")
    assert not arguments.of_helpers(view(text, constexprs={}))


@pytest.mark.parametrize("list_", ["a_ptr", "a_ptr,", "\n    a_ptr,\n"])
def test_the_only_parameter_goes_with_its_comma(list_: str) -> None:
    seen = view(
        HEAD + f"@triton.jit\ndef kernel({list_}):\n    tl.arange(0, 8)\n", signature={"a_ptr": "*fp32"}, constexprs={}
    )
    (text,) = made(seen, statements.dead(seen))
    assert "def kernel():\n" in text


CALLS = [
    ("f((a + 1), b)", {"f(b)", "f((a + 1))"}),
    ("f(a, b,)", {"f(b,)", "f(a)"}),
    ("f(a, key=(b))", {"f(key=(b))", "f(a)"}),
    ("f((a))", {"f()"}),
]


@pytest.mark.parametrize(("call", "expected"), CALLS)
def test_arguments_go_with_their_parentheses(call: str, expected: set[str]) -> None:
    text = HEAD + f"@triton.jit\ndef kernel(a_ptr, n, f, a, b):\n    {call}\n"
    seen = view(text, signature=dict.fromkeys(("a_ptr", "n", "f", "a", "b"), "i32"), constexprs={})
    assert {one.splitlines()[-1].strip() for one in made(seen, expressions.call_arguments(seen))} == expected


LINES = [
    ("x, y = n, 1", "flattened", "x = n\n    y = 1"),
    ("x: tl.int32 = n", "flattened", "x = n"),
    ("x = n + (n + 1)", "respelt", "x = n + n + 1"),
    ("x = (n * 2)", "respelt", "x = n * 2"),
    ("x = tl.sum(input=n, axis=0)", "positional", "x = tl.sum(n, axis=0)"),
    ("tl.f('mov $0, $1; add $0, $1;')", "insides", "tl.f(' add $0, $1;')"),
    ("for i in tl.static_range(n): n", "parts", "for i in range(n): n"),
]


@pytest.mark.parametrize(("line", "step", "expected"), LINES)
def test_a_statement_in_fewer_tokens(line: str, step: str, expected: str) -> None:
    seen = view(HEAD + f"@triton.jit\ndef kernel(a_ptr, n):\n    {line}\n", constexprs={})
    propose = getattr(expressions, step, None) or getattr(statements, step)
    assert any(f"    {expected}\n" in text for text in made(seen, propose(seen)))


def test_what_is_written_twice_gets_a_name() -> None:
    text = HEAD + "@triton.jit\ndef kernel(a_ptr, n):\n    x = tl.load(a_ptr + n * 2)\n    tl.store(a_ptr + n * 2, x)\n"
    (changed,) = made(view(text, constexprs={}), expressions.shared(view(text, constexprs={})))
    assert "    shared_1 = a_ptr + n * 2\n    x = tl.load(shared_1)\n    tl.store(shared_1, x)\n" in changed


def test_any_expression_may_do_for_another() -> None:
    text = (
        HEAD + "@triton.jit\ndef kernel(a_ptr, n):\n    x = tl.arange(0, 8)\n"
        "    tl.store(a_ptr + x * n, tl.exp(x + x + n))\n"
    )
    seen = view(text, constexprs={})
    texts = made(seen, expressions.others(seen))
    assert any("tl.store(x, tl.exp(x + x + n))" in one for one in texts)
    assert any("tl.store(a_ptr + x * n, tl.arange(0, 8))" in one for one in texts)


def test_a_value_takes_its_names_place_where_the_line_stays_readable() -> None:
    long = "tl.load(a_ptr + " + " + ".join(["n"] * 30) + ")"
    text = HEAD + f"@triton.jit\ndef kernel(a_ptr, n):\n    x = {long}\n    y = n * 2\n    tl.store(a_ptr, x + y)\n"
    (changed,) = made(view(text, constexprs={}), statements.inlined(view(text, constexprs={})))
    assert "tl.store(a_ptr, x + (n * 2))" in changed


def test_types_and_defaults_of_parameters_go() -> None:
    text = (
        HEAD
        + "@triton.jit\ndef kernel(a_ptr: tl.tensor, n=2, B: tl.constexpr = 4) -> None:\n    tl.store(a_ptr, n * B)\n"
    )
    seen = view(text, constexprs={"B": 4})
    assert {one.splitlines()[5] for one in made(seen, arguments.plain(seen))} == {
        "def kernel(a_ptr: tl.tensor, n=2, B: tl.constexpr=4) -> None:",  # Written as Python does: a character less.
        "def kernel(a_ptr, n=2, B: tl.constexpr = 4) -> None:",
        "def kernel(a_ptr: tl.tensor, n=2, B: tl.constexpr = 4):",
        "def kernel(a_ptr: tl.tensor, n, B: tl.constexpr = 4) -> None:",
    }


def test_parameters_on_lines_of_their_own_share_one() -> None:
    seen = view(
        HEAD + "@triton.jit\ndef kernel(\n    a_ptr,\n    n,\n):\n    tl.store(a_ptr, (n))\n",
        constexprs={},
    )
    assert any("def kernel(a_ptr, n):\n" in one for one in made(seen, arguments.plain(seen)))


BRANCHED = (
    HEAD
    + """if hasattr(tl, "new"):

    @triton.jit
    def helper(x):
        return tl.new(x)
else:

    @triton.jit
    def helper(x):
        return x + 1


@triton.jit
def kernel(a_ptr, n):
    tl.store(a_ptr, helper(n))
"""
)


def test_branches_of_the_file_give_way_to_what_they_hold() -> None:
    seen = view(BRANCHED, constexprs={})
    texts = made(seen, statements.flattened(seen))
    assert any(
        "\n@triton.jit\ndef helper(x):\n    return tl.new(x)\n" in one and "if hasattr" not in one for one in texts
    )
    assert any("\n@triton.jit\ndef helper(x):\n    return x + 1\n" in one and "if hasattr" not in one for one in texts)


def test_helpers_in_branches_are_renamed() -> None:
    changed = naming.renamed(specimen(BRANCHED, constexprs={})).text
    assert "helper" not in changed
    assert changed.count("def f0(a0):") + changed.count("def f1(a0):") == 2


def test_an_else_that_does_nothing_goes() -> None:
    text = "if a:\n    b = 1\n    pass\nelse:\n    pass\n    pass\nc = 2\n"
    assert tidied(text) == "if a:\n    b = 1\nc = 2\n"


def test_blank_lines_stand_where_they_are_written() -> None:
    text = "import a\n\n\n\n\ndef f(\n\n):\n\n    x = 1\n\n\n    for i in x:\n\n        y = i\n\n\n\ng = 1\n"
    assert tidied(text) == "import a\n\n\ndef f():\n    x = 1\n\n    for i in x:\n        y = i\n\n\ng = 1\n"


PACKAGE = {
    "lib/__init__.py": "",
    "lib/util.py": "from __future__ import annotations\nimport triton\nfrom .consts import SCALE\n\n\n"
    "@triton.jit\ndef twice(x):\n    return x * 2\n",
    "lib/consts.py": "SCALE = 3\n",
    "lib/ops/__init__.py": "from .kernel import kernel\n",
    "lib/ops/kernel.py": HEAD
    + "from .. import consts\nfrom ..util import twice as double\nfrom lib import util as u\n\n\n"
    "@triton.jit\ndef kernel(a_ptr):\n    tl.store(a_ptr, u.twice(double(consts.SCALE)))\n",
}


def test_modules_of_a_package_are_written_out_once(tmp_path: Path) -> None:
    for name, content in PACKAGE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    case = Case(tmp_path / "lib" / "ops", "kernel.py", "kernel", frozen({"a_ptr": "*fp32"}), boundary=ANYWHERE)
    whole = with_imports_inlined(PACKAGE["lib/ops/kernel.py"], case)
    assert whole.startswith("from __future__ import annotations\n")
    assert whole.count("def twice") == 1
    assert "double = twice" in whole
    assert "tl.store(a_ptr, twice(double(3)))" in whole
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(ast.parse(whole)))


def test_siblings_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("import triton\n\n\n@triton.jit\ndef double(x):\n    return x * 2\n")
    text = HEAD + "import ops\n\n\n@triton.jit\ndef kernel(a_ptr):\n    tl.store(a_ptr, ops.double(1))\n"
    case = Case(tmp_path, "kernel.py", "kernel", frozen({"a_ptr": "*fp32"}))
    whole = with_imports_inlined(text, case)
    assert "def double" in whole
    assert "tl.store(a_ptr, double(1))" in whole
    assert sound(Specimen(whole, case))


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
