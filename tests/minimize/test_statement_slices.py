"""What a kernel is cut into, and how it is written out before."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from triage.minimize.problem import ReductionProblem, RunBudget, Subset, Verdict
from triage.minimize.source import configuration, expressions, slices, statements
from triage.minimize.source.folding import written_out
from triage.minimize.source.specimen import Specimen
from triage.minimize.source.view import View
from triage.model.case import Case, frozen

HEAD = "import triton\nimport triton.language as tl\n\n\n"


def view(body: str, above: str = "", **constexprs: object) -> View:
    """A kernel with the arguments ``p`` and ``n``, and with constexprs."""
    arguments = ", ".join(["p", "n", *(f"{name}: tl.constexpr" for name in constexprs)])
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    text = f"{HEAD}{above}@triton.jit\ndef kernel({arguments}):\n{lines}\n"
    signature = frozen({"p": "*fp32", "n": "i32"})
    case = Case(Path("/nowhere"), "kernel.py", "kernel", signature, frozen(constexprs))
    seen = View.of(Specimen(text, case))
    assert seen is not None
    return seen


def kernel(specimen: Specimen) -> str:
    """The kernel's body."""
    functions = [node for node in ast.parse(specimen.text).body if isinstance(node, ast.FunctionDef)]
    return "\n".join(ast.unparse(node) for node in functions[-1].body)


WRITTEN_OUT = [
    ("if FLAG:\n    x = 1\nelse:\n    x = 2\ntl.store(p, x)", "x = 1\ntl.store(p, x)"),
    ("x = 2 if not FLAG else 1\ntl.store(p, x)", "x = 1\ntl.store(p, x)"),
    ("if n > 1:\n    x = n\nelif FLAG and B == 4:\n    x = 2\ntl.store(p, 1)", None),
    (
        "if B > 8:\n    x = 1\nelif n > 1:\n    x = 2\n    y = 3\ntl.store(p, 1)",
        "if n > 1:\n    x = 2\n    y = 3\ntl.store(p, 1)",
    ),
    ("if n > 1 and B > 8:\n    x = 1\ntl.store(p, n)", "tl.store(p, n)"),
    ("T: tl.constexpr = B * 2\nif T == 8:\n    tl.store(p, n)", "T: tl.constexpr = B * 2\ntl.store(p, n)"),
    ("d = tl.float16\nif d == tl.float32:\n    n = 1\ntl.store(p, n)", "d = tl.float16\ntl.store(p, n)"),
    ("B = n\nif B == 4:\n    n = 1\ntl.store(p, n)", None),
    ("a, b = (n, 1)\ntl.store(p + a, b)", "a = n\nb = 1\ntl.store(p + a, b)"),
    ("a, n = (n, a)\ntl.store(p + a, n)", None),
    ("if 'x' * 10 ** 12 == B:\n    n = 1\ntl.store(p, n)", None),
]


@pytest.mark.parametrize(("body", "expected"), WRITTEN_OUT)
def test_branches_that_constants_decide_and_tuples(body: str, expected: str | None) -> None:
    """None: nothing is to be written out."""
    seen = view(body, FLAG=True, B=4)
    assert kernel(written_out(seen.specimen)) == (expected or kernel(seen.specimen))


def test_helpers_are_written_out_with_what_their_arguments_decide() -> None:
    helper = "@triton.jit\ndef twice(x, FLAG: tl.constexpr):\n    if FLAG:\n        x = x * 2\n    return x\n\n\n"
    seen = view("y = twice(n, True)\ntl.store(p, y)", helper)
    assert kernel(written_out(seen.specimen)) == "x = n\nx = x * 2\ny = x\ntl.store(p, y)"


BODY = """
a = n + 1
b = a * 2
for i in range(n):
    c = a + i
    b += c
    d = b
e = n
e = b
if e > 1:
    f = d
tl.store(p, a)
"""
NEEDED = {
    "a = n + 1": "a = n + 1",
    "c = a + i": "a = n + 1\nfor i in range(n):\n    c = a + i",
    "d = b": "a = n + 1\nb = a * 2\nfor i in range(n):\n    c = a + i\n    b += c\n    d = b",
    "e = n": "e = n",
    "tl.store(p, a)": "a = n + 1\ntl.store(p, a)",
}


@pytest.mark.parametrize(("statement", "needed"), NEEDED.items())
def test_what_a_statement_needs(statement: str, needed: str) -> None:
    seen = view(BODY)
    assert seen.kernel is not None
    dependences = slices.Dependences(seen.kernel)
    wanted = next(each for each in dependences.statements if ast.unparse(each.node) == statement)
    lines = [ast.unparse(each.node).partition("\n")[0].strip() for each in dependences.statements]
    assert [lines[number] for number in sorted(dependences.needed(wanted))] == [
        line.strip() for line in needed.split("\n")
    ]


