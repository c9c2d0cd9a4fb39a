"""Facts about torch for a process without torch: those that the target decides, and definitions.

One table by dotted name, for a machine whose only GPU is the target's and a program that has just started.
"""

import math
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Callable, Dict, Optional, Tuple

from . import adapter
from .placeholders import ABSENT, StandIn, base, module, part, refuse

_DTYPES = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8,
    "bfloat16": 2, "float16": 2, "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1, "qint8": 1, "quint8": 1, "qint32": 4, "quint4x2": 1, "quint2x4": 1,
    **{"%sint%d" % (sign, bits): 1 for sign in ("", "u") for bits in range(1, 8)},
}  # fmt: skip
"""Bytes of an element."""
_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64",
    "chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
_FORMATS = {
    "float64": (sys.float_info.max, 2.0**-52, 2.0**-1022, 1e-15),
    "float32": ((2 - 2.0**-23) * 2.0**127, 2.0**-23, 2.0**-126, 1e-6),
    "float16": (65504.0, 2.0**-10, 2.0**-14, 1e-3),
    "bfloat16": ((2 - 2.0**-7) * 2.0**127, 2.0**-7, 2.0**-126, 1e-2),
    "float8_e4m3fn": (448.0, 0.125, 2.0**-6, 1.0),
    "float8_e4m3fnuz": (240.0, 0.125, 2.0**-7, 1.0),
    "float8_e5m2": (57344.0, 0.25, 2.0**-14, 1.0),
    "float8_e5m2fnuz": (57344.0, 0.125, 2.0**-15, 1.0),
}
"""Torch's values of max, eps, tiny and resolution."""
_OF_TRITON = {
    "3.0": "2.4.1", "3.1": "2.5.1", "3.2": "2.6.0", "3.3": "2.7.1", "3.4": "2.8.0", "3.5": "2.9.1", "3.6": "2.10.0",
    "3.7": "2.12.0",
}  # fmt: skip
"""The release of torch that requires a release of Triton (``Requires-Dist`` on PyPI)."""
_NEWEST = "2.13.0"
"""For later releases of Triton."""
_CUDA = {(2, 11): "13.0", (2, 8): "12.8", (2, 7): "12.6", (2, 5): "12.4", (2, 4): "12.1"}
"""The CUDA that PyPI's torch is built with, from a release on (its ``nvidia-cuda-runtime``)."""
_PLUGINS = ("npu", "hpu", "mlu", "musa", "gcu", "sdaa", "supa", "ipu")
"""Parts of torch that come with other packages."""
_EXIST = (
    "compile", "compiler", "compiler.disable", "compiler.allow_in_graph", "library", "library.custom_op",
    "library.register_fake", "library.register_autograd", "library.register_kernel", "library.Library",
    "library.define", "library.impl", "amp", "amp.custom_fwd", "amp.custom_bwd", "cuda.amp", "cuda.amp.custom_fwd",
    "cuda.amp.custom_bwd", "autograd", "autograd.Function", "nn", "nn.Module", "nn.Parameter", "nn.RMSNorm",
    "nn.functional", "nn.functional.scaled_dot_product_attention", "inference_mode", "no_grad", "ops", "_dynamo",
    "_dynamo.disable", "_dynamo.allow_in_graph", "_inductor", "_inductor.config", "fx", "jit", "jit.script", "cuda",
    "cuda.device", "cuda.Stream", "cuda.Event", "cuda.CUDAGraph", "cuda.graph", "cuda.current_stream",
    "cuda.synchronize", "distributed", "backends", "backends.cuda", "backends.cudnn", "utils", "serialization",
    "serialization.add_safe_globals", "_C", "_scaled_mm", "_int_mm", "vmap", "func", "linalg", "testing", "empty",
    "empty_like", "zeros", "ones", "tensor", "arange", "bmm", "matmul", "addmm", "Generator",
)  # fmt: skip
"""Names that every torch since 2.4 has."""
_SINCE = {
    "accelerator": (2, 6), "library.triton_op": (2, 6), "library.wrap_triton": (2, 6), "float8_e8m0fnu": (2, 7),
    "float4_e2m1fn_x2": (2, 8), **{"int%d" % bits: (2, 6) for bits in range(1, 8)},
}  # fmt: skip
"""Names that came later, with the first release that has them."""
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)[-_.]?(a|b|rc|dev)?\d*(?:\+(.*))?\Z")


