"""How a kernel uses its parameters, read from its body and those of the functions that it calls.

An abstract run: each expression has a ``Term``, which remembers what of it could be an address, which parameters
entered it, and of what type its elements are. Branches are all taken; loops are run twice, as their second run sees
what the first has assigned.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from triage.drafts.device.expressions import KernelExpressions
from triage.drafts.device.terms import INDEX, NOTHING, Term, either
from triage.drafts.device.use_recorder import MOST_TERMS, KernelReader, last_name
from triage.drafts.device.uses import Use, Uses
from triage.drafts.jitted import Jitted, JittedFunctions

_MOST_CALLS = 8
"""Functions that call one another; in sources seen, up to four."""


def kernel_uses(kernel: Jitted, functions: JittedFunctions, scalars: frozenset[str]) -> Uses:
    """Read a kernel. ``scalars``: parameters that are known to be no addresses."""
    annotated = {argument.arg: argument.annotation for argument in kernel.arguments if argument.annotation}
    constants = frozenset(name for name, node in annotated.items() if "constexpr" in ast.unparse(node))
    reader = KernelReader(functions, scalars, constants)
    frame = KernelRun(reader, kernel.file, kernel, 0)
    for argument in kernel.arguments:
        name = argument.arg
        frame.names[name] = Term(frozenset([name]), frozenset([name]), type=f"param:{name}", parameter=name)
    frame.block(kernel.node.body)
    return reader.uses


class KernelRun(KernelExpressions):
    """One call of a function: the names in it."""

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                term = self.term(value)
                for target in targets:
                    self.bind(target, term)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.term(value))
            case ast.AugAssign(target=target, op=op, value=value):
                load = (
                    ast.copy_location(ast.Name(target.id, ast.Load()), target)
                    if isinstance(target, ast.Name)
                    else target
                )
                self.bind(target, self.binary(node, self.term(load), op, self.term(value)))
            case ast.For(target=target, iter=iterable, body=body):
                item = self.iterated(iterable)
                self.loop(node, body, lambda: self.bind(target, item))
                self.block(node.orelse)
            case ast.While(test=test, body=body):
                self.loop(node, body, lambda: self.condition(test))
            case ast.If(test=test, body=body, orelse=orelse):
                self.condition(test)
                before = dict(self.names)
                self.block(body)
                after = self.names
                if self.at_run_time(test):
                    self.carry(node, before)
                self.names = before
                self.block(orelse)
                self.names = {name: either(after.get(name), self.names.get(name)) for name in {**self.names, **after}}
            case ast.Return(value=ast.expr() as value):
                self.returned.append(self.term(value))
            case ast.With(items=items, body=body):
                for entered in items:
                    self.term(entered.context_expr)
                self.block(body)
            case ast.Expr(value=value):
                self.term(value)
            case ast.Assert(test=test):
                self.term(test)

    def loop(self, node: ast.AST, body: list[ast.stmt], begin: Callable[[], None]) -> None:
        """Read a loop twice; one within another is read twice with that."""
        passes = 1 if self.reader.looping else 2
        self.reader.looping += 1
        for _ in range(passes):
            before = dict(self.names)
            begin()
            self.block(body)
            if self.names == before:
                break
            self.carry(node, before)
        self.reader.looping -= 1

    def at_run_time(self, test: ast.expr) -> bool:
        """Whether a condition is decided by an argument, so that both branches leave a variable the same type."""
        terms = [self.names.get(node.id, NOTHING) for node in ast.walk(test) if isinstance(node, ast.Name)]
        return any(term.parameter and term.parameter not in self.reader.constants for term in terms)

    def carry(self, node: ast.AST, before: Mapping[str, Term]) -> None:
        """A variable keeps its type from one pass of a loop to the next, and in a branch."""
        for name, term in before.items():
            after = self.names.get(name, NOTHING).type
            if term.type == "i32" and not term.index and after == "fp32":
                self.uses.integer_sums.append(self.where(node, "sum of integers"))
            if term.type != after and term.type.startswith("elem:") and (after.startswith("elem:") or after == "fp32"):
                self.uses.carried.append((term.type, after, self.where(node, "variable that keeps its type")))

    def bind(self, target: ast.expr, term: Term) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = term
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                items = term.items if term.items and len(term.items) == len(targets) else None
                for index, each in enumerate(targets):
                    self.bind(each, items[index] if items else replace(term, items=None, parameter=None))

    def iterated(self, node: ast.expr) -> Term:
        """What a loop's variable is."""
        if isinstance(node, ast.Call) and (name := last_name(node.func)) in ("range", "static_range"):
            for value in [*node.args, *(word.value for word in node.keywords)]:
                term = self.term(value)
                self.integer(term, node, "bound of the loop")
                if name == "static_range":
                    self.shape(term, node)
                    if term.parameter:
                        self.uses.add(term.parameter, Use.UNROLLED, self.where(node, "bound of the loop"))
            return INDEX
        term = self.term(node)
        return term.items[0] if term.items else NOTHING

    def inlined(self, function: Jitted, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        reader = self.reader
        if self.depth >= _MOST_CALLS or function in reader.active or reader.terms > MOST_TERMS:
            return NOTHING
        key = (function, tuple(arguments), tuple(words.items()))
        if key in reader.results:
            return reader.results[key]
        frame = KernelRun(reader, function.file, function, self.depth + 1)
        names = [argument.arg for argument in function.arguments]
        frame.names = dict.fromkeys(names, NOTHING)
        frame.names.update(zip(names, arguments, strict=False))
        if function.node.args.vararg:
            frame.names[function.node.args.vararg.arg] = Term(items=tuple(arguments[len(names) :]))
        frame.names.update((name, term) for name, term in words.items() if name in names)
        reader.active.append(function)
        frame.block(function.node.body)
        reader.active.pop()
        result = NOTHING
        for term in frame.returned:
            result = term if result is NOTHING else either(result, term)
        reader.results[key] = result
        return result
