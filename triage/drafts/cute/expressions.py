"""Evaluation of expressions: Python's own semantics where the operands are known, and nothing where they are not."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triage.drafts.cute import symbols
from triage.drafts.cute.members import Members, iterated, unpacked
from triage.drafts.cute.operators import compared, operation, truth, unary
from triage.drafts.cute.symbols import Symbol
from triage.drafts.cute.values import UNKNOWN, FunctionValue, NameScope
from triage.drafts.host.values import Unknown

MOST_EXPRESSIONS = 300_000
"""Of one program: about a second."""


class Raised(Exception):
    """The program raises an exception, or ends."""


class Exhausted(Exception):
    """The program has too many steps to be evaluated."""


class Expressions(Members):
    """Evaluates expressions in a frame."""

    def __init__(self) -> None:
        self.steps = 0

    @abstractmethod
    def call(self, node: ast.Call, frame: NameScope) -> Any:
        """The result of a call."""

    @abstractmethod
    def function(self, node: ast.Lambda, frame: NameScope) -> FunctionValue:
        """The function that a lambda is."""

    def value(self, node: ast.expr, frame: NameScope) -> Any:
        """Evaluate an expression. Raises Raised and Exhausted."""
        self.steps += 1
        if self.steps > MOST_EXPRESSIONS:
            raise Exhausted
        match node:
            case ast.Constant(value=value):
                return UNKNOWN if value is Ellipsis else value
            case ast.Name(id=name):
                return self.name(name, frame)
            case ast.Attribute(value=owner, attr=attr):
                return self.attribute(self.value(owner, frame), attr)
            case ast.Call():
                return self.call(node, frame)
            case ast.BinOp(left=left, op=op, right=right):
                return operation(op, self.value(left, frame), self.value(right, frame))
            case ast.UnaryOp(op=op, operand=operand):
                return unary(op, self.value(operand, frame))
            case ast.BoolOp(op=op, values=values):
                return self.boolean(isinstance(op, ast.And), values, frame)
            case ast.Compare():
                return self.comparison(node, frame)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                answer = truth(self.value(test, frame))
                if answer is None:
                    first = self.value(body, frame)
                    return first if not isinstance(first, Unknown) else self.value(orelse, frame)
                return self.value(body if answer else orelse, frame)
            case ast.Tuple(elts=elements):
                return tuple(self.elements(elements, frame))
            case ast.List(elts=elements):
                return self.elements(elements, frame)
            case ast.Set(elts=elements):
                return self.elements(elements, frame)
            case ast.Dict(keys=keys, values=values):
                return self.dictionary(keys, values, frame)
            case ast.Subscript(value=owner, slice=index):
                return self.item(self.value(owner, frame), self.value(index, frame))
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = [self.value(part, frame) if part is not None else None for part in (lower, upper, step)]
                return slice(*parts)
            case ast.Starred(value=inner):
                return self.value(inner, frame)
            case ast.NamedExpr(target=ast.Name(id=name), value=inner):
                frame.names[name] = self.value(inner, frame)
                return frame.names[name]
            case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
                return self.comprehension(generators, frame, lambda inner: self.value(elt, inner))
            case ast.SetComp(elt=elt, generators=generators):
                return self.comprehension(generators, frame, lambda inner: self.value(elt, inner))
            case ast.DictComp(key=key, value=value, generators=generators):
                pairs = self.comprehension(
                    generators, frame, lambda inner: (self.value(key, inner), self.value(value, inner))
                )
                return _dictionary(pairs) if isinstance(pairs, list) else UNKNOWN
            case ast.Lambda():
                return self.function(node, frame)
            case ast.JoinedStr(values=values):
                return self.text(values, frame)
            case ast.Await(value=inner):
                return self.value(inner, frame)
            case ast.Yield(value=inner):
                if inner is not None and frame.yielded is not None:
                    frame.yielded.append(self.value(inner, frame))
                return UNKNOWN
        return UNKNOWN

    def name(self, name: str, frame: NameScope) -> Any:
        inner: NameScope | None = frame
        while inner is not None:
            if name in inner.names:
                return inner.names[name]
            inner = inner.outer
        return self.global_name(frame.module, name)

    def boolean(self, every: bool, nodes: Sequence[ast.expr], frame: NameScope) -> Any:
        value: Any = UNKNOWN
        undecided = False
        for node in nodes:
            value = self.value(node, frame)
            answer = truth(value)
            undecided = undecided or answer is None
            if answer is not None and answer is not every:
                # A later operand decides, whatever an earlier one is.
                return value
        return UNKNOWN if undecided else value

    def comparison(self, node: ast.Compare, frame: NameScope) -> Any:
        left = self.value(node.left, frame)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator, frame)
            answer = compared(op, left, right)
            if answer is not True:
                return answer
            left = right
        return True

    def elements(self, nodes: Sequence[ast.expr], frame: NameScope) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            value = self.value(node, frame)
            if isinstance(node, ast.Starred) and isinstance(value, list | tuple | range):
                values += value
            elif isinstance(node, ast.Starred) and isinstance(value, Symbol):
                values += value.unpacked(2)  # A tile or a cluster, most often; a longer one is indexed elsewhere.
            else:
                values.append(value)
        return values

    def dictionary(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], frame: NameScope) -> Any:
        pairs: list[Any] = []
        for key, node in zip(keys, values, strict=True):
            value = self.value(node, frame)
            if key is None:
                pairs += value.items() if isinstance(value, dict) else []
            else:
                pairs.append((self.value(key, frame), value))
        return _dictionary(pairs)

    def comprehension(
        self, generators: Sequence[ast.comprehension], frame: NameScope, element: Callable[[NameScope], Any]
    ) -> Any:
        inner = NameScope(frame.module, {}, frame, frame.yielded)
        results: list[Any] = []

        def run(depth: int) -> None:
            if depth == len(generators):
                results.append(element(inner))
                return
            generator = generators[depth]
            for value in iterated(self.value(generator.iter, inner)):
                self.bind(generator.target, value, inner)
                if all(truth(self.value(test, inner)) is not False for test in generator.ifs):
                    run(depth + 1)

        run(0)
        return results

    def bind(self, target: ast.expr, value: Any, frame: NameScope) -> None:
        """``target = value``"""
        match target:
            case ast.Name(id=name):
                frame.names[name] = value
            case ast.Attribute(value=owner, attr=attr):
                self.store(self.value(owner, frame), attr, value)
            case ast.Subscript(value=owner, slice=index):
                self.store_item(self.value(owner, frame), self.value(index, frame), value)
            case ast.Starred(value=inner):
                self.bind(inner, list(value) if isinstance(value, list | tuple) else UNKNOWN, frame)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for each, part in zip(targets, unpacked(targets, value), strict=False):
                    self.bind(each, part, frame)

    def text(self, nodes: Sequence[ast.expr], frame: NameScope) -> Any:
        parts: list[str] = []
        for node in nodes:
            inner = node.value if isinstance(node, ast.FormattedValue) else node
            value = self.value(inner, frame)
            if not isinstance(value, str | int | float):
                return UNKNOWN
            parts.append(str(value))
        return "".join(parts)

    def record(self, function: str, positional: Sequence[Any], words: Mapping[str, Any]) -> None:
        """Note that symbols are passed to a function that is not the project's."""
        symbols.passed(function, list(positional), dict(words))


def _dictionary(pairs: Sequence[Any]) -> Any:
    try:
        return dict(pairs)
    except (TypeError, ValueError):
        return UNKNOWN
