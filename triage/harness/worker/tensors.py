"""Inputs, created by torch from a plan. The values depend on the argument's name and shape alone, so that every
configuration, and a source that stores an operand the other way round, computes on the same numbers."""

import math
import zlib
from typing import Any, Dict, List, NamedTuple

TORCH_TYPES = {
    "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "i1": "bool", "u1": "bool", "B": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip
"""Triton's element types as torch spells them."""
_SEED = 0x7472


class Input(NamedTuple):
    """One tensor. ``stored``: the kernel's argument. ``fingerprint``: of the values before they were rounded to the
    element type."""

    name: str
    stored: Any
    transposed: bool
    block: List[int]
    fingerprint: int

    def as_filled(self) -> Any:
        """The tensor in the order in which it was filled."""
        return self.stored.transpose(-1, -2) if self.transposed else self.stored


def make(torch: Any, plans: List[Dict[str, Any]], device: str) -> List[Input]:
    """Create the tensors. Raises AttributeError when this torch does not have the type, and what torch raises without
    memory."""
    inputs = []
    for plan in plans:
        filled = _filled(torch, plan, device)
        stored = filled.to(getattr(torch, TORCH_TYPES[plan["element"]]))
        if plan["transposed"]:
            stored = stored.transpose(-1, -2).contiguous()
        inputs.append(Input(plan["name"], stored, plan["transposed"], plan["block"], _fingerprint(torch, filled)))
    return inputs


def _filled(torch: Any, plan: Dict[str, Any], device: str) -> Any:
    shape, fill, low, high = plan["shape"], plan["fill"], plan["low"], plan["high"]
    generator = torch.Generator(device=device).manual_seed(_SEED + zlib.crc32(plan["name"].encode()))
    if fill == "normal":
        return torch.randn(shape, generator=generator, device=device)
    if fill == "uniform":
        return torch.rand(shape, generator=generator, device=device) * (high - low) + low
    if fill == "randint":
        return torch.randint(low, high, shape, generator=generator, device=device)
    if fill == "arange":
        return torch.arange(math.prod(shape), device=device).reshape(shape)
    return torch.full(shape, 1.0 if fill == "ones" else 0.0, device=device)


def _fingerprint(torch: Any, values: Any) -> int:
    """Equal for equal values: the sum of the bits, which does not depend on the order of summation."""
    bits = values.view(torch.int32) if values.dtype is torch.float32 else values
    return int(bits.sum(dtype=torch.int64).item())
