"""``torch.cuda`` for the emulated device: what programs and libraries query before they launch anything."""

import ctypes
from types import SimpleNamespace
from typing import Any, Dict, List

from .device import FakeDevice

_MAX_THREADS, _REGISTERS = 1024, 65536
"""Of a block, and of a multiprocessor: the same for every GPU from Pascal on (CUDA programming guide)."""
_USUAL_SHARED = 49152
"""Shared memory of a CUDA block that does not opt in to more."""
_L2_BYTES = 50 << 20
_HIP_VERSION = "6.4.0"


def _nothing(*arguments: Any, **named: Any) -> None:
    """There is no work to wait for."""


class Stream:
    """The only stream, under any name; all its work is done."""

    priority = stream_id = cuda_stream = device_index = 0
    device_type = 1
    synchronize = wait_event = wait_stream = __exit__ = _nothing

    def __init__(self, *arguments: Any, **named: Any) -> None:
        import torch

        self.device = torch.device("cuda", 0)

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def record_event(self, event: Any = None) -> Any:
        """The event, or a new one."""
        return event or Event()

    def __enter__(self) -> "Stream":
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0


class ExternalStream(Stream):
    """A stream created by another library."""


class Event:
    """An event that has already happened."""

    cuda_event = 0
    __init__ = record = wait = synchronize = _nothing

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds; not zero, because programs divide by it."""
        return 1.0


def _properties(device: FakeDevice) -> Any:
    major, minor = device.capability
    return SimpleNamespace(
        name=device.name,
        major=major,
        minor=minor,
        total_memory=device.memory_bytes,
        multi_processor_count=device.multiprocessors,
        max_threads_per_multi_processor=device.warps * device.warp_size,
        max_threads_per_block=_MAX_THREADS,
        regs_per_multiprocessor=_REGISTERS,
        warp_size=device.warp_size,
        shared_memory_per_block=min(_USUAL_SHARED, device.shared_bytes),
        shared_memory_per_block_optin=device.shared_bytes,
        shared_memory_per_multiprocessor=device.shared_bytes_multiprocessor,
        L2_cache_size=_L2_BYTES,
        gcnArchName=device.arch if device.backend == "hip" else device.name,
        uuid="GPU-00000000-0000-0000-0000-000000000000",
        **dict.fromkeys(("is_integrated", "is_multi_gpu_board"), False),
        **dict.fromkeys(("pci_bus_id", "pci_device_id", "pci_domain_id"), 0),
        **dict.fromkeys(("clock_rate", "memory_clock_rate", "memory_bus_width"), 1),
    )


def _constant(value: Any) -> Any:
    """A new function each time: torch's compiler keeps a table of all functions by identity."""
    return lambda *arguments, **named: value


def can_pretend(torch: Any) -> bool:
    """Whether C++ code that asks for the current device gets an answer without one."""
    count = getattr(torch._C, "_cuda_getDeviceCount", None)
    if count is not None and count() > 0:
        return True
    if not hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
        return False
    return count is not None or _register_no_devices(torch)


_REGISTER = "_ZN3c104impl24DeviceGuardImplRegistrarC1ENS_10DeviceTypeEPKNS0_24DeviceGuardImplInterfaceE"
"""``c10::impl::DeviceGuardImplRegistrar`` (c10/core/impl/DeviceGuardImplInterface.h)."""
_CUDA = 1
"""``c10::DeviceType::CUDA`` (torch/headeronly/core/DeviceType.h)."""
_MOST_METHODS = 64
"""More than a device guard has: 25 in torch 2.13."""
_registered: List[Any] = []


def _register_no_devices(torch: Any) -> bool:
    """Register what a build with CUDA has where there is no device; False if torch does not export that.

    A build for the CPU has no guard for CUDA devices at all, and ``_ensureCUDADeviceGuardSet`` puts its own fake guard
    in place only of one that counts zero devices. This is an object all of whose methods return zero, of which torch
    calls only that one."""
    register = getattr(ctypes.CDLL(torch._C.__file__), _REGISTER, None)
    if register is None:
        return False
    zero = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
    methods = (ctypes.c_void_p * _MOST_METHODS)(*[ctypes.cast(zero, ctypes.c_void_p).value] * _MOST_METHODS)
    guard = ctypes.c_void_p(ctypes.addressof(methods))
    _registered.extend((zero, methods, guard))
    register(ctypes.byref(ctypes.c_char()), ctypes.c_int(_CUDA), ctypes.byref(guard))
    torch._C._ensureCUDADeviceGuardSet()
    return True


