"""Names of element types: ``fp16`` in signatures, ``tl.float16`` in the language, ``f16`` in the compiler."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LANGUAGE = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
_CANONICAL = {
    "f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E5M2": "fp8e5", "f8E4M3FN": "fp8e4nv", "f8E4M3FNUZ": "fp8e4b8",
    "f8E5M2FNUZ": "fp8e5b16", **{name: dtype for dtype, name in _LANGUAGE.items()},
}  # fmt: skip


def canonical_dtype(name: str) -> str:
    """An element type as signatures spell it: ``tl.float8e5`` and ``f8E5M2`` are ``fp8e5``, ``uint8`` is ``u8``."""
    name = name.rsplit(".", 1)[-1]
    if name.startswith("float8"):
        return "fp8" + name.removeprefix("float8")
    if match := re.fullmatch(r"(u?)int(\d+)", name):
        return ("u" if match[1] else "i") + match[2]
    return _CANONICAL.get(name, name)


def language_dtype(dtype: str) -> str:
    """An element type of a signature as ``triton.language`` names it: ``fp16`` is ``float16``, ``i32`` ``int32``."""
    if match := re.fullmatch(r"(u?)i?(\d+)", dtype):
        return f"{match[1]}int{match[2]}"
    if dtype.startswith("fp8"):
        return "float8" + dtype.removeprefix("fp8")
    return _LANGUAGE.get(dtype, dtype)


def dtype_text(value: Any) -> str | None:
    """The canonical name of a dtype constexpr (``tl.float16`` → ``fp16``); None for other values."""
    prefixed = r"(?:tl|gl|ttgl|triton\.language)\.(?:u?int\d+|b?float\d+\w*)"
    if isinstance(value, str) and re.fullmatch(rf"{prefixed}|fp(?:16|32|64|8e\w+)|bf16", value):
        return canonical_dtype(value)
    return None


def element_type(type_: Any) -> str:
    """The element type of a pointer or a descriptor: ``*fp16`` and ``tensordesc<fp16[…]>`` are ``fp16``."""
    return str(type_).lstrip("*").removeprefix("tensordesc<").partition("[")[0]


def element_bits(type_: str) -> int | None:
    """Width in memory of an element type: ``*fp16`` and ``fp16`` are 16; None where the name has no width."""
    name = type_.lstrip("*")
    if name.startswith("fp8") or name == "i1":
        return 8
    match = re.search(r"(\d+)\Z", name)
    return int(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class Holds:
    """What a type represents: the significant bits of a number, and the largest and the smallest one (for floating
    point the smallest positive normal number, for integers the least)."""

    bits: int
    largest: float
    smallest: float

    @property
    def integer(self) -> bool:
        """Whole numbers alone."""
        return self.smallest <= 0


def _integers(width: int, *, signed: bool) -> Holds:
    bits = width - signed
    return Holds(bits, (1 << bits) - 1, -(1 << bits) if signed else 0)


HOLDS: Mapping[str, Holds] = {
    # IEEE 754, bfloat16, and the OCP and FNUZ 8-bit formats (OFP8, revision 1.0; LLVM's APFloat for the others).
    "fp64": Holds(53, 1.7976931348623157e308, 2.0**-1022),
    "fp32": Holds(24, 3.4028234663852886e38, 2.0**-126),
    "bf16": Holds(8, 3.3895313892515355e38, 2.0**-126),
    "fp16": Holds(11, 65504.0, 2.0**-14),
    "fp8e5": Holds(3, 57344.0, 2.0**-14),
    "fp8e5b16": Holds(3, 57344.0, 2.0**-15),
    "fp8e4nv": Holds(4, 448.0, 2.0**-6),
    "fp8e4b8": Holds(4, 240.0, 2.0**-7),
    "fp8e4b15": Holds(4, 1.875, 2.0**-14),
    "i1": Holds(1, 1, 0),
    **{f"i{width}": _integers(width, signed=True) for width in (8, 16, 32, 64)},
    **{f"u{width}": _integers(width, signed=False) for width in (8, 16, 32, 64)},
}


def loss(before: str, after: str) -> str:
    """What a cast may lose, with its numbers; "" where every value of the one type is one of the other, and where a
    type is not known."""
    old, new = HOLDS.get(before), HOLDS.get(after)
    if old is None or new is None or before == after:
        return ""
    lost = []
    if new.largest < old.largest:
        lost.append(f"overflows past {_number(new.largest)}")
    if new.integer and not old.integer:
        lost.append("fractions are cut off")
    elif new.integer and old.integer and new.smallest > old.smallest:
        lost.append(f"holds nothing below {_number(new.smallest)}")
    if new.bits < old.bits and not (new.integer and old.integer):
        lost.append(f"keeps {new.bits} of {old.bits} significant bits")
    if not new.integer and not old.integer and new.smallest > old.smallest:
        lost.append(f"loses precision below {new.smallest:.3g}")
    return ", ".join(lost)


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1 and abs(value) < 1e20 and value == int(value) else f"{value:.3g}"
