"""Runs a host function: its statements in order, all branches, loops once."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from triage.drafts.host.calls import HostCalls
from triage.drafts.host.containers import each_of
from triage.drafts.host.frame import joined
from triage.drafts.host.values import (
    UNKNOWN,
    Alternatives,
    Function,
    Items,
    KernelValue,
    Mapped,
    certain,
    merged,
    truth,
)


class HostRun(HostCalls):
    """One run of a function. ``block`` and ``statement`` return whether what follows in the block is reached."""

    def run(self) -> None:
        self.block(self.scope.node.body)
        self.reading.names = self.names

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        return all(self.statement(statement) for statement in statements)

    def statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value)
                for target in targets:
                    self.bind(target, result)
                self.unpacked(targets[0], value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                if isinstance(target, ast.Name):
                    left = self.names.get(target.id, UNKNOWN)
                    self.bind(target, self.operation(left, op, self.value(value)))
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(test, body, orelse)
            case ast.For(target=target, iter=iterable, body=body):
                self.bind(target, each_of(self.value(iterable)))
                before = dict(self.names)
                self.block(body)
                self.names = joined(self.names, before)
                self.block(node.orelse)
            case ast.While(test=test, body=body):
                self.value(test)
                before = dict(self.names)
                self.block(body)
                self.names = joined(self.names, before)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    entered = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, entered)
                return self.block(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                reached = self.block(body) and self.block(orelse)
                after = self.names
                for handler in handlers:
                    self.names = dict(after)
                    if self.block(handler.body):
                        after = joined(after, self.names)
                        reached = True
                self.names = after
                return self.block(final) and reached
            case ast.Return(value=value):
                if value is not None:
                    self.reading.returned.append(self.value(value))
                return False
            case ast.Raise() | ast.Continue() | ast.Break():
                return isinstance(node, ast.Continue | ast.Break)
            case ast.Expr(value=value):
                self.value(value)
                self.appended(value)
            case ast.Assert(test=test):
                self.refine(test, True)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for scope in self.scope.file.scopes:
                    if scope.node is node:
                        jitted = self.host.functions.at(scope)
                        self.names[node.name] = (KernelValue(jitted) if jitted else Function(scope),)
            case ast.Match(cases=cases):
                for case_ in cases:
                    self.block(case_.body)
        return True

    def branch(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> bool:
        decided = self.value(test)
        before = dict(self.names)
        self.refine(test, True)
        reached = self.block(body)
        taken = self.names
        self.names = before
        self.refine(test, False)
        other_reached = self.block(orelse)
        other = self.names
        answer = certain(decided)
        likely = truth(decided[0]) is not False
        if not reached or not other_reached:
            self.names = taken if reached else other
            if answer is not None and (reached if answer else other_reached):
                self.names = taken if answer else other
                self.kernels(taken, other)
            return reached or other_reached
        if answer is not None:
            self.names = taken if answer else other
            self.kernels(taken, other)
        else:
            self.names = joined(taken, other) if likely else joined(other, taken)
        return True

    def kernels(self, *branches: dict[str, Alternatives]) -> None:
        """Keep the kernels of all branches: of a condition that always holds for the callers that were read, too."""
        for names in branches:
            for name, values in names.items():
                if name in self.names and any(isinstance(value, KernelValue) for value in values):
                    self.names[name] = merged(self.names[name], values)

    def appended(self, value: ast.expr) -> None:
        """``kwargs.update(…)`` and ``arguments.append(…)``."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="update"), args=arguments, keywords=words):
                match self.names.get(name, UNKNOWN)[0]:
                    case Mapped(entries=entries):
                        added = {word.arg: self.value(word.value) for word in words if word.arg}
                        for argument in arguments:
                            if isinstance(other := self.value(argument)[0], Mapped):
                                added.update(dict(other.entries))
                        self.names[name] = (Mapped(tuple({**dict(entries), **added}.items())),)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[argument]):
                match self.names.get(name, UNKNOWN)[0]:
                    case Items(items=items, open=False) if len(items) < 64:
                        self.names[name] = (Items((*items, self.value(argument))),)
