"""Evaluation of expressions: Python's own semantics where the operands are known, and nothing where they are not."""

from __future__ import annotations

import ast
import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from triage.drafts.cute import dsl_calls, symbols, torch_calls
from triage.drafts.cute.layouts import row_major
from triage.drafts.cute.symbols import Extents, Symbol, SymbolElement
from triage.drafts.cute.values import (
    UNKNOWN,
    ArgumentParser,
    BoundMethod,
    ClassValue,
    CuteTensor,
    ElementType,
    ForeignMethod,
    FunctionValue,
    Guess,
    ModuleValue,
    NameScope,
    Namespace,
    ObjectValue,
    TorchDtype,
    TorchTensor,
    TypedNumber,
)
from triage.drafts.host.values import Foreign, Unknown
from triage.drafts.names import usual_size

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Div: operator.truediv, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne,
    ast.In: lambda left, right: left in right, ast.NotIn: lambda left, right: left not in right,
}  # fmt: skip
_MOST_NUMBER = 1 << 62
"""Larger integers are not computed: powers and shifts would grow without bound."""
_MOST_ITEMS = 4096
"""Of a sequence that is repeated or of a range that is listed."""
MOST_EXPRESSIONS = 300_000
"""Of one program: about a second."""


class Raised(Exception):
    """The program raises an exception, or ends."""


class Exhausted(Exception):
    """The program has too many steps to be evaluated."""


