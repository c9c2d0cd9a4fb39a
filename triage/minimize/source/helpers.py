"""Pass that inlines helper functions."""

import ast
import copy
import textwrap

from triage.minimize.source.view import SourcePatch, View
from triage.source.functions import defaults, parameters
from triage.source.module import Edit, uses
from triage.source.names import bound, unused_name


def inlined_calls(view: View) -> list[SourcePatch]:
    """Replace a call of one of the file's helpers by the helper's body, where that is straight-line code with at
    most one return, at its end."""
    helpers = {function.name: function for function in view.functions if function is not view.kernel}
    patches = []
    for function in view.functions:
        for statement, call in _calls(function):
            helper = helpers.get(call.func.id) if isinstance(call.func, ast.Name) else None
            if helper is not None and helper is not function:
                patches.append(_inline(view, function, statement, call, helper))
    return [patch for patch in patches if patch is not None]


def _calls(function: ast.FunctionDef) -> list[tuple[ast.stmt, ast.Call]]:
    """Calls, each with the simple statement around it."""
    return [
        (statement, node)
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
    ]


def _inline(
    view: View, function: ast.FunctionDef, statement: ast.stmt, call: ast.Call, helper: ast.FunctionDef
) -> SourcePatch | None:
    body = [node for node in helper.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    returns = [node for node in ast.walk(helper) if isinstance(node, ast.Return)]
    if len(returns) > 1 or (returns and (not body or body[-1] is not returns[0])):
        return None
    if (values := _bound_arguments(call, helper)) is None:
        return None
    taken = bound(function)
    names = {name for node in body for name in bound(node)} | set(values)
    renaming = {name: unused_name(name, taken | (names - {name})) if name in taken else name for name in names}
    lines = []
    for name, value in values.items():
        stored = any(name in bound(node) for node in body)
        if isinstance(value, ast.Name | ast.Constant) and not stored:
            renaming[name] = ast.unparse(value)
        else:
            lines.append(f"{renaming[name]} = {ast.unparse(value)}")
    copied = [_Renamer(renaming).visit(copy.deepcopy(node)) for node in body]
    last = copied.pop() if returns else None
    result = ast.unparse(last.value) if last is not None and last.value is not None else ""
    lines += [ast.unparse(node) for node in copied]
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
    if len(uses(view.module.tree, helper.name)) == 1:
        edits.append(view.removal(helper))
    return SourcePatch(tuple(edits))


def _bound_arguments(call: ast.Call, helper: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """The value of each parameter in this call; None where the call does not show it."""
    names = [argument.arg for argument in parameters(helper)]
    if helper.args.vararg or helper.args.kwarg or len(call.args) > len(names):
        return None
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
        return None
    values = {argument.arg: default for argument, default in defaults(helper)}
    values |= dict(zip(names, call.args, strict=False))
    values |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return values if set(values) == set(names) else None


class _Renamer(ast.NodeTransformer):
    """Replaces local names by other names or by constants."""

    def __init__(self, renaming: dict[str, str]) -> None:
        self._renaming = renaming

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._renaming:
            return node
        value = ast.parse(self._renaming[node.id], mode="eval").body
        return ast.Name(value.id, node.ctx) if isinstance(value, ast.Name) else value
