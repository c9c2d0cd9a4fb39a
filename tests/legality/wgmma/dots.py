"""Compiles matmuls for cuda:90 up to a stage, in the interpreter under test; standard library and Triton only.

``python dots.py`` reads a JSON list of cases on standard input and prints a line ``[place, result]`` a case. A case has
``type`` (as in ``_POINTERS``), ``m``, ``n``, ``k``, ``warps``, ``a_mn``, ``b_mn`` (MN-major in memory), ``tma`` and
``stage`` (``ttgir`` or ``ptx``); a result has ``mma`` (layouts as (warps along M, along N, N, K)), ``old_mma``
(mma.sync layouts there are), ``shared`` (layouts) and ``ptx``, or ``error``. A compile that kills the process ends
the output.
"""

# ruff: noqa: SIM108 - a branch on a constexpr compiles one side only, and reads so

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "capture/programs"))

import toolbox
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

_POINTERS = {
    "f16": "*fp16",
    "bf16": "*bf16",
    "tf32": "*fp32",
    "tf32x3": "*fp32",
    "ieee": "*fp32",
    "e5m2": "*fp8e5",
    "e4m3": "*fp8e4nv",
    "s8": "*i8",
    "u8": "*u8",
}
_RELEASE = tuple(int(part) for part in triton.__version__.split(".")[:2])


@triton.jit
def multiply(a, b, acc, PRECISION: tl.constexpr, RESULT: tl.constexpr):
    if RESULT == "i32":
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    elif RESULT == "fp16":
        acc = tl.dot(a, b, acc, out_dtype=tl.float16)
    else:
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    return acc


@triton.jit
def zeros(M: tl.constexpr, N: tl.constexpr, RESULT: tl.constexpr):
    if RESULT == "i32":
        acc = tl.zeros((M, N), dtype=tl.int32)
    elif RESULT == "fp16":
        acc = tl.zeros((M, N), dtype=tl.float16)
    else:
        acc = tl.zeros((M, N), dtype=tl.float32)
    return acc


@triton.jit
def pointers(
    a_ptr,
    b_ptr,
    c_ptr,
    count,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    A_MN: tl.constexpr,
    B_MN: tl.constexpr,
    PRECISION: tl.constexpr,
    RESULT: tl.constexpr,
):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K)
    if A_MN:
        a_ptrs = a_ptr + rows[:, None] + inner[None, :] * M
    else:
        a_ptrs = a_ptr + rows[:, None] * 4096 + inner[None, :]
    if B_MN:
        b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]
    else:
        b_ptrs = b_ptr + inner[:, None] + columns[None, :] * 4096
    acc = zeros(M, N, RESULT)
    for _ in range(0, count, K):
        acc = multiply(tl.load(a_ptrs), tl.load(b_ptrs), acc, PRECISION, RESULT)
        a_ptrs += K * (M if A_MN else 1)
        b_ptrs += K * (N if B_MN else 1)
    tl.store(c_ptr + rows[:, None] * 4096 + columns[None, :], acc)


@triton.jit
def descriptors(
    a_ptr,
    b_ptr,
    c_ptr,
    count,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    A_MN: tl.constexpr,
    B_MN: tl.constexpr,
    PRECISION: tl.constexpr,
    RESULT: tl.constexpr,
):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    if A_MN:
        a_tiles = tl.make_tensor_descriptor(a_ptr, shape=[count, 4096], strides=[4096, 1], block_shape=[K, M])
    else:
        a_tiles = tl.make_tensor_descriptor(a_ptr, shape=[4096, count], strides=[4096, 1], block_shape=[M, K])
    if B_MN:
        b_tiles = tl.make_tensor_descriptor(b_ptr, shape=[count, 4096], strides=[4096, 1], block_shape=[K, N])
    else:
        b_tiles = tl.make_tensor_descriptor(b_ptr, shape=[4096, count], strides=[4096, 1], block_shape=[N, K])
    acc = zeros(M, N, RESULT)
    for k in range(0, count, K):
        if A_MN:
            a = a_tiles.load([k, 0]).T
        else:
            a = a_tiles.load([0, k])
        if B_MN:
            b = b_tiles.load([k, 0])
        else:
            b = b_tiles.load([0, k]).T
        acc = multiply(a, b, acc, PRECISION, RESULT)
    tl.store(c_ptr + rows[:, None] * 4096 + columns[None, :], acc)


