"""How each kernel of ``kernels/`` is launched, and which of its configurations are timed.

A launch has one problem (element types, sizes, grid) and a space of configurations. Every size is a multiple of every
tile, so that a configuration changes the time and nothing else. Sizes are such that the best configuration takes 0.05
to 0.5 ms on an H100.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from triage.model import launch_plan

Configuration: TypeAlias = dict[str, int | bool]
"""Constexprs of the space and Triton's options, by name."""

OPTIONS = ("num_warps", "num_stages")
TRITON = "3.6.0"


@dataclass(frozen=True, slots=True)
class Array:
    """A pointer argument: element type, shape in expressions, and fill (see ``triage/model/inputs.py``)."""

    element: str
    shape: tuple[str | int, ...]
    fill: dict[str, Any]


def array(element: str, *shape: str | int, **fill: Any) -> Array:
    """``array("i32", "rows", fill="randint", high="columns")``."""
    return Array(element, shape, fill)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One kernel with one problem.

    ``arguments`` in the kernel's order: an Array, an integer or an expression (i32), a float (fp32). ``fixed`` are
    constexprs of the problem, ``space`` the values of each dimension of the configuration. ``accumulates``: the kernel
    adds to its outputs, which therefore start as zeros. ``tolerance`` is relative to the largest magnitude of an
    output; a share ``stray`` of the elements may differ more, where ties are broken either way.
    """

    file: str
    name: str
    arguments: dict[str, Array | int | float | str]
    grid: tuple[str | int, ...]
    outputs: tuple[str, ...]
    space: dict[str, tuple[int | bool, ...]]
    fixed: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    tolerance: float = 0.01
    stray: float = 0.0
    accumulates: bool = False
    flops: str | None = None
    sample: int = 90

    @property
    def held_out(self) -> bool:
        """One kernel in five, by a hash of its name: never used to develop or tune a model of cost."""
        return int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 5 == 0

    @property
    def whole(self) -> bool:
        """Whether the sample is the space: then a search can be followed wherever it goes."""
        return self.sample >= math.prod(len(values) for values in self.space.values())

    def configurations(self) -> list[Configuration]:
        """A sample of the space, the same on each call."""
        points = [dict(zip(self.space, values, strict=True)) for values in itertools.product(*self.space.values())]
        random.Random(self.name).shuffle(points)
        return points[: self.sample]

    def signature(self) -> dict[str, str]:
        """Argument names and Triton's types."""
        return {name: _type(value) for name, value in self.arguments.items()}

    def inputs(self) -> dict[str, Any]:
        """The field ``inputs`` of a case."""
        document: dict[str, Any] = {
            "sizes": self.sizes,
            "arguments": {name: _argument(value) for name, value in self.arguments.items()},
            "grid": list(self.grid),
            "outputs": list(self.outputs),
            "tolerance": self.tolerance,
        }
        return {**document, "flops": self.flops} if self.flops else document

    def divisible(self) -> dict[str, int]:
        """What the JIT specializes on: pointers, and integers that are multiples of 16."""
        signature = self.signature()
        constexprs = {**self.fixed, **self.configurations()[0]}
        values = launch_plan.resolve(self.inputs(), signature, constexprs, {}).scalars
        integers = [name for name, type_ in signature.items() if type_ == "i32" and int(values[name]) % 16 == 0]
        return dict.fromkeys([name for name, type_ in signature.items() if type_.startswith("*")] + integers, 16)

    def case(self, configuration: Configuration) -> dict[str, Any]:
        """A case document."""
        constexprs = {name: value for name, value in configuration.items() if name not in OPTIONS}
        return {
            "schema": "triton-triage/case/1",
            "language": "triton",
            "kernel": {"file": self.file, "name": self.name},
            "signature": self.signature(),
            "constexprs": {**self.fixed, **constexprs},
            "divisible": self.divisible(),
            "target": "cuda:90",
            "toolchain": {"triton": TRITON},
            "options": {name: value for name, value in configuration.items() if name in OPTIONS},
            "inputs": self.inputs(),
        }


def _type(value: Array | int | float | str) -> str:
    if isinstance(value, Array):
        return f"*{value.element}"
    return "fp32" if isinstance(value, float) else "i32"


def _argument(value: Array | int | float | str) -> Any:
    return {"shape": list(value.shape), **value.fill} if isinstance(value, Array) else value


LOG2E = 1.4426950408889634
MULTIPROCESSORS = 132
"""Of an H100 and an H200, for persistent kernels."""
TILES = ("cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)",)
TILES_MN = ("cdiv(M, BLOCK_M)", "cdiv(N, BLOCK_N)")
PERSISTENT = ("min(PROGRAMS, cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N))",)
FLOPS = "2 * M * N * K"
MATMUL: dict[str, tuple[int | bool, ...]] = {
    "BLOCK_M": (32, 64, 128, 256),
    "BLOCK_N": (32, 64, 128, 256),
    "BLOCK_K": (32, 64, 128),
    "num_warps": (4, 8),
    "num_stages": (1, 2, 3, 4, 5),
}
FEW_ROWS = {**MATMUL, "BLOCK_M": (16, 32, 64), "BLOCK_K": (32, 64, 128), "num_warps": (2, 4, 8)}
ATTENTION: dict[str, tuple[int | bool, ...]] = {
    "BLOCK_M": (32, 64, 128, 256),
    "BLOCK_N": (16, 32, 64, 128),
    "num_warps": (4, 8),
    "num_stages": (1, 2, 3, 4),
}
WARPS = (1, 2, 4, 8, 16)