def test_what_is_assigned_later_replaces_what_was_before() -> None:
    seen = view("x = 1\nif n:\n    x = 2\ny = x\nx = 3\nz = x\ntl.store(p, z)")
    assert seen.kernel is not None
    dependences = slices.Dependences(seen.kernel)
    needed = [sorted(dependences.needed(statement)) for statement in dependences.statements]
    assert needed[3] == [0, 1, 2, 3]  # y = x
    assert needed[5] == [4, 5]  # z = x


def test_a_slice_stores_what_it_ends_in() -> None:
    seen = view(BODY)
    bodies = [kernel(specimen) for subset in slices.with_needed(seen) if (specimen := subset.make()) is not None]
    assert bodies[0] == "a = n + 1\ntl.store(p + tl.zeros_like(a).to(tl.int32), a)"
    assert "a = n + 1\ntl.store(p, a)" in bodies
    assert "a = n + 1\nfor i in range(n):\n    c = a + i\n    tl.store(p + tl.zeros_like(c).to(tl.int32), c)" in bodies


def test_what_is_dropped_goes_with_all_that_needs_it() -> None:
    seen = view(BODY)
    bodies = [kernel(specimen) for subset in slices.without_dependents(seen) if (specimen := subset.make()) is not None]
    assert bodies[1].startswith("a = n + 1\nfor i in range(n):\n    c = a + i\ne = n")  # without b
    assert "tl.store(p, a)" in bodies[1]


class Asked:
    """A judge: the same are sets that hold all of ``wanted``."""

    def __init__(self, wanted: set[int]) -> None:
        self.wanted, self.asked = wanted, list[frozenset[int]]()

    def ask(self, candidates: list[frozenset[int] | None], alike: object, budget: RunBudget) -> list[Verdict]:
        self.asked += [candidate for candidate in candidates if candidate is not None]
        return [
            Verdict.INVALID if candidate is None else Verdict.SAME if candidate >= self.wanted else Verdict.COMPILES
            for candidate in candidates
        ]


@pytest.mark.parametrize("wanted", [{0}, {70}, {30, 31}, {99}])
def test_the_least_of_many_subsets_is_found_by_few_questions(wanted: set[int]) -> None:
    """Each subset holds all numbers below its own, as the slices of a straight line of statements do."""
    judge = Asked(wanted)
    problem = ReductionProblem(judge, frozenset(range(100)), lambda best: (len(best),), width=4, budget=RunBudget())  # type: ignore[arg-type]
    subsets = [frozenset(range(number)) for number in range(1, 100)]
    taken = problem.descend([Subset(each, lambda each=each: each) for each in subsets])  # type: ignore[misc]
    assert (taken, problem.best) == (wanted != {99}, frozenset(range(max(wanted) + 1)))
    assert len(judge.asked) <= 20


def test_what_the_kernel_does_not_reach_goes_at_once() -> None:
    above = "import torch\nN = 4\nM = N\nprint(torch)\n\n\ndef host(x):\n    return M\n\n\nif N:\n    K = M\n\n\n"
    seen = view("tl.store(p, K)", above)
    [patch] = statements.unreached(seen)
    left = seen.apply([patch])
    assert left is not None
    assert [ast.unparse(node) for node in ast.parse(left.text).body[2:-1]] == ["N = 4", "M = N", "if N:\n    K = M"]


def test_a_keyword_goes_from_all_calls_at_once() -> None:
    seen = view("x = tl.load(p, mask=n > 1, other=0)\ntl.store(p, x, mask=n > 1)")
    texts = [kernel(left) for patch in expressions.keywords(seen) if (left := seen.apply([patch])) is not None]
    assert texts == [
        "x = tl.load(p, other=0)\ntl.store(p, x)",
        "x = tl.load(p, mask=n > 1)\ntl.store(p, x, mask=n > 1)",
    ]


NEUTRAL = [
    ("x = n * 1 + 0", "x = n"),
    ("x = (n + 0) * 2", "x = n * 2"),
    ("x = n % 1 + n // 1", "x = n"),
    ("x = 0 - n", "x = 0 - n"),
    ("x = 1.0 * n / 1.0", "x = n"),
]


@pytest.mark.parametrize(("before", "after"), NEUTRAL)
def test_neutral_operands_go_together(before: str, after: str) -> None:
    seen: View | None = view(f"{before}\ntl.store(p, x)")
    for _ in range(2):  # What is around an operation goes first.
        assert seen is not None
        seen = View.of(seen.apply(expressions.neutral(seen)) or seen.specimen)
    assert seen is not None
    assert kernel(seen.specimen).partition("\n")[0] == after


def test_large_constexprs_get_small_together() -> None:
    seen = view("tl.store(p, B + C + D + E)", B=128, C=64, D=8, E=96)
    [alternatives] = configuration.small(seen.specimen)
    assert [dict(other.case.constexprs) for other in alternatives] == [
        {"B": size, "C": min(size, 64), "D": 8, "E": 96} for size in (16, 32, 64)
    ]
