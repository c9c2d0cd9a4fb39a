"""What functions of triton.language show of their arguments, and return."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from triage.drafts.device.terms import DTYPES, FLOATS, INDEX, NOTHING, Term, Types, either, promoted
from triage.drafts.device.use_recorder import UseRecorder, last_name
from triage.drafts.device.uses import ElementUse, Use
from triage.drafts.jitted import dotted

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


class LanguageCalls(UseRecorder):
    """Calls of triton.language: a function that is not in a table has a method ``call_NAME``."""

    def language_call(self, node: ast.Call, name: str, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        """What ``name`` returns, a function that is not of the project."""
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
            if last_name(node.func) in ("maximum", "minimum", "max", "min", "add", "mul", "sub"):
                term = replace(
                    term,
                    type=promoted(term, other),
                    scalars=term.scalars | other.scalars,
                    elements=term.elements | other.elements,
                    index=term.index or other.index,
                )
        return replace(term, parameter=None, known=False)

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
        stated = {**dict(zip(names, arguments, strict=False)), **words}
        for name in ("shape", "strides", "offsets"):
            for each in stated.get(name, NOTHING).items or ():
                self.integer(each, node, name.rstrip("s"))
        for each in stated.get("block_shape", NOTHING).items or ():
            self.shape(each, node)
        base = stated.get("base", NOTHING)
        self.address(base, node, "base of a block pointer")
        return replace(base, parameter=None)

    def call_make_tensor_descriptor(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        names = ("base", "shape", "strides", "block_shape")
        stated = {**dict(zip(names, arguments, strict=False)), **words}
        for name in ("shape", "strides"):
            for each in stated.get(name, NOTHING).items or ():
                self.integer(each, node, name.rstrip("s"))
        return Term(descriptor=self.address(stated.get("base", NOTHING), node, "base of a descriptor"))

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
        if name in FLOATS and term.parameter is not None:
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
        term = either(values[1], values[2])
        return replace(
            term,
            parameter=None,
            type=promoted(values[1], values[2]),
            addends=frozenset() if values[1].is_float or values[2].is_float else term.addends,
        )

    def seed(self, arguments: list[Term], node: ast.Call) -> None:
        """The first argument of a function of random numbers."""
        for term in arguments[:1]:
            self.integer(term, node, "seed")
            for name in term.scalars:
                self.uses.add(name, Use.SEED, self.where(node, "seed"))

    def call_randint(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        self.seed(arguments, node)
        return Term(type="i32")

    def call_rand(self, node: ast.Call, arguments: list[Term], words: Mapping[str, Term]) -> Term:
        self.seed(arguments, node)
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
