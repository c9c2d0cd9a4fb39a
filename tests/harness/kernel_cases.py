"""Cases of the kernels in ``kernels/``, and the folder of the reproducers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.model.case import Case, frozen
from triage.model.language import Language
from triage.model.target import Target

KERNELS = Path(__file__).parent / "kernels"
REPRODUCERS = Path(__file__).parents[2] / "reproducers"


def case(file: str | Path, name: str, signature: dict[str, str], target: str = "cuda:90", **options: Any) -> Case:
    """A case without constexprs; ``file`` is one of the kernels or any path."""
    path = KERNELS / file
    return Case(
        folder=path.parent,
        file=path.name,
        name=name,
        signature=frozen(signature),
        target=Target.parse(target),
        options=frozen(options),
    )


def _with(case: Case, language: Language = Language.TRITON, **constexprs: Any) -> Case:
    return replace(case, constexprs=frozen(constexprs), language=language)


def add(target: str = "cuda:90", block: int = 256) -> Case:
    """Compiles everywhere. Another ``block`` makes another case of it."""
    return _with(case("elementwise.py", "add", {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, target), BLOCK=block)


def elementwise(name: str, element: str, target: str = "cuda:90") -> Case:
    """One of the two-pointer kernels of ``elementwise.py``."""
    return _with(case("elementwise.py", name, {"x_ptr": f"*{element}", "y_ptr": f"*{element}"}, target), BLOCK=64)


def assembly(asm: str, constraints: str, target: str = "cuda:90") -> Case:
    """Inline assembly of one 32-bit input and one 32-bit output."""
    found = case("inline_asm.py", "elementwise", {"x_ptr": "*i32", "y_ptr": "*i32"}, target)
    return _with(found, ASM=asm, CONSTRAINTS=constraints, BLOCK=256)


def dot(target: str, element: str = "fp16", precision: str = "ieee") -> Case:
    """One ``tl.dot`` of 32 by 32 by 32."""
    pointers = {"a_ptr": f"*{element}", "b_ptr": f"*{element}", "c_ptr": "*fp32"}
    return _with(case("requests.py", "dot", pointers, target), M=32, N=32, K=32, PRECISION=precision)


def block_scaled(target: str, size: int = 128) -> Case:
    """One ``tl.dot_scaled`` of ``size`` rows, columns and steps."""
    pointers = {"a_ptr": "*u8", "b_ptr": "*u8", "scale_ptr": "*u8", "c_ptr": "*fp32"}
    return _with(case("requests.py", "block_scaled", pointers, target), M=size, N=size, K=size)


def specialized(target: str, rows: int, inner: int) -> Case:
    """A matmul that asks for warp specialization."""
    tiles = {"a_desc": [rows, inner], "b_desc": [rows, inner], "c_desc": [rows, rows]}
    signature = {**{name: f"tensordesc<fp16{tile}>" for name, tile in tiles.items()}, "K": "i32"}
    return _with(case("requests.py", "specialized", signature, target), BM=rows, BN=rows, BK=inner)


def matmul(
    block_m: int, block_n: int, block_k: int, target: str = "cuda:90", element: str = "fp16", **options: Any
) -> Case:
    """A matmul of that tile."""
    pointers = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), f"*{element}")
    sizes = dict.fromkeys(("M", "N", "K"), "i32")
    found = case("matmul.py", "matmul", {**pointers, **sizes}, target, **options)
    # Known to be divisible, sizes let the loads be wide enough for asynchronous copies, and so for pipelining.
    found = replace(found, divisible=frozen(dict.fromkeys(sizes, 16)))
    return _with(found, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k)


def gluon_mma(accumulator: str, target: str = "cuda:80") -> Case:
    """A Gluon mma.sync of fp16 operands with that type of accumulator."""
    found = case("gluon_mma.py", "tile", {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32"}, target)
    return _with(
        found,
        Language.GLUON,
        LOAD="gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])",
        ACC="gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])",
        ACC_TYPE=accumulator,
        SIZE=64,
    )


def only_after_fork() -> Case:
    """Aborts in a process that was forked after the import, compiles in any other."""
    return _with(case("only_after_fork.py", "add", {"x_ptr": "*fp32", "y_ptr": "*fp32"}), BLOCK=256)
