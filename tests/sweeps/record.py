"""Developer tool: compile every cell of a grid and keep what each showed as test data (``grids/NAME.json.gz``).

``python tests/sweeps/record.py NAME…`` compiles what is missing of these grids (results are kept as they come, so an
interrupted recording goes on) and writes the files. A cell that could not be told is compiled again by the next run.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.toolchains import Toolchains
from triage.model.case import Case, frozen
from triage.model.document import encode_fields
from triage.model.language import Language
from triage.model.outcome import Status, Undecided
from triage.model.target import Target
from triage.sweeps.grid import Grid, SweepAxis, cells_of

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Recorded:
    """A grid to record: the kernel, its case where no axis says otherwise, and the axes."""

    file: str
    name: str
    signature: Mapping[str, str]
    release: str
    axes: Mapping[str, tuple[Any, ...]]
    target: str = "cuda:90"
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    language: Language = Language.TRITON
    divisible: tuple[str, ...] = ()

    def case(self) -> Case:
        """The case of the first cell."""
        first = {name: values[0] for name, values in self.axes.items()}
        constants = {name: first[name] for name in first if name.isupper()}
        target = Target.parse(first.get("target", self.target))
        stated = {name: value for name, value in first.items() if name in {*self.language.options, *self.options}}
        case = Case(
            HERE / "kernels",
            self.file,
            self.name,
            frozen(self.signature),
            frozen({**self.constexprs, **constants}),
            divisible=frozen(dict.fromkeys(self.divisible, 16)),
            target=target,
            options=frozen({**self.options, **stated}),
            language=self.language,
        )
        return case.with_release(first.get(case.compiler.name, self.release))

    def grid(self) -> Grid:
        """The space."""
        return Grid([SweepAxis(name, values) for name, values in self.axes.items()])


_BYTES = {"a_bytes": "*i8", "b_bytes": "*i8"}
_MATMUL = {**_BYTES, "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
_TILE = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32"}

GRIDS = {
    "softmax-targets": Recorded(
        "rows.py",
        "softmax",
        {"x_bytes": "*i8", "y_bytes": "*i8", "stride": "i32"},
        "3.6.0",
        {
            "target": ("cuda:75", "cuda:80", "cuda:90", "hip:gfx90a", "hip:gfx942", "hip:gfx1100"),
            "DTYPE": ("tl.float16", "tl.bfloat16", "tl.float32", "tl.float8e4nv", "tl.float8e5", "tl.float8e4b15"),
            "ROWS": (1, 4, 16),
            "BLOCK": (96, 128, 512),
            "num_warps": (1, 4, 16, 32),
        },
    ),
    "matmul-tf32-old": Recorded(
        "matmul.py",
        "product",
        _MATMUL,
        "3.2.0",
        {
            "DTYPE": ("tl.float16", "tl.float32"),
            "BM": (32, 64, 128),
            "BN": (32, 64, 128),
            "BK": (16, 32, 64),
            "B_BY_COLUMNS": (False, True),
            "num_warps": (2, 4, 8),
            "num_stages": (2, 3, 5),
        },
    ),
    "matmul-amd": Recorded(
        "matmul.py",
        "product",
        _MATMUL,
        "3.4.0",
        {
            "target": ("hip:gfx942", "hip:gfx950"),
            "DTYPE": ("tl.float16", "tl.float32"),
            "BM": (32, 64, 128),
            "BN": (32, 128),
            "BK": (16, 64, 128),
            "num_stages": (1, 3),
            "matrix_instr_nonkdim": (8, 16, 32),
            "kpack": (1, 2),
        },
        constexprs={"B_BY_COLUMNS": False},
        options={"num_warps": 4, "matrix_instr_nonkdim": 0, "kpack": 1},
    ),
    "gluon-mfma": Recorded(
        "gluon_mfma.py",
        "tile_dot",
        _TILE,
        "3.9.0",
        {
            "target": ("hip:gfx90a", "hip:gfx942", "hip:gfx950"),
            "M": (32, 128),
            "K": (16, 64),
            "VERSION": (2, 3, 4),
            "SIDE": (16, 32),
            "DEPTH": (8, 16),
            "WIDTH": (4, 8),
            "WARPS_M": (1, 4),
            "num_warps": (2, 4),
        },
        constexprs={"N": 32},
        language=Language.GLUON,
    ),
    "gluon-wgmma": Recorded(
        "gluon_wgmma.py",
        "tile_dot",
        _TILE,
        "3.9.0",
        {
            "M": (64, 128),
            "N": (32, 64, 128),
            "K": (32, 64),
            "SWIZZLE": (32, 64, 128),
            "INSTR_N": (16, 64, 128),
            "WARPS_M": (2, 4),
            "COPIES": (1, 16),
            "num_warps": (2, 4, 8),
        },
        language=Language.GLUON,
    ),
    "attention": Recorded(
        "attention.py",
        "forward",
        {"q_ptr": "*fp16", "k_ptr": "*fp16", "v_ptr": "*fp16", "out_ptr": "*fp16", "LENGTH": "i32", "scale": "fp32"},
        "3.6.0",
        {
            "target": ("cuda:75", "cuda:80", "cuda:89"),
            "D": (16, 64, 128, 192),
            "BM": (16, 64, 128),
            "BN": (8, 16, 64, 128),
            "num_warps": (4, 8),
            "num_stages": (1, 4),
        },
    ),
    "matmul-releases": Recorded(
        "matmul.py",
        "small_product",
        {**_BYTES, "c_ptr": "*fp32"},
        "3.6.0",
        {
            "triton": ("3.1.0", "3.3.1", "3.6.0", "3.9.0"),
            "target": ("cuda:70", "cuda:80", "cuda:90", "cuda:120"),
            "DTYPE": ("tl.float16", "tl.bfloat16", "tl.float8e5", "tl.float8e4nv", "tl.int8", "tl.float64"),
            "M": (8, 16, 64),
            "K": (8, 16, 32),
            "num_warps": (1, 4),
        },
        constexprs={"N": 16},
    ),
    "sorted-rows": Recorded(
        "rows.py",
        "transposed_sum",
        {"x_ptr": "*fp32", "y_ptr": "*fp32", "stride": "i32"},
        "3.9.0",
        {
            "target": ("cuda:75", "cuda:90", "hip:gfx1100", "hip:gfx942"),
            "x_ptr": ("*fp32", "*fp8e5", "*i64"),
            "ROWS": (4, 16, 32),
            "BLOCK": (32, 64, 96),
            "CHUNK": (1, 16, 64),
            "num_warps": (1, 4, 16),
        },
    ),
    "cute-wgmma": Recorded(
        "cute_wgmma.py",
        "host",
        {"c": "tensor<f32, (64,64):(64,1), align=16>"},
        "4.8.1",
        {
            "TYPE": ("cutlass.Float16", "cutlass.BFloat16", "cutlass.TFloat32", "cutlass.Float8E4M3FN"),
            "SUM": ("cutlass.Float32", "cutlass.Float16"),
            "A_BY_K": (False, True),
            "B_BY_K": (False, True),
            "B_STORED_BY_K": (False, True),
            "N": (8, 20, 64),
            "K": (16, 64),
            "STAGES": (1, 8),
        },
        language=Language.CUTE,
    ),
    "matmul-specialized": Recorded(
        "specialized_matmul.py",
        "product",
        {**_BYTES, "c_bytes": "*i8", "M": "i32", "N": "i32", "K": "i32"},
        "3.6.0",
        {
            "DTYPE": ("tl.float16", "tl.float32"),
            "BM": (64, 128),
            "BN": (64, 128, 256),
            "BK": (16, 32, 64, 128),
            "num_warps": (2, 4, 8),
            "num_stages": (2, 4),
            "WS": (False, True),
        },
    ),
    "matmul-fp8": Recorded(
        "matmul.py",
        "product",
        _MATMUL,
        "3.6.0",
        {
            "target": ("cuda:89", "cuda:90"),
            "DTYPE": ("tl.float16", "tl.float8e4nv", "tl.float8e5"),
            "BM": (32, 64, 256),
            "BN": (32, 128, 256),
            "BK": (16, 32, 128),
            "num_warps": (4, 8),
            "num_stages": (2, 5),
        },
        constexprs={"B_BY_COLUMNS": False},
    ),
    "paged-attention": Recorded(
        "paged_attention.py",
        "decode",
        {
            "q_ptr": "*fp16",
            "k_bytes": "*i8",
            "v_bytes": "*i8",
            "pages_ptr": "*i32",
            "out_ptr": "*fp16",
            "LENGTH": "i32",
        },
        "3.6.0",
        {
            "target": ("cuda:86", "hip:gfx942"),
            "CACHE": ("tl.float16", "tl.float8e5", "tl.float8e4nv"),
            "HEAD": (64, 96, 128),
            "GROUP": (8, 16, 64),
            "PAGE": (16, 64, 128),
            "num_warps": (2, 8),
            "num_stages": (1, 3),
        },
    ),
    "convolution": Recorded(
        "convolution.py",
        "convolve",
        {"x_bytes": "*i8", "w_bytes": "*i8", "y_ptr": "*fp32", "WIDTH": "i32", "CHANNELS": "i32", "FILTERS": "i32"},
        "3.6.0",
        {
            "target": ("cuda:80", "cuda:120"),
            "DTYPE": ("tl.float16", "tl.float32", "tl.float8e4nv"),
            "BP": (64, 256),
            "BF": (32, 128),
            "BC": (16, 32, 64, 128),
            "TAPS": (1, 3),
            "num_warps": (4, 8),
            "num_stages": (2, 4),
        },
    ),
    "grouped-matmul": Recorded(
        "grouped_matmul.py",
        "grouped",
        {
            "a_bytes": "*i8",
            "b_bytes": "*i8",
            "c_ptr": "*fp32",
            "sizes_ptr": "*i32",
            "GROUPS": "i32",
            "N": "i32",
            "K": "i32",
        },
        "3.6.0",
        {
            "target": ("cuda:80", "cuda:90", "cuda:100"),
            "DTYPE": ("tl.float16", "tl.float8e5"),
            "BM": (32, 64, 128),
            "BN": (64, 128, 256),
            "BK": (8, 64, 128),
            "num_warps": (4, 8),
            "num_stages": (2, 4),
        },
    ),
    "gated-layer": Recorded(
        "gated.py",
        "gated",
        {"x_bytes": "*i8", "up_bytes": "*i8", "gate_bytes": "*i8", "y_ptr": "*fp32", "N": "i32", "K": "i32"},
        "3.6.0",
        {
            "target": ("cuda:86", "cuda:90"),
            "DTYPE": ("tl.float16", "tl.float32"),
            "BM": (16, 64, 128),
            "BN": (32, 128),
            "BK": (32, 64, 128),
            "FUSED": (False, True),
            "num_warps": (4, 8),
            "num_stages": (1, 3, 4),
        },
    ),
    "norm-rows": Recorded(
        "norm.py",
        "norm",
        {"x_ptr": "*fp32", "w_ptr": "*fp32", "y_ptr": "*fp32", "stride": "i32"},
        "3.6.0",
        {
            "target": ("cuda:75", "cuda:90", "hip:gfx1100"),
            "x_ptr": ("*fp16", "*fp32", "*fp8e4nv"),
            "ROWS": (1, 4, 16),
            "COLUMNS": (96, 512, 4096),
            "SCAN": (False, True),
            "num_warps": (2, 16, 32, 64),
        },
    ),
    "attention-newer": Recorded(
        "attention.py",
        "forward",
        {"q_ptr": "*fp16", "k_ptr": "*fp16", "v_ptr": "*fp16", "out_ptr": "*fp16", "LENGTH": "i32", "scale": "fp32"},
        "3.6.0",
        {
            "target": ("cuda:90", "cuda:100", "hip:gfx950"),
            "D": (32, 64, 128, 256),
            "BM": (32, 64, 128),
            "BN": (16, 32, 128),
            "num_warps": (4, 8),
            "num_stages": (1, 2, 4),
        },
    ),
    "scaled-product": Recorded(
        "scaled_product.py",
        "scaled",
        {
            "a_bytes": "*i8",
            "a_scales": "*u8",
            "b_bytes": "*i8",
            "b_scales": "*u8",
            "c_ptr": "*fp32",
            "N": "i32",
            "K": "i32",
        },
        "3.6.0",
        {
            "target": ("cuda:90", "cuda:100", "hip:gfx942", "hip:gfx950"),
            "A_FORMAT": ("e2m1", "e4m3", "bf16"),
            "BM": (32, 128),
            "BN": (32, 128, 256),
            "BK": (32, 128, 256),
            "num_warps": (4, 8),
            "num_stages": (1, 3),
        },
        constexprs={"B_FORMAT": "e2m1"},
    ),
    "gluon-tcgen05": Recorded(
        "gluon_tcgen05.py",
        "tile_dot",
        _TILE,
        "3.9.0",
        {
            "M": (64, 128, 256),
            "N": (32, 128, 256),
            "K": (16, 64, 128),
            "SWIZZLE": (32, 64, 128),
            "BLOCK_M": (64, 128),
            "BLOCK_N": (32, 128),
            "COPIES": (1, 4),
            "num_warps": (4, 8),
        },
        target="cuda:100",
        language=Language.GLUON,
    ),
    "routing": Recorded(
        "routing.py",
        "route",
        {"logits_ptr": "*fp32", "weights_ptr": "*fp32", "chosen_ptr": "*i32", "counts_ptr": "*i32", "TOKENS": "i32"},
        "3.8.0",
        {
            "target": ("cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"),
            "EXPERTS": (8, 60, 64, 128),
            "TOPK": (1, 2, 6, 8),
            "ROWS": (1, 4, 16),
            "num_warps": (1, 4, 32),
        },
    ),
    "stream-k": Recorded(
        "stream_k.py",
        "product",
        {**_BYTES, "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32", "STEPS": "i32"},
        "3.4.0",
        {
            "target": ("cuda:80", "cuda:90", "cuda:120"),
            "DTYPE": ("tl.float16", "tl.float8e5"),
            "BM": (64, 128),
            "BN": (64, 128, 256),
            "BK": (16, 32, 64),
            "num_warps": (4, 8),
            "num_stages": (3, 4, 5),
        },
        divisible=("M", "N", "K"),
    ),
    "fused-moe": Recorded(
        "fused_moe.py",
        "fused",
        {
            **_BYTES,
            "c_ptr": "*bf16",
            "a_scale_ptr": "*fp32",
            "b_scale_ptr": "*fp32",
            "weights_ptr": "*fp32",
            "tokens_ptr": "*i32",
            "experts_ptr": "*i32",
            "padded_ptr": "*i32",
            "N": "i32",
            "K": "i32",
            "VALID": "i32",
        },
        "3.6.0",
        {
            "target": ("hip:gfx942", "hip:gfx950"),
            "DTYPE": ("tl.bfloat16", "tl.float8e4nv", "tl.float8e4b8"),
            "BLOCK_SIZE_M": (16, 64, 128),
            "BLOCK_SIZE_N": (32, 128, 256),
            "BLOCK_SIZE_K": (64, 128, 256),
            "num_stages": (2, 3),
            "matrix_instr_nonkdim": (16, 32),
        },
        constexprs={"TOP_K": 2, "GROUP_SIZE_M": 8},
        options={"num_warps": 8, "matrix_instr_nonkdim": 0},
        divisible=("N", "K"),
    ),
    "gluon-async-copy": Recorded(
        "gluon_async_copy.py",
        "product",
        {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "N": "i32", "K": "i32"},
        "3.9.0",
        {
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (32, 64, 128),
            "VECTOR": (2, 4, 8),
            "PHASES": (1, 8),
            "BUFFERS": (1, 2, 3),
            "num_warps": (4, 8),
        },
        target="hip:gfx950",
        divisible=("N", "K"),
        language=Language.GLUON,
    ),
    "gluon-cp-async": Recorded(
        "gluon_cp_async.py",
        "product",
        {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "N": "i32", "K": "i32"},
        "3.9.0",
        {
            "target": ("cuda:80", "cuda:89"),
            "BM": (64, 128),
            "BN": (64, 256),
            "BK": (32, 64),
            "VECTOR": (1, 4, 8),
            "WARPS_M": (2, 4, 8),
            "BUFFERS": (2, 4),
            "num_warps": (4, 8),
        },
        divisible=("N", "K"),
        language=Language.GLUON,
    ),
    "causal-convolution": Recorded(
        "causal_convolution.py",
        "convolve",
        {"x_bytes": "*i8", "w_bytes": "*i8", "bias_ptr": "*fp32", "y_bytes": "*i8", "LENGTH": "i32", "CHANNELS": "i32"},
        "3.5.1",
        {
            "target": ("cuda:75", "cuda:90", "hip:gfx942"),
            "DTYPE": ("tl.float16", "tl.bfloat16", "tl.float8e4nv"),
            "WIDTH": (3, 4),
            "BT": (16, 64, 128),
            "BD": (16, 64, 128),
            "num_warps": (2, 4, 16, 32),
        },
        divisible=("LENGTH", "CHANNELS"),
    ),
}


def observation(attempt: Attempt) -> dict[str, Any]:
    """What a compile showed, as a :class:`CellObservation`'s fields."""
    result, diagnosis = attempt.result, attempt.diagnosis
    if isinstance(result, Undecided) or result.killed_from_outside:
        return {"state": "could-not-tell", "reason": getattr(result, "reason", "killed from outside")}
    shown: dict[str, Any] = {"state": "compiled" if diagnosis is None else "failed", "duration_s": result.duration_s}
    if result.resources is not None:
        shown["resources"] = {
            name: value for name, value in encode_fields(result.resources).items() if value not in (None, 0, False)
        }
    if diagnosis is not None:
        timeout = result.status is Status.TIMEOUT
        shown["signature"] = diagnosis.kind.value if timeout else diagnosis.signature
        shown |= {"kind": diagnosis.kind.value, "status": result.status.value}
        shown["stage"] = result.stage.value if result.stage else None
        shown |= {"resource": diagnosis.resource, "required": diagnosis.required, "limit": diagnosis.limit}
    return {name: value for name, value in shown.items() if value is not None}


