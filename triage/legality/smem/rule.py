"""``triage explain smem``."""

from triage.legality import occupancy
from triage.legality.explanation import Fact, RuleTable
from triage.legality.limits import limits, multiprocessor, tabulated
from triage.legality.registers import accumulator
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.smem.estimate import (
    SOURCE,
    Estimate,
    estimate,
    largest_tiles,
    stages_that_fit,
    violations_of,
    with_stages,
)
from triage.legality.smem.model import CONFIRMED, DotInstruction

TITLE = "shared memory of a staged matmul: buffers, barriers, scratch"
_TABLED_STAGES = 6


def _judge(args: Arguments) -> Judgement:
    need = estimate(dtype_a=args["dtype"], **{name: value for name, value in args.items() if name != "dtype"})
    limit = f" of {need.limit_bytes} B" if need.limit_bytes is not None else ""
    row = limits(need.loop.target)
    tiles = [smaller.tile for smaller in largest_tiles(need, 2)] if need.fits is False else []
    return Judgement(
        f"{_bytes(need.total_bytes, need.exact)}{limit} a block on {need.loop.target}, {need.loop.stages} stages",
        violations_of(need),
        _facts(need),
        (_by_stages(need),),
        notes=_notes(need),
        sources=(row.source,) if row else (),
        alternatives=[(f"a tile of {'x'.join(map(str, tile))}", {"tile": tile}) for tile in tiles],
        verdict="unknown limit" if need.fits is None else "legal",
    )


def _bytes(count: int, exact: bool) -> str:
    return f"{'' if exact else 'at most '}{count} B"


def _facts(need: Estimate) -> list[Fact]:
    loop = need.loop
    facts = [
        Fact("instruction", loop.instruction.value, "instruction"),
        Fact("bytes_per_stage", need.bytes_per_stage, "bytes a stage", f"{need.bytes_per_stage} B of A and B"),
    ]
    for part in need.during:
        name = f"bytes_{part.name.lower().replace(' ', '_')}"
        copies = f" = {part.buffers} x {part.bytes // part.buffers}" if part.buffers > 1 else ""
        facts.append(Fact(name, part.bytes, part.name, f"{_bytes(part.bytes, part.exact)}{copies}"))
    if need.after.bytes:
        where = "beside the loop's" if loop.warp_specialized else "in the loop's memory"
        text = f"{_bytes(need.after.bytes, need.after.exact)} after the loop, {where}"
        facts.append(Fact("bytes_epilogue", need.after.bytes, need.after.name, text))
    facts.append(Fact("total_bytes", need.total_bytes, "total", _bytes(need.total_bytes, need.exact)))
    facts.append(Fact("exact", need.exact, "exact", "yes" if need.exact else "no, an upper bound"))
    if need.limit_bytes is None:
        return facts
    facts.append(Fact("limit_bytes", need.limit_bytes, "limit", f"{need.limit_bytes} B a block"))
    stages = stages_that_fit(need)
    most_stages = stages[-1] if stages else 0
    facts.append(Fact("stages_that_fit", most_stages, "stages that fit", f"{most_stages} at most"))
    for best in (need,) if need.fits else largest_tiles(need, 1):
        text = "this one fits" if best is need else "x".join(map(str, best.tile))
        facts.append(Fact("largest_tile", list(best.tile), "largest tile", text))
    facts += _occupancy(need)
    return facts


def _occupancy(need: Estimate) -> list[Fact]:
    """Blocks an SM by shared memory and the accumulator's registers, which is the most that there can be."""
    loop = need.loop
    row, sm = limits(loop.target), multiprocessor(loop.target)
    if row is None or sm is None or not need.fits:
        return []
    tensor_memory = loop.instruction is DotInstruction.TCGEN05
    words = accumulator((loop.m, loop.n), num_warps=loop.warps, target=loop.target, tensor_memory=tensor_memory)
    threads = loop.warps * loop.target.warp_size
    total, registers = min(need.total_bytes, row.shared_bytes), min(words, row.registers)
    resident = occupancy.of(shared_bytes=total, registers=registers, threads=threads, target=loop.target)
    if resident is None:
        return []
    text = f"{resident}, counting the accumulator's {words} registers a thread alone"
    return [Fact("blocks_per_sm", resident.blocks_per_sm, "blocks an SM, at most", text)]


