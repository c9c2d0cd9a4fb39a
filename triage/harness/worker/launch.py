"""Arguments for launching a result of ``triton.compile`` on every release: ``compiled[grid](*arguments)``.

The launcher takes one value for each name of the source's signature (``CudaLauncher`` in triton/backends/nvidia/
driver.py): up to 3.2 that is every argument but the constexprs, from 3.3 on every argument, with any value for the
constexprs. Tensor descriptors are objects on the host side from 3.4 on. Observed with each of the
releases from 3.0 to 3.9, through their own launchers.
"""

from __future__ import annotations

from typing import Any, Dict, List

from . import tensors


class LauncherLimit(Exception):
    """The launcher of this release cannot pass one of the arguments; the text names it."""


def arguments(source: Any, inputs: List[tensors.Input], scalars: Dict[str, Any]) -> List[Any]:
    """The values of a launch, in the launcher's order. Raises LauncherLimit, and ImportError on releases without
    host-side descriptors."""
    _check_halves(source)
    values: Dict[str, Any] = dict(scalars)
    for tensor in inputs:
        values[tensor.name] = tensor.stored
        if tensor.block:
            from triton.tools.tensor_descriptor import TensorDescriptor

            values[tensor.name] = TensorDescriptor.from_tensor(tensor.stored, tensor.block)
    return [values.get(name) for name in source.signature]


def _check_halves(source: Any) -> None:
    """Up to 3.3 a half is handed over as a C float, of which the kernel reads the low two bytes: 0 for most values.
    The JIT never does this: it passes every Python float as an fp32."""
    import triton

    for name, type_ in source.signature.items():
        if type_ in ("fp16", "bf16") and not hasattr(triton, "knobs"):
            raise LauncherLimit("%s: the launcher of Triton %s loses %s scalars" % (name, triton.__version__, type_))


def set_allocator(torch: Any) -> None:
    """Kernels that make descriptors themselves need memory for them, from 3.3 on; earlier releases have no such
    kernels."""
    import triton

    if not hasattr(triton, "set_allocator"):
        return

    def allocate(size: int, alignment: int, stream: Any) -> Any:
        # torch aligns to 512 bytes, which is more than a descriptor's 128.
        return torch.empty(size, dtype=torch.int8, device="cuda")

    triton.set_allocator(allocate)
