"""The names of the rewrite recipes, apart from their code: `triage log` reads entries and rewrites nothing."""

RECIPE_NAMES = (
    "argument-in-fp32",
    "bitwise-atomic-as-integer",
    "block-pointers-as-descriptors",
    "buffer-as-pointer",
    "condition-as-boolean",
    "descriptor-as-it-lies",
    "dot-operand-turned",
    "dot-operands-one-type",
    "dot-precision-offered",
    "floor-division",
    "fma-as-multiply-add",
    "global-constexpr",
    "jit-helper",
    "loads-in-fp32",
    "loop-carried-type",
    "loop-option-left-out",
    "operand-transposed",
    "static-range-rolled",
)
"""What an entry's ``rewrites`` may name; ``triage.suggest.rewrites.registry`` holds one recipe for each."""
