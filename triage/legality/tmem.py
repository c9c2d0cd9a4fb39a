"""Tensor memory of datacenter Blackwell: how many columns tiles take, and what can be allocated, loaded and stored.

PTX ISA 9.1, "Tensor Memory": 128 lanes by 512 columns of 32 bits a CTA; columns are allocated whole, in powers of two
from 32 to 512. ptxas checks the operand of tcgen05.alloc where it is an immediate, and the registers of tcgen05.ld
and tcgen05.st for each shape; tests enumerate both.

How many columns a kernel needs is Triton's own estimate (``metadata.tmem_size``), compared with real compiles for
cuda:100: an accumulator has a lane a row, and takes a column a 32-bit element; 64 rows take half the lanes, so two such
tiles share columns; block scales take a column for 32 rows by 4 scales. The sum is rounded up to what can be
allocated. Tiles that are not alive at the same time share memory too, which is not in the numbers here. Over 512
columns a compile still "succeeds" from 3.7 on, without any tcgen05 in it, and the launch reports OutOfResources.
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass

from triage.legality import dtypes
from triage.legality.dtypes import DType
from triage.legality.explanation import Drawing, Fact, RuleTable
from triage.legality.limits import limits
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, nearest, powers, refuse, spoken
from triage.model.errors import InputError
from triage.model.target import Target

ALLOCATION = "PTX ISA, tensor memory allocation"
LAYOUT = "PTX ISA, tcgen05: data path layout organization"
MOVES = "PTX ISA, tcgen05.ld, tcgen05.st: combinations of .num and .shape"
TRITON = "triton/lib/Dialect/TritonNvidiaGPU/Transforms/TensorMemoryAllocation.cpp"
TITLE = "tensor memory: columns of accumulators and scales, allocation, loads and stores"

LANES = 128
COLUMNS = 512
ALLOCATIONS = (32, 64, 128, 256, 512)
"""Columns that one tcgen05.alloc may ask for."""
_BLOCK_N = 256
"""Columns of the widest instruction: a wider tile is made of several."""

_REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
"""Registers a thread of each shape at .x1."""
SHAPES = tuple(_REGISTERS)
REPEATS = (1, 2, 4, 8, 16, 32, 64, 128)
_REDUCING = ("32x32b", "16x32bx2")
_WITH_REDUCTION = (101, 103, 107, 110)
_MOST_REGISTERS = 128


@dataclass(frozen=True, slots=True)
class TensorMemoryPart:
    """The part of a CTA's tensor memory that one tile takes; ``half``: every other 16 lanes, so that another half fits
    beside it."""

    label: str
    columns: int
    half: bool = False


def tile(m: int, n: int, dtype: str | DType = "f32", cta_group: int = 1) -> TensorMemoryPart:
    """Columns of each CTA for an accumulator (or an A operand) of ``m`` x ``n`` elements. With ``cta_group`` 2 ``m`` is
    the rows of both: 128 rows then lie as 64 a CTA, in half as many columns. Raises InputError for an unknown type."""
    bits = dtypes.parse(str(dtype)).bits
    label = f"{m}x{n} {dtypes.parse(str(dtype))}"
    if cta_group == 2:
        return TensorMemoryPart(label, -(-n * bits // 32) // (2 if m == 128 else 1) * max(m // 256, 1))
    if m > 64:
        return TensorMemoryPart(label, -(-m // LANES) * -(-n * bits // 32))
    block = min(n, _BLOCK_N)
    blocks = -(-n // block)
    return TensorMemoryPart(label, -(-block * bits // 32) * -(-blocks // 2), half=blocks == 1)


def scales(rows: int, per_row: int) -> TensorMemoryPart:
    """Columns for the block scales of an operand: ``rows`` of it, ``per_row`` scales (K over the vector's size) each.
    32 rows by 4 scales are a column, repeated in all four quarters of the lanes."""
    return TensorMemoryPart(f"{rows}x{per_row} scales", -(-rows // 32) * -(-per_row // 4))


def needed(parts: Sequence[TensorMemoryPart]) -> int:
    """Columns that parts alive at the same time take: halves are put beside each other, the widest first."""
    sides = [0, 0]
    for part in sorted((part for part in parts if part.half), key=lambda part: -part.columns):
        sides[sides.index(min(sides))] += part.columns
    return sum(part.columns for part in parts if not part.half) + max(sides)


def allocated(columns: int) -> int:
    """Columns that Triton allocates for so many: the next that tcgen05.alloc takes; over all of them, as many."""
    return next((size for size in (0, *ALLOCATIONS) if size >= columns), columns)


def violations(
    *,
    tiles: Sequence[tuple[int, int, str | DType]] = (),
    columns: int | None = None,
    block_scales: Sequence[tuple[int, int]] = (),
    cta_group: int = 1,
    target: str | Target | None = None,
) -> list[Violation]:
    """Violations of keeping these in tensor memory at the same time; empty when they fit.

    ``tiles`` are (rows, columns, type) in elements, ``block_scales`` (rows, scales a row); ``columns`` is the operand
    of one tcgen05.alloc. With ``cta_group`` 2 rows are those of both CTAs. ``target`` as Triton spells it; without one
    it is not judged. Nothing raises: an unknown name is a violation.
    """
    broken = _target(target)
    if cta_group not in (1, 2):
        reason = f"cta_group={cta_group}: one CTA or a pair"
        return [*broken, refuse("tmem.cta-group", cta_group, (1, 2), ALLOCATION, reason, (2,))]
    if columns is not None and columns not in ALLOCATIONS:
        reason = f"tcgen05.alloc of {columns} columns: it takes {spoken(ALLOCATIONS)}"
        near = nearest(columns, ALLOCATIONS)
        broken.append(refuse("tmem.alloc", columns, ALLOCATIONS, ALLOCATION, reason, near, parameter="columns"))
    sound = []
    rows = (64, 128, 256, 512) if cta_group == 1 else (128, 256)
    for m, n, dtype in tiles:
        if dtypes.find(str(dtype)) is None:
            reason = f"{dtype} is not an element type"
            broken.append(refuse("tmem.dtype", str(dtype), (), LAYOUT, reason))
        elif n < 1:
            reason = f"a tile of {n} columns"
            broken.append(refuse("tmem.tile", (m, n), (), LAYOUT, reason, parameter="tiles"))
        elif m not in rows and not (m > 0 and m % rows[-1] == 0 and cta_group == 1):
            reason = f"{m} rows: a tile in tensor memory has {spoken(rows)} rows" + (" of two CTAs" * (cta_group == 2))
            shapes = tuple((row, n) for row in rows)
            near_rows = tuple((row, n) for row in nearest(m, rows))
            broken.append(refuse("tmem.rows", (m, n), shapes, LAYOUT, reason, near_rows, parameter="tiles"))
        else:
            sound.append((m, n, dtype))
    parts = _parts(sound, block_scales, cta_group)
    total = needed(parts)
    if total > COLUMNS:
        listed = " + ".join(f"{part.columns} ({part.label})" for part in parts)
        reason = f"{listed}: {total} columns, of the {COLUMNS} that a CTA has"
        fitting = _narrower(sound, block_scales, cta_group)
        judged = sound[0][:2] if sound else total
        broken.append(refuse("tmem.columns", judged, fitting, ALLOCATION, reason, fitting[-1:], parameter="tiles"))
    return broken


def _narrower(
    tiles: Sequence[tuple[int, int, str | DType]], block_scales: Sequence[tuple[int, int]], cta_group: int
) -> tuple[tuple[int, int], ...]:
    """Shapes of the same rows that fit, where all tiles are alike; ascending."""
    if len(set(tiles)) != 1:
        return ()
    m, n, dtype = tiles[0]
    return tuple(
        (m, width)
        for width in powers(n - 1, 8)
        if needed(_parts([(m, width, dtype)] * len(tiles), block_scales, cta_group)) <= COLUMNS
    )


def _parts(
    tiles: Sequence[tuple[int, int, str | DType]], block_scales: Sequence[tuple[int, int]], cta_group: int
) -> list[TensorMemoryPart]:
    return [*(tile(m, n, dtype, cta_group) for m, n, dtype in tiles), *(scales(*rows) for rows in block_scales)]


def _target(target: str | Target | None) -> list[Violation]:
    if target is None:
        return []
    known = _known(target)
    row = limits(known) if known else None
    if row is not None and row.tensor_memory_columns:
        return []
    reason = f"{target} has no tensor memory: it is datacenter Blackwell's (10.x, 11.0)"
    return [refuse("tmem.target", str(target), ("cuda:100", "cuda:103", "cuda:110"), ALLOCATION, reason)]


def _known(target: str | Target | None) -> Target | None:
    try:
        return Target.parse(target) if isinstance(target, str) else target
    except InputError:
        return None


def registers(shape: str, repeat: int) -> int | None:
    """32-bit registers a thread of a tcgen05.ld or tcgen05.st, None where there is no such instruction."""
    count = _REGISTERS.get(shape, 0) * repeat
    return count if repeat in REPEATS and 0 < count <= _MOST_REGISTERS else None


def move_violations(
    *, shape: str, repeat: int, count: int | None = None, reduce: bool = False, target: str | Target | None = None
) -> list[Violation]:
    """Violations of a load (``reduce``: tcgen05.ld.red) or store of ``shape`` (``32x32b``), ``.xN`` and ``count``
    registers; empty when ptxas takes it."""
    broken = _target(target)
    shapes = _REDUCING if reduce else SHAPES
    if shape not in shapes:
        reason = f".{shape} is not one of {spoken(shapes)}"
        return [*broken, refuse("tmem.shape", shape, shapes, MOVES, reason, ())]
    allowed = tuple(times for times in REPEATS[reduce:] if registers(shape, times) is not None)
    if repeat not in allowed:
        reason = f".{shape}.x{repeat}: it repeats {spoken(allowed)} times"
        broken.append(refuse("tmem.repeat", repeat, allowed, MOVES, reason))
    right = registers(shape, repeat)
    if right is not None and count is not None and count != right:
        reason = f".{shape}.x{repeat} has {right} registers, not {count}"
        broken.append(refuse("tmem.registers", count, (right,), MOVES, reason, parameter="count"))
    known = _known(target)
    if reduce and known is not None and not broken and known.capability not in _WITH_REDUCTION:
        have = tuple(f"cuda:{number}" for number in _WITH_REDUCTION)
        reason = f"{known} has no tcgen05.ld.red: it comes with 10.3 and 11.0"
        broken.append(refuse("tmem.target", str(known), have, MOVES, reason, have[1:2]))
    return broken


def drawing(parts: Sequence[TensorMemoryPart], width: int = 64) -> Drawing:
    """Lanes by columns, 16 lanes a line and 8 columns a character: each part by its letter, in the order given."""
    unit = COLUMNS // width
    grid = [["."] * width for _ in range(LANES // 16)]
    sides = [0, 0]
    whole = sum(part.columns for part in parts if not part.half)
    position = 0
    # Halves are put beside each other widest first, as ``needed`` counts them.
    lettered = zip(string.ascii_uppercase, parts, strict=False)
    for letter, part in sorted(lettered, key=lambda entry: -entry[1].columns if entry[1].half else 0):
        if part.half:
            side = sides.index(min(sides))
            start, lines = whole + sides[side], range(side, len(grid), 2)
            sides[side] += part.columns
        else:
            start, lines = position, range(len(grid))
            position += part.columns
        for line in lines:
            for column in range(start // unit, min(-(-(start + part.columns) // unit), width)):
                grid[line][column] = letter
    names = ", ".join(f"{letter} {part.label}" for letter, part in zip(string.ascii_uppercase, parts, strict=False))
    lines_shown = [f"{16 * line:>4}  {''.join(row)}" for line, row in enumerate(grid)]
    ruler = f"lane  {'column 0':<{width // 2}}{COLUMNS // 2:<{width // 2 - 3}}{COLUMNS - 1}"
    return Drawing(f"Tensor memory, {unit} columns a character: {names}", (ruler, *lines_shown))


_MOST_TILES = 64
"""As many tiles of 8 columns as there is room for."""


def _judge(args: Arguments) -> Judgement:
    group, shape, per_row = args["cta_group"], args.get("tile"), args.get("scales")
    for name, value, what in (("tile", shape, "columns"), ("scales", per_row, "scales a row")):
        if value is not None and len(value) != 2:
            raise InputError(f"--{name}: give rows x {what}")
    if not 1 <= args["count"] <= _MOST_TILES:
        raise InputError(f"--count: give 1 to {_MOST_TILES}")
    if not {"tile", "scales", "columns"} & set(args):
        raise InputError("give --tile, --scales or --columns")
    tiles = [(shape[0], shape[1], args["dtype"])] * args["count"] if shape else []
    of_scales = [per_row] if per_row else []
    columns, target = args.get("columns"), args["target"]
    broken = violations(tiles=tiles, columns=columns, block_scales=of_scales, cta_group=group, target=target)
    unsound = {"tmem.rows", "tmem.tile", "tmem.cta-group"} & {violation.rule for violation in broken}
    parts = [] if unsound else _parts(tiles, of_scales, group)
    total = needed(parts)
    facts: tuple[Fact, ...] = ()
    if parts:
        sizes = " + ".join(f"{part.columns}{' (half the lanes)' if part.half else ''}" for part in parts)
        size, most = LANES * 4 * allocated(total), LANES * 4 * COLUMNS
        facts = (
            Fact("columns", total, "columns", f"{sizes} = {total}" if len(parts) > 1 else sizes),
            Fact("allocated", allocated(total), "allocated", f"{allocated(total)} of {COLUMNS}"),
            Fact("bytes", size, "bytes", f"{size} of {most}"),
        )
    asked = [part.label for part in parts] or (["x".join(map(str, shape))] if shape else [])
    asked += [f"{columns} columns"] if columns is not None else []
    drawings = (drawing(parts),) if parts and total <= COLUMNS else ()
    return Judgement(f"{', '.join(asked)} in tensor memory of {target}", broken, facts, drawings=drawings)


def _tables(args: Arguments) -> list[RuleTable]:
    sizes = ((64, 64), (64, 256), (64, 512), (128, 64), (128, 128), (128, 256), (128, 512), (256, 128), (256, 256))
    rows = []
    for m, n in sizes:
        part = tile(m, n)
        twice = needed([part, part])
        columns = f"{part.columns}{' (half the lanes)' if part.half else ''}"
        two = str(allocated(twice)) if twice <= COLUMNS else f"{twice}: does not fit"
        rows.append((f"{m}x{n}", columns, str(allocated(part.columns)), two))
    moves = tuple((f".{shape}", *(str(registers(shape, repeat) or "-") for repeat in REPEATS)) for shape in SHAPES)
    heading = ("shape", *(f"x{repeat}" for repeat in REPEATS))
    return [
        RuleTable("fp32 accumulators", ("tile", "columns", "allocated", "two of them"), tuple(rows)),
        RuleTable("tcgen05.ld, tcgen05.st: registers", heading, moves, (MOVES,)),
    ]


RULE = LegalityRule(
    "tmem",
    TITLE,
    (
        RuleParameter("tile", Syntax.SHAPE, "rows and columns of an accumulator, in elements"),
        RuleParameter("dtype", Syntax.DTYPE, "type of its elements", default="f32"),
        RuleParameter("count", Syntax.INTEGER, "how many such tiles", default="1"),
        RuleParameter("scales", Syntax.SHAPE, "rows of a block-scaled operand, and scales a row"),
        RuleParameter("columns", Syntax.INTEGER, "columns of a tcgen05.alloc"),
        RuleParameter("cta-group", Syntax.INTEGER, "1, or 2 for a pair of CTAs that shares the rows", default="1"),
        RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:100"),
    ),
    _judge,
    _tables,
    (
        "--tile 128x512",
        "--tile 128x256 --count 3",
        "--tile 64x64 --count 2",
        "--tile 128x128 --scales 128x4",
        "--columns 96",
        "--tile 128x128 --target cuda:120",
    ),
    (ALLOCATION, LAYOUT, TRITON),
)
