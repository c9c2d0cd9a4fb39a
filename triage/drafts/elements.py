"""The types of the elements behind pointers, of all pointers of a kernel together.

A tensor that the user passes has a type that no source states. All such tensors of a kernel have the same: packages
compute in one type, and operands of ``tl.dot`` must agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from triage.drafts.device.uses import ElementUse, Use, Uses
from triage.drafts.host.frame import Launch
from triage.drafts.host.values import HostDescriptor, Int, TensorValue
from triage.drafts.model import Basis, Value

_LANGUAGE = {
    "fp16": "tl.float16", "bf16": "tl.bfloat16", "fp32": "tl.float32", "fp64": "tl.float64", "i1": "tl.int1",
    "i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64", "u8": "tl.uint8", "u16": "tl.uint16",
    "u32": "tl.uint32", "u64": "tl.uint64", "fp8e4nv": "tl.float8e4nv", "fp8e5": "tl.float8e5",
    "fp8e4b8": "tl.float8e4b8", "fp8e5b16": "tl.float8e5b16",
}  # fmt: skip
_INDEX = re.compile(
    r"cu_?seq|seq_?(len|idx)|lens?$|length|expert|block_?tables?|num_|count|offset|page|token_ids|topk|indptr|ptrs?_idx",
    re.I,
)
"""Indices that packages keep as int32 (attention and mixture-of-experts metadata); torch's own are int64."""
_INDICES = re.compile(
    r"(^|_)(idx|index|indices|ids?|labels?|targets?|cu_seqlens?|seqlens?|offsets?|positions?|counts?|indptr|mapping|perm)"
    r"(_ptrs?|s)?(_|$)",
    re.I,
)
_FLOATING = {ElementUse.FLOAT, ElementUse.FLOAT32, ElementUse.WIDENED, ElementUse.DOT}
_MASK = re.compile(r"mask|flag|is_|has_|valid", re.I)

_AMD = {"fp8e4b8": "fp8e4nv", "fp8e5b16": "fp8e5"}
_ALIKE = {"i32": ("i64",), "i64": ("i32",), "i1": ("u8", "i8", "i32")}
"""Types of which the other ones are used in the same way."""


@dataclass
class ElementTypes:
    """``types``: for each pointer what its elements may be, best first. ``user``: the types of the user's tensors."""

    types: dict[str, list[Value]] = field(default_factory=dict)
    user: list[str] = field(default_factory=lambda: ["fp32"])

    def of(self, name: str) -> list[Value]:
        """The candidates for a pointer."""
        return self.types.get(name, [])

    def language_type(self, name: str | None) -> str:
        """The name of a type in Triton's language; for None that of the user's tensors."""
        return _LANGUAGE.get(name or self.user[0], "tl.float32")

    def meets_floats(self, types: set[str]) -> str | None:
        """Of the types that a scalar is combined with, a pointer whose elements are floats."""
        for type_ in sorted(types):
            if not type_.startswith("elem:"):
                return "floats"
            pointer = type_.removeprefix("elem:")
            best = self.types.get(pointer)
            if best and str(best[0].value).lstrip("*").startswith(("fp", "bf", "tensordesc<fp", "tensordesc<bf")):
                return pointer
        return None


def element_types(launches: list[Launch], uses: Uses, pointers: frozenset[str], half: str) -> ElementTypes:
    """Decide the types of a kernel's pointers. ``half``: the 16-bit float that the project prefers."""
    result = ElementTypes()
    launched = {name: _launched(name, launches) for name in pointers}
    inferred = {name: _inferred(name, uses) for name in pointers}
    # Pointers whose elements are multiplied or copied have one type.
    stated = {name: types[0] for name, types in launched.items() if types and types[0].value is not None}
    dotted: list[str] = []
    for left, right, _ in uses.dots:
        for own, opposite in ((left, right), (right, left)):
            name, peer = own.removeprefix("elem:"), opposite.removeprefix("elem:")
            if name not in pointers or name in stated:
                continue
            if opposite.startswith("elem:") and peer in stated:
                dotted.append(str(stated[peer].value))
            elif opposite in ("fp16", "bf16", "fp32"):
                dotted.append(opposite)
    for left, right, _ in uses.dots if uses.integer_sums else []:
        for name in (left.removeprefix("elem:"), right.removeprefix("elem:")):
            if name in pointers and name not in stated:
                inferred[name] = Value("i8", Basis.USE, uses.integer_sums[0])
    for before, after, at in uses.carried:
        for own, opposite in ((before, after), (after, before)):
            name, peer = own.removeprefix("elem:"), opposite.removeprefix("elem:")
            type_ = opposite if opposite == "fp32" else stated[peer].value if peer in stated else None
            if name in pointers and name not in stated and type_ is not None:
                inferred[name] = Value(type_, Basis.USE, at)
    for target, source, _ in uses.copies:
        if source in inferred and target in inferred and inferred[target] is None:
            inferred[target] = inferred[source]
    floats = {name for name in pointers if inferred[name] is None and name not in stated}
    # The operands of a dot agree.
    result.user = sorted(_user_types(uses, floats, half), key=lambda type_: type_ not in dotted)
    for name in pointers:
        result.types[name] = _candidates(name, result.user, launched[name], inferred[name], uses, launches)
    return result


