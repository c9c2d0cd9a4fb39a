"""Expressions give way to a part of themselves, or to a constant."""

from __future__ import annotations

import ast

from triage.minimize.source.view import Step, View, grouped, nodes
from triage.minimize.specimen import tokens

_TIGHT = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Attribute, ast.Subscript)
"""Where an operand needs its parentheses."""


def parts(view: View) -> list[Step]:
    """Every expression with something smaller in its place; the largest first."""
    found: list[tuple[int, Step]] = []
    for function in view.functions:
        for above, node in nodes(function):
            if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            size = len(view.module.segment(node))
            for text in _smaller(view, node, tight=isinstance(above, _TIGHT)):
                found.append((size - len(text), Step((view.module.replace(node, text),))))
    found.sort(key=lambda pair: -pair[0])
    return [step for _, step in found]


def _smaller(view: View, node: ast.expr, tight: bool) -> list[str]:
    """Texts that may stand in the place of an expression."""

    def text(part: ast.expr) -> str:
        return grouped(view, part) if tight else view.module.segment(part)

    match node:
        case ast.BinOp(left=left, right=right):
            return [text(left), text(right), "0"]
        case ast.BoolOp(values=values):
            return [text(value) for value in values]
        case ast.Compare(left=left):
            return [text(left), "0"]
        case ast.UnaryOp(operand=ast.expr() as operand) if not isinstance(operand, ast.Constant):
            return [text(operand)]
        case ast.IfExp(body=body, orelse=orelse):
            return [text(body), text(orelse)]
        case ast.Subscript(value=value):
            return [text(value), "0"]
        case ast.Call(func=func, args=args):
            inside = [text(one.value if isinstance(one, ast.Starred) else one) for one in args]
            receiver = [text(func.value)] if isinstance(func, ast.Attribute) else []
            return [*inside, *receiver, "0"]
        case ast.Attribute(value=ast.expr() as value) if not isinstance(value, ast.Name):
            return [text(value)]
        case ast.JoinedStr():
            return ['""']
        case ast.Constant(value=str(value)) if len(value) > 1:
            return ['""']
    return []


def call_arguments(view: View) -> list[Step]:
    """A call without one of its arguments: keywords first, then positional ones from the back."""
    found: list[tuple[int, Step]] = []
    for function in view.functions:
        for _, node in nodes(function):
            if not isinstance(node, ast.Call):
                continue
            arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
            for place, gone in enumerate(arguments):
                rest = [view.module.segment(one) for other, one in enumerate(arguments) if other != place]
                edit = view.module.replace(node, f"{view.module.segment(node.func)}({', '.join(rest)})")
                found.append((len(view.module.segment(gone)), Step((edit,))))
    found.sort(key=lambda pair: -pair[0])
    return [step for _, step in found]


def elements(view: View) -> list[Step]:
    """Shapes and tuples: without one of their elements, and equal ones where they differ."""
    found = []
    for function in view.functions:
        for _, node in nodes(function):
            if isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
                for place in reversed(range(len(node.elts))):
                    rest = [view.module.segment(one) for other, one in enumerate(node.elts) if other != place]
                    inside = ", ".join(rest) + ("," if len(rest) == 1 and isinstance(node, ast.Tuple) else "")
                    shown = f"[{inside}]" if isinstance(node, ast.List) else f"({inside})"
                    found.append(Step((view.module.replace(node, shown),)))
    return found


def respelt(view: View) -> list[Step]:
    """Statements that Python itself writes in fewer tokens: without parentheses that nothing needs."""
    found = []
    for function in view.functions:
        for _, node in nodes(function):
            if isinstance(node, ast.Assign | ast.Expr | ast.AugAssign | ast.Return):
                before, after = view.module.segment(node), ast.unparse(node)
                if tokens(after) < tokens(before):
                    found.append(Step((view.module.replace(node, after),)))
    return found
