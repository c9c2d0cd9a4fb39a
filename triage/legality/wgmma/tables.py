"""The rule without numbers: types, the eight layouts, the descriptor, lowering, synchronisation."""

from triage.legality import dtypes
from triage.legality.explanation import RuleTable
from triage.legality.rule import Arguments
from triage.legality.wgmma import descriptor, layouts, lowering, tensors
from triage.legality.wgmma.types import OPERANDS, OperandRule

SYNCHRONISATION = "PTX ISA, wgmma: Async Proxy, wgmma.fence, wgmma.commit_group, wgmma.wait_group"
"""A wgmma runs in the *async proxy* and returns at once: registers and shared memory belong to it until a wait ends."""
GUARANTEES = (
    (
        "wgmma.fence.sync.aligned",
        "earlier accesses of this warpgroup to registers (accumulator, A fragments) come before the wgmmas after it",
        "no wait for earlier wgmmas; no order of generic writes to shared memory (that is fence.proxy.async)",
        "before the first wgmma, and whenever code has touched D or A registers since; not between wgmmas that add to "
        "the same D with one shape",
    ),
    (
        "fence.proxy.async",
        "this thread's generic writes to shared memory (st.shared, cp.async) are visible to the async proxy",
        "nothing about other threads: a barrier follows it, so that every writer has fenced before one reads",
        "between st.shared or cp.async into an operand and the wgmma that reads it; not after TMA, which is in the "
        "async proxy and is awaited by its mbarrier",
    ),
    (
        "wgmma.commit_group.sync.aligned",
        "all wgmmas of this warpgroup since the last commit are one group; an empty group is legal",
        "no wait, no visibility",
        "before any wait that is to cover them: wait_group counts groups, not instructions",
    ),
    (
        "wgmma.wait_group.sync.aligned N",
        "at most the N newest groups are in flight: older ones have written D and have read A and B",
        "nothing for the N newest: their D and A registers may be neither read nor written, their shared memory not "
        "overwritten; other warpgroups do not wait",
        "N=0 before D is read; with N=1 in a pipelined loop the buffer of the round before is free, not this one's",
    ),
)
"""Instruction, its guarantee, what people take from it that it does not give, and when it is needed; in the order in
which a kernel needs them."""


def tables(args: Arguments) -> list[RuleTable]:
    """Everything that holds for all parameters."""
    return [_types(), _layouts(), _offsets(), _descriptor(), _cute(), _lowering(), _sync()]


def _types() -> RuleTable:
    rows = tuple(
        (
            name,
            "/".join(row.partners),
            "/".join(row.accumulators),
            f"m64nNk{row.k}",
            f"{row.k} x {row.dtype.bits} b = 32 B",
            _n(row),
            "/".join(row.majors),
            f"k{2 * row.k}" if row.sparsity else "-",
        )
        for name, row in OPERANDS.items()
    )
    return RuleTable("Types", ("A", "B", "D", "shape", "K", "N", "majors", "sparse"), rows)


def _n(row: OperandRule) -> str:
    return "8, 16 … 256" if row.n == OPERANDS["f16"].n else "8, 16, 24, 32, 48 … 256"


def _layouts() -> RuleTable:
    rows = []
    for layout in layouts.LAYOUTS:
        line = f"{layout.units}T"
        atom = f"8 x {line}" if layout.major == "k" else f"{line} x 8"
        rows.append((*_named(layout), atom, layout.form(), str(layout.pattern_bytes)))
    columns = ("major", "swizzle", "atom, M/N x K", "shape:stride over (M/N, K)", "align, B")
    title = "Shared-memory layouts; T elements are 16 bytes"
    return RuleTable(title, columns, tuple(rows), (layouts.SOURCE, layouts.STRIDES))


def _offsets() -> RuleTable:
    rows = []
    for layout in layouts.LAYOUTS:
        if layout.major == "k":
            leading = "16 B" if layout.swizzle else "rows x 16 B"
            packed = (leading, f"{layout.atom_bytes} B")
        elif layout.swizzle:
            packed = (f"K x {layout.line_bytes} B", f"{layout.atom_bytes} B")
        else:
            packed = (f"{layout.atom_bytes} B", "K x 16 B")
        rows.append((*_named(layout), *layout.meaning(), *packed))
    columns = ("major", "swizzle", "LBO", "SBO", "LBO, packed", "SBO, packed")
    return RuleTable(
        "Byte offsets: what they step over, and what they are in a tile as TMA packs it", columns, tuple(rows)
    )


def _named(layout: layouts.SharedLayout) -> tuple[str, str]:
    return (layout.major.upper(), f"{layout.swizzle} B" if layout.swizzle else "none")


def _descriptor() -> RuleTable:
    rows = tuple((f"{low}-{low + width - 1}", name, meaning) for name, low, width, meaning in descriptor.FIELDS)
    return RuleTable("Matrix descriptor, 64 bits", ("bits", "field", "value"), rows, (descriptor.SOURCE,))


def _cute() -> RuleTable:
    rows = []
    for layout in layouts.LAYOUTS:
        atoms = (tensors.layout_atom(layout, dtypes.parse(name)) for name in ("f16", "tf32", "e4m3"))
        rows.append((tensors.kind(layout), str(tensors.swizzle(layout)), *map(tensors.static, atoms)))
    columns = ("GMMA::Layout_…_Atom", "swizzle, bytes", "16 bits", "32 bits", "8 bits")
    return RuleTable("CuTe: layout atoms, before the swizzle, in elements", columns, tuple(rows), (tensors.SOURCE,))


def _lowering() -> RuleTable:
    rows = (
        ("target", "cuda:90", "no wgmma"),
        ("num_warps", "a multiple of 4", "mma.sync"),
        ("M", "a multiple of 64", "mma.sync"),
        ("N", "8 or more; 16 up to 3.7", "mma.sync"),
        ("K", "a multiple of 32 bytes", "mma.sync or refused"),
        ("type", "f16 bf16 tf32 e4m3 e5m2 s8", "no wgmma"),
        ("input_precision", "tf32, tf32x3", "ieee: FMA"),
    )
    return RuleTable("When Triton's tl.dot becomes wgmma", ("condition", "needs", "else"), rows, (lowering.SOURCE,))


def _sync() -> RuleTable:
    columns = ("instruction", "guarantees", "does not give", "needed")
    return RuleTable("Synchronisation", columns, GUARANTEES, (SYNCHRONISATION,))