class Expressions:
    """Evaluates expressions in a frame."""

    def __init__(self) -> None:
        self.steps = 0

    @abstractmethod
    def call(self, node: ast.Call, frame: NameScope) -> Any:
        """The result of a call."""

    @abstractmethod
    def invoke(self, function: Any, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
        """The result of calling a value."""

    @abstractmethod
    def function(self, node: ast.Lambda, frame: NameScope) -> FunctionValue:
        """The function that a lambda is."""

    @abstractmethod
    def global_name(self, module: ModuleValue, name: str) -> Any:
        """What a name of a module stands for."""

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
                return self.operation(op, self.value(left, frame), self.value(right, frame))
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.value(operand, frame))
            case ast.BoolOp(op=op, values=values):
                return self.boolean(isinstance(op, ast.And), values, frame)
            case ast.Compare():
                return self.comparison(node, frame)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                answer = self.truth(self.value(test, frame))
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

    def attribute(self, owner: Any, name: str) -> Any:
        match owner:
            case Symbol():
                return owner.attribute(name)
            case SymbolElement():
                return UNKNOWN
            case ModuleValue():
                return self.global_name(owner, name)
            case Foreign():
                return foreign(f"{owner.name}.{name}")
            case ObjectValue():
                return self.member(owner, name)
            case ClassValue():
                member = owner.find(name)
                if isinstance(member, FunctionValue) and member.kind == "classmethod":
                    return BoundMethod(member, owner)
                if name == "__name__":
                    return owner.node.name
                return UNKNOWN if member is None and name not in owner.names else member
            case Namespace(attributes=attributes):
                return attributes.get(name, ForeignMethod(owner, name))
            case TorchTensor():
                return torch_calls.tensor_attribute(owner, name)
            case CuteTensor():
                return dsl_calls.tensor_attribute(owner, name)
            case ElementType():
                return dsl_calls.dtype_attribute(owner, name)
            case TorchDtype():
                return torch_calls.dtype_attribute(owner, name)
            case TypedNumber(value=value):
                return value if name == "value" else UNKNOWN
            case str() | list() | tuple() | dict() | ArgumentParser() | BoundMethod() | FunctionValue():
                return ForeignMethod(owner, name)
        return UNKNOWN

    def member(self, owner: ObjectValue, name: str) -> Any:
        if name in owner.attributes:
            return owner.attributes[name]
        if name == "__class__":
            return owner.cls
        member = owner.cls.find(name)
        if isinstance(member, FunctionValue):
            if member.kind == "property":
                return self.invoke(BoundMethod(member, owner), (), {})
            if member.kind == "staticmethod":
                return member
            return BoundMethod(member, owner.cls if member.kind == "classmethod" else owner)
        return UNKNOWN if member is None and name not in owner.cls.names else member

    def store(self, owner: Any, name: str, value: Any) -> None:
        """``owner.name = value``"""
        match owner:
            case ObjectValue():
                owner.attributes[name] = value
            case Namespace():
                owner.attributes[name] = value
            case ClassValue() | ModuleValue():
                owner.names[name] = value
            case CuteTensor() if name == "element_type" and isinstance(value, ElementType):
                owner.dtype = value.name

    def operation(self, op: ast.operator, left: Any, right: Any) -> Any:
        for operand in (left, right):
            if isinstance(operand, Symbol):
                operand.facts.counted = True
            elif isinstance(operand, SymbolElement) and isinstance(op, _OF_BITS):
                operand.symbol.facts.bits = True
        if isinstance(left, TypedNumber) or isinstance(right, TypedNumber):
            first, second = (each.value if isinstance(each, TypedNumber) else each for each in (left, right))
            return self.operation(op, first, second)
        if isinstance(left, TorchTensor) or isinstance(right, TorchTensor):
            return left if isinstance(left, TorchTensor) else right
        if not isinstance(left, _PLAIN) or not isinstance(right, _PLAIN):
            return UNKNOWN
        if isinstance(op, ast.Pow | ast.LShift) and isinstance(right, int | float) and abs(right) > 64:
            return UNKNOWN
        if isinstance(op, ast.Mult) and (_long(left, right) or _long(right, left)):
            return UNKNOWN
        try:
            result = _BINARY[type(op)](left, right)
        except (ArithmeticError, TypeError, ValueError, KeyError):
            return UNKNOWN
        return UNKNOWN if isinstance(result, int) and abs(result) > _MOST_NUMBER else result

    def unary(self, op: ast.unaryop, value: Any) -> Any:
        if isinstance(op, ast.Not):
            answer = self.truth(value)
            return UNKNOWN if answer is None else not answer
        if isinstance(value, TorchTensor) or not isinstance(value, int | float):
            return value if isinstance(value, TorchTensor) else UNKNOWN
        if isinstance(op, ast.USub):
            return Guess(-value) if isinstance(value, Guess) else -value
        return ~value if isinstance(op, ast.Invert) and isinstance(value, int) else value

    def boolean(self, every: bool, nodes: Sequence[ast.expr], frame: NameScope) -> Any:
        value: Any = UNKNOWN
        undecided = False
        for node in nodes:
            value = self.value(node, frame)
            answer = self.truth(value)
            undecided = undecided or answer is None
            if answer is not None and answer is not every:
                # A later operand decides, whatever an earlier one is.
                return value
        return UNKNOWN if undecided else value

    def comparison(self, node: ast.Compare, frame: NameScope) -> Any:
        left = self.value(node.left, frame)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator, frame)
            answer = self.compared(op, left, right)
            if answer is not True:
                return answer
            left = right
        return True

    def compared(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        for symbol, other in ((left, right), (right, left)):
            if isinstance(symbol, Symbol):
                symbol.facts.compared += other if isinstance(other, tuple | list) else [other]
        if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
            other = right if left is None else left
            if isinstance(other, Unknown | Symbol | SymbolElement):
                return UNKNOWN
            return (other is None) == isinstance(op, ast.Is)
        if not _is_known(left) or not _is_known(right):
            return UNKNOWN
        try:
            return bool(_COMPARE[type(op)](left, right))
        except (TypeError, ValueError):
            return UNKNOWN

    def truth(self, value: Any) -> bool | None:
        """What ``if value`` decides; None where that is not known."""
        match value:
            case Symbol():
                value.facts.tested = True
                return None
            case None | bool() | int() | float() | str() | list() | tuple() | dict() | range():
                return bool(value)
            case TypedNumber(value=inner):
                return self.truth(inner)
            case Unknown() | SymbolElement() | Extents() | Foreign() | ForeignMethod():
                return None
            case TorchTensor(shape=shape) if shape is not None:
                return None
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

    def item(self, owner: Any, index: Any) -> Any:
        match owner:
            case Symbol() | Extents():
                return owner.item(index)
            case dict():
                if isinstance(index, Symbol):
                    index.facts.keys += owner
                    return next(iter(owner.values()), UNKNOWN)
                try:
                    return owner.get(index, UNKNOWN)
                except TypeError:
                    return UNKNOWN
            case list() | tuple() | str() | range():
                if isinstance(index, Symbol):
                    index.facts.counted = True
                try:
                    return owner[index]
                except (TypeError, IndexError, ValueError):
                    return UNKNOWN
            case ForeignMethod(owner=TorchTensor(), name="shape"):
                return Guess(usual_size(f"dim{index}")) if isinstance(index, int) else UNKNOWN
            case TorchTensor():
                return _sliced(owner, index)
            case ClassValue(enumeration=True) if isinstance(index, str):
                return owner.names.get(index, UNKNOWN)
            case ObjectValue():
                method = owner.cls.find("__getitem__")
                return self.invoke(BoundMethod(method, owner), (index,), {}) if method is not None else UNKNOWN
            case Foreign() | ClassValue():
                # As cute.compile[options], Tuple[int].
                return owner if isinstance(owner, ClassValue) or owner.root in _SUBSCRIPTED else UNKNOWN
        return UNKNOWN

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
            for value in self.iterated(self.value(generator.iter, inner)):
                self.bind(generator.target, value, inner)
                if all(self.truth(self.value(test, inner)) is not False for test in generator.ifs):
                    run(depth + 1)

        run(0)
        return results

    def iterated(self, value: Any) -> list[Any]:
        """What a loop over a value goes through; one unknown value where that is not known."""
        match value:
            case list() | tuple() | range():
                return list(value[:_MOST_ITEMS])
            case dict() | str():
                return list(value)[:_MOST_ITEMS]
            case ClassValue(enumeration=True, names=names):
                return [member for member in names.values() if isinstance(member, ObjectValue)]
            case Symbol():
                value.facts.counted = True
        return [UNKNOWN]

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
                for each, part in zip(targets, self.parts(targets, value), strict=False):
                    self.bind(each, part, frame)

    def parts(self, targets: Sequence[ast.expr], value: Any) -> list[Any]:
        """What each target of an unpacking gets."""
        count = len(targets)
        match value:
            case list() | tuple() | range():
                star = next((at for at, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
                values = list(value)
                if star is None:
                    return values if len(values) == count else [UNKNOWN] * count
                after = count - star - 1
                return [*values[:star], values[star : len(values) - after], *values[len(values) - after :]]
            case Symbol() | Extents():
                return value.unpacked(count)
            case ForeignMethod(owner=TorchTensor() as tensor, name="shape"):
                shape = tuple(Guess(usual_size(each.id if isinstance(each, ast.Name) else "")) for each in targets)
                tensor.shape, tensor.stride = shape, row_major(shape)
                return list(shape)
        return [UNKNOWN] * count

    def store_item(self, owner: Any, index: Any, value: Any) -> None:
        """``owner[index] = value``"""
        match owner:
            case Symbol():
                owner.item(index)
                owner.facts.stored.append(value)
            case dict() | list():
                with suppress(TypeError, IndexError):
                    owner[index] = value

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


_OF_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_SUBSCRIPTED = frozenset({"cutlass", "typing", "collections", "builtins"})
"""Packages whose classes and functions take options or types in brackets."""
_PLAIN = (int, float, str, list, tuple)


def _long(sequence: Any, times: Any) -> bool:
    return isinstance(sequence, str | list | tuple) and isinstance(times, int) and len(sequence) * times > _MOST_ITEMS


def _is_known(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_known, value))
    return not isinstance(value, Unknown | Symbol | SymbolElement | Extents | ForeignMethod)


def _dictionary(pairs: Sequence[Any]) -> Any:
    try:
        return dict(pairs)
    except (TypeError, ValueError):
        return UNKNOWN


def foreign(name: str) -> Any:
    """Something of another project, as the value that it is where that is known."""
    root = name.partition(".")[0]
    known: Any = None
    if name == "sys.argv":
        return ["program"]
    if root == "cutlass":
        known = dsl_calls.attribute(name)
    elif root in torch_calls.ROOTS:
        known = torch_calls.attribute(name)
    return known if known is not None else Foreign(name)


def _sliced(tensor: TorchTensor, index: Any) -> Any:
    """A part of a tensor."""
    indices = index if isinstance(index, tuple) else (index,)
    if tensor.shape is None or tensor.stride is None or any(isinstance(each, Unknown) for each in indices):
        return UNKNOWN
    shape: list[int] = []
    stride: list[int] = []
    mode = 0
    for each in indices:
        if each is None:
            shape.append(1)
            stride.append(1)
            continue
        if mode >= len(tensor.shape):
            return UNKNOWN
        if isinstance(each, slice):
            try:
                extent = len(range(*each.indices(tensor.shape[mode])))
            except TypeError:
                return UNKNOWN
            shape.append(extent)
            stride.append(tensor.stride[mode] * (each.step or 1))
        elif not isinstance(each, int):
            return UNKNOWN
        mode += 1
    shape += tensor.shape[mode:]
    stride += tensor.stride[mode:]
    return TorchTensor(tensor.dtype, tuple(shape), tuple(stride), tensor.guessed, tensor.where, tensor.host)