def _zeros(element: str, *shape: str | int) -> Array:
    return Array(element, shape, {"fill": "zeros"})


LAUNCHES: tuple[Launch, ...] = (
    Launch(
        file="matmul.py",
        name="grouped_matmul_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": _zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 4096, "stride_am": "K", "stride_bk": "N", "stride_cm": "N",
        },
        grid=TILES, outputs=("c_ptr",), fixed={"GROUP_M": 8}, space=MATMUL, flops=FLOPS, sample=480,
    ),
    Launch(
        file="matmul.py",
        name="linear_gelu_bf16",
        arguments={
            "x_ptr": array("bf16", "M", "K"), "w_ptr": array("bf16", "N", "K"), "bias_ptr": array("bf16", "N"),
            "residual_ptr": array("bf16", "M", "N"), "y_ptr": _zeros("bf16", "M", "N"), "M": 4096, "N": 4096, "K": 2048,
        },
        grid=("cdiv(N, BLOCK_N)", "cdiv(M, BLOCK_M)"), outputs=("y_ptr",), space=MATMUL, flops=FLOPS, sample=480,
    ),
    Launch(
        file="matmul.py",
        name="weight_gradient_bf16",
        arguments={
            "x_ptr": array("bf16", "K", "M"), "dy_ptr": array("bf16", "K", "N"), "dw_ptr": _zeros("fp32", "M", "N"),
            "M": 4096, "N": 2048, "K": 4096,
        },
        grid=TILES, outputs=("dw_ptr",), space=MATMUL, flops=FLOPS, sample=160,
    ),
    Launch(
        file="matmul.py",
        name="matmul_fp8_rowwise",
        arguments={
            "a_ptr": array("fp8e4nv", "M", "K"), "b_ptr": array("fp8e4nv", "N", "K"),
            "a_scale_ptr": array("fp32", "M"), "b_scale_ptr": array("fp32", "N"), "c_ptr": _zeros("bf16", "M", "N"),
            "M": 4096, "N": 4096, "K": 4096,
        },
        grid=TILES, outputs=("c_ptr",), space={**MATMUL, "BLOCK_K": (32, 64, 128, 256)}, flops=FLOPS, sample=160,
    ),
    Launch(
        file="matmul.py",
        name="matmul_fp8_blockwise",
        arguments={
            "a_ptr": array("fp8e4nv", "M", "K"), "b_ptr": array("fp8e4nv", "N", "K"),
            "a_scale_ptr": array("fp32", "M", "K // 128"), "b_scale_ptr": array("fp32", "N // 128", "K // 128"),
            "c_ptr": _zeros("bf16", "M", "N"), "M": 2048, "N": 4096, "K": 4096,
        },
        grid=TILES_MN, outputs=("c_ptr",), space=MATMUL, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="matmul_tf32",
        arguments={
            "a_ptr": array("fp32", "M", "K"), "b_ptr": array("fp32", "N", "K"), "c_ptr": _zeros("fp32", "M", "N"),
            "M": 2048, "N": 4096, "K": 2048,
        },
        grid=TILES_MN, outputs=("c_ptr",), space={**MATMUL, "BLOCK_K": (16, 32, 64)}, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="matmul_int8_scaled",
        arguments={
            "a_ptr": array("i8", "M", "K", low=-8, high=8), "b_ptr": array("i8", "N", "K", low=-8, high=8),
            "a_scale_ptr": array("fp32", "M", fill="uniform", high=0.01), "b_scale_ptr": array("fp32", "N"),
            "c_ptr": _zeros("fp16", "M", "N"), "M": 4096, "N": 4096, "K": 4096,
        },
        grid=TILES, outputs=("c_ptr",), fixed={"GROUP_M": 4}, space={**MATMUL, "BLOCK_K": (64, 128, 256)}, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="split_k_matmul",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": _zeros("fp32", "M", "N"),
            "M": 64, "N": 4096, "K": 16384,
        },
        grid=(*TILES, "SPLIT_K"), outputs=("c_ptr",), accumulates=True, tolerance=0.002,
        space={**FEW_ROWS, "BLOCK_N": (32, 64, 128), "SPLIT_K": (1, 2, 4, 8, 16, 32)}, flops=FLOPS, sample=110,
    ),
    Launch(
        file="matmul.py",
        name="batched_matmul_bf16",
        arguments={
            "a_ptr": array("bf16", "B", "M", "K"), "b_ptr": array("bf16", "B", "K", "N"),
            "c_ptr": _zeros("bf16", "B", "M", "N"), "M": 1024, "N": 512, "K": 512,
            "stride_ab": "M * K", "stride_bb": "K * N", "stride_cb": "M * N",
        },
        sizes={"B": 64}, grid=(*TILES_MN, "B"), outputs=("c_ptr",), space=MATMUL, flops="2 * B * M * N * K",
    ),
    Launch(
        file="matmul.py",
        name="persistent_matmul_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": _zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 2048,
        },
        fixed={"PROGRAMS": MULTIPROCESSORS}, grid=PERSISTENT, outputs=("c_ptr",), space=MATMUL, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="persistent_matmul_tma",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "N", "K"), "c_ptr": _zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 2048,
        },
        fixed={"PROGRAMS": MULTIPROCESSORS}, grid=PERSISTENT, outputs=("c_ptr",),
        space={**MATMUL, "BLOCK_M": (64, 128, 256), "BLOCK_N": (64, 128, 256), "FLATTEN": (False, True)},
        flops=FLOPS, sample=120,
    ),
    Launch(
        file="matmul.py",
        name="matmul_tma_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": _zeros("fp16", "M", "N"),
            "M": 4096, "N": 2048, "K": 4096,
        },
        grid=TILES_MN, outputs=("c_ptr",), space=MATMUL, flops=FLOPS, sample=340,
    ),
    Launch(
        file="matmul.py",
        name="expert_matmul",
        arguments={
            "x_ptr": array("bf16", "TOKENS", "K"), "w_ptr": array("bf16", "EXPERTS", "N", "K"),
            "row_ptr": array("i32", "ROWS", fill="randint", high="TOKENS"),
            "expert_ptr": array("i32", "ROWS // 256", fill="randint", high="EXPERTS"),
            "y_ptr": _zeros("bf16", "ROWS", "N"), "N": 4096, "K": 1024,
        },
        sizes={"TOKENS": 8192, "EXPERTS": 8, "ROWS": 8192}, fixed={"ROWS_OF_EXPERT": 256},
        grid=("cdiv(ROWS, BLOCK_M) * cdiv(N, BLOCK_N)",), outputs=("y_ptr",), space=MATMUL, flops="2 * ROWS * N * K",
    ),
    Launch(
        file="matmul.py",
        name="int4_weight_matmul",
        arguments={
            "x_ptr": array("fp16", "M", "K"), "w_ptr": array("i32", "K // 8", "N", low=-2147483648, high=2147483648),
            "scale_ptr": array("fp16", "K // GROUP", "N"), "y_ptr": _zeros("fp16", "M", "N"),
            "M": 128, "N": 8192, "K": 4096,
        },
        fixed={"GROUP": 128}, grid=("cdiv(N, BLOCK_N)", "cdiv(M, BLOCK_M)"), outputs=("y_ptr",),
        space={**FEW_ROWS, "BLOCK_M": (16, 32, 64, 128)}, flops=FLOPS, sample=120,
    ),
    Launch(
        file="matmul.py",
        name="int8_weight_matmul",
        arguments={
            "x_ptr": array("bf16", "M", "K"), "w_ptr": array("i8", "N", "K", low=-127, high=128),
            "scale_ptr": array("fp32", "N"), "y_ptr": _zeros("bf16", "M", "N"), "M": 1024, "N": 4096, "K": 4096,
        },
        grid=TILES_MN, outputs=("y_ptr",), space=MATMUL, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="gated_linear_fp16",
        arguments={
            "x_ptr": array("fp16", "M", "K"), "gate_ptr": array("fp16", "K", "N", fill="uniform", low=-0.1, high=0.1),
            "up_ptr": array("fp16", "K", "N", fill="uniform", low=-0.1, high=0.1), "y_ptr": _zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 1024,
        },
        grid=TILES_MN, outputs=("y_ptr",), space=MATMUL, flops="4 * M * N * K", sample=120,
    ),
    Launch(
        file="matmul.py",
        name="block_scaled_matmul",
        arguments={
            "a_ptr": array("fp8e4nv", "M", "K"), "b_ptr": array("fp8e4nv", "N", "K"),
            "a_scale_ptr": array("u8", "M", "K // 32", fill="randint", low=122, high=130),
            "b_scale_ptr": array("u8", "N", "K // 32", fill="randint", low=122, high=130),
            "c_ptr": _zeros("bf16", "M", "N"), "M": 2048, "N": 2048, "K": 4096,
        },
        grid=TILES_MN, outputs=("c_ptr",), space={**MATMUL, "BLOCK_K": (64, 128), "num_stages": (1, 2, 3, 4)},
        flops=FLOPS, sample=60,
    ),
    Launch(
        file="matmul.py",
        name="matrix_vector_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "N"), "x_ptr": array("fp16", "N"), "y_ptr": _zeros("fp16", "M"),
            "M": 16384, "N": 8192,
        },
        grid=("cdiv(M, BLOCK_M)",), outputs=("y_ptr",),
        space={
            "BLOCK_M": (1, 2, 4, 8, 16, 32, 64), "BLOCK_N": (64, 128, 256, 512, 1024, 2048),
            "num_warps": WARPS, "num_stages": (1, 2, 3, 4),
        },
    ),
    Launch(
        file="matmul.py",
        name="nearest_centroid",
        arguments={
            "x_ptr": array("bf16", "POINTS", "D"), "c_ptr": array("bf16", "CENTROIDS", "D"),
            "norm_ptr": array("fp32", "CENTROIDS", fill="uniform", low=100.0, high=156.0),
            "label_ptr": _zeros("i32", "POINTS"), "POINTS": 65536, "CENTROIDS": 4096,
        },
        stray=0.001,
        fixed={"D": 128}, grid=("cdiv(POINTS, BLOCK_P)",), outputs=("label_ptr",),
        space={
            "BLOCK_P": (32, 64, 128, 256), "BLOCK_C": (16, 32, 64, 128, 256), "num_warps": (4, 8),
            "num_stages": (1, 2, 3, 4),
        },
        flops="2 * POINTS * CENTROIDS * D",
    ),
    Launch(
        file="matmul.py",
        name="conv2d_nhwc",
        arguments={
            "x_ptr": array("fp16", "IMAGES", "H", "W", "C"), "w_ptr": array("fp16", 3, 3, "C", "F"),
            "y_ptr": _zeros("fp16", "IMAGES", "H", "W", "F"),
            "H": 56, "W": 56, "C": 128, "F": 256, "OUT_H": "H", "OUT_W": "W",
        },
        sizes={"IMAGES": 32}, grid=("cdiv(IMAGES * H * W, BLOCK_M)", "cdiv(F, BLOCK_N)"), outputs=("y_ptr",),
        space={**MATMUL, "BLOCK_K": (16, 32, 64, 128)}, flops="2 * IMAGES * H * W * 9 * C * F", sample=140,
    ),
    Launch(
        file="attention.py",
        name="attention_d128",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": _zeros("fp16", "HEADS", "T", "D"), "lse_ptr": _zeros("fp32", "HEADS", "T"),
            "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 32}, fixed={"D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr", "lse_ptr"),
        space=ATTENTION, flops="4 * HEADS * T * T * D", sample=128,
    ),
    Launch(
        file="attention.py",
        name="causal_attention_bf16",
        arguments={
            "q_ptr": array("bf16", "HEADS", "T", "D"),
            **{name: array("bf16", "HEADS // GROUP", "T", "D") for name in ("k_ptr", "v_ptr")},
            "o_ptr": _zeros("bf16", "HEADS", "T", "D"), "T": 4096, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 16}, fixed={"GROUP": 4, "D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr",),
        space=ATTENTION, tolerance=0.02, flops="2 * HEADS * T * T * D", sample=128,
    ),
    Launch(
        file="attention.py",
        name="attention_padded_d80",
        arguments={
            **{name: array("fp16", "BATCH", "T", "HEADS", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": _zeros("fp16", "BATCH", "T", "HEADS", "D"),
            "T": 2048, "HEADS": 16, "stride_t": "HEADS * D", "scale": LOG2E / 80**0.5,
        },
        sizes={"BATCH": 2}, fixed={"D": 80, "BLOCK_D": 128}, grid=("cdiv(T, BLOCK_M)", "BATCH * HEADS"),
        outputs=("o_ptr",), space=ATTENTION, flops="4 * BATCH * HEADS * T * T * D", sample=128,
    ),
    Launch(
        file="attention.py",
        name="decode_attention_gqa",
        arguments={
            "q_ptr": array("bf16", "PAIRS", "GROUP", "D"),
            **{name: array("bf16", "PAIRS", "T", "D") for name in ("k_ptr", "v_ptr")},
            "o_ptr": _zeros("bf16", "PAIRS", "GROUP", "D"), "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"PAIRS": 512}, fixed={"GROUP": 16, "D": 128}, grid=("PAIRS",), outputs=("o_ptr",), tolerance=0.02,
        space={"BLOCK_N": (16, 32, 64, 128, 256), "num_warps": (1, 2, 4, 8), "num_stages": (1, 2, 3, 4, 5, 6)},
        sample=120,
    ),
    Launch(
        file="attention.py",
        name="paged_attention_decode",
        arguments={
            "q_ptr": array("fp16", "SEQUENCES", "HEADS", "D"),
            **{name: array("fp16", "POOL", "PAGE", "HEADS", "D") for name in ("k_ptr", "v_ptr")},
            "table_ptr": array("i32", "SEQUENCES", "PAGES", fill="randint", high="POOL"),
            "o_ptr": _zeros("fp16", "SEQUENCES", "HEADS", "D"), "PAGES": 64, "scale": LOG2E / 8,
        },
        sizes={"SEQUENCES": 64, "POOL": 4096}, fixed={"HEADS": 16, "PAGE": 16, "D": 64}, grid=("SEQUENCES", "HEADS"),
        outputs=("o_ptr",),
        space={"BLOCK_N": (4, 8, 16, 32, 64, 128, 256), "num_warps": WARPS, "num_stages": (1, 2, 3, 4)}, sample=100,
    ),
    Launch(
        file="attention.py",
        name="attention_backward_kv",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr", "do_ptr")},
            "lse_ptr": array("fp32", "HEADS", "T", fill="uniform", low=8.0, high=10.0),
            "delta_ptr": array("fp32", "HEADS", "T"),
            **{name: _zeros("fp16", "HEADS", "T", "D") for name in ("dk_ptr", "dv_ptr")},
            "T": 2048, "scale": LOG2E / 8,
        },
        sizes={"HEADS": 32}, fixed={"D": 64}, grid=("cdiv(T, BLOCK_N)", "HEADS"), outputs=("dk_ptr", "dv_ptr"),
        space={**ATTENTION, "BLOCK_M": (16, 32, 64, 128), "BLOCK_N": (32, 64, 128)},
        flops="8 * HEADS * T * T * D", sample=96,
    ),
    Launch(
        file="attention.py",
        name="attention_backward_q",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr", "do_ptr")},
            "lse_ptr": array("fp32", "HEADS", "T", fill="uniform", low=8.0, high=10.0),
            "delta_ptr": array("fp32", "HEADS", "T"), "dq_ptr": _zeros("fp16", "HEADS", "T", "D"),
            "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 32}, fixed={"D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("dq_ptr",),
        space={**ATTENTION, "BLOCK_M": (32, 64, 128)}, flops="3 * HEADS * T * T * D", sample=96,
    ),
    Launch(
        file="attention.py",
        name="linear_attention_chunks",
        arguments={
            **{name: array("bf16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": _zeros("bf16", "HEADS", "T", "D"), "T": 1024,
        },
        sizes={"HEADS": 128}, fixed={"D": 128}, grid=("cdiv(D, BLOCK_V)", "HEADS"), outputs=("o_ptr",), tolerance=0.03,
        space={
            "BLOCK_V": (16, 32, 64, 128), "CHUNK": (16, 32, 64, 128), "num_warps": (2, 4, 8),
            "num_stages": (1, 2, 3),
        },
        sample=144,
    ),
    Launch(
        file="rows.py",
        name="rms_norm_rows",
        arguments={
            "x_ptr": array("bf16", "rows", "COLUMNS"), "w_ptr": array("bf16", "COLUMNS"),
            "y_ptr": _zeros("bf16", "rows", "COLUMNS"), "rows": 16384, "eps": 1e-5,
        },
        fixed={"COLUMNS": 4096}, grid=("cdiv(rows, ROWS)",), outputs=("y_ptr",),
        space={"ROWS": (1, 2, 4, 8, 16), "num_warps": (1, 2, 4, 8, 16, 32)},
    ),
    Launch(
        file="rows.py",
        name="add_norm_quantise",
        arguments={
            **{name: array("fp16", "rows", "columns") for name in ("x_ptr", "residual_ptr")},
            "w_ptr": array("fp16", "columns"), "sum_ptr": _zeros("fp16", "rows", "columns"),
            "q_ptr": _zeros("i8", "rows", "columns"), "scale_ptr": _zeros("fp32", "rows"),
            "columns": 8192, "eps": 1e-5,
        },
        sizes={"rows": 8192}, grid=("rows",), outputs=("sum_ptr", "q_ptr", "scale_ptr"),
        space={"BLOCK": (128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16, 32),
               "num_stages": (1, 2, 3, 4)}, sample=168,
    ),
    Launch(
        file="rows.py",
        name="layer_norm_backward",
        arguments={
            **{name: array("fp16", "rows", "COLUMNS") for name in ("dy_ptr", "x_ptr")},
            "w_ptr": array("fp16", "COLUMNS"), "mean_ptr": array("fp32", "rows"),
            "rstd_ptr": array("fp32", "rows", fill="uniform", low=0.5, high=1.5),
            "dx_ptr": _zeros("fp16", "rows", "COLUMNS"),
            **{name: _zeros("fp32", "COLUMNS") for name in ("dw_ptr", "db_ptr")}, "rows": 16384,
        },
        fixed={"COLUMNS": 4096}, grid=("rows // ROWS",), outputs=("dx_ptr", "dw_ptr", "db_ptr"), accumulates=True,
        space={"ROWS": (1, 2, 4, 8, 16, 32, 64, 128), "num_warps": WARPS, "num_stages": (1, 2, 3)}, sample=70,
    ),
    Launch(
        file="rows.py",
        name="softmax_backward",
        arguments={
            "y_ptr": array("bf16", "rows", "columns", fill="uniform", high=0.001),
            "dy_ptr": array("bf16", "rows", "columns"), "dx_ptr": _zeros("bf16", "rows", "columns"), "columns": 4096,
        },
        sizes={"rows": 16384}, grid=("rows // ROWS",), outputs=("dx_ptr",), tolerance=0.02,
        space={"ROWS": (1, 2, 4, 8, 16), "BLOCK": (64, 128, 256, 512, 1024, 2048, 4096), "num_warps": WARPS,
               "num_stages": (1, 3)},
    ),
    Launch(
        file="rows.py",
        name="cross_entropy",
        arguments={
            "logit_ptr": array("bf16", "rows", "vocabulary"), "label_ptr": array("i32", "rows", high="vocabulary"),
            **{name: _zeros("fp32", "rows") for name in ("loss_ptr", "lse_ptr")}, "vocabulary": 32768,
        },
        sizes={"rows": 4096}, grid=("rows",), outputs=("loss_ptr", "lse_ptr"),
        space={"BLOCK": (512, 1024, 2048, 4096, 8192, 16384, 32768), "num_warps": (1, 2, 4, 8, 16, 32),
               "num_stages": (1, 2, 3, 4)},
        sample=168,
    ),
    Launch(
        file="rows.py",
        name="column_sums",
        arguments={
            "x_ptr": array("fp16", "rows", "columns"), "y_ptr": _zeros("fp32", "columns"),
            "rows": 16384, "columns": 8192,
        },
        grid=("cdiv(columns, BLOCK_C)", "PARTS"), outputs=("y_ptr",), accumulates=True, tolerance=0.001,
        space={"BLOCK_R": (1, 4, 16, 32, 64, 128), "BLOCK_C": (32, 64, 128, 256, 512, 1024),
               "PARTS": (1, 4, 16, 64, 128), "num_warps": WARPS, "num_stages": (1, 3)},
    ),
    Launch(
        file="rows.py",
        name="row_cumulative_sum",
        arguments={
            "x_ptr": array("bf16", "rows", "columns"), "y_ptr": _zeros("fp32", "rows", "columns"), "columns": 4096,
        },
        sizes={"rows": 8192}, grid=("rows // ROWS",), outputs=("y_ptr",), tolerance=0.001,
        space={"ROWS": (1, 2, 4, 8, 16), "BLOCK": (64, 128, 256, 512, 1024, 2048, 4096), "num_warps": WARPS,
               "num_stages": (1, 3)},
        sample=80,
    ),
    Launch(
        file="rows.py",
        name="linear_recurrence",
        arguments={
            "a_ptr": array("fp32", "BATCH", "T", "CHANNELS", fill="uniform", low=0.5, high=1.0),
            "x_ptr": array("fp32", "BATCH", "T", "CHANNELS"), "h_ptr": _zeros("fp32", "BATCH", "T", "CHANNELS"),
            "T": 1024, "CHANNELS": 2048,
        },
        sizes={"BATCH": 8}, grid=("cdiv(CHANNELS, BLOCK_C)", "BATCH"), outputs=("h_ptr",), tolerance=0.001,
        space={"BLOCK_T": (8, 16, 32, 64, 128, 256), "BLOCK_C": (8, 16, 32, 64, 128), "num_warps": WARPS,
               "num_stages": (1, 2, 3)},
        sample=70,
    ),
    Launch(
        file="rows.py",
        name="top_of_row",
        arguments={
            "x_ptr": array("bf16", "rows", "columns"), "value_ptr": _zeros("fp32", "rows"),
            "index_ptr": _zeros("i32", "rows"), "columns": 32768,
        },
        sizes={"rows": 4096}, grid=("rows",), outputs=("value_ptr",), tolerance=0.0,
        space={"BLOCK": (256, 512, 1024, 2048, 4096, 8192, 16384), "num_warps": (1, 2, 4, 8, 16, 32),
               "num_stages": (1, 2, 3, 4)},
        sample=70,
    ),
    Launch(
        file="rows.py",
        name="sort_rows",
        arguments={"x_ptr": array("fp32", "rows", "COLUMNS"), "y_ptr": _zeros("fp32", "rows", "COLUMNS")},
        sizes={"rows": 32768}, fixed={"COLUMNS": 256}, grid=("rows // ROWS",), outputs=("y_ptr",), tolerance=0.0,
        space={"ROWS": (1, 2, 4, 8, 16), "num_warps": (1, 2, 4, 8)},
    ),
    Launch(
        file="elements.py",
        name="rotary_embedding",
        arguments={
            "x_ptr": array("bf16", "BATCH", "T", "HEADS", 128),
            **{name: array("fp32", "T", "HALF", fill="uniform", low=-1.0) for name in ("cos_ptr", "sin_ptr")},
            "y_ptr": _zeros("bf16", "BATCH", "T", "HEADS", 128), "T": 4096, "HEADS": 32,
        },
        sizes={"BATCH": 4}, fixed={"HALF": 64}, grid=("cdiv(T, BLOCK_T)", "BATCH"), outputs=("y_ptr",), tolerance=0.02,
        space={"BLOCK_T": (1, 2, 4, 8, 16), "BLOCK_H": (1, 2, 4, 8, 16, 32), "num_warps": WARPS}, sample=150,
    ),
    Launch(
        file="elements.py",
        name="swiglu_rows",
        arguments={
            "x_ptr": array("fp16", "rows", "2 * columns"), "y_ptr": _zeros("fp16", "rows", "columns"), "columns": 8192,
        },
        sizes={"rows": 8192}, grid=("rows", "cdiv(columns, BLOCK)"), outputs=("y_ptr",),
        space={"BLOCK": (64, 128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16, 32)},
    ),
    Launch(
        file="elements.py",
        name="transpose_cast",
        arguments={
            "x_ptr": array("fp32", "rows", "columns"), "y_ptr": _zeros("bf16", "columns", "rows"),
            "rows": 8192, "columns": 8192,
        },
        grid=("cdiv(rows, BLOCK_R)", "cdiv(columns, BLOCK_C)"), outputs=("y_ptr",),
        space={"BLOCK_R": (8, 16, 32, 64, 128, 256), "BLOCK_C": (8, 16, 32, 64, 128, 256), "num_warps": WARPS},
        sample=180,
    ),
    Launch(
        file="elements.py",
        name="embedding_rows",
        arguments={
            "table_ptr": array("fp16", "WORDS", "columns"), "index_ptr": array("i32", "tokens", high="WORDS"),
            "y_ptr": _zeros("fp16", "tokens", "columns"), "columns": 1024,
        },
        sizes={"WORDS": 65536, "tokens": 65536}, grid=("tokens // ROWS",), outputs=("y_ptr",), tolerance=0.0,
        space={"ROWS": (1, 2, 4, 8, 16, 32), "BLOCK": (64, 128, 256, 512, 1024), "num_warps": WARPS,
               "num_stages": (1, 2, 4)},
        sample=70,
    ),
    Launch(
        file="elements.py",
        name="histogram_bytes",
        arguments={
            "x_ptr": array("u8", "elements", high=256), "count_ptr": _zeros("i32", "BINS"), "elements": 1 << 26,
        },
        fixed={"BINS": 256}, grid=("elements // (BLOCK * STEPS)",), outputs=("count_ptr",), accumulates=True,
        tolerance=0.0,
        space={"BLOCK": (256, 512, 1024, 2048, 4096, 8192), "STEPS": (1, 4, 16, 64), "num_warps": WARPS,
               "num_stages": (1, 3)},
        sample=60,
    ),
    Launch(
        file="elements.py",
        name="adam_step",
        arguments={
            "p_ptr": array("fp32", "elements"), "g_ptr": array("bf16", "elements"), "m_ptr": array("fp32", "elements"),
            "v_ptr": array("fp32", "elements", fill="uniform"), "out_ptr": _zeros("fp32", "elements"),
            "elements": 1 << 25, "rate": 0.001, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8,
        },
        grid=("cdiv(elements, BLOCK)",), outputs=("out_ptr",),
        space={"BLOCK": (64, 128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16, 32)},
    ),
    Launch(
        file="elements.py",
        name="dropout_gelu",
        arguments={
            "x_ptr": array("fp16", "elements"), "y_ptr": _zeros("fp16", "elements"), "elements": 1 << 26,
            "keep": 0.9, "seed": 7,
        },
        grid=("cdiv(elements, BLOCK)",), outputs=("y_ptr",),
        space={"BLOCK": (128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16)},
    ),
    Launch(
        file="elements.py",
        name="quantise_fp8_groups",
        arguments={
            "x_ptr": array("bf16", "groups", 128), "q_ptr": _zeros("fp8e4nv", "groups", 128),
            "scale_ptr": _zeros("fp32", "groups"), "groups": 1 << 20,
        },
        grid=("groups // ROWS",), outputs=("q_ptr", "scale_ptr"), tolerance=0.08,
        space={"ROWS": (1, 2, 4, 8, 16, 32, 64, 128), "num_warps": WARPS},
    ),
    Launch(
        file="elements.py",
        name="causal_conv1d",
        arguments={
            "x_ptr": array("bf16", "BATCH", "T", "CHANNELS"), "w_ptr": array("bf16", 4, "CHANNELS"),
            "y_ptr": _zeros("bf16", "BATCH", "T", "CHANNELS"), "T": 4096, "CHANNELS": 4096,
        },
        sizes={"BATCH": 4}, grid=("cdiv(T, BLOCK_T)", "cdiv(CHANNELS, BLOCK_C)", "BATCH"), outputs=("y_ptr",),
        space={"BLOCK_T": (1, 4, 8, 16, 32, 64), "BLOCK_C": (64, 128, 256, 512, 1024), "num_warps": WARPS},
        sample=80,
    ),
    Launch(
        file="matmul.py",
        name="matmul_fp32_exact",
        arguments={
            "a_ptr": array("fp32", "M", "K"), "b_ptr": array("fp32", "K", "N"), "c_ptr": _zeros("fp32", "M", "N"),
            "M": 1024, "N": 2048, "K": 1024,
        },
        grid=TILES_MN, outputs=("c_ptr",), tolerance=0.001,
        space={
            "BLOCK_M": (16, 32, 64, 128), "BLOCK_N": (16, 32, 64, 128), "BLOCK_K": (16, 32, 64),
            "num_warps": (4, 8), "num_stages": (1, 2, 3, 4),
        },
        flops=FLOPS, sample=60,
    ),
    Launch(
        file="matmul.py",
        name="low_rank_linear",
        arguments={
            "x_ptr": array("fp16", "M", "K"), "w_ptr": array("fp16", "N", "K"),
            "down_ptr": array("fp16", "RANK", "K", fill="uniform", low=-0.1, high=0.1),
            "up_ptr": array("fp16", "RANK", "N"), "y_ptr": _zeros("fp16", "M", "N"), "M": 4096, "N": 4096, "K": 2048,
        },
        fixed={"RANK": 16}, grid=TILES, outputs=("y_ptr",), space=MATMUL, flops="2 * M * K * (N + RANK)",
    ),
    Launch(
        file="matmul.py",
        name="router_softmax",
        arguments={
            "x_ptr": array("bf16", "M", "K"), "w_ptr": array("bf16", "K", "EXPERTS", fill="uniform", high=0.1),
            "p_ptr": _zeros("fp32", "M", "EXPERTS"), "M": 32768, "K": 4096,
        },
        fixed={"EXPERTS": 64}, grid=("cdiv(M, BLOCK_M)",), outputs=("p_ptr",),
        space={
            "BLOCK_M": (16, 32, 64, 128, 256), "BLOCK_K": (32, 64, 128, 256), "num_warps": (2, 4, 8),
            "num_stages": (1, 2, 3, 4, 5),
        },
        flops="2 * M * K * EXPERTS",
    ),
    Launch(
        file="matmul.py",
        name="manhattan_distances",
        arguments={
            "a_ptr": array("fp32", "M", "K"), "b_ptr": array("fp32", "N", "K"), "d_ptr": _zeros("fp32", "M", "N"),
            "M": 2048, "N": 2048, "K": 256,
        },
        grid=TILES_MN, outputs=("d_ptr",), tolerance=0.001,
        space={
            "BLOCK_M": (16, 32, 64), "BLOCK_N": (16, 32, 64), "BLOCK_K": (1, 2, 4, 8), "num_warps": (2, 4, 8),
            "num_stages": (1, 3),
        },
        sample=60,
    ),
    Launch(
        file="attention.py",
        name="attention_window_d64",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": _zeros("fp16", "HEADS", "T", "D"), "T": 4096, "scale": LOG2E / 8,
        },
        sizes={"HEADS": 64}, fixed={"WINDOW": 512, "D": 64}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr",),
        space=ATTENTION, tolerance=0.005, sample=128,
    ),
    Launch(
        file="attention.py",
        name="attention_fp8_d128",
        arguments={
            **{name: array("fp8e4nv", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr")},
            "v_ptr": array("fp8e4nv", "HEADS", "D", "T"), "o_ptr": _zeros("fp16", "HEADS", "T", "D"),
            "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 32}, fixed={"D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr",), tolerance=0.1,
        space={**ATTENTION, "BLOCK_N": (32, 64, 128, 256)}, flops="4 * HEADS * T * T * D", sample=128,
    ),
    Launch(
        file="rows.py",
        name="column_normalise",
        arguments={
            "x_ptr": array("fp16", "rows", "columns"), "y_ptr": _zeros("fp16", "rows", "columns"),
            "rows": 4096, "columns": 16384, "eps": 1e-5,
        },
        grid=("cdiv(columns, BLOCK_C)",), outputs=("y_ptr",),
        space={"BLOCK_R": (1, 4, 16, 32, 64, 128), "BLOCK_C": (16, 32, 64, 128, 256, 512), "num_warps": WARPS,
               "num_stages": (1, 2, 3, 4)},
    ),
    Launch(
        file="rows.py",
        name="selective_scan",
        arguments={
            "x_ptr": array("bf16", "BATCH", "T", "CHANNELS"),
            "dt_ptr": array("bf16", "BATCH", "T", "CHANNELS", fill="uniform", low=0.01, high=0.1),
            "a_ptr": array("fp32", "CHANNELS", "STATE", fill="uniform", low=-8.0, high=-1.0),
            **{name: array("bf16", "BATCH", "T", "STATE") for name in ("b_ptr", "c_ptr")},
            "y_ptr": _zeros("bf16", "BATCH", "T", "CHANNELS"), "T": 512, "CHANNELS": 2048,
        },
        sizes={"BATCH": 8}, fixed={"STATE": 16}, grid=("cdiv(CHANNELS, BLOCK_C)", "BATCH"), outputs=("y_ptr",),
        space={"BLOCK_C": (4, 8, 16, 32, 64, 128), "num_warps": (1, 2, 4, 8), "num_stages": (1, 2, 3, 4)}, sample=96,
    ),
    Launch(
        file="rows.py",
        name="gelu_backward_bias",
        arguments={
            **{name: array("bf16", "rows", "columns") for name in ("x_ptr", "dy_ptr")},
            "dx_ptr": _zeros("bf16", "rows", "columns"), "db_ptr": _zeros("fp32", "columns"),
            "rows": 8192, "columns": 8192,
        },
        grid=("cdiv(columns, BLOCK_C)", "PARTS"), outputs=("dx_ptr", "db_ptr"), accumulates=True,
        space={"PARTS": (4, 16, 64, 128), "BLOCK_R": (1, 4, 8, 16, 32, 64), "BLOCK_C": (32, 64, 128, 256, 512),
               "num_warps": WARPS, "num_stages": (1, 3)},
    ),
    Launch(
        file="elements.py",
        name="transpose_add_fp16",
        arguments={
            **{name: array("fp16", "rows", "columns") for name in ("x_ptr", "z_ptr")},
            "y_ptr": _zeros("fp16", "columns", "rows"), "rows": 8192, "columns": 8192,
        },
        grid=("cdiv(rows, BLOCK_R)", "cdiv(columns, BLOCK_C)"), outputs=("y_ptr",),
        space={"BLOCK_R": (16, 32, 64, 128, 256), "BLOCK_C": (16, 32, 64, 128, 256), "num_warps": WARPS}, sample=125,
    ),
    Launch(
        file="elements.py",
        name="embedding_gradient",
        arguments={
            "dy_ptr": array("bf16", "tokens", "columns"), "index_ptr": array("i32", "tokens", high="WORDS"),
            "dw_ptr": _zeros("fp32", "WORDS", "columns"), "columns": 1024,
        },
        sizes={"WORDS": 16384, "tokens": 32768}, grid=("tokens // ROWS", "columns // BLOCK"), outputs=("dw_ptr",),
        accumulates=True, space={"ROWS": (1, 2, 4, 8, 16), "BLOCK": (64, 128, 256, 512, 1024), "num_warps": WARPS},
        sample=70,
    ),
    Launch(
        file="elements.py",
        name="sparse_rows",
        arguments={
            "index_ptr": array("i32", "rows", "PER_ROW", high="rows"), "value_ptr": array("fp32", "rows", "PER_ROW"),
            "x_ptr": array("fp16", "rows", "COLUMNS"), "y_ptr": _zeros("fp16", "rows", "COLUMNS"),
        },
        sizes={"rows": 65536}, fixed={"COLUMNS": 256, "PER_ROW": 16}, grid=("rows // ROWS", "COLUMNS // BLOCK"),
        outputs=("y_ptr",),
        space={"ROWS": (1, 2, 4, 8, 16, 32), "BLOCK": (32, 64, 128, 256), "num_warps": WARPS, "num_stages": (1, 2, 4)},
        sample=80,
    ),
    Launch(
        file="elements.py",
        name="max_pool_nhwc",
        arguments={
            "x_ptr": array("fp16", "IMAGES", "H", "W", "C"), "y_ptr": _zeros("fp16", "IMAGES", "H // 2", "W // 2", "C"),
            "H": 112, "W": 112, "C": 128,
        },
        sizes={"IMAGES": 64}, grid=("cdiv(IMAGES * (H // 2) * (W // 2), BLOCK_P)", "cdiv(C, BLOCK_C)"),
        outputs=("y_ptr",), tolerance=0.0,
        space={"BLOCK_P": (1, 4, 8, 16, 32, 64), "BLOCK_C": (16, 32, 64, 128), "num_warps": WARPS}, sample=80,
    ),
    Launch(
        file="elements.py",
        name="body_forces",
        arguments={
            **{name: array("fp32", "bodies") for name in ("x_ptr", "y_ptr", "z_ptr")},
            "out_ptr": _zeros("fp32", "bodies"), "bodies": 16384, "softening": 0.01,
        },
        grid=("cdiv(bodies, BLOCK_I)",), outputs=("out_ptr",), tolerance=0.001,
        space={"BLOCK_I": (8, 16, 32, 64, 128), "BLOCK_J": (16, 32, 64, 128, 256), "num_warps": (1, 2, 4, 8),
               "num_stages": (1, 3)},
        sample=80,
    ),
)  # fmt: skip
"""In the order in which they are timed."""
