"""The hundred: which failure, next to which other, in what shape."""

from __future__ import annotations

from traps.aborts import ABORTS, RELEASE
from traps.failure import Failure
from traps.frontend import FRONTEND
from traps.gluon import GLUON
from traps.later import LATER
from traps.shapes import Trap

FAILURES: dict[str, Failure] = {**FRONTEND, **LATER, **GLUON, **ABORTS}

_PLAIN = """
    arange-power      arange-runtime     after
    broadcast         broadcast-to       other-branch
    dot-int32         dot-types          from-callee
    dot-types         dot-precision      within-callee
    branch-type       loop-type          behind-loop
    offset-float      and-pointer        same-loop
    undefined         undefined-call     small-block
    global            undefined          few-warps
    load-integer      store-integer      plain-type
    cache-modifier    eviction           expression
    undefined         global             expression
    semantic          scope              expression
    program-axis      programs-axis      expression
    dot-rank          dot-types          rebind-h
    reshape           broadcast          rebind-x
    program-axis      load-integer       rebind-i
    other-alone       mask-block         after
    axis              expand             same-loop
    permute           permute-twice      in-callee
    static-assert     static-assert-wide after
    static-assert     broadcast          after
    static-assert-wide dot-types         small-block
    set-element       slice              from-callee
    break             continue           after
    lambda            try                two-callees
    try               break              first-branch
    return-if-in-loop break              after
    descriptor-stride descriptor-row     other-branch
    atomic-or         atomic-add         expression
    missing           too-many           after
    keyword           missing            in-callee
    bitcast           fp8e4nv            after
    split             permute            in-loop
    helper-plain      undefined          after
    verify-fma        verify-assert      after
    verify-assert     verify-fma         in-callee
    verify-while      verify-fma         other-branch
    verify-fma        verify-while       large-block
    undefined         verify-assert      before
    static-assert     verify-fma         before
    fp8-sum           cluster-gram       after
    cluster-gram      fp8-sum            other-branch
    fp8-sort          fp8-sum            large-block
    fp8-sum           asm-count          before
    verify-fma        fp8-sum            before
    fp8-sum           asm-letter         before
    asm-count         asm-letter         after
    asm-letter        asm-input-letter   after
    asm-operand       asm-bad-operand    after
    asm-bad-operand   asm-unterminated   large-block
    asm-unterminated  asm-operand        in-callee
    asm-operand       ptx-modifier       before
    ptx-modifier      ptx-name           after
    ptx-name          ptx-modifier       other-branch
    ptx-near          ptx-modifier       large-block
    asm-long-x        asm-long-y         after
    asm-long-y        asm-long-x         small-block
    ptx-count         ptx-types          after
    ptx-count         ptx-missing        in-callee
    ptx-missing       ptx-count          first-branch
    ptx-elect         ptx-fence          after
    ptx-fence         ptx-elect          small-block
    ptx-twice         ptx-label          after
    ptx-space         ptx-syntax         other-branch
    ptx-syntax        ptx-modifier       few-warps
    amd-instruction   amd-operand        after
    amd-operand       amd-modifier       in-callee
    amd-instruction   amd-symbol         before
    amd-float-xor     amd-instruction    before
    over-shared       over-threads       after
    over-threads      over-cluster       after
    undefined         over-shared        before
    over-shared       ptx-modifier       small-block
    int8-sm75         ptx-modifier       before
    mma-width         mma-double         after
    mma-double        mma-width          other-branch
    wgmma-flat        wgmma-shallow      after
    wgmma-shallow     wgmma-flat         other-branch
    wgmma-rows        warps-layout       other-branch
    warps-layout      wgmma-rows         large-block
    arange-rank       slice-axis         after
    slice-axis        no-layout          small-block
    wgmma-rows        mma-width          before
    mma-width         wgmma-flat         after
    wgmma-flat        mma-width          first-branch
    wgmma-swizzled    wgmma-rows         after
"""
_OLD = """
    old-scan          old-gram           after
    old-gram          old-rank           other-branch
    old-batched       old-negated        after
    old-negated       old-batched        small-block
    old-while         old-batched        before
    old-batched       old-rank           before
    old-batched       old-gram           in-callee
    old-scan          old-sum            in-callee
    asm-operand       asm-bad-operand    large-block
    old-gram          old-sum            after
"""
"""The first, the second, the shape."""


def _read(table: str, triton: str | None = None) -> list[Trap]:
    rows = [line.split() for line in table.strip().splitlines()]
    return [Trap(FAILURES[first], FAILURES[second], shape, triton=triton) for first, second, shape in rows]


TRAPS: list[Trap] = [
    *_read(_PLAIN),
    *_read(_OLD, RELEASE),
    # Another target brings it to light: the commoner ones are tried.
    Trap(FAILURES["ptx-elect"], FAILURES["fp8e4nv"], "before", {"target": "cuda:89"}, {"target": "cuda:80"}),
    Trap(
        FAILURES["ptx-fence"],
        FAILURES["cluster-sm80"],
        "after",
        {"target": "cuda:120"},
        {"target": "cuda:80"},
    ),
    # Options: what they are by default brings another limit to light.
    Trap(
        FAILURES["over-threads"],
        FAILURES["over-shared"],
        "few-warps",
        {"options": {"num_warps": 64}},
        {"options": {"num_warps": 4}},
    ),
    Trap(FAILURES["over-cluster"], FAILURES["over-shared"], "small-block", {"target": "cuda:90"}),
]

QUICK = {"fp8-sum+cluster-gram+after"}
"""An abort of the compiler, which every run of the tests reduces. An error of the front end is reduced by
``tests/cli/test_minimize.py``."""
