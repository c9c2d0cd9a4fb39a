"""Every rewrite recipe: its name, its module, and the failures that it is tried for.

The code is imported when a recipe is used: `triage log` reads the names and rewrites nothing. The recipe's function has
its name, with underscores, and the function's docstring says what it does.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecipeEntry:
    """``module`` is of this package. ``failures`` is a pattern, in any case: a failure whose text it matches is tried
    with the recipe, though no entry of the knowledge base names it. Empty: never."""

    module: str
    failures: str = ""


CATALOGUE: Mapping[str, RecipeEntry] = {
    "operand-transposed": RecipeEntry("operand_transposed", "WGMMA|transpose|K-?major|wgmma instruction"),
    "argument-in-fp32": RecipeEntry(
        "casts", r"Expected dtype \['fp32'|unexpected type fp8|input arg type does not match"
    ),
    "loads-in-fp32": RecipeEntry("casts", r"unexpected type fp8|but got 'i8'|\bf8E\w+|\bfp8\w*\b.*not supported"),
    "dot-operands-one-type": RecipeEntry("dots", "must be same dtype|must have the same dtype|must be same type"),
    "dot-accumulator-type": RecipeEntry(
        "accumulators", "assert acc\\.type|accumulator dtype|are cast incompatible|value type matches ptr type"
    ),
    "loop-carried-type": RecipeEntry("carried", "Loop-carried variable|block redefines it as"),
    "dot-precision-offered": RecipeEntry("options", "input_precision"),
    "loop-option-left-out": RecipeEntry("options", r"warp[ _-]?speciali|\bWS[A-Z]|NVWS|pipelin|num_stages|partition"),
    "static-range-rolled": RecipeEntry("options", "did not end within|out of memory|ran out of registers|memory limit"),
    "jit-helper": RecipeEntry(
        "declarations", r"function referenced|add @triton\.jit|not a Triton function itself|<function \w+ at"
    ),
    "global-constexpr": RecipeEntry("declarations", "Cannot access global variable"),
    "floor-division": RecipeEntry(
        "operators", r"must all be ints|invalid operands of type pointer<\w+> and triton\.language\.float"
    ),
    "bitwise-atomic-as-integer": RecipeEntry("operators"),
    "block-pointers-as-descriptors": RecipeEntry("block_pointers"),
    "buffer-as-pointer": RecipeEntry("memory"),
    "condition-as-boolean": RecipeEntry("operators"),
    "descriptor-as-it-lies": RecipeEntry("memory"),
    "dot-operand-turned": RecipeEntry("dots"),
    "fma-as-multiply-add": RecipeEntry("operators"),
}
"""The recipes of Triton and Gluon, by the name that ``rewrites`` of an entry gives, in the order in which a failure's
text tries them."""

_ALIGNMENT = "alignment.*requirement|requirement.*alignment|cannot vectorize copy"
CUTE_CATALOGUE: Mapping[str, RecipeEntry] = {
    "early-exit": RecipeEntry(
        "cute.control_flow",
        r"UNSUP_EARLY_EXIT|[Ee]arly exit|(?:return|break|continue)\b.*not (?:allowed|supported)",
    ),
    "loop-else": RecipeEntry("cute.control_flow", r"UNSUP_LOOP_ELSE|loop.*\belse\b|\belse\b.*loop"),
    "read-at-run-time": RecipeEntry(
        "cute.control_flow", r"PHASE_REQUIRES_CONSTANT|const_?expr|[Dd]ynamic expression|compile-?time constant"
    ),
    "rolled": RecipeEntry("cute.control_flow", "did not end within|memory limit|out of memory|RecursionError"),
    "one-type": RecipeEntry(
        "cute.variables", "TYPE_UNSTABLE_JOIN|type.* change[sd]|different type|structured different|mismatch.*type"
    ),
    "defined-before": RecipeEntry(
        "cute.variables", "not associated with a value|referenced before assignment|is not defined|None prior to"
    ),
    "list-in-registers": RecipeEntry(
        "cute.lists", "PHASE_DYNAMIC_INDEX|[Ll]ist ind(?:ex|ices)|cannot be (?:used|interpreted) as an? in"
    ),
    "arguments-completed": RecipeEntry("cute.calls", "ARG_BIND_FAILED|missing .*argument|positional arguments?"),
    "stored-as-element": RecipeEntry("cute.calls", "[Tt]ype mismatch, store"),
    "constexpr-annotated": RecipeEntry("cute.calls", r"failed to generate argument|ARG_\w+|[Cc]onstexpr"),
    "wide-print": RecipeEntry("cute.calls", r"cute\.print|printf|can be printed"),
    "text-chosen": RecipeEntry("cute.calls", "<class 'str'> is not supported|'str'|str.*not supported"),
    "laid-out-as-source": RecipeEntry("cute.shared_memory", _ALIGNMENT),
    "staged-copy": RecipeEntry("cute.shared_memory", _ALIGNMENT),
    "single-elements": RecipeEntry("cute.shared_memory", _ALIGNMENT),
    "within-alignment": RecipeEntry("cute.shared_memory", _ALIGNMENT),
    "numbers-changed": RecipeEntry("cute.literals", "."),
}
"""The recipes of CuTe DSL, in the order in which they are tried: what keeps results first. Letters count in their
patterns, which have codes and names."""

RECIPES: Mapping[str, RecipeEntry] = {**CATALOGUE, **CUTE_CATALOGUE}
"""All that ``rewrites`` of an entry may name."""
