"""A Triton driver on which kernels load and launches do nothing, and a benchmark function that always reports the same
time.

Triton itself checks a loaded binary against the device's limits, and raises what it raises on the GPU."""

import sys
from typing import Any, Callable, Dict, List, Optional

from ..guard import is_benchmarked
from .device import FakeDevice, described

_MS = 1.0
"""Result of every measurement, so that an autotuner picks the first configuration that compiled."""


def _nothing(*arguments: Any, **named: Any) -> None:
    """Stands for functions without an effect on the emulated device."""


def _zero(*arguments: Any, **named: Any) -> int:
    return 0


class Utils:
    """The drivers' ``utils``. Any other function (descriptors in 3.0 to 3.3) does nothing."""

    def __init__(self, device: FakeDevice) -> None:
        self._device = device

    def get_device_properties(self, device: Any = None) -> Dict[str, int]:
        """Properties under the names used by all of Triton's drivers; clocks exist because programs divide by them."""
        return {
            "max_shared_mem": self._device.shared_bytes,
            "max_num_regs": 65536,
            "multiprocessor_count": self._device.multiprocessors,
            "warpSize": self._device.warp_size,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 1,
        }

    def load_binary(self, *arguments: Any) -> Any:
        """Module, function, registers, spills; from 3.4 on also the maximum number of threads."""
        compiled = sys.modules["triton.compiler.compiler"].CompiledKernel
        handles = getattr(compiled._init_handles, "__wrapped__", compiled._init_handles)
        more = "n_max_threads" in handles.__code__.co_names
        return (1, 1, 0, 0, self._device.threads) if more else (1, 1, 0, 0)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing


class Driver:
    """Replaces the driver of a GPU, in any release."""

    get_current_device = get_current_stream = _zero
    set_current_device = get_empty_cache_for_benchmark = clear_cache = _nothing

    def __init__(self) -> None:
        self._device = described()
        self.utils = Utils(self._device)

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget(self._device.backend, self._device.arch, self._device.warp_size)

    def get_device_capability(self, device: Any = None) -> Any:
        """(major, minor)."""
        return self._device.capability

    def get_active_torch_device(self) -> Any:
        """torch's name for the device: ``cuda`` on AMD as well."""
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def launcher_cls(self, source: Any, metadata: Any) -> Callable[..., None]:
        return _nothing

    def get_benchmarker(self) -> Callable[..., Any]:
        return measure

    def map_python_to_cpp_type(self, type_: str) -> str:
        return type_


class InactiveDriver(Driver):
    """Replaces the drivers of all other back ends."""

    @staticmethod
    def is_active() -> bool:
        return False


def measure(call: Callable[[], Any], *arguments: Any, quantiles: Optional[List[float]] = None, **options: Any) -> Any:
    """Replaces ``do_bench``: calls the function once, so that its kernels are compiled.

    For an autotuner, a configuration that does not compile takes infinite time, so that it continues with the next."""
    time = _MS
    try:
        call()
    except Exception as error:
        if not (_in_compile(error) and is_benchmarked()):
            raise
        time = float("inf")
    if quantiles is not None:
        return [time] * len(quantiles) if len(quantiles) > 1 else time
    return [time] if options.get("return_mode") == "all" else time


def _in_compile(error: BaseException) -> bool:
    """Whether compiling or loading a kernel raised it."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name in ("compile", "_init_handles") and code.co_filename.endswith("compiler.py"):
            return True
        trace = trace.tb_next
    return False


def set_driver(module: Any) -> None:
    """Make the emulated device's driver active in its back end; ``module`` is ``triton.runtime.driver``."""
    target = Driver().get_current_target()
    for backend in module.backends.values():
        kind = Driver if backend.compiler.supports_target(target) else InactiveDriver
        # Back-ends are frozen.
        object.__setattr__(backend, "driver", kind)
        if kind is Driver:
            module.driver.set_active(kind())


def time_nothing(module: Any) -> None:
    """Disable timing; ``module`` is ``triton.testing``."""
    module.do_bench = measure
    module.do_bench_cudagraph = measure


def keep_no_timings(module: Any) -> None:
    """Keep emulated timings out of the autotuner's disk cache; ``module`` is ``triton.runtime.autotuner``."""

    def check_disk_cache(self: Any, tuning_key: Any, configs: Any, bench_fn: Callable[[], Any]) -> bool:
        bench_fn()
        return False

    if hasattr(module.Autotuner, "check_disk_cache"):
        module.Autotuner.check_disk_cache = check_disk_cache
