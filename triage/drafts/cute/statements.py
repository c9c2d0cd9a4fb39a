"""Evaluation of statements. Of a condition that is not known both branches are evaluated."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from triage.drafts.cute.expressions import Expressions, Raised
from triage.drafts.cute.members import iterated
from triage.drafts.cute.operators import compared, operation, truth
from triage.drafts.cute.values import UNKNOWN, ClassValue, FunctionValue, NameScope
from triage.drafts.host.values import Unknown

_MOST_ROUNDS = 64
"""Rounds of a loop: tables of configurations are shorter, and benchmarks longer."""
_MOST_WAITING = 4
"""Rounds of a loop whose condition is not known to end."""


class Returned(Exception):
    """A function returns."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class LoopLeft(Exception):
    """``break``, or ``continue`` where ``again``."""

    def __init__(self, again: bool) -> None:
        super().__init__()
        self.again = again


class Statements(Expressions):
    """Runs statements in a frame."""

    @abstractmethod
    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: NameScope) -> FunctionValue:
        """The function of a definition."""

    @abstractmethod
    def define_class(self, node: ast.ClassDef, frame: NameScope) -> ClassValue:
        """The class of a definition."""

    @abstractmethod
    def import_names(self, node: ast.Import | ast.ImportFrom, frame: NameScope) -> None:
        """Bind the names of an import."""

    def block(self, statements: Iterable[ast.stmt], frame: NameScope) -> None:
        """Raises Returned, LoopLeft, Raised, Exhausted."""
        for statement in statements:
            self.statement(statement, frame)

    def body(self, statements: Sequence[ast.stmt], frame: NameScope) -> Any:
        """What a function with these statements returns. Raises Raised and Exhausted."""
        returned: list[Any] = []
        self._pending.append(returned)
        try:
            self.block(statements, frame)
        except Returned as end:
            return end.value
        except LoopLeft:
            pass
        finally:
            self._pending.pop()
        # What it returns in a branch that may not be taken.
        return next((value for value in returned if not isinstance(value, Unknown)), None if not returned else UNKNOWN)

    def __init__(self) -> None:
        super().__init__()
        self._pending: list[list[Any]] = [[]]
        self.handlers = 0
        """Statements with handlers of exceptions around the one that is run."""
        self.failed_check = False
        """Whether the program would have ended at a check of its own."""

    def statement(self, node: ast.stmt, frame: NameScope) -> None:
        match node:
            case ast.Expr(value=value):
                self.value(value, frame)
            case ast.Assign(targets=targets, value=value):
                result = self.value(value, frame)
                for target in targets:
                    self.bind(target, result, frame)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.value(value, frame), frame)
            case ast.AugAssign(target=target, op=op, value=value):
                left = self.value(_loaded(target), frame)
                right = self.value(value, frame)
                if isinstance(op, ast.Add) and isinstance(left, list) and isinstance(right, list | tuple):
                    left += right
                else:
                    self.bind(target, operation(op, left, right), frame)
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(truth(self.value(test, frame)), body, orelse, frame)
            case ast.For() | ast.AsyncFor():
                self.loop(node, frame)
            case ast.While():
                self.wait(node, frame)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    entered = self.value(item.context_expr, frame)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, entered, frame)
                self.block(body, frame)
            case ast.Try():
                self.attempt(node, frame)
            case ast.Return(value=value):
                raise Returned(self.value(value, frame) if value is not None else None)
            case ast.Raise():
                raise Raised
            case ast.Assert(test=test):
                self.value(test, frame)
            case ast.Break():
                raise LoopLeft(again=False)
            case ast.Continue():
                raise LoopLeft(again=True)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                frame.names[node.name] = self.define(node, frame)
            case ast.ClassDef():
                frame.names[node.name] = self.define_class(node, frame)
            case ast.Import() | ast.ImportFrom():
                self.import_names(node, frame)
            case ast.Match(subject=subject, cases=cases):
                self.match(self.value(subject, frame), cases, frame)
            case ast.Global(names=names):
                for name in names:
                    frame.names.pop(name, None)

    def branch(self, answer: bool | None, body: list[ast.stmt], orelse: list[ast.stmt], frame: NameScope) -> None:
        if answer is not None:
            try:
                self.block(body if answer else orelse, frame)
            except Raised:
                # A check of the program's own: where no handler waits, it is taken to pass, as it does on a GPU.
                if self.handlers:
                    raise
                self.failed_check = True
            return
        # Names are changed in place: functions that are defined in the frame read them there.
        before = dict(frame.names)
        ended = self.possible(body, frame)
        after = dict(frame.names)
        _restore(frame.names, before)
        other_ended = self.possible(orelse, frame) if orelse else None
        if ended is not None and other_ended is not None:
            raise other_ended if isinstance(ended, Raised) else ended
        if other_ended is not None:
            _restore(frame.names, after)
        elif ended is None:
            for name, value in after.items():
                known = name in frame.names and not isinstance(frame.names[name], Unknown)
                # Without an else, a value that was known before is as likely, and checks set flags so.
                if not known or (orelse and not isinstance(value, Unknown)):
                    frame.names[name] = value

    def possible(self, statements: list[ast.stmt], frame: NameScope) -> Exception | None:
        """Run statements that may not be reached; how they end, where that is not at their end."""
        try:
            self.block(statements, frame)
        except Returned as end:
            self._pending[-1].append(end.value)
            return end
        except (LoopLeft, Raised) as end:
            return end
        return None

    def loop(self, node: ast.For | ast.AsyncFor, frame: NameScope) -> None:
        for value in iterated(self.value(node.iter, frame))[:_MOST_ROUNDS]:
            self.bind(node.target, value, frame)
            try:
                self.block(node.body, frame)
            except LoopLeft as left:
                if not left.again:
                    return
        self.block(node.orelse, frame)

    def wait(self, node: ast.While, frame: NameScope) -> None:
        for _ in range(_MOST_WAITING):
            if truth(self.value(node.test, frame)) is False:
                break
            try:
                self.block(node.body, frame)
            except LoopLeft as left:
                if not left.again:
                    return

    def attempt(self, node: ast.Try, frame: NameScope) -> None:
        self.handlers += bool(node.handlers)
        try:
            try:
                self.block(node.body, frame)
            finally:
                self.handlers -= bool(node.handlers)
            self.block(node.orelse, frame)
        except Raised:
            if not node.handlers:
                self.block(node.finalbody, frame)
                raise
            handler = node.handlers[0]
            if handler.name:
                frame.names[handler.name] = UNKNOWN
            self.block(handler.body, frame)
        self.block(node.finalbody, frame)

    def match(self, subject: Any, cases: list[ast.match_case], frame: NameScope) -> None:
        for case in cases:
            match case.pattern:
                case ast.MatchValue(value=value):
                    answer = compared(ast.Eq(), subject, self.value(value, frame))
                case ast.MatchAs(pattern=None, name=name):
                    if name:
                        frame.names[name] = subject
                    answer = True
                case _:
                    answer = UNKNOWN
            if answer is True:
                self.block(case.body, frame)
                return
            if isinstance(answer, Unknown):
                self.branch(None, case.body, [], frame)


def _loaded(target: ast.expr) -> ast.expr:
    """A target as an expression that can be read."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=attr):
            return ast.copy_location(ast.Attribute(value, attr, ast.Load()), target)
        case ast.Subscript(value=value, slice=index):
            return ast.copy_location(ast.Subscript(value, index, ast.Load()), target)
    return target


def _restore(names: dict[str, Any], before: dict[str, Any]) -> None:
    names.clear()
    names.update(before)
