"""Names of the rewrite recipes, separate from their code: `triage log` reads entries and rewrites nothing."""

from __future__ import annotations

from collections.abc import Mapping

SUMMARIES: Mapping[str, str] = {
    "argument-in-fp32": "convert the failing function's argument to fp32, and its result back where that is intended",
    "bitwise-atomic-as-integer": "view floating-point memory and values of bitwise atomics as integers",
    "block-pointers-as-descriptors": "make tensor descriptors of block pointers",
    "buffer-as-pointer": "load and store through pointers instead of AMD's buffer operations",
    "condition-as-boolean": "compare the condition of tl.device_assert with 0",
    "descriptor-as-it-lies": "describe a column-major matrix with contiguous rows, and transpose its blocks",
    "dot-operand-turned": "transpose an operand of tl.dot whose inner extent is the wrong one",
    "dot-operands-one-type": "cast one operand of tl.dot to the type of the other",
    "dot-precision-offered": "ask for an input_precision that the back-end supports",
    "floor-division": "divide with //, or tl.cdiv, in addresses and loop bounds",
    "fma-as-multiply-add": "write a * b + c for tl.fma of integers",
    "global-constexpr": "make a global variable that the kernel reads a tl.constexpr",
    "jit-helper": "decorate plain functions that the kernel calls with triton.jit",
    "loads-in-fp32": "convert values loaded from fp8 and bf16 pointers to fp32",
    "loop-carried-type": "start a variable in the type that it becomes, or cast it back",
    "loop-option-left-out": "remove an option written in tl.range, such as warp_specialize=True",
    "operand-transposed": "load an MN-major operand of a dot the other way round, so that it is K-major",
    "static-range-rolled": "loop with tl.range instead of tl.static_range",
}
"""Recipe → what it does; the values of ``rewrites`` in an entry. ``triage.suggest.rewrites.registry`` has the code."""