def _notes(need: Estimate) -> list[str]:
    notes = list(need.notes)
    if not need.exact and need.loop_bytes < need.after.bytes:
        least = sum(part.bytes for part in need.during if part.exact)
        notes.append(f"The loop needs {least} B; the layout conversion after it is bounded, not computed.")
    if need.loop.stages == 1:
        notes.append("One stage is not pipelined: loads and MMAs do not overlap within a warp.")
    return notes


def _by_stages(need: Estimate) -> RuleTable:
    rows = []
    for stages in range(1, _TABLED_STAGES + 1):
        staged = with_stages(need, stages)
        verdict = {True: "yes", False: "no", None: "?"}[staged.fits]
        rows.append((str(stages), str(staged.loop_bytes), str(staged.total_bytes), verdict))
    return RuleTable("by num_stages", ("stages", "loop B", "total B", "fits"), tuple(rows))


def _tables(args: Arguments) -> list[RuleTable]:
    rows = []
    for target, row in tabulated():
        sm = multiprocessor(target)
        each = str(sm.shared_bytes) if sm else "-"
        rows.append((str(target), str(row.shared_bytes), each, _BUFFERS.get(target.arch, "num_stages - 1")))
    columns = ("target", "a block, B", "an SM, B", "buffers of an operand")
    sources = tuple(row.source for _, row in tabulated())
    return [RuleTable(TITLE, columns, tuple(rows), sources)]


_BUFFERS = {
    "gfx950": "num_stages (before 3.8 one less)",
    "gfx1250": "num_stages (before 3.8 one less)",
    "90": "num_stages for wgmma (BLOCK_M >= 64), else one less",
    **dict.fromkeys(("70", "72", "75"), "1: no cp.async"),
    **dict.fromkeys(("100", "103"), "num_stages for tcgen05 (BLOCK_M >= 64), else one less"),
}
"""Buffers of an operand by architecture, where they are not ``num_stages - 1``."""
_CHOICES = ("pointer", "tma")

RULE = LegalityRule(
    "smem",
    TITLE,
    (
        RuleParameter("target", Syntax.TARGET, "cuda:NN or hip:gfxNNN", default="cuda:90"),
        RuleParameter("tile", Syntax.SHAPE, "BLOCK_M x BLOCK_N x BLOCK_K", required=True),
        RuleParameter("dtype", Syntax.DTYPE, "type of A and B", default="fp16"),
        RuleParameter("dtype-b", Syntax.DTYPE, "type of B, where it differs"),
        RuleParameter("dtype-out", Syntax.DTYPE, "type that is stored"),
        RuleParameter("stages", Syntax.INTEGER, "num_stages", default="3"),
        RuleParameter("num-warps", Syntax.INTEGER, "warps a block", default="4"),
        RuleParameter("loads", Syntax.CHOICE, "how A and B are loaded", choices=_CHOICES, default="pointer"),
        RuleParameter("b-layout", Syntax.CHOICE, "B in memory: kn is row-major", choices=("kn", "nk"), default="kn"),
        RuleParameter("epilogue", Syntax.CHOICE, "how the result is stored", choices=_CHOICES, default="pointer"),
        RuleParameter("triton", Syntax.RELEASE, "Triton release; the newest confirmed one without it"),
        RuleParameter("warp-specialized", Syntax.FLAG, "tl.range(…, warp_specialize=True)"),
    ),
    _judge,
    _tables,
    (
        "--target cuda:90 --tile 128x256x64 --dtype fp16 --stages 4",
        "--target cuda:86 --tile 128x256x64 --dtype fp16 --stages 4 --num-warps 8",
        "--target cuda:100 --tile 128x256x64 --dtype fp8e4nv --stages 6 --loads tma --b-layout nk --epilogue tma",
        "--target hip:gfx942 --tile 256x256x64 --dtype bf16 --stages 2 --num-warps 8",
    ),
    (SOURCE,),
    (f"Compared with compiles on Triton {', '.join(CONFIRMED)}.",),
)