def record(name: str) -> None:
    """Compile what is missing of a grid and write its file."""
    recorded = GRIDS[name]
    grid, case = recorded.grid(), recorded.case()
    kept = HERE / "grids" / f"{name}.jsonl"
    known = {}
    for line in kept.read_text().splitlines() if kept.exists() else ():
        row = json.loads(line)
        if row["seen"]["state"] != "could-not-tell":
            known[row["cell"]] = row["seen"]
    toolchains = Toolchains()

    def requests() -> Iterator[Request]:
        # Cells that share a server follow each other.
        for cell in sorted(cells_of(grid.allowed), key=lambda cell: str(grid.values(cell).get("triton"))):
            if cell not in known:
                wanted = case.with_changes(grid.values(cell))
                toolchain = toolchains.resolve(wanted.release, None, wanted.compiler)
                yield Request(wanted, toolchain, Limits(), FullCompile(use_cache=False), tag=cell)

    with Engine(2, None, toolchains.installed) as engine, kept.open("a") as stream:
        for attempt in engine.run(requests()):
            known[attempt.request.tag] = observation(attempt)
            stream.write(json.dumps({"cell": attempt.request.tag, "seen": known[attempt.request.tag]}) + "\n")
            stream.flush()
    document = {
        "case": case.to_json(),
        "axes": {axis.name: axis.values for axis in grid.axes},
        "cells": [known[cell] for cell in cells_of(grid.allowed)],
    }
    data = gzip.compress(json.dumps(document, separators=(",", ":")).encode(), 9, mtime=0)
    (HERE / "grids" / f"{name}.json.gz").write_bytes(data)
    kept.unlink()


if __name__ == "__main__":
    for wanted in sys.argv[1:] or GRIDS:
        record(wanted)
