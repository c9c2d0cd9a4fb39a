"""Evaluation of expressions of kernels."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from triage.drafts.device.language_calls import LanguageCalls
from triage.drafts.device.terms import DTYPES, NOTHING, Term, Types, either, folded, promoted
from triage.drafts.device.use_recorder import MOST_TERMS, last_name
from triage.drafts.device.uses import ElementUse, Use
from triage.drafts.jitted import Jitted, dotted
from triage.drafts.project_file import LocatedNode


class KernelExpressions(LanguageCalls, ABC):
    """Evaluates expressions."""

    @abstractmethod
    def bind(self, target: ast.expr, term: Term) -> None:
        """Assign to a name, or to each name of a tuple."""

    @abstractmethod
    def inlined(self, function: Jitted, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        """Read a function of the project with these arguments: what it returns."""

    def term(self, node: ast.expr) -> Term:
        self.reader.terms += 1
        if self.reader.terms > MOST_TERMS:
            return NOTHING
        match node:
            case ast.Name(id=name):
                return self.names[name] if name in self.names else self.outside(name)
            case ast.Constant(value=value):
                return Term(value=value, known=True, type="fp32" if isinstance(value, float) else "")
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, self.term(left), op, self.term(right))
            case ast.UnaryOp(op=op, operand=operand):
                term = self.term(operand)
                if isinstance(op, ast.Not):
                    self.condition(operand)
                    return Term(type="i1")
                if isinstance(op, ast.USub) and term.known and isinstance(term.value, int | float):
                    return replace(term, value=-term.value)
                return replace(term, addends=frozenset(), parameter=None)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.compare(node, [left, *comparators], ops)
            case ast.BoolOp(values=values):
                for value in values:
                    self.condition(value)
                return Term(type="i1")
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.condition(test)
                return either(self.term(body), self.term(orelse))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                terms = tuple(self.term(each) for each in elements)
                return Term(items=terms)
            case ast.Subscript(value=value, slice=index):
                return self.subscript(value, index)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
            case ast.Starred(value=value):
                return self.term(value)
            case ast.NamedExpr(target=target, value=value):
                term = self.term(value)
                self.bind(target, term)
                return term
        return NOTHING

    def outside(self, name: str) -> Term:
        """A name of the file."""
        functions = self.reader.functions
        if function := functions.named(self.file, name):
            return Term(function=function)
        located = functions.project.lookup(self.file, name)
        for each in located if isinstance(located, list) else []:
            if (constant := _constant(each)) is not None:
                return Term(value=constant, known=True, type="fp32" if isinstance(constant, float) else "")
        if name in DTYPES:
            return Term(value=Types(DTYPES[name]), known=True)
        return NOTHING

    def subscript(self, value: ast.expr, index: ast.expr) -> Term:
        term = self.term(value)
        if not isinstance(index, ast.Slice | ast.Tuple):
            at = self.term(index)
            if term.items and at.known and isinstance(at.value, int) and -len(term.items) <= at.value < len(term.items):
                return term.items[at.value]
        if term.items:
            return term.items[0]
        return replace(term, parameter=None) if term.parameter is None else NOTHING

    def attribute(self, node: ast.Attribute) -> Term:
        name = node.attr
        if isinstance(node.value, ast.Name) and node.value.id not in self.names:
            if name in DTYPES:
                return Term(value=Types(DTYPES[name]), known=True)
            full = dotted(node)
            if full and (function := self.reader.functions.named(self.file, full)):
                return Term(function=function)
        term = self.term(node.value)
        match name:
            case "dtype":
                return Term(value=Types(term.type), known=True, addends=term.addends)
            case "element_ty" | "scalar":
                # Only of a pointer's type.
                for parameter in self.pointers(term):
                    self.uses.add(parameter, Use.ADDRESS, self.where(node, "element type"))
                    return Term(value=Types(f"elem:{parameter}"), known=True)
                return Term(value=term.value, known=term.known)
            case "T":
                return term
            case "block_type" | "block_shape" | "layout":
                if term.parameter:
                    self.uses.add(term.parameter, Use.DESCRIPTOR, self.where(node, "descriptor"))
                return NOTHING
            case "value":
                return term
        return NOTHING

    def binary(self, node: ast.AST, left: Term, op: ast.operator, right: Term) -> Term:
        if left.known and right.known and (number := folded(left.value, op, right.value)) is not None:
            return Term(value=number, known=True, type="fp32" if isinstance(number, float) else "")
        additive = isinstance(op, ast.Add | ast.Sub)
        index = left.index or right.index
        floating = left.is_float or right.is_float
        for side, opposite in ((left, right), (right, left)):
            if isinstance(op, ast.FloorDiv | ast.Mod | ast.LShift | ast.RShift | ast.BitAnd | ast.BitOr | ast.BitXor):
                if side.type != "i1":
                    self.integer(side, node, "integer operation")
                    if isinstance(op, ast.LShift | ast.RShift | ast.BitAnd | ast.BitOr | ast.BitXor):
                        self.element_of(side, ElementUse.INTEGER, node)
                index = index or isinstance(op, ast.FloorDiv | ast.Mod)
            elif isinstance(op, ast.Mult) and opposite.index and not side.is_float:
                self.integer(side, node, "factor of an index")
            elif additive and opposite.index and side.parameter is None and side.scalars and not side.is_float:
                self.integer(replace(side, scalars=side.scalars - side.addends), node, "part of an index")
            if opposite.is_float or opposite.type.startswith("elem:") or opposite.type.startswith("param:"):
                self.floating(side, node, opposite)
            if side.type.startswith("elem:") and (opposite.is_float or isinstance(op, ast.Div)):
                self.element_of(side, ElementUse.FLOAT, node)
        addends = left.addends | right.addends if additive else frozenset[str]()
        if floating:
            addends = frozenset()
        return Term(
            addends - self.reader.scalars,
            left.scalars | right.scalars,
            left.elements | right.elements,
            "fp32"
            if isinstance(op, ast.Div) and not floating and not left.type.startswith("elem:")
            else promoted(left, right),
            index and not floating and not isinstance(op, ast.Div),
        )

    def compare(self, node: ast.Compare, sides: list[ast.expr], ops: list[ast.cmpop]) -> Term:
        terms = [self.term(side) for side in sides]
        first, *others = terms
        for side, opposite in [(first, other) for other in others] + [(other, first) for other in others]:
            if opposite.known and side.parameter:
                if opposite.value is None:
                    self.uses.add(side.parameter, Use.OPTIONAL, self.where(node, "comparison with None"))
                elif isinstance(opposite.value, Types):
                    self.uses.add(side.parameter, Use.DTYPE, self.where(node, "element type"))
                elif not isinstance(opposite.value, float):
                    values = self.uses.equal.setdefault(side.parameter, [])
                    if opposite.value not in values:
                        values.append(opposite.value)
            if opposite.is_float:
                self.floating(side, node, opposite)
            elif opposite.index:
                self.integer(side, node, "comparison with an index")
                self.element_of(side, ElementUse.INTEGER, node)
        return Term(type="i1", elements=frozenset())

    def condition(self, test: ast.expr) -> None:
        term = self.term(test)
        if term.parameter:
            self.uses.add(term.parameter, Use.CONDITION, self.where(test, "condition"))

    def call(self, node: ast.Call) -> Term:
        name = last_name(node.func)
        arguments: list[Term] = []
        if isinstance(node.func, ast.Attribute) and self.is_value(node.func.value):
            arguments.append(self.term(node.func.value))
        for argument in node.args:
            term = self.term(argument)
            arguments += term.items if isinstance(argument, ast.Starred) and term.items else [term]
        words = {word.arg: self.term(word.value) for word in node.keywords if word.arg}
        function = self.term(node.func).function if name != "load" else None
        if function is not None:
            return self.inlined(function, arguments, words)
        return self.language_call(node, name, arguments, words)


def _constant(located: LocatedNode) -> int | float | str | None:
    """The number or text that a file's name is bound to, also as ``tl.constexpr(1)``."""
    node = located.node
    if isinstance(node, ast.Call) and last_name(node.func) == "constexpr" and node.args:
        node = node.args[0]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, int | float) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    return None
