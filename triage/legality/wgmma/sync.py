"""Synchronisation around a wgmma: what each instruction guarantees, and what it does not.

A wgmma runs in the *async proxy* and returns at once. Registers and shared memory belong to it until a wait
ends. PTX ISA, "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group", "Async proxy".
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "PTX ISA, wgmma: Async Proxy, wgmma.fence, wgmma.commit_group, wgmma.wait_group"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The guarantee of an instruction; ``needed`` is when it is required, ``not_given`` what people take from it
    that it does not give."""

    instruction: str
    guarantees: str
    not_given: str
    needed: str


GUARANTEES = (
    Guarantee(
        "wgmma.fence.sync.aligned",
        "earlier accesses of this warpgroup to registers (accumulator, A fragments) come before the wgmmas after it",
        "no wait for earlier wgmmas; no order of generic writes to shared memory (that is fence.proxy.async)",
        "before the first wgmma, and whenever code has touched D or A registers since; not between wgmmas that add to "
        "the same D with one shape",
    ),
    Guarantee(
        "fence.proxy.async",
        "this thread's generic writes to shared memory (st.shared, cp.async) are visible to the async proxy",
        "nothing about other threads: a barrier follows it, so that every writer has fenced before one reads",
        "between st.shared or cp.async into an operand and the wgmma that reads it; not after TMA, which is in the "
        "async proxy and is awaited by its mbarrier",
    ),
    Guarantee(
        "wgmma.commit_group.sync.aligned",
        "all wgmmas of this warpgroup since the last commit are one group; an empty group is legal",
        "no wait, no visibility",
        "before any wait that is to cover them: wait_group counts groups, not instructions",
    ),
    Guarantee(
        "wgmma.wait_group.sync.aligned N",
        "at most the N newest groups are in flight: older ones have written D and have read A and B",
        "nothing for the N newest: their D and A registers may be neither read nor written, their shared memory not "
        "overwritten; other warpgroups do not wait",
        "N=0 before D is read; with N=1 in a pipelined loop the buffer of the round before is free, not this one's",
    ),
)
"""In the order in which a kernel needs them."""
