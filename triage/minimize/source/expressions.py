"""Expressions give way to a part of themselves, or to a constant."""

from __future__ import annotations

import ast

from triage.minimize.source.names import bound, free
from triage.minimize.source.view import Step, View, grouped, nodes, parameters
from triage.minimize.specimen import tokens
from triage.source.module import Edit

_TIGHT = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Attribute, ast.Subscript)
"""Where an operand needs its parentheses."""
_ASSOCIATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
_PYTHON = {"range", "max", "min", "abs"}
_MOST_OTHERS, _SMALL = 300, 8
"""Steps, and tokens of a call that may stand in another expression's place."""


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
            return [*inside, *receiver, *_plain_call(view, node), "0"]
        case ast.Attribute(value=ast.expr() as value) if not isinstance(value, ast.Name):
            return [text(value)]
        case ast.JoinedStr():
            return ['""']
        case ast.Constant(value=str(value)) if len(value) > 1:
            return ['""']
    return []


def _plain_call(view: View, node: ast.Call) -> list[str]:
    """``tl.range(…)`` and the like as Python's own function."""
    if not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
        return []
    rest = view.module.segment(node)[len(view.module.segment(node.func)) :]
    name = "range" if node.func.attr == "static_range" else node.func.attr
    return [f"{name}{rest}"] if name in _PYTHON else []


def insides(view: View) -> list[Step]:
    """Instructions and lines of a text (inline assembly, most of all) that it can do without."""
    found = []
    for function in view.functions:
        for _, node in nodes(function):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            for separator in (";", "\n", ","):
                pieces = node.value.split(separator)
                for place in reversed(range(len(pieces) if len(pieces) > 1 else 0)):
                    rest = separator.join(pieces[:place] + pieces[place + 1 :])
                    found.append(Step((view.module.replace(node, repr(rest)),)))
    return found


def others(view: View) -> list[Step]:
    """Every expression with something else in its place that the function has: a name, or a smaller expression from
    elsewhere. The largest first, and no more than can be tried."""
    found: list[tuple[int, Step]] = []
    for function in view.functions:
        pool = _pool(view, function)
        for above, node in nodes(function):
            if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            if isinstance(above, ast.Call) and node is above.func:
                continue
            segment = view.module.segment(node)
            for text in pool:
                gain = tokens(segment) - tokens(text)
                if gain > 0:
                    found.append((gain, Step((view.module.replace(node, text),))))
    found.sort(key=lambda pair: -pair[0])
    return [step for _, step in found[:_MOST_OTHERS]]


def _pool(view: View, function: ast.FunctionDef) -> list[str]:
    """Names of a function, those of arguments last, and its small calls."""
    names = [
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ] + [argument.arg for argument in parameters(function)]
    calls = [view.module.segment(node) for _, node in nodes(function) if isinstance(node, ast.Call)]
    return list(dict.fromkeys([*names, *(call for call in calls if tokens(call) <= _SMALL)]))


def call_arguments(view: View) -> list[Step]:
    """A call without one of its arguments: keywords first, then positional ones from the back."""
    found: list[tuple[int, Step]] = []
    for function in view.functions:
        for _, node in nodes(function):
            if not isinstance(node, ast.Call):
                continue
            given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
            for gone in given:
                step = Step((view.without_argument(node, gone),))
                found.append((len(view.module.segment(gone)), step))
    found.sort(key=lambda pair: -pair[0])
    return [step for _, step in found]


def shared(view: View) -> list[Step]:
    """What is written out more than once gets a name, where that is shorter."""
    found = []
    for function in view.functions:
        places: dict[str, list[ast.expr]] = {}
        for _, node in nodes(function):
            if isinstance(node, ast.BinOp | ast.Call | ast.Subscript) and not isinstance(
                getattr(node, "ctx", None), ast.Store
            ):
                places.setdefault(view.module.segment(node), []).append(node)
        for text, same in places.items():
            size = tokens(text)
            if size * len(same) <= size + 2 + len(same):
                continue
            first = min(same, key=lambda one: (one.lineno, one.col_offset))
            holder = _holder(function, first)
            name = free("shared", bound(function))
            above = view.module.before(holder, f"{name} = {text}\n{' ' * holder.col_offset}")
            found.append(Step((above, *(view.module.replace(one, name) for one in same))))
    return found


def _holder(function: ast.FunctionDef, node: ast.expr) -> ast.stmt:
    """The innermost statement that an expression stands in."""
    return [
        statement
        for statement in ast.walk(function)
        if isinstance(statement, ast.stmt) and any(child is node for child in ast.walk(statement))
    ][-1]


def positional(view: View) -> list[Step]:
    """Keyword arguments without their names: the first of a call, as those before it are without one."""
    found = []
    for function in view.functions:
        for _, node in nodes(function):
            if isinstance(node, ast.Call) and node.keywords and node.keywords[0].arg is not None:
                named = node.keywords[0]
                start, _ = view.module.span(named)
                found.append(Step((Edit(start, view.module.span(named.value)[0], ""),)))
    return found


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
    """Statements that Python itself writes in fewer tokens, sums of sums: without parentheses that nothing needs."""
    found = []
    for function in view.functions:
        for _, node in nodes(function):
            if isinstance(node, ast.Assign | ast.Expr | ast.AugAssign | ast.Return):
                before, after = view.module.segment(node), ast.unparse(node)
                if tokens(after) < tokens(before):
                    found.append(Step((view.module.replace(node, after),)))
            elif isinstance(node, ast.BinOp) and isinstance(node.op, _ASSOCIATIVE) and _same(node.right, node.op):
                # Only in numbers that round is it another value.
                text, (start, end) = view.specimen.text, view.module.span(node.right)
                opening, closing = text.rindex("(", 0, start), text.index(")", end)
                found.append(Step((Edit(opening, opening + 1, ""), Edit(closing, closing + 1, ""))))
    return found


def _same(node: ast.expr, operator: ast.operator) -> bool:
    return isinstance(node, ast.BinOp) and type(node.op) is type(operator)
