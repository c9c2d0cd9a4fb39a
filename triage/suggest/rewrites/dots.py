"""Operands of ``tl.dot`` that do not go together: of different types, or with inner extents that differ.

Nothing is promoted for a dot (triton/language/semantic.py, dot).
"""

import ast
import re
from collections.abc import Iterator

from triage.source.dtypes import canonical_dtype, language_dtype
from triage.source.module import Edit, argument, calls
from triage.suggest.rewrites.operands import transposed
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import behind, failing_calls, functions, language

_TYPES = (
    re.compile(r"must be same dtype\. Got (\w+) and (\w+)"),
    re.compile(r"First input \((\w+)\) and second input \((\w+)\) must have the same dtype"),
    re.compile(r"First operand \((\w+)\) and second operand \((\w+)\)"),
)
"""The types of both operands, as 3.2 and later, and as 3.0 and 3.1 name them."""

_RANK = {"fp64": 4, "fp32": 3, "fp16": 2, "bf16": 2}
"""Floating-point types by width; what is not here is fp8 (1) or an integer (0)."""


def dot_operands_one_type(subject: Subject) -> Iterator[Rewritten]:
    """One operand cast to the other's type: first to the type that instructions exist for at full speed, then the
    other way. Every dot that reads the same operand is changed alike, for it would fail next."""
    tl = language(subject.module)
    types = next((match for pattern in _TYPES if (match := pattern.search(subject.scene.evidence.text))), None)
    dots = failing_calls(subject, ("dot",))
    if tl is None or types is None or not dots:
        return
    lhs, rhs = (canonical_dtype(name) for name in types.groups())
    for before, after, index in sorted(((lhs, rhs, 0), (rhs, lhs, 1)), key=lambda way: _cost(way[0], way[1])):
        if _rank(after) == 0:
            continue  # A floating-point tile as integers is another product.
        letter = "AB"[index]
        exact = _exact(before, after)
        results = "" if exact else f"precision: {letter} is rounded from {before} to {after} before the product"
        if after in ("fp32", "fp64"):
            results = f"precision: the product is taken in {after} (fp32 as input_precision says, tf32 by default)"
        yield from subject.rewritten(
            _cast(subject, dots[0], index, f"{tl}.{language_dtype(after)}"),
            f"cast operand {letter} of tl.dot from {before} to {after}, the type of the other",
            f"tl.dot takes operands of one type, and here they are {lhs} and {rhs}",
            results=results,
        )


def _rank(type_: str) -> int:
    return _RANK.get(type_, 1 if type_.startswith("fp8") else 0)


def _cost(before: str, after: str) -> tuple[bool, int]:
    """A cast that loses nothing to 16 bits comes first; else the narrower product, which is the faster one."""
    return not (_exact(before, after) and _rank(after) == 2), _rank(after)


def _exact(before: str, after: str) -> bool:
    """Every value of the one type is one of the other (8-bit integers have 8 bits of precision, as bf16 has)."""
    if _rank(before) < 2:
        width = re.search(r"\d+", before)
        return before.startswith("fp8") or (width is not None and int(width[0]) <= 8)
    return _rank(after) > _rank(before)


def _cast(subject: Subject, dot: ast.Call, index: int, type_: str) -> list[Edit]:
    """The operand at ``index`` cast in this dot, and in every other dot of the function that reads one of its two;
    nothing where a dot has an operand that the text does not show."""
    names = _names(dot)
    dots = [node for function in functions(subject) for node in calls(function, "dot")]
    edits: list[Edit] = []
    for node in [dot, *(node for node in dots if node is not dot and names & _names(node))]:
        value, other = _operand(node, index), _operand(node, 1 - index)
        if value is None or other is None:
            return []
        target = f"{subject.module.segment(other)}.dtype" if isinstance(other, ast.Name) else type_
        edits += behind(subject.module, value, f".to({target})")
    return edits


def _names(dot: ast.Call) -> set[tuple[int, str]]:
    """The operands that are plain names, each with its index."""
    operands = ((index, _operand(dot, index)) for index in (0, 1))
    return {(index, operand.id) for index, operand in operands if isinstance(operand, ast.Name)}


def _operand(dot: ast.Call, index: int) -> ast.expr | None:
    return argument(dot, index, *(("input", "lhs"), ("other", "rhs"))[index])


def dot_operand_turned(subject: Subject) -> Iterator[Rewritten]:
    """One operand transposed, B first: where the inner extents differ, one of the two was loaded the other way."""
    tl = language(subject.module)
    dots = failing_calls(subject, ("dot",))
    if tl is None or len(dots) != 1:
        return
    module = subject.module
    for index in (1, 0):
        operand = _operand(dots[0], index)
        if operand is None:
            continue
        under = transposed(operand)
        # tl.trans is in every release, .T of a value is not in front of them all.
        turned = module.segment(under) if under is not None else f"{tl}.trans({module.segment(operand)})"
        letter = "AB"[index]
        yield from subject.rewritten(
            [module.replace(operand, turned)],
            f"{'leave out the transposition' if under is not None else 'use the transpose'} of operand {letter}",
            "the last extent of A must be the last but one of B",
            results=f"algorithm: the other orientation of {letter} is multiplied; see that it is the one meant",
        )
