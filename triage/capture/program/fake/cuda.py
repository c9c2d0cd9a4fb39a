"""``torch.cuda`` for the emulated device: what programs and libraries query before they launch anything."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Dict, Tuple

from .device import Device

_MAX_THREADS = 1024
_REGISTERS = 65536
_USUAL_SHARED = 49152
"""Shared memory of a CUDA block that does not opt in to more."""
_L2_BYTES = 50 << 20
_HIP_VERSION = "6.4.0"


class Stream:
    """The only stream, under any name."""

    priority = stream_id = cuda_stream = device_index = 0
    device_type = 1

    def __init__(self, *given: Any, **named: Any) -> None:
        import torch

        self.device = torch.device("cuda", 0)

    def query(self) -> bool:
        """All work is done."""
        return True

    def record_event(self, event: Any = None) -> Any:
        """The event, or a new one."""
        return event or Event()

    def synchronize(self) -> None:
        """Returns at once."""

    def wait_event(self, event: Any) -> None:
        """Returns at once."""

    def wait_stream(self, stream: Any) -> None:
        """Returns at once."""

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *ended: Any) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0


class ExternalStream(Stream):
    """A stream created by another library."""


class Event:
    """An event that has already happened."""

    cuda_event = 0

    def __init__(self, *given: Any, **named: Any) -> None:
        pass

    def record(self, stream: Any = None) -> None:
        """Returns at once."""

    def wait(self, stream: Any = None) -> None:
        """Returns at once."""

    def query(self) -> bool:
        """The event has happened."""
        return True

    def synchronize(self) -> None:
        """Returns at once."""

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds; not zero, because programs divide by it."""
        return 1.0


def _properties(device: Device) -> Any:
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
        is_integrated=False,
        is_multi_gpu_board=False,
        uuid="GPU-00000000-0000-0000-0000-000000000000",
        pci_bus_id=0,
        pci_device_id=0,
        pci_domain_id=0,
        clock_rate=1,
        memory_clock_rate=1,
        memory_bus_width=1,
    )


def _constant(value: Any) -> Any:
    """A new function each time: torch's compiler keeps a table of all functions by identity."""
    return lambda *given, **named: value


def can_pretend(torch: Any) -> bool:
    """Whether C++ code that asks for the current device gets an answer without one."""
    count = getattr(torch._C, "_cuda_getDeviceCount", None)
    return hasattr(torch._C, "_ensureCUDADeviceGuardSet") or (count is not None and count() > 0)


def pretend(torch: Any, device: Device) -> None:
    """Make it torch's device."""
    if device.backend == "hip" and torch.version.hip is None:
        torch.version.hip, torch.version.cuda = _HIP_VERSION, None
    properties, capability = _properties(device), device.capability
    for name, answer in _answers(torch, properties, capability).items():
        setattr(torch.cuda, name, answer)
    for name, answer in _below(properties).items():
        setattr(torch._C, name, answer)
    if hasattr(torch, "accelerator"):
        for name, answer in _accelerator(torch).items():
            setattr(torch.accelerator, name, answer)
    torch.cuda._initialized = True
    torch.cuda.default_generators = (torch.Generator(),)
    torch.Generator = _generator(torch, torch.Generator)
    torch.Tensor.pin_memory = lambda self, *given, **named: self
    torch.Tensor.is_pinned = lambda self, *given, **named: False


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
            """The device requested."""
            return self._device

    return Generator


def _answers(torch: Any, properties: Any, capability: Tuple[int, int]) -> Dict[str, Any]:
    stream = Stream()
    return {
        "_lazy_init": _constant(None),
        "init": _constant(None),
        "is_available": _constant(True),
        "is_initialized": _constant(True),
        "device_count": _constant(1),
        "current_device": _constant(0),
        "set_device": _constant(None),
        "_exchange_device": _constant(0),
        "_maybe_exchange_device": _constant(0),
        "get_device_properties": _constant(properties),
        "get_device_capability": _constant(capability),
        "get_device_name": _constant(properties.name),
        "get_arch_list": _constant(["sm_%d%d" % capability]),
        "is_bf16_supported": _constant(True),
        "synchronize": _constant(None),
        "Stream": Stream,
        "ExternalStream": ExternalStream,
        "Event": Event,
        "current_stream": _constant(stream),
        "default_stream": _constant(stream),
        "set_stream": _constant(None),
        "stream": lambda argument: argument or stream,
        "mem_get_info": _constant((properties.total_memory, properties.total_memory)),
        # Inductor copies to the host what does not fit into the memory that was once in use.
        "max_memory_allocated": _constant(properties.total_memory),
        "empty_cache": _constant(None),
        "is_current_stream_capturing": _constant(False),
    }


def _below(properties: Any) -> Dict[str, Any]:
    """Functions of ``torch._C`` that torch's own modules call."""

    return {
        "_cuda_init": _constant(None),
        "_cuda_getDeviceCount": _constant(1),
        "_cuda_getDevice": _constant(0),
        "_cuda_setDevice": _constant(None),
        "_cuda_exchangeDevice": _constant(0),
        "_cuda_maybeExchangeDevice": _constant(0),
        "_cuda_isInBadFork": _constant(False),
        "_cuda_getCurrentRawStream": _constant(0),
        "_cuda_setStream": _constant(None),
        "_cuda_synchronize": _constant(None),
        "_cuda_isCurrentStreamCapturing": _constant(False),
        "_cuda_emptyCache": _constant(None),
        "_cuda_memoryStats": _constant({}),
        "_cuda_resetPeakMemoryStats": _constant(None),
        "_cuda_resetAccumulatedMemoryStats": _constant(None),
        "_cuda_canDeviceAccessPeer": _constant(False),
        "_cuda_get_device_properties": _constant(properties),
    }


def _accelerator(torch: Any) -> Dict[str, Any]:
    return {
        "is_available": _constant(True),
        "device_count": _constant(1),
        "current_accelerator": _constant(torch.device("cuda")),
        "current_device_index": _constant(0),
        "current_device_idx": _constant(0),
        "set_device_index": _constant(None),
        "set_device_idx": _constant(None),
        "current_stream": _constant(Stream()),
        "synchronize": _constant(None),
    }
