"""The argument types of a signature, as far as making a value of one needs them.

Spellings: ``str_to_ty`` in triton/compiler/code_generator.py; the integer ranges are those of the C types that the
launchers convert to (``ty_to_cpp`` in triton/backends/nvidia/driver.py).
"""

import re
from dataclasses import dataclass
from enum import Enum

_POINTER = re.compile(r"\*k?(?P<element>\w+)")
_DESCRIPTOR = re.compile(r"tensordesc<(?P<element>\w+)\[(?P<block>[\d, ]+)\](?:,.*)?>", re.DOTALL)
_INTEGER = re.compile(r"(?P<sign>[iu])(?P<bits>\d+)")

ELEMENT_BYTES = {
    "fp8e4nv": 1, "fp8e5": 1, "fp8e4b8": 1, "fp8e5b16": 1, "fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8,
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u1": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "B": 1,
}  # fmt: skip
"""Bytes of one element in memory, for the types that torch has as well (fp8e4b15 is not among them)."""

MANTISSA_BITS = {
    "fp64": 40, "fp32": 10, "fp16": 10, "bf16": 7, "fp8e4nv": 3, "fp8e4b8": 3, "fp8e5": 2, "fp8e5b16": 2,
}  # fmt: skip
"""Stored bits of the significand that two right results share. fp32 counts as TF32, which ``tl.dot`` rounds its fp32
operands to by default; fp64 has 52, but is summed in itself, and another order shows in the last of them."""


class Form(Enum):
    """What an argument of a type is."""

    POINTER = "pointer"
    DESCRIPTOR = "descriptor"
    INTEGER = "integer"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """A type, taken apart. ``element`` is the type in memory (or the scalar's own), ``block`` a descriptor's tile."""

    form: Form
    element: str
    block: tuple[int, ...] = ()

    @property
    def is_float(self) -> bool:
        """True for a floating-point element."""
        return self.element in MANTISSA_BITS

    @property
    def default_fill(self) -> str:
        """How a tensor is filled that does not say."""
        return "normal" if self.is_float else "randint"

    def integer_range(self) -> tuple[int, int]:
        """The least and the greatest value of an integer element. One bit holds 0 and 1, signed or not."""
        match = _INTEGER.fullmatch(self.element)
        bits = int(match["bits"]) if match else 1
        if match and match["sign"] == "i" and bits > 1:
            return -(1 << bits - 1), (1 << bits - 1) - 1
        return 0, (1 << bits) - 1


def argument_type(text: str) -> ArgumentType | None:
    """Take a type of a signature apart; None for one whose values cannot be made here: a pointer to pointers, a TMA
    descriptor without a tile, an im2col descriptor, an element that torch does not have."""
    if match := _POINTER.fullmatch(text):
        type_ = ArgumentType(Form.POINTER, match["element"])
    elif match := _DESCRIPTOR.fullmatch(text):
        block = tuple(int(extent) for extent in match["block"].split(","))
        type_ = ArgumentType(Form.DESCRIPTOR, match["element"], block)
    else:
        type_ = ArgumentType(Form.FLOAT if text in MANTISSA_BITS else Form.INTEGER, text)
    return type_ if type_.element in ELEMENT_BYTES else None
