"""Variables over a staged ``if`` or loop: defined before it, and of one type on all ways through it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from triage.harness.worker.cute import grammar
from triage.source.module import Edit, assignments, uses
from triage.suggest.rewrites.cute.subject import CuteSubject
from triage.suggest.rewrites.cute.types import type_of
from triage.suggest.rewrites.recipe import Rewritten

_NAME = re.compile(
    r"(?:[Vv]ariable|name) [`'](\w+)[`']|^[^`]*`(\w+)` (?:has type|is|was)"
    r"|[`'](\w+)[`'] (?:is None|is not defined|changes|changed)",
    re.MULTILINE,
)
_BOTH = re.compile(r"`?(Float\d+|BFloat16|Int\d+|Uint\d+|Boolean|TFloat32)`?(?=\W)")
_ANY = ("Float32", "Int32")
"""Types that are tried where nothing shows one."""


def defined_before(subject: CuteSubject) -> Iterator[Rewritten]:
    """A variable that is first set in a staged block, set to zero of its type before it."""
    for name, function in _variables(subject):
        sets = [(node, outer) for node in assignments(function, name) if (outer := _outermost(subject, node))]
        before = [entry for entry in sets if not subject.scene.lines or entry[0].lineno <= subject.scene.lines[0]]
        first, outer = next(iter([*reversed(before), *sets]), (None, None))
        if first is None or outer is None or first.value is None:
            continue
        born = dict(_born(subject, function, outer, name))
        shown = type_of(subject, first.value)
        cutlass = subject.alias("cutlass")
        for type_ in [shown] if shown else [f"{cutlass}.{title}" for title in _ANY if cutlass]:
            start, _ = subject.span([outer])
            lines = [f"{also} = {held}({_zero(held)})" for also, held in {name: type_, **born}.items()]
            names = ", ".join([name, *born])
            yield from subject.rewritten(
                [Edit(start, start, "".join(f"{subject.indent(outer)}{line}\n" for line in lines))],
                f"define {names} before the block that sets it",
                "a value that is read behind a run-time if or loop must exist on every way through it",
                results=f"algorithm: {names} is 0 where the condition is false; it was undefined there",
            )


def _born(subject: CuteSubject, function: ast.FunctionDef, outer: ast.stmt, name: str) -> Iterator[tuple[str, str]]:
    """Other variables that only the block sets, and that are read behind it."""
    end = outer.end_lineno or outer.lineno
    for other in dict.fromkeys(node.id for node in ast.walk(outer) if isinstance(node, ast.Name)):
        sets = assignments(function, other)
        inside = [node for node in sets if outer.lineno <= node.lineno <= end]
        read = any(node.lineno > end for node in uses(function, other))
        if other != name and read and inside and min(node.lineno for node in sets) >= outer.lineno:
            value = inside[0].value
            type_ = type_of(subject, value) if value is not None else None
            if type_ is not None:
                yield other, type_


def _zero(type_: str) -> str:
    return "False" if type_.endswith("Boolean") else "0"


def one_type(subject: CuteSubject) -> Iterator[Rewritten]:
    """A variable that changes its type in a staged block: begun with the wider one, or kept in the first."""
    titles = dict.fromkeys(title for title in _BOTH.findall(subject.text) if title in grammar.DTYPES.values())
    cutlass = subject.alias("cutlass")
    for name, function in _variables(subject):
        sets = assignments(function, name)
        before = [node for node in sets if not subject.scene.lines or node.lineno < subject.scene.lines[0]]
        if not before or before[-1].value is None or cutlass is None:
            yield from defined_before(subject)
            continue
        initial = before[-1]
        old = initial.value
        types = sorted(titles, key=_rank, reverse=True) or list(_ANY)
        for title in types[:2]:
            begun = [subject.module.replace(old, f"{cutlass}.{title}({_inner(subject, old)})")] if old else []
            later = [
                node for node in sets if node is not initial and node.lineno > initial.lineno and node.value is not None
            ]
            converted = [
                subject.module.replace(node.value, f"{cutlass}.{title}({subject.module.segment(node.value)})")
                for node in later
                if isinstance(node, ast.Assign) and node.value is not None
            ]
            why = f"a value that a run-time if or loop changes has one type on every way: {title}"
            yield from subject.rewritten(begun, f"begin {name} as {title}", why, results=_narrower(title, titles))
            if _narrower(title, titles):
                change = f"keep {name} in {title}"
                yield from subject.rewritten([*begun, *converted], change, why, results=_narrower(title, titles))


def _narrower(title: str, types: dict[str, None]) -> str:
    widest = max(types, key=_rank, default=title)
    return "" if title == widest else f"precision: {title} in place of {widest}"


def _inner(subject: CuteSubject, node: ast.expr) -> str:
    """The value in a conversion, else the expression; zero for None."""
    match node:
        case ast.Constant(value=None):
            return "0"
        case ast.Call(args=[argument], func=ast.Attribute(attr=title) | ast.Name(id=title)) if title in (
            grammar.DTYPES.values()
        ):
            return subject.module.segment(argument)
    return subject.module.segment(node)


def _rank(title: str) -> tuple[bool, int]:
    """Floating point before integers, wide before narrow."""
    return "Float" in title, int(re.sub(r"\D", "", title) or 1)


def _variables(subject: CuteSubject) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The variables that the message names, each with the function around the failing line that sets it."""
    names = [name for match in _NAME.finditer(subject.text) for name in match.groups() if name]
    functions = [function for node in subject.failing if (function := subject.function_of(node)) is not None]
    for name in dict.fromkeys(names):
        for function in dict.fromkeys([*functions, *subject.functions]):
            if assignments(function, name):
                yield name, function
                break


def _outermost(subject: CuteSubject, statement: ast.stmt) -> ast.stmt | None:
    """The outermost staged block around a statement; None where there is none. A ``const_expr`` is decided before."""
    outer = None
    for node in subject.above(statement):
        if isinstance(node, ast.FunctionDef):
            break
        constant = isinstance(node, ast.If) and "const_expr" in ast.unparse(node.test)
        unrolled = isinstance(node, ast.For) and "constexpr" in ast.unparse(node.iter)
        if isinstance(node, ast.If | ast.For | ast.While) and not constant and not unrolled:
            outer = node
    return outer