def pretend(torch: Any, device: FakeDevice) -> None:
    """Make it torch's device."""
    if device.backend == "hip" and torch.version.hip is None:
        torch.version.hip, torch.version.cuda = _HIP_VERSION, None
    properties = _properties(device)
    for module, constants in _constants(torch, properties).items():
        for name, value in constants.items():
            setattr(module, name, _constant(value))
    torch.cuda.Stream, torch.cuda.ExternalStream, torch.cuda.Event = Stream, ExternalStream, Event
    torch.cuda.stream = lambda argument: argument or Stream()
    torch.cuda._initialized = True
    torch.cuda.default_generators = (torch.Generator(),)
    torch.Generator = _generator(torch, torch.Generator)
    torch.Tensor.pin_memory = lambda self, *arguments, **named: self
    torch.Tensor.is_pinned = lambda self, *arguments, **named: False


def _generator(torch: Any, own: Any) -> Any:
    """Generators, including those of the device, whose state C++ would allocate there."""

    class GeneratorType(type(own)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, own)

    class Generator(own, metaclass=GeneratorType):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            generator = super().__new__(cls)
            generator._device = torch.device(device)
            return generator

        @property
        def device(self) -> Any:
            return self._device

    return Generator


def _constants(torch: Any, properties: Any) -> Dict[Any, Dict[str, Any]]:
    """What functions of torch's modules return, by module and name."""
    capability, stream = (properties.major, properties.minor), Stream()
    constants: Dict[Any, Dict[str, Any]] = {
        torch.cuda: {
            **dict.fromkeys(("_lazy_init", "init", "set_device", "synchronize", "set_stream", "empty_cache")),
            **dict.fromkeys(("current_device", "_exchange_device", "_maybe_exchange_device"), 0),
            **dict.fromkeys(("is_available", "is_initialized", "is_bf16_supported"), True),
            "device_count": 1,
            "get_device_properties": properties,
            "get_device_capability": capability,
            "get_device_name": properties.name,
            "get_arch_list": ["sm_%d%d" % capability],
            "current_stream": stream,
            "default_stream": stream,
            "mem_get_info": (properties.total_memory, properties.total_memory),
            # Inductor copies tensors to the host that do not fit into the largest allocation so far.
            "max_memory_allocated": properties.total_memory,
            "is_current_stream_capturing": False,
        },
        # Called by torch's own modules.
        torch._C: {
            **dict.fromkeys(("_cuda_init", "_cuda_setDevice", "_cuda_setStream", "_cuda_synchronize")),
            **dict.fromkeys(("_cuda_emptyCache", "_cuda_resetPeakMemoryStats", "_cuda_resetAccumulatedMemoryStats")),
            **dict.fromkeys(("_cuda_getDevice", "_cuda_exchangeDevice", "_cuda_maybeExchangeDevice"), 0),
            **dict.fromkeys(("_cuda_isInBadFork", "_cuda_isCurrentStreamCapturing"), False),
            "_cuda_canDeviceAccessPeer": False,
            "_cuda_getDeviceCount": 1,
            "_cuda_getCurrentRawStream": 0,
            "_cuda_memoryStats": {},
            "_cuda_get_device_properties": properties,
        },
    }
    if hasattr(torch, "accelerator"):
        constants[torch.accelerator] = {
            **dict.fromkeys(("set_device_index", "set_device_idx", "synchronize")),
            **dict.fromkeys(("current_device_index", "current_device_idx"), 0),
            "is_available": True,
            "device_count": 1,
            "current_accelerator": torch.device("cuda"),
            "current_stream": stream,
        }
    return constants