def _launched(name: str, launches: list[Launch]) -> list[Value]:
    """Types that launches pass; None for the user's own."""
    values = []
    for launch in launches:
        for value in launch.arguments.get(name, ()):
            match value:
                case TensorValue(dtype=dtype) | HostDescriptor(tensor=TensorValue(dtype=dtype)):
                    values.append(Value(dtype, Basis.LAUNCH, launch.where))
    return values


def _inferred(name: str, uses: Uses) -> Value | None:
    """The type that the kernel's use of elements asks for; None for floats of any width."""
    elements = uses.elements.get(name, {})
    cast = uses.element_casts.get(name)
    if at := elements.get(ElementUse.ADDRESS):
        return Value("i32" if _INDEX.search(name) or cast == "i64" else "i64", Basis.USE, at)
    stored = [(type_, at) for type_, at in uses.stored.get(name, []) if not type_.startswith(("elem:", "param:"))]
    for type_, at in stored:
        if (type_.startswith(("i", "u")) and type_ != "i1") or type_.startswith("fp8"):
            return Value(type_, Basis.USE, at)
        if type_ == "i1":
            return Value("i1", Basis.USE, at)
    if at := elements.get(ElementUse.INTEGER):
        if ElementUse.DOT in elements or ElementUse.FLOAT32 in elements:
            return None
        if _MASK.search(name):
            return Value("i1", Basis.USE, at)
        return Value("i32" if ElementUse.ATOMIC in elements or _INDEX.search(name) else "i64", Basis.USE, at)
    if not elements.keys() & _FLOATING and _INDICES.search(name) and ElementUse.STORED not in elements:
        return Value("i32" if _INDEX.search(name) else "i64", Basis.NAME, "named as indices")
    if (at := elements.get(ElementUse.MASK)) and ElementUse.FLOAT not in elements:
        return Value("i1", Basis.USE, at)
    if at := elements.get(ElementUse.FLOAT32):
        return Value("fp32", Basis.USE, at)
    if at := elements.get(ElementUse.ATOMIC):
        return Value("fp32", Basis.USE, at)
    return None


def _user_types(uses: Uses, names: set[str], half: str) -> list[str]:
    """The floats that the user's tensors may have, the likeliest first."""
    elements = [uses.elements.get(name, {}) for name in names]
    if any(ElementUse.DOT in each or ElementUse.WIDENED in each for each in elements):
        return [half, "bf16" if half == "fp16" else "fp16", "fp32"]
    return ["fp32", half, "bf16" if half == "fp16" else "fp16"]


def _candidates(
    name: str, user: list[str], launched: list[Value], inferred: Value | None, uses: Uses, launches: list[Launch]
) -> list[Value]:
    """The types of a pointer, in the order of its launches; where those do not state it, as the kernel uses it."""
    address = uses.has(name, Use.ADDRESS) or uses.has(name, Use.DESCRIPTOR) or "named as an address"
    values: list[Value] = []
    # What AMD's GPUs up to gfx942 have in place of another 8-bit float comes after that.
    launched = launched + [replace(value, value=_AMD[value.value]) for value in launched if value.value in _AMD]
    for value in sorted([*launched, Value(None, Basis.USE, address)], key=lambda value: value.value in _AMD):
        if value.value is not None:
            values.append(value)
        elif inferred is not None:
            values += [replace(inferred, value=type_) for type_ in (inferred.value, *_ALIKE.get(inferred.value, ()))]
        if value.value is None and (inferred is None or inferred.value == "fp32"):
            at = f"{value.where}; the user's type"
            values += [Value(type_, Basis.ASSUMED, at) for type_ in user]
    return [Value(_pointer(name, str(value.value), launches, uses), value.basis, value.where) for value in values]


def _pointer(name: str, element: str, launches: list[Launch], uses: Uses) -> str:
    """The type of an argument whose elements are of a type."""
    for launch in launches:
        for value in launch.arguments.get(name, ()):
            if isinstance(value, HostDescriptor):
                block = value.block or (Int(),) * uses.ranks.get(name, 2)
                return f"tensordesc<{element}{[size.value or 64 for size in block]}>"
    if uses.has(name, Use.DESCRIPTOR) and not uses.has(name, Use.ADDRESS):
        return f"tensordesc<{element}{[64] * uses.ranks.get(name, 2)}>"
    return f"*{element}"
