"""Every rewrite recipe: its name, summary and code, and the failures that it is tried for.

The code is imported when a recipe is used: `triage log` reads the names and rewrites nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecipeEntry:
    """``function`` is ``module.function`` in this package. ``failures`` is a pattern, in any case: a failure whose text
    it matches is tried with the recipe, though no entry of the knowledge base names it. Empty: never."""

    summary: str
    function: str
    failures: str = ""


CATALOGUE: Mapping[str, RecipeEntry] = {
    "operand-transposed": RecipeEntry(
        "load an MN-major operand of a dot the other way round, so that it is K-major",
        "operand_transposed.operand_transposed",
        "WGMMA|transpose|K-?major|wgmma instruction",
    ),
    "argument-in-fp32": RecipeEntry(
        "convert the failing function's argument to fp32, and its result back where that is intended",
        "casts.argument_in_fp32",
        r"Expected dtype \['fp32'|unexpected type fp8|input arg type does not match",
    ),
    "loads-in-fp32": RecipeEntry(
        "convert values loaded from fp8 and bf16 pointers to fp32",
        "casts.loads_in_fp32",
        r"unexpected type fp8|but got 'i8'|\bf8E\w+|\bfp8\w*\b.*not supported",
    ),
    "dot-operands-one-type": RecipeEntry(
        "cast one operand of tl.dot to the type of the other",
        "dots.dot_operands_one_type",
        "must be same dtype|must have the same dtype|must be same type",
    ),
    "loop-carried-type": RecipeEntry(
        "start a variable in the type that it becomes, or cast it back",
        "carried.loop_carried_type",
        "Loop-carried variable|block redefines it as",
    ),
    "dot-precision-offered": RecipeEntry(
        "ask for an input_precision that the back-end supports", "options.dot_precision_offered", "input_precision"
    ),
    "loop-option-left-out": RecipeEntry(
        "remove an option written in tl.range, such as warp_specialize=True",
        "options.loop_option_left_out",
        r"warp[ _-]?speciali|\bWS[A-Z]|NVWS|pipelin|num_stages|partition",
    ),
    "static-range-rolled": RecipeEntry(
        "loop with tl.range instead of tl.static_range",
        "options.static_range_rolled",
        "did not end within|out of memory|ran out of registers|memory limit",
    ),
    "jit-helper": RecipeEntry(
        "decorate plain functions that the kernel calls with triton.jit",
        "declarations.jit_helper",
        r"function referenced|add @triton\.jit|not a Triton function itself|<function \w+ at",
    ),
    "global-constexpr": RecipeEntry(
        "make a global variable that the kernel reads a tl.constexpr",
        "declarations.global_constexpr",
        "Cannot access global variable",
    ),
    "floor-division": RecipeEntry(
        "divide with //, or tl.cdiv, in addresses and loop bounds",
        "operators.floor_division",
        r"must all be ints|invalid operands of type pointer<\w+> and triton\.language\.float",
    ),
    "bitwise-atomic-as-integer": RecipeEntry(
        "view floating-point memory and values of bitwise atomics as integers", "operators.bitwise_atomic_as_integer"
    ),
    "block-pointers-as-descriptors": RecipeEntry(
        "make tensor descriptors of block pointers", "block_pointers.block_pointers_as_descriptors"
    ),
    "buffer-as-pointer": RecipeEntry(
        "load and store through pointers instead of AMD's buffer operations", "memory.buffer_as_pointer"
    ),
    "condition-as-boolean": RecipeEntry(
        "compare the condition of tl.device_assert with 0", "operators.condition_as_boolean"
    ),
    "descriptor-as-it-lies": RecipeEntry(
        "describe a column-major matrix with contiguous rows, and transpose its blocks", "memory.descriptor_as_it_lies"
    ),
    "dot-operand-turned": RecipeEntry(
        "transpose an operand of tl.dot whose inner extent is the wrong one", "dots.dot_operand_turned"
    ),
    "fma-as-multiply-add": RecipeEntry("write a * b + c for tl.fma of integers", "operators.fma_as_multiply_add"),
}
"""By the name that ``rewrites`` of an entry gives, in the order in which a failure's text tries them."""
