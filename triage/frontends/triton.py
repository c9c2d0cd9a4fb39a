"""Triton and Gluon: their types, divisors and options, as texts and values of a case."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from triage.model.target import Target

_DTYPES = {
    "i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e5": "float8e5", "fp8e4nv": "float8e4nv", "fp8e4b8": "float8e4b8",
    "fp8e4b15": "float8e4b15", "fp8e5b16": "float8e5b16",
}  # fmt: skip
OBJECT = re.compile(r"(?:tl|gl|ttgl|triton|gluon)\.[A-Za-z_]")
"""The beginning of a constexpr that names an object of the language."""
_POINTERS = ("*fp32", "*fp16")
"""The pointer types of most reports."""
_SCALAR = r"(?:fp8e4nv|fp8e4b8|fp8e4b15|fp8e5b16|fp8e5|fp16|bf16|fp32|fp64|[iu](?:1|8|16|32|64)|B)"
_TYPE = re.compile(rf"(?:\*+k?)?{_SCALAR}|nvTmaDesc")
_DESCRIPTOR = re.compile(
    rf"tensordesc(?:_im2col)?<{_SCALAR}\[ *\d+(?: *, *\d+)* *\](?:, *input_rank=\d+)?(?:, *(?P<layout>[^<>]+))?>"
)

READ_FROM_TTGIR_ON = frozenset(
    {
        "num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "num_consumer_groups",
        "num_buffers_warp_spec", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint",
    }
)  # fmt: skip
"""By make_ttgir and what follows it, in some release (triton/backends/*/compiler.py); Triton's layouts, and with them
warps and clusters, are made there."""


def check_type(value: Any, bad: Any) -> None:
    """A type as ``str_to_ty`` of any release spells it. A descriptor's layout is a call with literals: Triton
    evaluates that text."""
    if isinstance(value, str):
        descriptor = _DESCRIPTOR.fullmatch(value)
        if _TYPE.fullmatch(value) or (descriptor and (not descriptor["layout"] or _is_layout(descriptor["layout"]))):
            return
    raise bad(f"expected a Triton type such as '*fp16', 'i32' or 'tensordesc<fp16[128, 64]>', found {value!r}")


def _is_layout(text: str) -> bool:
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(argument)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def check_divisor(value: Any, bad: Any) -> None:
    """A divisor is a positive power of two; Triton's attribute knows 16, and 1 takes the default back."""
    if not isinstance(value, int) or isinstance(value, bool) or value not in (1, 16):
        raise bad(f"expected 16 (known divisible by 16) or 1 (nothing known), found {value!r}")


def check_options(options: Mapping[str, Any], bad: Any) -> None:
    """The three launch options have hard shapes on every release; the backend checks the rest."""
    for name in ("num_warps", "num_stages", "num_ctas"):
        value = options.get(name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < (0 if name == "num_stages" else 1):
            raise bad(f"options.{name}", f"expected a positive integer, found {value!r}")
        if name == "num_warps" and value & (value - 1):
            raise bad(f"options.{name}", f"must be a power of two (triton/backends/*/compiler.py), found {value}")


def check_target(target: Target, bad: Any) -> None:
    """Every target that can be spelled is one of Triton's."""


def simpler_types(type_: str) -> Iterator[str]:
    """See :class:`triage.frontends.frontend.Frontend`."""
    if type_.startswith("*"):
        yield from takewhile(lambda simpler: simpler != type_, _POINTERS)
    elif type_.startswith(("i", "u")) and type_ != "i32":
        yield "i32"
    elif type_.startswith(("fp", "bf")) and type_ != "fp32":
        yield "fp32"


def dtype(text: str) -> str | None:
    """A dtype by any of its names, as a constexpr's value; None for other text."""
    short = text.removeprefix("tl.").removeprefix("triton.language.")
    name = _DTYPES.get(short, short if short in _DTYPES.values() else None)
    return name and f"tl.{name}"


def store(pointer: str, block: str) -> str:
    """See :class:`triage.frontends.frontend.Frontend`."""
    return f"tl.store({pointer} + tl.zeros_like({block}).to(tl.int32), {block})"
