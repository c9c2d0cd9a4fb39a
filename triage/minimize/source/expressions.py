"""Passes over expressions: replaced by a part of themselves, by a constant, or by a shorter spelling."""

import ast
from collections.abc import Iterable, Iterator

from triage.minimize.source.specimen import tokens
from triage.minimize.source.view import SourcePatch, View
from triage.source.functions import body_nodes, parameters, stored_names
from triage.source.module import Edit
from triage.source.names import bound, unused_name

_TIGHT = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Attribute, ast.Subscript)
"""Parents in which an operand needs its parentheses."""
_ASSOCIATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
_PYTHON = {"range", "max", "min", "abs"}
_MOST_OTHERS, _SMALL = 300, 8
"""Patches a round, and tokens of a call that may replace another expression."""


_Gains = list[tuple[int, SourcePatch]]


def parts(view: View) -> list[SourcePatch]:
    """Replace an expression by something smaller; the largest gain first."""
    gains: _Gains = []
    for parent, node in _expressions(view.nodes):
        size = len(view.module.segment(node))
        for text in _smaller(view, node, tight=isinstance(parent, _TIGHT)):
            gains.append((size - len(text), view.replacing(node, text)))
    return _largest_first(gains)


def neutral(view: View) -> list[SourcePatch]:
    """Remove ``+ 0``, ``* 1`` and the like, which constants in place of arguments have made."""
    patches, done = list[SourcePatch](), set[ast.AST]()
    for parent, node in _expressions(view.nodes):
        if parent in done:
            done.add(node)  # A patch of what is around it contains its text as it was.
        elif isinstance(node, ast.BinOp) and (operand := _without_neutral(node)) is not None:
            done.add(node)
            tight = isinstance(parent, _TIGHT)
            text = "0" if operand is node else view.module.operand(operand) if tight else view.module.segment(operand)
            patches.append(view.replacing(node, text))
    return patches


def _without_neutral(node: ast.BinOp) -> ast.expr | None:
    """The operand that an operation with a constant equals, the operation itself where that is 0, else None."""
    operation = type(node.op)
    for constant, other in ((node.right, node.left), (node.left, node.right)):
        value = constant.value if isinstance(constant, ast.Constant) else None
        on_right = constant is node.right
        if isinstance(value, int | float) and not isinstance(value, bool):
            if value == 0 and (operation is ast.Add or (operation is ast.Sub and on_right)):
                return other
            if value == 1 and (operation is ast.Mult or (operation in (ast.Div, ast.FloorDiv) and on_right)):
                return other
            if (value == 0 and operation is ast.Mult) or (value == 1 and operation is ast.Mod and on_right):
                return node
    return None


def _expressions(nodes: Iterable[tuple[ast.AST, ast.AST]]) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Expressions that are read, each with its parent."""
    for parent, node in nodes:
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
            yield parent, node


def _largest_first(gains: _Gains) -> list[SourcePatch]:
    return [patch for _, patch in sorted(gains, key=lambda pair: -pair[0])]


def _smaller(view: View, node: ast.expr, tight: bool) -> list[str]:
    """Texts that may replace an expression."""

    def text(part: ast.expr) -> str:
        return view.module.operand(part) if tight else view.module.segment(part)

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
            inside = [text(arg.value if isinstance(arg, ast.Starred) else arg) for arg in args]
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
    """Replace ``tl.range(…)`` and the like by Python's own function."""
    if not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
        return []
    rest = view.module.segment(node)[len(view.module.segment(node.func)) :]
    name = "range" if node.func.attr == "static_range" else node.func.attr
    return [f"{name}{rest}"] if name in _PYTHON else []


def insides(view: View) -> list[SourcePatch]:
    """Remove instructions and lines from a string, mostly inline assembly."""
    patches = []
    for _, node in view.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for separator in (";", "\n", ","):
                pieces = node.value.split(separator)
                for index in reversed(range(len(pieces) if len(pieces) > 1 else 0)):
                    rest = separator.join(pieces[:index] + pieces[index + 1 :])
                    patches.append(view.replacing(node, repr(rest)))
    return patches


def others(view: View) -> list[SourcePatch]:
    """Replace an expression by a name or a small call from elsewhere in the function; the largest gain first, bounded
    in number."""
    gains: _Gains = []
    for function in view.functions:
        pool = {text: tokens(text) for text in _pool(view, function)}
        for parent, node in _expressions(body_nodes(function)):
            if not (isinstance(parent, ast.Call) and node is parent.func):
                size = tokens(view.module.segment(node))
                gains += [(size - less, view.replacing(node, text)) for text, less in pool.items() if less < size]
    return _largest_first(gains)[:_MOST_OTHERS]


