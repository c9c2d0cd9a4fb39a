"""Host code that is sure of a GPU and its packages, as kernels' files are. Each assertion holds on both targets."""

import dataclasses
import functools
import importlib.metadata
import importlib.util
from typing import Generic, TypeVar

import torch
import torch.nn.functional as F  # noqa: F401
import triton
import triton.language as tl
from packaging import version
from torch import Tensor
from triage_absent.layers import Layer, fused

try:
    import triage_optional  # noqa: F401

    HAS_OPTIONAL = True
except ImportError:
    HAS_OPTIONAL = False

assert not HAS_OPTIONAL
assert importlib.util.find_spec("triage_optional") is None
assert importlib.util.find_spec("torch") is not None

target = triton.runtime.driver.active.get_current_target()
properties = triton.runtime.driver.active.utils.get_device_properties(0)
hip = target.backend == "hip"

# The GPU.
assert torch.cuda.is_available()
assert torch.cuda.device_count() == 1
assert (torch.version.hip is not None) == hip
assert bool(torch.version.cuda) != hip
assert torch.cuda.get_device_capability(torch.cuda.current_device()) == ((9, 4) if hip else (9, 0))
gpu = torch.cuda.get_device_properties("cuda")
assert gpu.multi_processor_count == properties["multiprocessor_count"]
assert getattr(gpu, "shared_memory_per_block_optin", gpu.shared_memory_per_block) == properties["max_shared_mem"]
assert ("MI300" if hip else "H100") in torch.cuda.get_device_name(0)
assert not hip or gpu.gcnArchName == target.arch
assert not torch.xpu.is_available()
assert not torch.backends.mps.is_available()
if hasattr(torch, "npu") and torch.npu.is_available():
    raise SystemExit
assert torch.device("cuda:0") == torch.device("cuda", 0)
assert triton.runtime.driver.active.get_active_torch_device().type == "cuda"

# Versions.
assert version.parse(torch.__version__) >= version.parse("2.4")
assert torch.__version__ >= "2.4"
assert not torch.__version__ < (2, 4)
assert importlib.metadata.version("torch") == torch.__version__

# Types.
TYPES = {torch.float16: tl.float16, torch.float32: tl.float32, torch.bfloat16: tl.bfloat16}
assert TYPES[torch.half] is tl.float16
assert torch.float8_e4m3fn not in TYPES
assert torch.float16.itemsize == 2 and torch.float16.is_floating_point
assert torch.finfo(torch.float8_e4m3fn).max == 448
assert hasattr(torch, "float8_e5m2") and not isinstance(1.0, Tensor)
SCALE: tl.constexpr = tl.constexpr(1 / torch.iinfo(torch.int8).max)


# Decorators, base classes and annotations.
class Function(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x: Tensor, y: "torch.Tensor | None" = None):
        return x


class Head(torch.nn.Module, Generic[TypeVar("T")]):
    def __init__(self):
        super().__init__()
        self.scale = self.register_buffer("scale", None)


class Block(Layer, fused.Mixin):
    pass


@dataclasses.dataclass
class Config:
    dtype: torch.dtype = torch.float16
    weights: list[torch.Tensor | Layer] | None = None


@torch.library.custom_op("triage::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x


@torch.compile(mode="max-autotune")
@fused.checkpointed
@torch.no_grad()
def three(x=3):
    return x


apply, head = Function.apply, Head()
assert three() == 3
assert functools.lru_cache(maxsize=None)(str)(torch.float16) == "torch.float16"
assert Config().dtype is torch.float16
torch._inductor.config.coordinate_descent_tuning = True


@triton.heuristics({
    "HALF": lambda args: args["x_ptr"].dtype in (torch.float16, torch.bfloat16),
    "WIDTH": lambda args: args["x_ptr"].element_size(),
    "IS_TENSOR": lambda args: isinstance(args["x_ptr"], torch.Tensor),
    "WIDE": lambda args: args["x_ptr"].numel() > 1 << 31,
    "TILED": lambda args: fused.tiles(args["n"]) > 2,
})  # fmt: skip
@triton.jit
def kernel(
    x_ptr, n, HALF: tl.constexpr, WIDTH: tl.constexpr, IS_TENSOR: tl.constexpr, WIDE: tl.constexpr, TILED: tl.constexpr
):
    tl.store(x_ptr + n, SCALE)