def torch_version(triton: str) -> str:
    """The version of the installed torch, else of the release that requires this Triton."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return _OF_TRITON.get(".".join(triton.split(".")[:2]), _NEWEST)


def cuda_version(release: str) -> Optional[str]:
    """The CUDA of a torch release: by its local version (``+cu128``), or PyPI's; None where neither is known."""
    local = re.search(r"\+cu(\d+)(\d)", release)
    if local is not None:
        return ".".join(local.groups())
    return next((cuda for since, cuda in _CUDA.items() if Version(release) >= since), None)


def facts(target: Dict[str, Any], device: Dict[str, Any], release: str) -> Dict[str, Any]:
    """The table. ``device``: properties of a product that has the target's GPU; empty where none is known. ``release``:
    torch's version."""
    cuda = target["backend"] == "cuda"
    capability = adapter.capability(target["backend"], target["arch"])
    dtypes = {name: dtype(name, size) for name, size in _DTYPES.items()}
    properties = StandIn("torch.cuda.get_device_properties(…)", _properties(target, capability, device), computed=True)
    # The version may be unknown, but there is one.
    toolkit = (cuda and cuda_version(release)) or StandIn(
        "torch.version.%s" % target["backend"], truth=True, computed=True
    )
    no, yes, zero, one = _returns(False), _returns(True), _returns(0), _returns(1)
    table: Dict[str, Any] = {
        **{name: StandIn("torch." + name) for name in (*_EXIST, *_SINCE)},
        "__version__": Version(release),
        "version": module("torch.version"),  # Kernels read its parts, which Triton allows of modules alone.
        "version.__version__": release,
        "version.cuda": toolkit if cuda else None,
        "version.hip": None if cuda else toolkit,
        "version.xpu": None,
        **dtypes,
        **{alias: dtypes[name] for alias, name in _ALIASES.items()},
        **{name: getattr(math, name) for name in ("pi", "e", "inf", "nan")},
        "dtype": dtype,
        "device": Device,
        "finfo": FInfo,
        "iinfo": IInfo,
        "Tensor": base("torch.Tensor"),
        "Size": type("Size", (tuple,), {}),
        "get_device_module": lambda device=None: part("torch.cuda"),
        "get_default_dtype": _returns(dtypes["float32"]),
        # The GPU of the target, and no other.
        "cuda.is_available": yes,
        "cuda.device_count": one,
        "cuda.current_device": zero,
        "cuda.get_device_capability": _returns(capability),
        "cuda.get_device_name": lambda device=None: properties.name,
        "cuda.get_device_properties": _returns(properties),
        "cuda.is_bf16_supported": lambda emulated=True, **named: (
            not cuda or capability >= (8, 0) or named.get("including_emulation", emulated)
        ),
        "accelerator.is_available": yes,
        "accelerator.device_count": one,
        "accelerator.current_accelerator": lambda *arguments, **named: Device("cuda"),
        "accelerator.current_device_index": zero,
        "utils._triton.has_triton": yes,
        "utils._triton.has_triton_package": yes,
        **{"%s.is_available" % name: no for name in ("xpu", "mps", "backends.mps", "mtia")},
        **{"%s.device_count" % name: zero for name in ("xpu", "mps", "mtia")},
        **dict.fromkeys(_PLUGINS, ABSENT),
        # The state of a program that has done nothing yet.
        **dict.fromkeys(
            (
                "cuda.is_initialized", "cuda.is_current_stream_capturing", "compiler.is_compiling",
                "compiler.is_dynamo_compiling", "compiler.is_exporting", "_dynamo.is_compiling", "jit.is_scripting",
                "jit.is_tracing", "onnx.is_in_onnx_export", "are_deterministic_algorithms_enabled",
                "is_autocast_enabled", "distributed.is_initialized",
            ),
            no,
        ),
        "distributed.is_available": yes,
        "is_grad_enabled": yes,
        "get_float32_matmul_precision": _returns("highest"),
    }  # fmt: skip
    for name, since in _SINCE.items():
        if not Version(release) >= since:
            table = {path: value for path, value in table.items() if path.partition(".")[0] != name or path == name}
            table[name] = ABSENT
    return {"torch." + name: value for name, value in table.items()}


