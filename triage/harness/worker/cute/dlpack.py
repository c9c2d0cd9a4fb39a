"""A DLPack capsule made by hand: shape, strides, width of an element and the kind of memory, without memory.

The structures are those of dlpack.h (DLManagedTensor, version 0.x), which CuTe DSL 4.0 to 4.2 read.
"""

import ctypes
from typing import Any, List, Sequence

_CPU, _CUDA = 1, 2
"""DLDeviceType."""
_UNSIGNED = 1
"""DLDataTypeCode; the DSL is told the type of an element apart."""
_NAME = b"dltensor"


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_alive: List[Any] = []
"""What the capsules point to. They live as long as the process, which compiles once."""


def capsule(shape: Sequence[int], stride: Sequence[int], bits: int, on_gpu: bool, address: int) -> Any:
    """An object with ``__dlpack__``. ``shape`` and ``stride`` in elements of ``bits`` bits."""
    numbers = ctypes.c_int64 * len(shape)
    extents, strides = numbers(*shape), numbers(*stride)
    managed = _Managed()
    managed.tensor.data = address
    managed.tensor.device = _Device(_CUDA if on_gpu else _CPU, 0)
    managed.tensor.ndim = len(shape)
    managed.tensor.dtype = _DataType(_UNSIGNED, max(8, bits), 1)
    managed.tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
    managed.tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
    _alive.extend((extents, strides, managed))
    return _Exporter(managed)


class _Exporter:
    def __init__(self, managed: _Managed) -> None:
        self._managed = managed

    def __dlpack_device__(self) -> Any:
        device = self._managed.tensor.device
        return (device.device_type, device.device_id)

    def __dlpack__(self, **_: Any) -> Any:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self._managed), _NAME, None)