class Enough(Exception):
    """The stage that was asked for is done."""


def source(case):
    """The kernel of a case with its arguments, in the release's own way."""
    left, _, right = case["type"].partition("/")
    result = case.get("result") or ("i32" if left in ("s8", "u8") else "fp32")
    constants = {
        "M": case["m"],
        "N": case["n"],
        "K": case["k"],
        "A_MN": case.get("a_mn", False),
        "B_MN": case.get("b_mn", True),
        "PRECISION": left if left in ("ieee", "tf32x3") else "tf32",
        "RESULT": result,
    }
    signature = {"a_ptr": _POINTERS[left], "b_ptr": _POINTERS[right or left], "c_ptr": "*" + result, "count": "i32"}
    function = descriptors if case.get("tma") else pointers
    if _RELEASE >= (3, 3):
        signature.update(dict.fromkeys(constants, "constexpr"))
        aligned = {(place,): [["tt.divisibility", 16]] for place in range(4)}
        return ASTSource(function, signature=signature, constexprs=constants, attrs=aligned)
    if _RELEASE >= (3, 2):
        from triton.backends.compiler import AttrsDescriptor

        properties = {"tt.divisibility": (0, 1, 2, 3), "tt.equal_to": ()}
        aligned = AttrsDescriptor.from_dict({"arg_properties": properties, "cls": "AttrsDescriptor"})
        return ASTSource(function, signature=signature, constants=constants, attrs=aligned)
    from triton.compiler.compiler import AttrsDescriptor

    place = function.arg_names.index
    return ASTSource(
        function,
        signature={place(name): text for name, text in signature.items()},
        constants={place(name): value for name, value in constants.items()},
        attrs=AttrsDescriptor(divisible_by_16=(0, 1, 2, 3), equal_to_1=()),
    )


def stop_after(target, texts):
    """Keep the text of every stage, and end a compile after the last that is wanted (``texts["last"]``)."""
    backend = type(make_backend(target))
    add = backend.add_stages

    def add_stages(self, stages, *others):
        add(self, stages, *others)
        for name, stage in list(stages.items()):

            def run(module, metadata, name=name, stage=stage):
                done = stage(module, metadata)
                texts[name] = str(done)
                if name == texts["last"]:
                    raise Enough
                return done

            stages[name] = run

    backend.add_stages = add_stages


def observed(texts):
    """What the layouts of the ttgir, and the PTX, say."""
    text = texts["ttgir"]
    layouts = re.findall(r"nvidia_mma<\{(.*?)\}>", text)
    numbers = re.compile(r"warpsPerCTA = \[(\d+), (\d+)\], instrShape = \[16, (\d+), (\d+)\]")
    return {
        "mma": sorted({tuple(map(int, found.groups())) for one in layouts if (found := numbers.search(one))}),
        "old_mma": any("versionMajor = 2" in one for one in layouts),
        "shared": sorted(set(re.findall(r"\w*shared<\{.*?\}>", text))),
        "ptx": texts.get("ptx"),
    }


def chain(error):
    """An error and its causes: up to 3.4 what a helper function is refused for is the innermost alone."""
    while error is not None:
        yield f"{type(error).__name__}: {error}"
        error = error.__cause__


def main():
    target = GPUTarget("cuda", 90, 32)
    texts = {}
    toolbox.share_key()
    stop_after(target, texts)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(TRITON_CACHE_DIR=folder, TRITON_ALWAYS_COMPILE="1")
        for place, case in enumerate(json.load(sys.stdin)):
            texts.clear()
            texts["last"] = case.get("stage", "ttgir")
            options = {"num_warps": case["warps"], "num_stages": case.get("stages", 3)}
            try:
                triton.compile(source(case), target=target, options=options)
            except Enough:
                result = observed(texts)
            except Exception as error:
                result = {"error": "; ".join(chain(error))}
            print(json.dumps([place, result]), flush=True)


if __name__ == "__main__":
    main()
