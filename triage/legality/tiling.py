"""Divisions of layouts and tiles: a tiler and what it divides, a tile and the matrix operation that computes it.

CuTe DSL raises for the rank (``Expected rank(target) >= rank(tiler)``) and for what its algebra cannot compute
(``unable to compute the following composition``). That a tile is not a multiple of the operation, or of the warps that
share it, compiles: the last operation then reaches beyond the tile, as with a tile K of 24 over K of 16, or three warps
over 64 rows.
"""

from collections.abc import Sequence

from triage.legality.algebra import operations
from triage.legality.algebra.integers import product
from triage.legality.algebra.layout import SOURCE as ALGEBRA
from triage.legality.algebra.layout import StridedLayout
from triage.legality.algebra.operations import NotDivisible
from triage.legality.algebra.partition import whole
from triage.legality.explanation import Fact, RuleTable
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, nearest, refuse
from triage.model.errors import InputError

DSL = "CuTe DSL 4.8.1, zipped_divide, local_tile, composition"
PARTITION = "CUTLASS documentation, CuTe: tiled MMA, partitioning of a tile"
TITLE = "divisions: a tiler and its layout, a tile and the matrix operation that computes it"


def division(layout: StridedLayout, tiler: Sequence[int]) -> list[Violation]:
    """Violations of ``zipped_divide``, ``tiled_divide`` or ``local_tile`` of a layout by a tiler of extents. A tile
    that does not divide the extents is none: its last one reaches beyond the tensor (``overhang``)."""
    if len(tiler) > layout.rank:
        message = (
            f"Expected rank(target) >= rank(tiler), but got rank(target)={layout.rank} and rank(tiler)={len(tiler)}"
        )
        near = (tuple(tiler[: layout.rank]),)
        return [refuse("tiling.rank", tuple(tiler), near, DSL, message, near, "tiler")]
    if min(tiler, default=1) < 1:
        return [refuse("tiling.tiler", tuple(tiler), (), DSL, f"tiler {tuple(tiler)}: extents are 1 or more")]
    try:
        operations.zipped_divide(layout, tuple(map(whole, tiler)))
    except NotDivisible as error:
        message = f"{layout} cannot be divided by {tuple(tiler)}: {error}"
        return [refuse("tiling.tiler", tuple(tiler), (), DSL, message)]
    return []


def composition(left: StridedLayout, right: StridedLayout) -> list[Violation]:
    """Violations of ``cute.composition(left, right)``."""
    try:
        operations.composition(left, right)
    except NotDivisible as error:
        message = f"unable to compute the following composition: {left} o {right}: {error}"
        return [refuse("tiling.composition", str(right), (), DSL, message)]
    return []


def overhang(layout: StridedLayout, tiler: Sequence[int]) -> tuple[int, ...]:
    """By mode, how many coordinates the last tile has beyond the layout: what needs a predicate. Modes of dynamic
    extent count as fitting."""
    result = []
    for part, tile in zip(layout, tiler, strict=False):
        extent = product(part.shape)
        result.append(-extent % tile if isinstance(extent, int) else 0)
    return tuple(result)


def tile_violations(tile: Sequence[int], operation: Sequence[int], atoms: Sequence[int] = (1, 1, 1)) -> list[Violation]:
    """Violations of computing a tile (M, N, K) by operations (M, N, K) that ``atoms`` warps or warpgroups repeat along
    each: the layout given to ``make_tiled_mma``. The last operation along an axis not divided reads beyond it."""
    broken = []
    for name, size, extent, count in zip("mnk", tile, operation, atoms, strict=True):
        step = extent * count
        if step <= 0 or size <= 0 or size % step:
            multiples = tuple(step * times for times in range(1, max(size // max(step, 1), 1) + 2)) if step > 0 else ()
            many = f" x {count}" if count != 1 else ""
            message = f"tile {name.upper()}={size} is not a multiple of the operation's {extent}{many}"
            near = nearest(size, multiples)
            broken.append(refuse(f"tiling.{name}", size, multiples, PARTITION, message, near))
    return broken


def _judge(args: Arguments) -> Judgement:
    broken: list[Violation] = []
    facts: list[Fact] = []
    subject = []
    if "layout" in args:
        layout, tiler = args["layout"], args.get("tiler", ())
        broken += division(layout, tiler)
        subject.append(f"{layout} by {'x'.join(map(str, tiler)) or 'nothing'}")
        if not broken:
            divided = operations.zipped_divide(layout, tuple(map(whole, tiler)))
            beyond = overhang(layout, tiler)
            text = f"{'x'.join(map(str, beyond))}: the last tile reaches beyond the tensor, and needs a predicate"
            facts += [
                Fact("divided", str(divided), "zipped_divide"),
                Fact("overhang", list(beyond), "beyond the tensor", text if any(beyond) else "nothing"),
            ]
        if "right" in args:
            broken += composition(layout, args["right"])
    if "m" in args or "n" in args or "k" in args:
        operation = args.get("operation", (16, 8, 16))
        if len(operation) != 3 or len(args["atoms"]) != 3:
            raise InputError("--operation and --atoms: give M, N and K")
        tile = tuple(
            args.get(name, extent * count) for name, extent, count in zip("mnk", operation, args["atoms"], strict=True)
        )
        broken += tile_violations(tile, operation, args["atoms"])
        subject.append(f"a tile of {'x'.join(map(str, tile))} by operations of {'x'.join(map(str, operation))}")
    if not subject:
        raise InputError("give --layout and --tiler, or --m, --n and --k of a tile")
    return Judgement("; ".join(subject), broken, facts)


def _tables(args: Arguments) -> list[RuleTable]:
    rows = (
        ("zipped_divide, local_tile", "rank(tiler) at most rank(layout)", "raised"),
        ("zipped_divide, local_tile", "the tile ends on a whole mode of a nested extent", "raised"),
        ("local_tile", "extents that the tile divides, or a predicate", "reads beyond the tensor"),
        ("composition", "each stride steps over whole modes, or divides none", "raised"),
        ("make_tiled_mma", "tile M, N: multiples of operation x warps", "reads and writes beyond the tile"),
        ("cute.gemm", "tile K: a multiple of the operation's", "sums products from beyond the tile"),
    )
    return [RuleTable(TITLE, ("operation", "asks for", "else"), rows, (ALGEBRA,))]


RULE = LegalityRule(
    "tiling",
    TITLE,
    (
        RuleParameter("layout", Syntax.LAYOUT, "the layout that is divided"),
        RuleParameter("tiler", Syntax.SHAPE, "extents of the tile, A,B"),
        RuleParameter("right", Syntax.LAYOUT, "a layout to compose it with"),
        RuleParameter("m", Syntax.INTEGER, "M of the tile"),
        RuleParameter("n", Syntax.INTEGER, "N of the tile"),
        RuleParameter("k", Syntax.INTEGER, "K of the tile"),
        RuleParameter("operation", Syntax.SHAPE, "M, N, K of the matrix operation", default="16,8,16"),
        RuleParameter("atoms", Syntax.SHAPE, "warps or warpgroups along M, N, K", default="1,1,1"),
    ),
    _judge,
    _tables,
    (
        "--layout '(128,100):(100,1)' --tiler 32,32",
        "--layout '(64,64):(64,1)' --tiler 8,8,8",
        "--k 24 --operation 16,8,16",
        "--m 64 --operation 16,8,16 --atoms 3,1,1",
    ),
    (DSL, PARTITION),
)
