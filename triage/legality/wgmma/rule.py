"""``triage explain wgmma``: a Triton tile or a single instruction, judged, laid out and drawn."""

from collections.abc import Mapping
from typing import Any

from triage.legality import dtypes
from triage.legality.dtypes import DType
from triage.legality.explanation import Drawing, Fact
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation
from triage.legality.wgmma import cute, descriptor, layouts, lowering, tables, tensors
from triage.legality.wgmma.instruction import WgmmaInstruction
from triage.legality.wgmma.layouts import OperandTile, SharedLayout
from triage.legality.wgmma.request import TileRequest, instruction_n, read
from triage.legality.wgmma.types import OPERANDS, SHAPES, TYPES, M, OperandRule

TITLE = "matrix instructions of a warpgroup on Hopper: shapes, majors, shared-memory layouts, descriptors"


def judge(args: Arguments) -> Judgement:
    """A tile, or a single instruction where M, N and K are one's."""
    asked = read(args)
    broken = asked.violations()
    if not broken:
        return _legal(asked)
    return Judgement(
        broken[0].message,
        broken,
        notes=_fallback(asked),
        resolved=asked.resolved(),
        alternatives=_alternatives(asked, broken),
    )


def _legal(asked: TileRequest) -> Judgement:
    lowered = asked.lowered()
    by_triton = lowered.instruction if asked.is_triton_tile and not asked.sparse else None
    chosen = by_triton or WgmmaInstruction(
        asked.row, OPERANDS[asked.b], asked.d or asked.row.accumulators[0], instruction_n(asked.n), asked.sparse
    )
    tiles = (asked.m // M, asked.n // chosen.n, asked.k // chosen.k)
    operands = chosen.operands(asked.a_from)
    registers = chosen.accumulator_registers
    majors = "K or MN, of each operand in shared memory"
    if not asked.row.transposes:
        majors = "K only; MN-major is for f16 and bf16"
    facts = [
        Fact("instruction", chosen.mnemonic, "instruction"),
        Fact("instruction_shape", list(chosen.shape), "shape", f"{chosen.short}: M {M}, N {chosen.n}, K {chosen.k}"),
        Fact("operands", list(operands), "operands", ", ".join(("d", *operands))),
        Fact("tiles", list(tiles), "tiles", f"{tiles[0]}x{tiles[1]}x{tiles[2]} instructions along M, N, K"),
        Fact("k_bytes", 32, "K", f"{asked.row.k} x {asked.row.dtype.bits} bits = 32 bytes an instruction"),
        Fact("n_allowed", list(asked.row.n), "N", _n_text(asked.row)),
        Fact("majors_allowed", list(asked.row.majors), "majors", majors),
        Fact(
            "accumulator_registers",
            registers,
            "registers of D",
            f"{registers} a thread: {M}x{chosen.n} {chosen.d} over 128 threads",
        ),
    ]
    if by_triton is not None and lowered.warps is not None:
        along_m, along_n = lowered.warps
        facts.append(Fact("warps", [along_m, along_n], "warps", f"{along_m} along M, {along_n} along N"))
        facts.append(Fact("issued", lowered.issued, "issued", f"{lowered.issued} by each warpgroup"))
    # Where B lies as A does, one picture stands for both.
    drawn: dict[tuple[SharedLayout, DType], list[str]] = {}
    for who in asked.in_shared():
        placed = asked.tile(who)
        fields = _operand(placed)
        text = (
            f"{placed.layout.name}; atom {_by(fields['layout_atom'])} elements; LBO {fields['leading_byte_offset']} "
            f"({placed.layout.meaning()[0]}), SBO {fields['stride_byte_offset']} ({placed.layout.meaning()[1]}); "
            f"{placed.layout.form()} with T = {128 // placed.dtype.bits}; "
            f"descriptor {fields['descriptor']} + (address >> 4)"
        )
        facts.append(Fact(f"{who}_operand", fields, f"{who.upper()} in shared memory", text))
        if who == "b":
            facts += [Fact(name, fields[name], label) for name, label in _SHOWN]
        drawn.setdefault((placed.layout, placed.dtype), []).append(who)
    facts += cute.facts(asked, chosen)
    return Judgement(
        f"{chosen.short} for a {asked.m}x{asked.n}x{asked.k} tile of {asked.a}",
        facts=facts,
        drawings=tuple(_drawing(layout, dtype, owners) for (layout, dtype), owners in drawn.items()),
        notes=(*_fallback(asked), *_triton_notes(asked)),
        sources=(layouts.STRIDES, descriptor.SOURCE, lowering.SOURCE, tensors.SOURCE),
        resolved=asked.resolved(),
    )


_TRANSPOSED = (
    "Triton never writes an MN-major {} wgmma: it transposes such an operand through registers on its way to shared "
    "memory, one loaded through pointers on every release from 3.0, one loaded by TMA at least from 3.4; up to 3.2 the "
    "compiler aborts on a TMA-loaded TF32 one (knowledge base: wgmma-tf32-mn-major-plain-loop)."
)
_FALLBACKS = {
    lowering.Path.MMA_SYNC: "lowers this dot to mma.sync",
    lowering.Path.REFUSED: "refuses this dot",
    lowering.Path.CRASH: "dies of this dot",
}
_SHOWN = (
    ("layout_atom", "B's atom"),
    ("swizzle", "B's swizzle"),
    ("leading_byte_offset", "B's LBO"),
    ("stride_byte_offset", "B's SBO"),
)


def _operand(placed: OperandTile) -> Mapping[str, Any]:
    """An operand's layout and the descriptor of its first instruction, at address 0."""
    first = descriptor.for_tile(placed)
    return {
        "major": placed.layout.major,
        "swizzle": placed.layout.swizzle,
        "layout_atom": list(placed.layout.atom(placed.dtype)),
        "layout": placed.layout.form(),
        "leading_byte_offset": first.leading_byte_offset,
        "stride_byte_offset": first.stride_byte_offset,
        "alignment": placed.layout.pattern_bytes,
        "bytes": placed.bytes,
        "descriptor": f"0x{first.encode():016x}",
    }


def _drawing(layout: SharedLayout, dtype: DType, owners: list[str]) -> Drawing:
    rows = {"a": "m", "b": "n"}[owners[0]] if len(owners) == 1 else "mn"
    whose = " and ".join(owners).upper()
    title = f"One atom of {whose}: {layout.name}, {dtype}, {_by(list(layout.atom(dtype)))} elements"
    return Drawing(title, tuple(layouts.drawing(layout, dtype, rows)))


def _by(sides: list[int]) -> str:
    return "x".join(map(str, sides))


def _n_text(row: OperandRule) -> str:
    if row.n == OPERANDS["f16"].n:
        return "a multiple of 8 from 8 to 256"
    return "8, 24 and the multiples of 16 from 16 to 256"


def _fallback(asked: TileRequest) -> tuple[str, ...]:
    """Triton's fallback for a dot that no wgmma computes, and the changes that restore wgmma."""
    if asked.a not in OPERANDS:
        return ()
    if not asked.row.transposes and "mn" in (asked.a_major, asked.b_major):
        return (_TRANSPOSED.format(asked.a),)
    lowered = asked.lowered()
    if lowered.path not in _FALLBACKS:
        return ()
    reasons = "; ".join(obstacle.message for obstacle in lowered.obstacles)
    changes = {
        "m": f"M a multiple of {M}",
        "num_warps": "num_warps 4, 8 or 16",
        "k": f"K a multiple of {asked.row.k}",
        "n": "a larger N",
    }
    failed = {obstacle.parameter for obstacle in lowered.obstacles}
    restoring = ", ".join(text for parameter, text in changes.items() if parameter in failed)
    outcome = _FALLBACKS[lowered.path]
    return (f"Triton {asked.triton or '3.9'} {outcome}: {reasons}. What brings wgmma back: {restoring}.",)


def _triton_notes(asked: TileRequest) -> tuple[str, ...]:
    notes = []
    if asked.row.dtype.name == "s8" and asked.n >= 256:
        notes.append(
            "Triton's list of N for int8 ends at 224, so it takes two instructions of 128 where one of 256 is legal."
        )
    if asked.a in ("u8", "b1"):
        notes.append(f"tl.dot refuses {asked.a} operands: this instruction is reached with inline assembly only.")
    if not asked.is_triton_tile:
        notes.append(
            "tl.dot has no such tile: its sides are powers of two. Instruction and layout hold without Triton."
        )
    if asked.sparse:
        notes.append("Triton has no sparse dot: wgmma.mma_async.sp is reached with inline assembly only.")
    notes.append(
        f"Before the first wgmma: {tables.GUARANTEES[0][0]}; after st.shared or cp.async into an operand: "
        f"{tables.GUARANTEES[1][0]} and a barrier; before D is read: commit_group and wait_group 0."
    )
    return tuple(notes)


_K_MAJOR = (
    ("B K-major: K contiguous, loaded as [N, K] and transposed in the dot", {"b_major": "k"}),
    ("A K-major: K contiguous, [M, K]", {"a_major": "k"}),
)


def _alternatives(asked: TileRequest, broken: tuple[Violation, ...]) -> list[tuple[str, dict[str, Any]]]:
    """The loads that make an operand K-major; the types that may be MN-major, where that is all that is wrong."""
    if {violation.parameter for violation in broken} - {"a_major", "b_major"} or asked.a_from != "shared":
        return list(_K_MAJOR)
    changes: list[tuple[str, dict[str, Any]]] = list(_K_MAJOR)
    for row in (OPERANDS["f16"], OPERANDS["bf16"]):
        types = {"a": row.dtype, "b": row.dtype, "d": dtypes.parse(row.accumulators[0])}
        changes.append((f"{row.dtype} operands, which may be MN-major", {**types, "k": max(asked.k, row.k)}))
    return changes


RULE = LegalityRule(
    "wgmma",
    TITLE,
    (
        RuleParameter("a", Syntax.DTYPE, "type of A; tf32 for fp32 with TF32 precision", required=True),
        RuleParameter("b", Syntax.DTYPE, "type of B [that of A]"),
        RuleParameter("d", Syntax.DTYPE, "accumulator [f32, or s32]"),
        RuleParameter("m", Syntax.INTEGER, "M of the tile [64]"),
        RuleParameter("n", Syntax.INTEGER, "N of the tile or the instruction [64]"),
        RuleParameter("k", Syntax.INTEGER, "K of the tile [one instruction's]"),
        RuleParameter("a-major", Syntax.CHOICE, "contiguous dimension of A", choices=("k", "mn", "m"), default="k"),
        RuleParameter("b-major", Syntax.CHOICE, "contiguous dimension of B", choices=("k", "mn", "n"), default="k"),
        RuleParameter("a-from", Syntax.CHOICE, "where A is", choices=("shared", "registers"), default="shared"),
        RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:90"),
        RuleParameter("num-warps", Syntax.INTEGER, "warps a block", default="4"),
        RuleParameter("sparse", Syntax.FLAG, "wgmma.mma_async.sp: A is 2:4 sparse, K doubles"),
        RuleParameter("swizzle", Syntax.CHOICE, "bytes [the widest that fits]", choices=("0", "32", "64", "128")),
        RuleParameter("stages", Syntax.INTEGER, "stages in shared memory, for the layouts of CuTe", default="1"),
        RuleParameter("triton", Syntax.RELEASE, "release whose lowering is described [newest]"),
    ),
    judge,
    tables.tables,
    (
        "--a tf32 --m 128 --n 32 --k 32 --b-major mn",
        "--a f16 --m 128 --n 256 --k 64 --b-major mn --num-warps 8",
        "--a f16 --m 128 --n 128 --k 64 --a-major mn --b-major mn --stages 3",
        "--a s8 --n 40",
        "--a e4m3 --m 32 --n 64 --k 64 --num-warps 2",
    ),
    (SHAPES, TYPES, layouts.SOURCE),
    ("A is read from shared memory or from registers (K-major then), B from shared memory, D is in registers.",),
)