def _returns(value: Any) -> Callable[..., Any]:
    return lambda *arguments, **named: value


def _properties(target: Dict[str, Any], capability: Tuple[int, int], device: Dict[str, Any]) -> Dict[str, Any]:
    """Properties of the GPU under torch's names."""
    known = {"major": capability[0], "minor": capability[1], "warp_size": target["warp_size"]}
    if target["backend"] == "hip":
        known["gcnArchName"] = target["arch"]
    if device:
        known.update(
            name=device["name"],
            total_memory=device["memory_bytes"],
            multi_processor_count=device["multiprocessors"],
            max_threads_per_multi_processor=device["warps"] * target["warp_size"],
            shared_memory_per_block=min(_USUAL_SHARED, device["shared_bytes"]),
            shared_memory_per_block_optin=device["shared_bytes"],
            shared_memory_per_multiprocessor=device["shared_bytes_multiprocessor"],
            regs_per_multiprocessor=_REGISTERS,
        )
    return known


_USUAL_SHARED = 49152
"""Shared memory of a CUDA block that does not opt in to more."""
_REGISTERS = 65536


class dtype:  # noqa: N801 - torch's name
    """A type of elements; only itself is equal to it."""

    def __init__(self, name: str, itemsize: int) -> None:
        self._name, self.itemsize = name, itemsize
        self.is_floating_point = "float" in name
        self.is_complex = name.startswith("complex")
        self.is_signed = not name.startswith("uint") and name not in ("bool", "float8_e8m0fnu")

    def __repr__(self) -> str:
        return "torch." + self._name


class FInfo:
    """Limits of a type of floating-point numbers."""

    def __init__(self, dtype: Any = None) -> None:
        name = _name(dtype) if dtype is not None else "float32"
        name = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}.get(name, name)
        if name not in _FORMATS:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle '%s'" % name)
        self.max, self.eps, self.tiny, self.resolution = _FORMATS[name]
        self.min, self.smallest_normal, self.bits, self.dtype = -self.max, self.tiny, _DTYPES[name] * 8, name


class IInfo:
    """Limits of a type of integers."""

    def __init__(self, dtype: Any) -> None:
        name = _name(dtype)
        if re.match(r"u?int(8|16|32|64)\Z", name) is None:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle '%s'" % name)
        self.bits, self.dtype = _DTYPES[name] * 8, name
        signed = not name.startswith("u")
        self.min, self.max = -(1 << self.bits - 1) if signed else 0, (1 << self.bits - signed) - 1


def _name(value: Any) -> str:
    if type(value) is not dtype:
        raise TypeError("type must be torch.dtype, not %s" % (value,))
    return repr(value)[len("torch.") :]


class Device:
    """``torch.device``."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        device, index = [*arguments, *named.values(), None][:2]
        if type(device) is StandIn:
            refuse("torch.device(…)")
        if isinstance(device, int):
            device, index = "cuda", device
        kind, _, number = str(device).partition(":")
        self.type, self.index = kind, int(number) if number else index

    def __repr__(self) -> str:
        return "device(type=%r%s)" % (self.type, "" if self.index is None else ", index=%d" % self.index)

    def __str__(self) -> str:
        return self.type if self.index is None else "%s:%d" % (self.type, self.index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


class Version(str):
    """``torch.__version__``: a text that is compared as a version, with texts and tuples."""

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b, str.__lt__)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a <= b, str.__le__)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a > b, str.__gt__)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a >= b, str.__ge__)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a == b, str.__eq__)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a != b, str.__ne__)

    __hash__ = str.__hash__

    def _compared(self, other: Any, as_versions: Callable[..., Any], as_texts: Callable[..., Any]) -> Any:
        if isinstance(other, tuple):
            other = ".".join(str(item) for item in other)
        if not isinstance(other, str):
            return NotImplemented
        own, key = _key(self), _key(other)
        return as_texts(self, other) if own is None or key is None else as_versions(own, key)


def _key(text: str) -> Optional[Tuple[Any, ...]]:
    """Sort key of a version: within a release, pre-releases come first and local builds last."""
    match = _RELEASE.match(text)
    if match is None:
        return None
    numbers = [int(number) for number in match.group(1).split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers, ("dev", "a", "b", "rc", None).index(match.group(2)), match.group(3) or ""
