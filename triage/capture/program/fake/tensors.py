"""Makes torch's device tensors fake, and leaves host tensors real."""

import contextlib
import threading
from typing import Any, Iterator, List

from .values import DeviceMemory

_DEVICE = "cuda"
"""Also for AMD."""
_BASE = 1 << 40
_ALIGNMENT = 512
"""Bytes; alignment of torch's allocations."""


def enter(torch: Any) -> None:
    """Enable it for the rest of the program, in all its threads."""
    from torch._subclasses import fake_tensor

    # It would allocate a real tensor on the device.
    fake_tensor.init_gpu_context = lambda *arguments: None
    # Prevents allocations on the device in torch's own modes as well, even of tensors that become fake at once.
    fake_tensor.FakeTensorMode.avoid_device_init = property(lambda self: True)
    own: List[Any] = []
    _stay_fake(torch, fake_tensor, own)
    mode = _mode(torch, fake_tensor)
    own.append(mode)
    _tensor_methods(torch, fake_tensor.FakeTensor)
    _comparisons(torch)
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def within(self: threading.Thread) -> None:
        with mode:
            begin(self)

    threading.Thread._bootstrap_inner = within  # type: ignore[attr-defined]
    mode.__enter__()


def _stay_fake(torch: Any, fake_tensor: Any, own: List[Any]) -> None:
    """Where torch's compiler leaves its fake mode to get real device tensors, it gets those of ``own``."""
    from torch.utils import _python_dispatch

    key = torch._C._TorchDispatchModeKey.FAKE

    def instead(leave: Any) -> Any:
        @contextlib.contextmanager
        def within() -> Iterator[Any]:
            with leave() as previous:
                modes = previous if isinstance(previous, (list, tuple)) else [previous]
                if not any(isinstance(mode, fake_tensor.FakeTensorMode) for mode in modes):
                    yield previous
                    return
                torch._C._set_dispatch_mode(own[0])
                try:
                    yield previous
                finally:
                    torch._C._unset_dispatch_mode(key)

        return within

    fake_tensor.unset_fake_temporarily = instead(fake_tensor.unset_fake_temporarily)
    _python_dispatch._disable_current_modes = instead(_python_dispatch._disable_current_modes)


def _mode(torch: Any, fake_tensor: Any) -> Any:
    """torch's fake-tensor mode, restricted to operations that involve the device."""
    from torch.utils._pytree import tree_leaves, tree_map

    values = DeviceMemory(torch)
    needs_data = tuple(
        getattr(fake_tensor, name)
        for name in ("DynamicOutputShapeException", "DataDependentOutputException", "UnsupportedOperatorException")
    )

    class DeviceMode(fake_tensor.FakeTensorMode):  # type: ignore[misc]
        def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            leaves = tree_leaves((args, kwargs))
            fakes = [leaf for leaf in leaves if isinstance(leaf, fake_tensor.FakeTensor)]
            devices = {leaf.type for leaf in leaves if isinstance(leaf, torch.device)}
            if not fakes and _DEVICE not in devices:
                kwargs.pop("pin_memory", None)
                return func(*args, **kwargs)
            if not all(self.is_our_fake(leaf) for leaf in fakes) or not isinstance(func, torch._ops.OpOverload):
                return super().dispatch(func, types, args, kwargs)
            if "cpu" in devices or _writes_to_host(func, args):
                return values.read(func, args, kwargs)
            # The device has no generators.
            kwargs.update({name: None for name in ("generator", "pin_memory") if name in kwargs})
            try:
                out = super().dispatch(func, types, args, kwargs)
            except needs_data:
                answers = values.read(func, args, kwargs)
                return tree_map(self._on_device, answers)
            values.follow(func, args, kwargs, out)
            return out

        def _on_device(self, value: Any) -> Any:
            """A fake tensor for a host tensor."""
            if not isinstance(value, torch.Tensor):
                return value
            options = {"dtype": value.dtype, "device": torch.device(_DEVICE, 0)}
            shape = (list(value.shape), list(value.stride()))
            fake = super().dispatch(torch.ops.aten.empty_strided.default, (), shape, options)
            values.keep(fake, value)
            return fake

    def _writes_to_host(func: Any, args: Any) -> bool:
        return func is torch.ops.aten.copy_.default and not isinstance(args[0], fake_tensor.FakeTensor)

    mode = DeviceMode(allow_non_fake_inputs=True)
    # It would keep weak references, and the parameters of a module that has any cannot be cast (swap_tensors).
    mode.fake_tensor_converter.set_tensor_memo = lambda *arguments: None
    return mode


def _tensor_methods(torch: Any, fake: Any) -> None:
    """Methods of device tensors that need an address or data."""

    def data_ptr(self: Any) -> int:
        # One address for each storage; their distances have no meaning.
        base = _BASE + self.untyped_storage()._cdata * _ALIGNMENT
        return int(base + self.storage_offset() * self.element_size()) if self.numel() else 0

    def formatted(self: Any, form: str) -> str:
        # As torch formats a tensor of one number.
        return format(self.item(), form) if self.dim() == 0 else object.__format__(self, form)

    fake.data_ptr = data_ptr
    fake.__format__ = formatted
    fake.tolist = lambda self: self.cpu().tolist()
    fake.record_stream = lambda self, stream: None


def _comparisons(torch: Any) -> None:
    """Comparisons always succeed: there are no results to compare."""
    from torch import testing

    torch.allclose = torch.Tensor.allclose = lambda *arguments, **named: True
    testing.assert_close = testing.assert_allclose = lambda *arguments, **named: None
