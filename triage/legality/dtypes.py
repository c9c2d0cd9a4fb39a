"""Element types under one name each, for all spellings: Triton, torch, PTX or LLVM."""

from dataclasses import dataclass

from triage.model.errors import InputError


@dataclass(frozen=True, slots=True)
class DType:
    """An element type. ``name`` is PTX's (``e4m3``, ``s8``), ``bits`` its width in memory: tf32 takes the 32 of the
    fp32 it is read from; ``triton`` is Triton's spelling in a signature, or "" where it has none."""

    name: str
    bits: int
    triton: str

    def __str__(self) -> str:
        return self.name


_SPELLINGS: dict[DType, tuple[str, ...]] = {
    DType("f16", 16, "fp16"): ("fp16", "float16", "half"),
    DType("bf16", 16, "bf16"): ("bfloat16",),
    DType("tf32", 32, "fp32"): ("tensorfloat32",),
    DType("f32", 32, "fp32"): ("fp32", "float32", "float"),
    DType("f64", 64, "fp64"): ("fp64", "float64", "double"),
    DType("e4m3", 8, "fp8e4nv"): ("fp8e4nv", "float8e4nv", "float8_e4m3fn", "f8e4m3fn", "fp8e4m3", "f8e4m3"),
    DType("e5m2", 8, "fp8e5"): ("fp8e5", "float8e5", "float8_e5m2", "f8e5m2", "fp8e5m2"),
    DType("e4m3fnuz", 8, "fp8e4b8"): ("fp8e4b8", "float8e4b8", "float8_e4m3fnuz", "f8e4m3fnuz"),
    DType("e5m2fnuz", 8, "fp8e5b16"): ("fp8e5b16", "float8e5b16", "float8_e5m2fnuz", "f8e5m2fnuz"),
    DType("e4m3b15", 8, "fp8e4b15"): ("fp8e4b15", "float8e4b15"),
    DType("e3m2", 6, ""): ("fp6e3m2",),
    DType("e2m3", 6, ""): ("fp6e2m3",),
    DType("e2m1", 4, ""): ("fp4", "fp4e2m1", "f4e2m1"),
    DType("ue8m0", 8, ""): ("e8m0",),
    DType("ue4m3", 8, ""): (),
    DType("s4", 4, ""): ("i4", "int4"),
    DType("u4", 4, ""): ("uint4",),
    DType("s8", 8, "i8"): ("i8", "int8"),
    DType("u8", 8, "u8"): ("uint8",),
    DType("s16", 16, "i16"): ("i16", "int16"),
    DType("u16", 16, "u16"): ("uint16",),
    DType("s32", 32, "i32"): ("i32", "int32"),
    DType("u32", 32, "u32"): ("uint32",),
    DType("s64", 64, "i64"): ("i64", "int64"),
    DType("u64", 64, "u64"): ("uint64",),
    DType("b1", 1, "i1"): ("i1", "int1", "bool"),
}

_BY_NAME = {name: dtype for dtype, others in _SPELLINGS.items() for name in (dtype.name, *others)}


def find(text: str) -> DType | None:
    """The type that a text names, in any spelling and case, with or without ``tl.`` and ``torch.``; else None."""
    return _BY_NAME.get(text.strip().rsplit(".", 1)[-1].lower())


def parse(text: str) -> DType:
    """As ``find``. Raises InputError with the known names."""
    dtype = find(text)
    if dtype is None:
        raise InputError(f"type {text!r}: known are {', '.join(dtype.name for dtype in _SPELLINGS)}")
    return dtype


def name(of: str | DType) -> str | None:
    """The PTX name of a type in any spelling, as ``find``; else None."""
    dtype = find(str(of))
    return dtype.name if dtype else None
