"""Kernels below decorators, as packages write them."""

import functools
import itertools

import triton
import triton.language as tl


def tiles():
    return [
        triton.Config({"BLOCK": block, "TYPE": tl.float32, "waves_per_eu": 2}, num_warps=warps, num_stages=1)
        for block, warps in itertools.product((64, 128), (4, 8))
    ]


class CachedAutotuner(triton.runtime.autotuner.Autotuner):
    pass


def cached_autotune(configs, key):
    return lambda fn: CachedAutotuner(fn, fn.arg_names, configs, key, None, None)


@triton.autotune(configs=tiles(), key=["n", "stride"])
@triton.heuristics({
    "EVEN": lambda args: args["n"] % args["BLOCK"] == 0,
    "HAS_BIAS": lambda args: args["bias_ptr"] is not None,
    "ALIGNED": lambda args: args["x_ptr"].data_ptr() % 16 == 0,
    "num_ctas": lambda args: 1 if args["EVEN"] else 2,
    "ROWS": lambda args: args["x_ptr"].shape[0],
    "COLUMNS": lambda args: args["ROWS"] + args["unknown"],
})  # fmt: skip
@triton.jit(do_not_specialize=["n"])
def tuned(
    x_ptr, bias_ptr, n, stride: tl.int64,
    BLOCK: tl.constexpr, TYPE: tl.constexpr, EVEN: tl.constexpr, HAS_BIAS: tl.constexpr, ALIGNED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, LIMIT: tl.constexpr = 2.5, OUT: tl.constexpr = tl.bfloat16,
    ODD: tl.constexpr = functools.partial,
):  # fmt: skip
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


@triton.heuristics({"WIDE": lambda args: args["n"] > 100})
@cached_autotune([triton.Config({"BLOCK": 2**exponent}) for exponent in range(2000)], key=["n"])
@triton.jit
def many(x_ptr, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(x_ptr, n)


def logged(fn):
    kernel = triton.jit(fn)

    @functools.wraps(fn)
    def launch(*args, **kwargs):
        return kernel[1,](*args, **kwargs)

    return launch


@logged
def plain(x_ptr):
    tl.store(x_ptr, 0.0)


def set_blocks(arguments):
    from triton.tools.tensor_descriptor import TensorDescriptor

    if isinstance(arguments["x_desc"], TensorDescriptor):
        arguments["x_desc"].block_shape = [arguments["BLOCK"], 32]
    arguments["y_ptr"].zero_()


@triton.autotune([triton.Config({"BLOCK": block}, pre_hook=set_blocks) for block in (64, 128)], key=["n"])
@triton.jit
def described(x_desc, y_ptr, n, BLOCK: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, BLOCK), tl.load(y_ptr + tl.arange(0, BLOCK)))
