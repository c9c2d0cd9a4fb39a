"""Helper functions give way to their bodies."""

from __future__ import annotations

import ast
import copy
import textwrap

from triage.minimize.source.names import bound, free
from triage.minimize.source.view import Step, View, parameters
from triage.source.module import Edit


def inlined_calls(view: View) -> list[Step]:
    """A call of a helper in this file gives way to the helper's body, where that is straight down to one return."""
    helpers = {function.name: function for function in view.functions if function is not view.kernel}
    found = []
    for function in view.functions:
        for statement, call in _calls(function):
            helper = helpers.get(call.func.id) if isinstance(call.func, ast.Name) else None
            if (
                helper is not None
                and helper is not function
                and (step := _inline(view, function, statement, call, helper))
            ):
                found.append(step)
    return found


def _calls(function: ast.FunctionDef) -> list[tuple[ast.stmt, ast.Call]]:
    """Calls with the simple statement that they stand in."""
    return [
        (statement, node)
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
    ]


def _inline(
    view: View, function: ast.FunctionDef, statement: ast.stmt, call: ast.Call, helper: ast.FunctionDef
) -> Step | None:
    body = [one for one in helper.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    returns = [node for node in ast.walk(helper) if isinstance(node, ast.Return)]
    if len(returns) > 1 or (returns and (not body or body[-1] is not returns[0])):
        return None
    given = _given(call, helper)
    if given is None:
        return None
    taken = bound(function)
    names = {name for one in body for name in bound(one)} | set(given)
    renaming = {name: free(name, taken | (names - {name})) if name in taken else name for name in names}
    lines = []
    for name, value in given.items():
        stored = any(name in bound(one) for one in body)
        if isinstance(value, ast.Name | ast.Constant) and not stored:
            renaming[name] = ast.unparse(value)
        else:
            lines.append(f"{renaming[name]} = {ast.unparse(value)}")
    copied = [_Renamer(renaming).visit(copy.deepcopy(one)) for one in body]
    result = ""
    if returns:
        last = copied.pop()
        if last.value is not None:
            result = ast.unparse(last.value)
    lines += [ast.unparse(one) for one in copied]
    indent = " " * statement.col_offset
    edits: list[Edit] = []
    if lines:
        shown = textwrap.indent("\n".join(lines), indent).lstrip(" ")
        edits.append(view.module.before(statement, f"{shown}\n{indent}"))
    if result:
        edits.append(view.module.replace(call, f"({result})"))
    elif isinstance(statement, ast.Expr) and statement.value is call:
        edits.append(view.module.replace(call, "pass"))
    else:
        return None
    others = [
        node
        for node in ast.walk(view.module.tree)
        if isinstance(node, ast.Name) and node.id == helper.name and node is not call.func
    ]
    if not others:
        edits.append(view.removal(helper))
    return Step(tuple(edits))


def _given(call: ast.Call, helper: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """The value of each parameter in this call; None where that cannot be read off."""
    names = [argument.arg for argument in parameters(helper)]
    if helper.args.vararg or helper.args.kwarg or len(call.args) > len(names):
        return None
    if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
        return None
    given = dict(zip(names, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    placed = [*helper.args.posonlyargs, *helper.args.args]
    for argument, default in zip(reversed(placed), reversed(helper.args.defaults), strict=False):
        given.setdefault(argument.arg, default)
    return given if set(given) == set(names) else None


class _Renamer(ast.NodeTransformer):
    """Local names by another text: a name, or the constant that was given."""

    def __init__(self, renaming: dict[str, str]) -> None:
        self._renaming = renaming

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._renaming:
            return node
        found = ast.parse(self._renaming[node.id], mode="eval").body
        if isinstance(found, ast.Name):
            return ast.Name(found.id, node.ctx)
        return found
