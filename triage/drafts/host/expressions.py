"""Evaluation of expressions of host functions."""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import replace
from typing import Any

from triage.drafts.host.containers import each_of, entry_at, key_of, sliced
from triage.drafts.host.frame import MOST_STEPS, HostNames
from triage.drafts.host.operations import comparison, foreign, operation, unary_operation
from triage.drafts.host.tensors import shape_of, transposed
from triage.drafts.host.torch_calls import TRANSPOSED
from triage.drafts.host.values import (
    MOST_ALTERNATIVES,
    TRUE,
    UNKNOWN,
    Abstract,
    Alternatives,
    Class,
    Const,
    Dtype,
    Float,
    Foreign,
    Instance,
    Int,
    Items,
    Mapped,
    TensorValue,
    certain,
    constant_value,
    merged,
    truth,
)
from triage.drafts.jitted import dotted


class HostExpressions(HostNames):
    """Evaluates expressions."""

    @abstractmethod
    def call(self, node: ast.Call) -> Alternatives:
        """What a call returns."""

    def value(self, node: ast.expr) -> Alternatives:
        self.steps[0] += 1
        if self.steps[0] > MOST_STEPS:
            return UNKNOWN
        match node:
            case ast.Name(id=name):
                return self.name(name)
            case ast.Constant(value=value):
                return (constant_value(value),)
            case ast.Attribute(value=value, attr=attr):
                return self.attribute(node, value, attr)
            case ast.Call():
                return self.call(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(self.value(left), op, self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return merged(unary_operation(op, value) for value in self.value(operand))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp(op=op, values=values):
                return self.boolean(op, [self.value(value) for value in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                decided = self.value(test)
                names = dict(self.names)
                self.refine(test, True)
                first = self.value(body)
                self.names = dict(names)
                self.refine(test, False)
                second = self.value(orelse)
                self.names = names
                answer = certain(decided)
                if answer is not None:
                    return first if answer else second
                return merged(first, second) if truth(decided[0]) is not False else merged(second, first)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return (self.items(elements),)
            case ast.Dict(keys=keys, values=values):
                entries: dict[Any, Alternatives] = {}
                for key, each in zip(keys, values, strict=True):
                    if key is None:
                        inner = self.value(each)[0]
                        entries.update(dict(inner.entries) if isinstance(inner, Mapped) else {})
                    else:
                        entries[key_of(self.value(key)[0])] = self.value(each)
                return (Mapped(tuple(entries.items())),)
            case ast.Subscript(value=value, slice=index):
                return self.subscript(self.value(value), index)
            case ast.Starred(value=value):
                return self.value(value)
            case ast.NamedExpr(target=target, value=value):
                result = self.value(value)
                self.bind(target, result)
                return result
            case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
                return self.comprehension(elt, generators)
            case ast.JoinedStr():
                return UNKNOWN
        return UNKNOWN

    def comprehension(self, elt: ast.expr, generators: list[ast.comprehension]) -> Alternatives:
        names = dict(self.names)
        match generators, self.value(generators[0].iter)[0]:
            case [ast.comprehension(target=target)], Items(items=items, open=False) if len(items) <= 16:
                values = []
                for item in items:
                    self.bind(target, item)
                    values.append(self.value(elt))
                self.names = names
                return (Items(tuple(values)),)
        for generator in generators:
            self.bind(generator.target, each_of(self.value(generator.iter)))
        value = self.value(elt)
        self.names = names
        return (Items((value,), open=True),)

    def items(self, elements: list[ast.expr]) -> Items:
        values: list[Alternatives] = []
        for element in elements:
            result = self.value(element)
            if not isinstance(element, ast.Starred):
                values.append(result)
                continue
            match result[0]:
                case Items(items=items, open=False):
                    values += items
                case _:
                    return Items((merged(*values, each_of(result)),), open=True)
        return Items(tuple(values))

    def name(self, name: str) -> Alternatives:
        if name in self.names:
            return self.names[name]
        outer = self.scope.outer
        while outer is not None and not isinstance(outer.node, ast.Module):
            names = self.host.reading(outer, self.depth).names
            if name in names:
                return names[name]
            outer = outer.outer
        return self.host.outside(self.scope.file, name, self.depth)

    def attribute(self, node: ast.Attribute, value: ast.expr, attr: str) -> Alternatives:
        full = dotted(node)
        if full is not None and full.partition(".")[0] not in self.names:
            located = self.host.project.lookup(self.scope.file, full)
            if located:
                return self.host.outside(self.scope.file, full, self.depth)
        return merged(*(self.attribute_of(each, attr) for each in self.value(value)))

    def attribute_of(self, value: Abstract, attr: str) -> Alternatives:
        match value:
            case TensorValue(dtype=dtype, sizes=sizes):
                if attr == "shape":
                    return (shape_of(value),)
                if attr == "dtype":
                    return (Dtype(dtype),)
                if attr == "ndim":
                    return (Int(len(sizes), True) if sizes is not None else Int(),)
                if attr in TRANSPOSED:
                    return (transposed(value),)
                if attr in ("data", "grad", "real"):
                    return (value,)
                if attr == "is_cuda":
                    return (TRUE,)
            case Instance() | Class():
                return self.host.attribute(value, attr, self.depth)
            case Foreign(name=name):
                return foreign(f"{name}.{attr}")
            case Int() | Float() | Const() if attr == "value":
                return (value,)
            case Dtype(name=str(name)) if attr == "itemsize":
                return (Int(int("".join(filter(str.isdigit, name)) or 8) // 8, True),)
        return UNKNOWN

    def subscript(self, values: Alternatives, index: ast.expr) -> Alternatives:
        at = UNKNOWN if isinstance(index, ast.Slice) else self.value(index)
        results = []
        for value in values:
            match value:
                case Items(items=items, open=open_):
                    number = at[0].value if isinstance(at[0], Int) and at[0].exact else None
                    if isinstance(index, ast.Slice):
                        results.append(sliced(value, index))
                    elif number is not None and (open_ or -len(items) <= number < len(items)):
                        results.append(items[0] if open_ else items[number])
                    else:
                        results.append(merged(*items))
                case Mapped(entries=entries):
                    results.append(entry_at(entries, at[0]))
                case TensorValue():
                    results.append((replace(value, sizes=None),))
        return merged(*results)

    def operation(self, left: Alternatives, op: ast.operator, right: Alternatives) -> Alternatives:
        pairs = [
            (left[0], right[0]),
            *((each, right[0]) for each in left[1:]),
            *((left[0], each) for each in right[1:]),
        ]
        return merged(operation(first, op, second) for first, second in pairs[:MOST_ALTERNATIVES])

    def compare(self, node: ast.Compare) -> Alternatives:
        if len(node.ops) > 1:
            return UNKNOWN
        op, left, right = node.ops[0], self.value(node.left), self.value(node.comparators[0])
        answers: list[Abstract] = []
        for first in left:
            for second in right:
                answers += comparison(first, op, second)
        return merged(answers)

    def boolean(self, op: ast.boolop, values: list[Alternatives]) -> Alternatives:
        """``a and b``: the first that decides it."""
        stops = isinstance(op, ast.Or)
        results: list[Alternatives] = []
        for value in values:
            answer = certain(value)
            if answer is None or answer is stops or value is values[-1]:
                results.append(value)
            if answer is stops:
                break
        truths = [truth(value[0]) for value in results]
        # As a run with the likeliest values would go on.
        chosen = next((index for index, answer in enumerate(truths) if answer is stops), len(results) - 1)
        return merged(results[chosen], *results) if results else UNKNOWN
