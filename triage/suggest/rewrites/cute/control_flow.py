"""Control flow that a staged ``if`` or loop cannot have: a way out of its middle, an ``else`` of a loop, a condition
that must be a constant.

The DSL traces both ways of a condition that is known at run time only, so every way must come to the end of the block.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from triage.source.module import Edit, called, calls
from triage.suggest.rewrites.cute.subject import CuteSubject, identifier
from triage.suggest.rewrites.recipe import Rewritten

_NEGATED = {
    ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip
_WHY = "an if or a loop on run-time values runs as a whole: every way through it comes to its end"


def early_exit(subject: CuteSubject) -> Iterator[Rewritten]:
    """What follows a way out moves into the other branch; a loop that is left carries a flag."""
    for statement in subject.failing:
        for leave in (node for node in ast.walk(statement) if isinstance(node, ast.Return | ast.Break | ast.Continue)):
            condition = subject.parents.get(id(leave))
            if not isinstance(condition, ast.If) or leave is not condition.body[-1]:
                continue
            match leave:
                case ast.Return(value=None | ast.Constant(value=None)):
                    yield from _returned(subject, condition)
                case ast.Continue() if _ends_loop(subject, condition):
                    yield from subject.rewritten(
                        [_in_other_branch(subject, condition)],
                        "guard the rest of the loop's body in place of continue",
                        _WHY,
                    )
                case ast.Break():
                    yield from _left(subject, condition)


def _returned(subject: CuteSubject, condition: ast.If) -> Iterator[Rewritten]:
    block = subject.block_of(condition)
    function = subject.function_of(condition)
    if function is None or block is not function.body:
        return
    change = "guard the rest of the body in place of the early return"
    yield from subject.rewritten([_in_other_branch(subject, condition)], change, _WHY)


def _ends_loop(subject: CuteSubject, condition: ast.If) -> bool:
    """Nothing of the loop's body follows the block that a condition is in."""
    return all(
        subject.block_of(above)[-1] is above
        for above in takewhile(lambda node: not isinstance(node, ast.For | ast.While), subject.above(condition))
        if isinstance(above, ast.stmt)
    )


def _in_other_branch(subject: CuteSubject, condition: ast.If) -> Edit:
    """The condition without the way out at the end of its body; what follows it in its block is the other branch."""
    block = subject.block_of(condition)
    rest = block[block.index(condition) + 1 :]
    return Edit(*subject.span([condition, *rest]), _branches(subject, condition, rest, ""))


def _branches(subject: CuteSubject, condition: ast.If, rest: list[ast.stmt], leaving: str, deeper: int = 0) -> str:
    """``if`` with its body, then ``leaving`` in place of the way out, and ``rest`` as the ``else``. "" where the
    statements cannot be moved; the edit is invalid."""
    indent = subject.indent(condition) + "    " * deeper
    if not all(subject.whole_lines(part) for part in (condition.body, condition.orelse, rest) if part):
        return "("
    body = subject.lines(condition.body[:-1], deeper)
    other = subject.lines(condition.orelse, deeper) + subject.lines(rest, deeper + 1)
    if leaving:
        body += f"{indent}    {leaving}\n"
    test = subject.module.segment(condition.test)
    if not body:
        return f"{indent}if {_negated(subject, condition.test)}:\n{other}" if other else f"{indent}pass\n"
    return f"{indent}if {test}:\n{body}" + (f"{indent}else:\n{other}" if other else "")


def _negated(subject: CuteSubject, test: ast.expr) -> str:
    match test:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _NEGATED:
            return f"{subject.module.segment(left)} {_NEGATED[type(operator)]} {subject.module.segment(right)}"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return subject.module.segment(operand)
    return f"not ({subject.module.segment(test)})"


def _left(subject: CuteSubject, condition: ast.If) -> Iterator[Rewritten]:
    loop = subject.parents.get(id(condition))
    cutlass = subject.alias("cutlass")
    if not isinstance(loop, ast.For | ast.While) or condition not in loop.body or cutlass is None:
        return
    if not subject.whole_lines(loop.body):
        return
    flag = identifier(subject.module, "running")
    at = loop.body.index(condition)
    indent = subject.indent(condition)
    body = f"{indent}if {flag}:\n" + subject.lines(loop.body[:at], 1)
    body += _branches(subject, condition, loop.body[at + 1 :], f"{flag} = {cutlass}.Boolean(False)", 1)
    start, _ = subject.span([loop])
    edits = [
        Edit(start, start, f"{subject.indent(loop)}{flag} = {cutlass}.Boolean(True)\n"),
        Edit(*subject.span(loop.body), body),
    ]
    if isinstance(loop, ast.While):
        edits.append(subject.module.replace(loop.test, f"{flag} and ({subject.module.segment(loop.test)})"))
    why = f"{_WHY}; the loop counts on to its end, and does nothing once {flag} is false"
    yield from subject.rewritten(edits, "carry a flag in place of break", why)


def loop_else(subject: CuteSubject) -> Iterator[Rewritten]:
    """The ``else`` of a loop without a break: what follows it."""
    for loop in (node for node in ast.walk(subject.module.tree) if isinstance(node, ast.For | ast.While)):
        breaks = any(isinstance(node, ast.Break) for statement in loop.body for node in ast.walk(statement))
        if not loop.orelse or breaks or not subject.whole_lines(loop.orelse):
            continue
        _, end = subject.span(loop.body)
        last = subject.span(loop.orelse)[1]
        moved = subject.lines(loop.orelse, -1)
        yield from subject.rewritten(
            [Edit(end, last, moved)],
            "run the loop's else behind the loop",
            "a loop that no break leaves always runs it",
        )


def read_at_run_time(subject: CuteSubject) -> Iterator[Rewritten]:
    """``const_expr(x)`` of a value that is known at run time only: ``x``; and ``range_constexpr`` as ``range``."""
    edits = []
    for statement in subject.failing:
        for call in calls(statement, "const_expr"):
            if len(call.args) == 1:
                edits.append(subject.module.replace(call, subject.module.operand(call.args[0])))
        edits += _rolled(subject, statement)
    yield from subject.rewritten(
        edits, "leave out const_expr", "the value is known at run time only: a plain if or loop is staged for that"
    )


def rolled(subject: CuteSubject) -> Iterator[Rewritten]:
    """Loops that are unrolled while tracing, left as loops."""
    edits = _rolled(subject, subject.module.tree)
    yield from subject.rewritten(
        edits,
        "range in place of range_constexpr",
        "each iteration is traced and compiled once more where it is unrolled",
    )


def _rolled(subject: CuteSubject, within: ast.AST) -> list[Edit]:
    cutlass = subject.alias("cutlass")
    return [
        subject.module.replace(call.func, f"{cutlass}.range")
        for call in ast.walk(within)
        if isinstance(call, ast.Call) and called(call) == "range_constexpr" and cutlass is not None
    ]
