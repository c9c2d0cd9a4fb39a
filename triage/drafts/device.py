"""How a kernel uses its parameters, read from its body and those of the functions that it calls.

An abstract run: each expression has a ``Term``, which remembers what of it could be an address, which parameters
entered it, and of what type its elements are. Branches are all taken; loops are run twice, as their second run sees
what the first has assigned.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from triage.drafts.jitted import Jitted, JittedFunctions, dotted
from triage.drafts.project import LocatedNode, ProjectFile

_MOST_TERMS = 60_000
"""Expressions to read of one kernel; the largest seen, with the functions that it calls, has 20,000."""
_MOST_CALLS = 8
"""Functions that call one another; in sources seen, up to four."""

_FLOAT32_ONLY = frozenset({
    "exp", "exp2", "log", "log2", "log1p", "expm1", "sin", "cos", "tan", "tanh", "sqrt", "sqrt_rn", "rsqrt",
    "erf", "erfc", "floor", "ceil", "sigmoid", "softmax", "div_rn", "fdiv", "fast_expf", "fast_logf",
    "fast_dividef", "pow"
})  # fmt: skip
"""Functions that refuse 16-bit floats (``_check_dtype`` in triton/language/math.py, and libdevice)."""
_SAME = frozenset({
    "trans", "permute", "reshape", "view", "broadcast_to", "expand_dims", "ravel", "flip", "sum", "max", "min",
    "cumsum", "cumprod", "sort", "abs", "contiguous", "max_contiguous", "multiple_of", "max_constancy", "clamp",
    "xor_sum", "reduce", "associative_scan", "histogram", "gather", "maximum", "minimum", "broadcast", "split",
    "join", "cat", "interleave", "convert_layout", "item", "topk", "fma", "add", "sub", "mul", "permute_to",
    "slice", "index", "reduce_or", "assume_layout", "set_auto_layout"
})  # fmt: skip
"""Functions whose result has the elements of their arguments."""
_SHAPES = frozenset(["arange", "zeros", "full", "zeros_like", "reshape", "view", "broadcast_to", "static_range"])
_FLOATS = frozenset(["fp8e4nv", "fp8e5", "fp8e4b8", "fp8e4b15", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"])

DTYPES = {
    "float8e4nv": "fp8e4nv", "float8e5": "fp8e5", "float8e4b8": "fp8e4b8", "float8e4b15": "fp8e4b15",
    "float8e5b16": "fp8e5b16", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
"""Names in triton.language, and in signatures."""


class Use(Enum):
    """A use of a parameter, which tells what it is."""

    ADDRESS = "address"
    DESCRIPTOR = "descriptor"
    INTEGER = "integer"
    FLOAT = "float"
    SHAPE = "shape"
    DTYPE = "element type"
    CONDITION = "condition"
    OPTIONAL = "comparison with None"
    UNROLLED = "bound of a loop that is unrolled"
    REFUSED = "assertion that it is not set"
    POINTER_CAST = "cast to a pointer"


class ElementUse(Enum):
    """What a kernel does with the elements behind a pointer."""

    ADDRESS = "part of an address"
    INTEGER = "integer operation"
    FLOAT32 = "function of 32-bit floats"
    WIDENED = "conversion to 32-bit floats"
    FLOAT = "float operation"
    MASK = "mask"
    STORED = "store"
    DOT = "dot"
    ATOMIC = "atomic addition"
    TO_INT64 = "conversion to 64-bit integers"


@dataclass(frozen=True, slots=True)
class Types:
    """A type as a value: ``x.dtype``."""

    name: str


@dataclass(frozen=True, slots=True)
class Term:
    """What is known of an expression.

    ``addends``: parameters that are summands of it, so that they may be the address in it. ``scalars``: parameters
    that entered it by arithmetic. ``elements``: pointers whose elements did. ``type``: of its elements: a name as in
    signatures, ``elem:NAME`` for what a pointer leads to, ``param:NAME``; "" where nothing is known. ``index``: whether
    it is a position, or computed from one. ``parameter``: the parameter that it is, unchanged.
    """

    addends: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()
    elements: frozenset[str] = frozenset()
    type: str = ""
    index: bool = False
    parameter: str | None = None
    value: Any = None
    known: bool = False
    items: tuple[Term, ...] | None = None
    function: Jitted | None = None
    descriptor: str | None = None

    @property
    def is_float(self) -> bool:
        return self.type in _FLOATS


NOTHING = Term()
INDEX = Term(type="i32", index=True)


@dataclass(slots=True)
class Uses:
    """Lines of the uses of each parameter. ``equal``: constants that it is compared with. ``blocks``: the block that a
    descriptor is loaded with. ``dots``: pairs of types that are multiplied. ``copies``: pointers whose elements are
    stored unchanged behind another. ``carried``: types that a variable has before and after a pass of a loop.
    ``integer_sums``: where integers are summed up to which something is added that is taken for a float: a dot."""

    kinds: dict[str, dict[Use, str]] = field(default_factory=dict)
    elements: dict[str, dict[ElementUse, str]] = field(default_factory=dict)
    stored: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    equal: dict[str, list[Any]] = field(default_factory=dict)
    weak_floats: dict[str, set[str]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    dots: list[tuple[str, str, str]] = field(default_factory=list)
    copies: list[tuple[str, str, str]] = field(default_factory=list)
    carried: list[tuple[str, str, str]] = field(default_factory=list)
    integer_sums: list[str] = field(default_factory=list)
    element_casts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, kind: Use, where: str) -> None:
        self.kinds.setdefault(name, {}).setdefault(kind, where)

    def element(self, name: str, use: ElementUse, where: str) -> None:
        self.elements.setdefault(name, {}).setdefault(use, where)

    def has(self, name: str, kind: Use) -> str | None:
        """Where a parameter is used so; None where it is not."""
        return self.kinds.get(name, {}).get(kind)


def uses(kernel: Jitted, functions: JittedFunctions, scalars: frozenset[str]) -> Uses:
    """Read a kernel. ``scalars``: parameters that are known to be no addresses."""
    annotated = {argument.arg: argument.annotation for argument in kernel.arguments if argument.annotation}
    constants = frozenset(name for name, node in annotated.items() if "constexpr" in ast.unparse(node))
    reader = _Reader(functions, scalars, constants)
    frame = _KernelRun(reader, kernel.file, kernel, 0)
    for argument in kernel.arguments:
        name = argument.arg
        frame.names[name] = Term(frozenset([name]), frozenset([name]), type=f"param:{name}", parameter=name)
    frame.block(kernel.node.body)
    return reader.uses


class _Exhausted(Exception):
    """The kernel has more expressions than are read."""


@dataclass
class _Reader:
    functions: JittedFunctions
    scalars: frozenset[str]
    constants: frozenset[str]
    uses: Uses = field(default_factory=Uses)
    terms: int = 0
    looping: int = 0
    active: list[Jitted] = field(default_factory=list)
    results: dict[tuple[Jitted, tuple[Term, ...], tuple[tuple[str, Term], ...]], Term] = field(default_factory=dict)


class _KernelRun:
    """One call of a function: the names in it."""

    def __init__(self, reader: _Reader, file: ProjectFile, function: Jitted, depth: int) -> None:
        self.reader, self.file, self.function, self.depth = reader, file, function, depth
        self.names: dict[str, Term] = {}
        self.returned: list[Term] = []

    @property
    def uses(self) -> Uses:
        return self.reader.uses

    def where(self, node: ast.AST, what: str) -> str:
        line = f"{what} in line {getattr(node, 'lineno', self.function.node.lineno)}"
        return f"{line} of {self.function.name}" if self.depth else line

    # Statements

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
                self.names = {name: _either(after.get(name), self.names.get(name)) for name in {**self.names, **after}}
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
        if isinstance(node, ast.Call) and (name := _last(node.func)) in ("range", "static_range"):
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

    def condition(self, test: ast.expr) -> None:
        term = self.term(test)
        if term.parameter:
            self.uses.add(term.parameter, Use.CONDITION, self.where(test, "condition"))

    # Expressions

    def term(self, node: ast.expr) -> Term:
        self.reader.terms += 1
        if self.reader.terms > _MOST_TERMS:
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
                return _either(self.term(body), self.term(orelse))
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
        if left.known and right.known and (folded := _folded(left.value, op, right.value)) is not None:
            return Term(value=folded, known=True, type="fp32" if isinstance(folded, float) else "")
        additive = isinstance(op, ast.Add | ast.Sub)
        index = left.index or right.index
        floating = left.is_float or right.is_float
        for one, other in ((left, right), (right, left)):
            if isinstance(op, ast.FloorDiv | ast.Mod | ast.LShift | ast.RShift | ast.BitAnd | ast.BitOr | ast.BitXor):
                if one.type != "i1":
                    self.integer(one, node, "integer operation")
                    if isinstance(op, ast.LShift | ast.RShift | ast.BitAnd | ast.BitOr | ast.BitXor):
                        self.element_of(one, ElementUse.INTEGER, node)
                index = index or isinstance(op, ast.FloorDiv | ast.Mod)
            elif isinstance(op, ast.Mult) and other.index and not one.is_float:
                self.integer(one, node, "factor of an index")
            elif additive and other.index and one.parameter is None and one.scalars and not one.is_float:
                self.integer(replace(one, scalars=one.scalars - one.addends), node, "part of an index")
            if other.is_float or other.type.startswith("elem:") or other.type.startswith("param:"):
                self.floating(one, node, other)
            if one.type.startswith("elem:") and (other.is_float or isinstance(op, ast.Div)):
                self.element_of(one, ElementUse.FLOAT, node)
        addends = left.addends | right.addends if additive else frozenset[str]()
        if floating:
            addends = frozenset()
        return Term(
            addends - self.reader.scalars,
            left.scalars | right.scalars,
            left.elements | right.elements,
            "fp32"
            if isinstance(op, ast.Div) and not floating and not left.type.startswith("elem:")
            else _promoted(left, right),
            index and not floating and not isinstance(op, ast.Div),
        )

    def compare(self, node: ast.Compare, sides: list[ast.expr], ops: list[ast.cmpop]) -> Term:
        terms = [self.term(side) for side in sides]
        for one, other in [(terms[0], other) for other in terms[1:]] + [(other, terms[0]) for other in terms[1:]]:
            if other.known and one.parameter:
                if other.value is None:
                    self.uses.add(one.parameter, Use.OPTIONAL, self.where(node, "comparison with None"))
                elif isinstance(other.value, Types):
                    self.uses.add(one.parameter, Use.DTYPE, self.where(node, "element type"))
                elif not isinstance(other.value, float):
                    values = self.uses.equal.setdefault(one.parameter, [])
                    if other.value not in values:
                        values.append(other.value)
            if other.is_float:
                self.floating(one, node, other)
            elif other.index:
                self.integer(one, node, "comparison with an index")
                self.element_of(one, ElementUse.INTEGER, node)
        return Term(type="i1", elements=frozenset())

    # Calls

    def call(self, node: ast.Call) -> Term:
        name = _last(node.func)
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
        if name in DTYPES and arguments:
            return replace(self.converted(node, arguments[0], Types(DTYPES[name])))
        handler: Callable[[ast.Call, list[Term], Mapping[str, Term]], Term] | None = getattr(self, f"call_{name}", None)
        if handler is not None:
            return handler(node, arguments, words)
        if name.startswith("atomic_"):
            return self.atomic(node, name, arguments, words)
        if name in _SHAPES:
            for term in (
                [*arguments[-1:], *words.values()] if name in ("reshape", "view") else [*arguments, *words.values()]
            ):
                self.shape(term, node)
        if name in _FLOAT32_ONLY:
            for term in arguments:
                self.element_of(term, ElementUse.FLOAT32, node, exact=True)
                self.floating(term, node, Term(type="fp32"))
            return Term(type="fp32")
        if name in _SAME and arguments:
            return self.same(node, arguments)
        return NOTHING

    def is_value(self, node: ast.expr) -> bool:
        """Whether an expression is a value, not a module."""
        name = dotted(node)
        return name is None or name.partition(".")[0] in self.names

    def same(self, node: ast.Call, arguments: list[Term]) -> Term:
        term = arguments[0]
        for other in arguments[1:]:
            if other.index and (term.parameter or not term.index):
                self.integer(term, node, "with an index")
            elif term.index and other.parameter:
                self.integer(other, node, "with an index")
            if _last(node.func) in ("maximum", "minimum", "max", "min", "add", "mul", "sub"):
                term = replace(
                    term,
                    type=_promoted(term, other),
                    scalars=term.scalars | other.scalars,
                    elements=term.elements | other.elements,
                    index=term.index or other.index,
                )
        return replace(term, parameter=None, known=False)

    def inlined(self, function: Jitted, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        reader = self.reader
        if self.depth >= _MOST_CALLS or function in reader.active or reader.terms > _MOST_TERMS:
            return NOTHING
        key = (function, tuple(arguments), tuple(words.items()))
        if key in reader.results:
            return reader.results[key]
        frame = _KernelRun(reader, function.file, function, self.depth + 1)
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
            result = term if result is NOTHING else _either(result, term)
        reader.results[key] = result
        return result

    def call_load(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        if not arguments:
            return NOTHING
        first = arguments[0]
        if first.descriptor:
            return Term(type=f"elem:{first.descriptor}", elements=frozenset([first.descriptor]))
        if first.parameter and isinstance(node.func, ast.Attribute) and self.is_value(node.func.value):
            self.described(first, node, arguments)
            return Term(type=f"elem:{first.parameter}", elements=frozenset([first.parameter]))
        pointer = self.address(first, node, "address")
        mask = words.get("mask", arguments[1] if len(arguments) > 1 else NOTHING)
        self.element_of(mask, ElementUse.MASK, node, exact=True)
        if pointer is None:
            return NOTHING
        return Term(type=f"elem:{pointer}", elements=frozenset([pointer]))

    def described(self, term: Term, node: ast.Call, arguments: list[Term]) -> None:
        """``desc.load([a, b])``: its parameter is a descriptor, of as many dimensions as there are offsets."""
        assert term.parameter
        self.uses.add(term.parameter, Use.DESCRIPTOR, self.where(node, "descriptor"))
        offsets = arguments[1] if len(arguments) > 1 else NOTHING
        if offsets.items:
            self.uses.ranks.setdefault(term.parameter, len(offsets.items))
            for each in offsets.items:
                self.integer(each, node, "offset")

    def call_store(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        if not arguments:
            return NOTHING
        first = arguments[0]
        value = words.get(
            "value", arguments[-1] if len(arguments) == 2 else arguments[1] if len(arguments) > 1 else NOTHING
        )
        pointer: str | None
        if first.descriptor:
            pointer = first.descriptor
            value = arguments[2] if len(arguments) > 2 else value
        elif first.parameter and isinstance(node.func, ast.Attribute) and self.is_value(node.func.value):
            self.described(first, node, arguments)
            pointer = first.parameter
            value = arguments[2] if len(arguments) > 2 else value
        else:
            pointer = self.address(first, node, "address")
            mask = words.get("mask", arguments[2] if len(arguments) > 2 else NOTHING)
            self.element_of(mask, ElementUse.MASK, node, exact=True)
        if pointer is not None:
            self.stored(pointer, value, node)
        return NOTHING

    def stored(self, pointer: str, value: Term, node: ast.AST) -> None:
        type_ = "i1" if value.known and isinstance(value.value, bool) else value.type
        if value.index and not type_.startswith(("elem:", "param:")):
            type_ = type_ if type_.startswith(("i", "u")) else "i32"
        if type_.startswith("elem:") and type_ != f"elem:{pointer}":
            self.uses.copies.append((pointer, type_.removeprefix("elem:"), self.where(node, "copy")))
        elif type_ and not type_.startswith("elem:"):
            self.uses.stored.setdefault(pointer, []).append((type_, self.where(node, "store")))
        self.uses.element(pointer, ElementUse.STORED, self.where(node, "store"))

    def atomic(self, node: ast.Call, name: str, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        if not arguments:
            return NOTHING
        pointer = self.address(arguments[0], node, "atomic operation")
        if pointer is None:
            return NOTHING
        value = words.get("val", arguments[1] if len(arguments) > 1 else NOTHING)
        if name in ("atomic_cas", "atomic_xchg", "atomic_and", "atomic_or", "atomic_xor") or (
            value.known and isinstance(value.value, int)
        ):
            self.uses.element(pointer, ElementUse.INTEGER, self.where(node, "atomic operation"))
            self.uses.element(pointer, ElementUse.ATOMIC, self.where(node, "atomic operation"))
        else:
            self.uses.element(pointer, ElementUse.ATOMIC, self.where(node, "atomic operation"))
            self.stored(pointer, value, node)
        return Term(type=f"elem:{pointer}", elements=frozenset([pointer]))

    def call_make_block_ptr(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        names = ("base", "shape", "strides", "offsets", "block_shape", "order")
        given = {**dict(zip(names, arguments, strict=False)), **words}
        for name in ("shape", "strides", "offsets"):
            for each in given.get(name, NOTHING).items or ():
                self.integer(each, node, name.rstrip("s"))
        for each in given.get("block_shape", NOTHING).items or ():
            self.shape(each, node)
        base = given.get("base", NOTHING)
        self.address(base, node, "base of a block pointer")
        return replace(base, parameter=None)

    def call_make_tensor_descriptor(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        names = ("base", "shape", "strides", "block_shape")
        given = {**dict(zip(names, arguments, strict=False)), **words}
        for name in ("shape", "strides"):
            for each in given.get(name, NOTHING).items or ():
                self.integer(each, node, name.rstrip("s"))
        return Term(descriptor=self.address(given.get("base", NOTHING), node, "base of a descriptor"))

    call__experimental_make_tensor_descriptor = call_make_tensor_descriptor

    def call__experimental_descriptor_load(
        self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]
    ) -> Term:
        pointer = self.address(arguments[0], node, "descriptor") if arguments else None
        return Term(type=f"elem:{pointer}") if pointer else NOTHING

    def call_advance(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        for term in [*arguments[1:], *words.values()]:
            for each in term.items or ():
                self.integer(each, node, "offset")
        return arguments[0] if arguments else NOTHING

    def call_async_copy_global_to_shared(
        self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]
    ) -> Term:
        for term in arguments:
            if term.parameter:
                self.uses.add(term.parameter, Use.DESCRIPTOR, self.where(node, "descriptor"))
        return NOTHING

    def call_arange(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        for term in arguments:
            self.shape(term, node)
        return INDEX

    def call_program_id(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        return INDEX

    call_num_programs = call_program_id

    def call_cdiv(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        for term in arguments:
            self.integer(term, node, "division of integers")
        return Term(scalars=frozenset().union(*(term.scalars for term in arguments)), type="i32", index=True)

    call_swizzle2d = call_cdiv

    def call_zeros(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        for term in (*arguments[:1], *((words["shape"],) if "shape" in words else ())):
            self.shape(term, node)
        type_ = words.get("dtype", arguments[-1] if arguments else NOTHING)
        self.type_argument(type_, node)
        return Term(type=type_.value.name if isinstance(type_.value, Types) else "")

    call_full = call_zeros

    def call_zeros_like(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        return replace(arguments[0], addends=frozenset()) if arguments else NOTHING

    def call_dot(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        if len(arguments) >= 2:
            where = self.where(node, "dot")
            self.uses.dots.append((arguments[0].type, arguments[1].type, where))
            for term in arguments[:2]:
                self.element_of(term, ElementUse.DOT, node, exact=True)
        return Term(type="fp32")

    def call_to(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        type_ = words.get("dtype", arguments[1] if len(arguments) > 1 else NOTHING)
        if not arguments:
            return NOTHING
        self.type_argument(type_, node)
        return self.converted(node, arguments[0], type_.value)

    call_cast = call_to

    def converted(self, node: ast.AST, term: Term, to: Any) -> Term:
        if isinstance(to, Types) and to.name.startswith("*"):
            if term.parameter:
                self.uses.add(term.parameter, Use.POINTER_CAST, self.where(node, "cast to a pointer"))
            return NOTHING
        name = to.name if isinstance(to, Types) else ""
        if name == "fp32":
            self.element_of(term, ElementUse.WIDENED, node, exact=True)
        elif name == "i64":
            self.element_of(term, ElementUse.TO_INT64, node, exact=True)
        if term.type.startswith("elem:") and name and not name.startswith(("elem:", "param:")):
            self.uses.element_casts.setdefault(term.type.removeprefix("elem:"), name)
        integral = name.startswith(("i", "u")) and name != "i1"
        if integral and term.parameter is not None and term.parameter not in self.reader.scalars:
            self.uses.add(term.parameter, Use.INTEGER, self.where(node, "conversion"))
        if name in _FLOATS and term.parameter is not None:
            self.uses.weak_floats.setdefault(term.parameter, set()).add(self.where(node, "conversion"))
        return Term(
            addends=term.addends if integral and not term.elements else frozenset(),
            scalars=term.scalars,
            elements=term.elements if integral else frozenset(),
            type=name,
            index=term.index or integral,
        )

    def call_pointer_type(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        inner = arguments[0].value.name if arguments and isinstance(arguments[0].value, Types) else ""
        return Term(value=Types(f"*{inner}"), known=True)

    def call_where(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        values = [*arguments, *words.values()]
        if len(values) < 3:
            return NOTHING
        self.element_of(values[0], ElementUse.MASK, node, exact=True)
        term = _either(values[1], values[2])
        return replace(
            term,
            parameter=None,
            type=_promoted(values[1], values[2]),
            addends=frozenset() if values[1].is_float or values[2].is_float else term.addends,
        )

    def call_randint(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        for term in arguments[:1]:
            self.integer(term, node, "seed")
        return Term(type="i32")

    def call_rand(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        for term in arguments[:1]:
            self.integer(term, node, "seed")
        return Term(type="fp32")

    call_randn = call_rand

    def call_inline_asm_elementwise(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        type_ = words.get("dtype", arguments[3] if len(arguments) > 3 else NOTHING)
        return Term(type=type_.value.name if isinstance(type_.value, Types) else "")

    def call_static_assert(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        match node.args[:1]:
            case [ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name))]:
                if parameter := self.names.get(name, NOTHING).parameter:
                    self.uses.add(parameter, Use.REFUSED, self.where(node, "assertion"))
        return NOTHING

    def call_constexpr(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        return arguments[0] if arguments else NOTHING

    def call_argmax(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        return INDEX

    call_argmin = call_argmax

    # What a use tells

    def pointers(self, term: Term) -> list[str]:
        """Parameters that may be the address in a term, the likeliest first."""
        names = [name for name in term.addends if name not in self.reader.scalars]
        known = [name for name in names if self.uses.has(name, Use.ADDRESS)]
        plain = [name for name in names if not self.uses.has(name, Use.INTEGER)]
        order = [argument.arg for argument in (self.reader.active or [self.function])[0].arguments]
        return sorted(known or plain or names, key=lambda name: order.index(name) if name in order else len(order))

    def address(self, term: Term, node: ast.AST, what: str) -> str | None:
        """The parameter that an address begins at."""
        for element in term.elements:
            self.uses.element(element, ElementUse.ADDRESS, self.where(node, "part of an address"))
        pointers = self.pointers(term)
        if not pointers:
            return None
        self.uses.add(pointers[0], Use.ADDRESS, self.where(node, what))
        for name in term.scalars - {pointers[0]}:
            self.uses.add(name, Use.INTEGER, self.where(node, "part of an address"))
        return pointers[0]

    def integer(self, term: Term, node: ast.AST, what: str) -> None:
        for each in term.items or ():
            self.integer(each, node, what)
        for name in term.scalars:
            if not self.uses.has(name, Use.ADDRESS):
                self.uses.add(name, Use.INTEGER, self.where(node, what))
        if what in ("bound of the loop", "offset", "shape", "stride"):
            for element in term.elements:
                self.uses.element(element, ElementUse.ADDRESS, self.where(node, what))

    def floating(self, term: Term, node: ast.AST, other: Term) -> None:
        """The term meets a float, or what may be one: a parameter in it is a float, unless other uses say more."""
        if term.index:
            return
        for name in term.scalars:
            if other.is_float:
                self.uses.add(name, Use.FLOAT, self.where(node, "operation with floats"))
            elif other.type.startswith("elem:"):
                self.uses.weak_floats.setdefault(name, set()).add(other.type)

    def shape(self, term: Term, node: ast.AST) -> None:
        for each in term.items or ():
            self.shape(each, node)
        for name in term.scalars:
            self.uses.add(name, Use.SHAPE, self.where(node, "shape"))
            self.uses.add(name, Use.INTEGER, self.where(node, "shape"))

    def type_argument(self, term: Term, node: ast.AST) -> None:
        if term.parameter:
            self.uses.add(term.parameter, Use.DTYPE, self.where(node, "element type"))

    def element_of(self, term: Term, use: ElementUse, node: ast.AST, exact: bool = False) -> None:
        """Note a use of the elements that a term consists of; with ``exact`` only where it is unconverted elements."""
        if term.type.startswith("elem:"):
            self.uses.element(term.type.removeprefix("elem:"), use, self.where(node, use.value))
        elif not exact:
            for name in term.elements:
                self.uses.element(name, use, self.where(node, use.value))


def _either(left: Term | None, right: Term | None) -> Term:
    """What is known of a value that is one of two."""
    if left is None or right is None or left == right:
        return left or right or NOTHING
    if left.items is not None and right.items is not None and len(left.items) == len(right.items):
        return Term(items=tuple(map(_either, left.items, right.items)))
    return Term(
        left.addends | right.addends,
        left.scalars | right.scalars,
        left.elements | right.elements,
        _promoted(left, right),
        left.index or right.index,
        left.parameter if left.parameter == right.parameter else None,
        descriptor=left.descriptor or right.descriptor,
        function=left.function or right.function,
    )


def _promoted(left: Term, right: Term) -> str:
    """The type of an operation: floats win, and of those the wider."""
    for term in (left, right):
        if term.known and isinstance(term.value, int | float) and not isinstance(term.value, bool):
            # Triton takes a Python number as the type of the tensor beside it.
            return right.type if term is left else left.type
    for name in ("fp64", "fp32"):
        if name in (left.type, right.type):
            return name
    for one, other in ((left, right), (right, left)):
        if one.type.startswith("elem:"):
            return one.type if not other.is_float else other.type
    if left.type.startswith("param:"):
        return right.type if not right.type.startswith("param:") else ""
    return left.type or ("" if right.type.startswith("param:") else right.type)


def _folded(left: Any, op: ast.operator, right: Any) -> int | float | None:
    """The result of an operation of two numbers."""
    if not isinstance(left, int | float) or not isinstance(right, int | float) or abs(left) + abs(right) > 1 << 40:
        return None
    try:
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return left // right
    except (ArithmeticError, ValueError):
        pass
    return None


def _constant(located: LocatedNode) -> int | float | str | None:
    """The number or text that a file's name is bound to, also as ``tl.constexpr(1)``."""
    node = located.node
    if isinstance(node, ast.Call) and _last(node.func) == "constexpr" and node.args:
        node = node.args[0]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, int | float) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    return None


def _last(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
