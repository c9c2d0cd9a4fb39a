"""Every recipe by name, and what each does to one failing kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from triage.model.case import Case
from triage.suggest.rewrites.block_pointers import block_pointers_as_descriptors
from triage.suggest.rewrites.carried import loop_carried_type
from triage.suggest.rewrites.casts import argument_in_fp32, loads_in_fp32
from triage.suggest.rewrites.declarations import global_constexpr, jit_helper
from triage.suggest.rewrites.dots import dot_operand_turned, dot_operands_one_type
from triage.suggest.rewrites.memory import buffer_as_pointer, descriptor_as_it_lies
from triage.suggest.rewrites.operand_transposed import operand_transposed
from triage.suggest.rewrites.operators import (
    bitwise_atomic_as_integer,
    condition_as_boolean,
    floor_division,
    fma_as_multiply_add,
)
from triage.suggest.rewrites.options import dot_precision_offered, loop_option_left_out, static_range_rolled
from triage.suggest.rewrites.recipe import Recipe, Rewritten, Subject
from triage.suggest.scene import Scene

RECIPES: Mapping[str, Recipe] = {
    "argument-in-fp32": argument_in_fp32,
    "bitwise-atomic-as-integer": bitwise_atomic_as_integer,
    "block-pointers-as-descriptors": block_pointers_as_descriptors,
    "buffer-as-pointer": buffer_as_pointer,
    "condition-as-boolean": condition_as_boolean,
    "descriptor-as-it-lies": descriptor_as_it_lies,
    "dot-operand-turned": dot_operand_turned,
    "dot-operands-one-type": dot_operands_one_type,
    "dot-precision-offered": dot_precision_offered,
    "floor-division": floor_division,
    "fma-as-multiply-add": fma_as_multiply_add,
    "global-constexpr": global_constexpr,
    "jit-helper": jit_helper,
    "loads-in-fp32": loads_in_fp32,
    "loop-carried-type": loop_carried_type,
    "loop-option-left-out": loop_option_left_out,
    "operand-transposed": operand_transposed,
    "static-range-rolled": static_range_rolled,
}
"""By the name that an entry of the knowledge base calls them."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_RELEVANT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("operand-transposed", _pattern(r"WGMMA|transpose|K-?major|wgmma instruction")),
    ("argument-in-fp32", _pattern(r"Expected dtype \['fp32'|unexpected type fp8|input arg type does not match")),
    ("loads-in-fp32", _pattern(r"unexpected type fp8|but got 'i8'|\bf8E\w+|\bfp8\w*\b.*not supported")),
    ("dot-operands-one-type", _pattern(r"must be same dtype|must have the same dtype|must be same type")),
    ("loop-carried-type", _pattern(r"Loop-carried variable|block redefines it as")),
    ("dot-precision-offered", _pattern(r"input_precision")),
    ("loop-option-left-out", _pattern(r"warp[ _-]?speciali|\bWS[A-Z]|NVWS|pipelin|num_stages|partition")),
    ("static-range-rolled", _pattern(r"did not end within|out of memory|ran out of registers|memory limit")),
    ("jit-helper", _pattern(r"function referenced|add @triton\.jit|not a Triton function itself|<function \w+ at")),
    ("global-constexpr", _pattern(r"Cannot access global variable")),
    ("floor-division", _pattern(r"must all be ints|invalid operands of type pointer<\w+> and triton\.language\.float")),
)
"""What in a failure's text speaks for a recipe, where no entry of the knowledge base names one."""


def rewrites(case: Case, scene: Scene, named: Iterable[str]) -> Iterator[Rewritten]:
    """What the recipes make of the case's source: those that entries name first, then those that the text of the
    failure speaks for. Each result once; nothing where the file is not Python."""
    try:
        text = case.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    subject = Subject.of(scene, text)
    if subject is None:
        return
    likely = [name for name, pattern in _RELEVANT if pattern.search(scene.evidence.text)]
    seen = {text}
    for name in dict.fromkeys([*named, *likely]):
        for rewritten in RECIPES[name](subject):
            if rewritten.text not in seen:
                seen.add(rewritten.text)
                yield rewritten
