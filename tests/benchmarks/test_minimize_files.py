"""``triage minimize`` on files as they lie in projects: host code around the kernel, launches, configurations.

``pytest -m slow tests/benchmarks/test_minimize_files.py`` prints a line a case. The terms: the command itself with a
budget of a minute, everything in it: the original, the search, the whole compile of the result, the runs of its script,
and the IR.
``before`` are the tokens of what the kernel reaches, over all its files.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from commands import Triage

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

FILES = Path(__file__).parent / "kernels" / "files"
BUDGET_S = 60
LEFT = 0.15
"""Share of the tokens that may be left."""


@dataclass(frozen=True)
class Failing:
    """A configuration that fails. ``types`` of arguments other than ``i32``; ``unknown``: sizes and strides that are no
    multiples of 16."""

    file: str
    kernel: str
    headline: str
    types: Mapping[str, str]
    constexprs: Mapping[str, Any]
    options: tuple[str, ...]
    unknown: tuple[str, ...] = field(default=())

    def command(self) -> list[str]:
        """The command line."""
        path = FILES / self.file
        functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        names = next([each.arg for each in node.args.args] for node in functions if node.name == self.kernel)
        types = {name: self.types.get(name, "i32") for name in names if name not in self.constexprs}
        divisible = [name for name, type_ in types.items() if type_ == "i32" and name not in self.unknown]
        return [
            f"{path}::{self.kernel}",
            *(f"--arg={name}={type_}" for name, type_ in types.items()),
            *(f"--const={name}={value!r}" for name, value in self.constexprs.items()),
            *(f"--divisible={name}=16" for name in divisible),
            *self.options,
        ]


HALVES = ("a_ptr", "b_ptr", "c_ptr", "bias_ptr", "residual_ptr")
FLOATS = ("scale_a_ptr", "scale_b_ptr")
GEMM_TYPES = {**dict.fromkeys(HALVES, "*fp16"), **dict.fromkeys(FLOATS, "*fp32"), "alpha": "fp32", "beta": "fp32"}
GEMM = {
    **dict.fromkeys(("stride_ak", "stride_bn", "stride_cn", "stride_rn"), 1),
    **dict.fromkeys(("EVEN_K", "HAS_BIAS", "HAS_RESIDUAL", "SCALED"), True),
    "BLOCK_M": 128,
    "BLOCK_N": 256,
    "BLOCK_K": 64,
    "GROUP_M": 8,
    "ACTIVATION": "silu",
}
ATTENTION_TYPES = {
    **dict.fromkeys(("q_ptr", "k_cache_ptr", "v_cache_ptr", "out_ptr"), "*fp16"),
    **dict.fromkeys(("lse_ptr", "sink_ptr", "k_scale_ptr", "v_scale_ptr"), "*fp32"),
    **dict.fromkeys(("block_table_ptr", "lengths_ptr", "starts_ptr"), "*i32"),
    **dict.fromkeys(("scale", "soft_cap"), "fp32"),
}
ATTENTION = {
    **dict.fromkeys(("stride_q_dim", "stride_k_dim", "stride_v_dim", "stride_o_dim"), 1),
    **dict.fromkeys(("CAUSAL", "WINDOW", "SINKS", "SOFT_CAP"), True),
    **dict.fromkeys(("HEAD", "HEAD_PADDED"), 128),
    **dict.fromkeys(("BLOCK_Q", "BLOCK_K"), 64),
    "QUANTIZED": False,
    "GROUP": 4,
}
ODD = ("window", "page_size", "max_pages")
CASES = {
    "too many warps": Failing("gemm.py", "gemm", "Out of threads", GEMM_TYPES, GEMM, ("--num-warps=64",)),
    "tiles too large": Failing(
        *("gemm.py", "gemm", "Out of shared memory", GEMM_TYPES, GEMM | {"BLOCK_K": 128}),
        ("--num-warps=8", "--num-stages=4"),
    ),
    "head too large": Failing(
        *("attention.py", "paged_attention", "Out of shared memory", ATTENTION_TYPES),
        ATTENTION | {"HEAD": 256, "HEAD_PADDED": 256, "BLOCK_Q": 128, "BLOCK_K": 128},
        ("--num-warps=8", "--num-stages=4"),
        ODD,
    ),
    "head not padded": Failing(
        *("attention.py", "paged_attention", "ValueError: arange's range must be a power of 2", ATTENTION_TYPES),
        ATTENTION | {"HEAD": 96, "HEAD_PADDED": 96},
        (),
        ODD,
    ),
    "crash of an old release": Failing(
        *("attention.py", "paged_attention", "Reached code marked unreachable", ATTENTION_TYPES),
        ATTENTION | {"HEAD": 64, "HEAD_PADDED": 64},
        ("--triton=3.1.0", "--num-warps=8", "--num-stages=4"),
        ODD,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_real_files_are_small_within_a_minute(cli: Triage, tmp_path: Path, name: str, capsys: Any) -> None:
    out = tmp_path / "min"
    ended = cli("minimize", *CASES[name].command(), f"--budget={BUDGET_S}s", "--json", "-o", str(out))
    assert ended.code == 0, ended.err
    result = ended.document
    before, after = result["before"]["tokens"], result["after"]["tokens"]
    with capsys.disabled():
        print(
            f"\n  {name:24} {before:6} -> {after:4} tokens ({after / before:4.0%}) "
            f"{result['compiles']:5} compiles {result['seconds']:6.1f} s, {result['ended']}"
        )
    assert result["headline"].startswith(CASES[name].headline)
    assert result["confirmed"]
    assert result["reproduced"] == [1, 1]
    assert after <= LEFT * before
    assert result["seconds"] <= BUDGET_S * 1.5
