"""Names of element types: ``fp16`` in signatures, ``tl.float16`` in the language, ``f16`` in the compiler."""

import re
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