def _pool(view: View, function: ast.FunctionDef) -> list[str]:
    """Names of a function, those of arguments last, and its small calls."""
    names = [node.id for node in stored_names(function)] + [argument.arg for argument in parameters(function)]
    calls = [view.module.segment(node) for _, node in body_nodes(function) if isinstance(node, ast.Call)]
    return [*names, *(call for call in calls if tokens(call) <= _SMALL)]


def call_arguments(view: View) -> list[SourcePatch]:
    """Remove an argument from a call; the longest first."""
    gains: _Gains = []
    for _, node in view.nodes:
        if isinstance(node, ast.Call):
            arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
            for argument in arguments:
                patch = SourcePatch((view.without_argument(node, argument),))
                gains.append((len(view.module.segment(argument)), patch))
    return _largest_first(gains)


def keywords(view: View) -> list[SourcePatch]:
    """Remove a keyword argument from every call that has it, as masks are removed."""
    named: dict[str, list[Edit]] = {}
    for _, node in view.nodes:
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg is not None:
                    named.setdefault(keyword.arg, []).append(view.without_argument(node, keyword))
    by_length = sorted(named.values(), key=lambda edits: sum(edit.start - edit.end for edit in edits))
    return [SourcePatch(tuple(edits)) for edits in by_length]


def shared(view: View) -> list[SourcePatch]:
    """Name an expression that is written out more than once, where that is shorter."""
    patches = []
    for function in view.functions:
        equal: dict[str, list[ast.expr]] = {}
        for _, node in _expressions(body_nodes(function)):
            if isinstance(node, ast.BinOp | ast.Call | ast.Subscript):
                equal.setdefault(view.module.segment(node), []).append(node)
        for text, same in equal.items():
            size = tokens(text)
            if size * len(same) <= size + 2 + len(same):
                continue
            first = min(same, key=lambda node: (node.lineno, node.col_offset))
            holder = _statement_of(function, first)
            name = unused_name("shared", bound(function))
            definition = view.module.before(holder, f"{name} = {text}\n{' ' * holder.col_offset}")
            patches.append(SourcePatch((definition, *(view.module.replace(node, name) for node in same))))
    return patches


def _statement_of(function: ast.FunctionDef, node: ast.expr) -> ast.stmt:
    """The innermost statement around an expression."""
    return [
        statement
        for statement in ast.walk(function)
        if isinstance(statement, ast.stmt) and any(child is node for child in ast.walk(statement))
    ][-1]


def positional(view: View) -> list[SourcePatch]:
    """Make a call's first keyword argument positional."""
    return [
        SourcePatch((Edit(view.module.span(keyword)[0], view.module.span(keyword.value)[0], ""),))
        for _, node in view.nodes
        if isinstance(node, ast.Call)
        for keyword in node.keywords[:1]
        if keyword.arg is not None
    ]


def elements(view: View) -> list[SourcePatch]:
    """Remove an element from a shape or tuple."""
    patches = []
    for _, node in _expressions(view.nodes):
        if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
            for gone in reversed(node.elts):
                rest = [view.module.segment(element) for element in node.elts if element is not gone]
                inside = ", ".join(rest) + ("," if len(rest) == 1 and isinstance(node, ast.Tuple) else "")
                patches.append(view.replacing(node, f"[{inside}]" if isinstance(node, ast.List) else f"({inside})"))
    return patches


def respelt(view: View) -> list[SourcePatch]:
    """Remove parentheses that are not needed: those that Python's own spelling lacks, and those in sums of sums."""
    patches = []
    for _, node in view.nodes:
        match node:
            case ast.Assign() | ast.Expr() | ast.AugAssign() | ast.Return():
                shorter = ast.unparse(node)
                if tokens(shorter) < tokens(view.module.segment(node)):
                    patches.append(view.replacing(node, shorter))
            case ast.BinOp(op=operator, right=ast.BinOp(op=inner) as right):
                if isinstance(operator, _ASSOCIATIVE) and type(inner) is type(operator):
                    # The value changes only by rounding.
                    text, (start, end) = view.specimen.text, view.module.span(right)
                    opening, closing = text.rindex("(", 0, start), text.index(")", end)
                    patches.append(SourcePatch((Edit(opening, opening + 1, ""), Edit(closing, closing + 1, ""))))
    return patches
