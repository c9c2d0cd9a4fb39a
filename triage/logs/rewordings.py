"""The same check in other words: texts that Triton's authors rewrote from one release to the next.

Each entry is a normalised text as some release has it, and the one it counts as (that of the newest release
that has the check). Only checks that were seen to be the same, at the same place, belong here; where a release
fails in another check, it is another bug.
"""

from __future__ import annotations

import re

#: (the older text, what it counts as). Source: triton/language/semantic.py of the released wheels, or strings
#: in their libtriton.so, as named.
REWORDINGS: tuple[tuple[str, str], ...] = (
    # semantic.py, dot: 3.0 and 3.1 have the first, 2.x the second.
    (r"First input \(T\) and second input \(T\) must have the same dtype", "Both operands must be same dtype"),
    (r"lhs and rhs must have the same dtype", "Both operands must be same dtype"),
    # semantic.py (3.0, 3.1), then core.py: a floating-point type that the target does not have.
    (r"T data type is not supported on CUDA arch < N", "type T not supported in this architecture"),
    # libtriton, TensorMemoryEncodingAttr: up to 3.8.
    (r"the allocation shape must be at least", "the tensor shape must be at least"),
    # libtriton, MMAv2.cpp: up to 3.7.
    (
        r"Unsupported MMA instruction for the given mma type",
        "unsupported MMA instruction for the given operand/result types",
    ),
    # libtriton, TMEMLoadOp::verify: 3.5. Later releases put the layouts into notes.
    (r"'ttng.tmem_load' op result layout is not TMEM compatible", "'ttng.tmem_load' op result"),
    # libtriton, BlockedEncodingAttr::verify: up to 3.6; CTALayout was renamed.
    (r"BlockedEncodingAttr and CTALayout's fields", "BlockedEncodingAttr and CGALayout's fields"),
    # MLIR's two ways to say that a dialect is not loaded; AMD's dialect was renamed after 3.5.
    (
        r"Building op `(?:amdgpu|amdg)\.(\w{1,80})` but it isn't known in this MLIRContext.*",
        r"amdg.\1 created with unregistered dialect",
    ),
    (
        r"Building op `([\w.]{1,120})` but it isn't known in this MLIRContext.*",
        r"\1 created with unregistered dialect",
    ),
)

_COMPILED = tuple((re.compile(older), newest) for older, newest in REWORDINGS)


def reworded(text: str) -> str:
    """The text as the newest release words it."""
    for older, newest in _COMPILED:
        if match := older.match(text):
            return match.expand(newest) + text[match.end() :]
    return text
