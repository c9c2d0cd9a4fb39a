"""Matrix operations of CuTe DSL: what each constructor takes, and what the instruction behind it takes.

Constructors of ``cute.nvgpu.warp``, ``warpgroup`` and ``tcgen05`` check types, shape and architecture, in their
``__post_init__`` and when the MMA type is made (CuTe DSL 4.2.1 to 4.8.1; enumerated against 4.8.1, block-scaled and
sparse ones against 4.3.5 and 4.5.3 as well). They accept what the instruction cannot do: MN-major 8-bit operands of
wgmma and of an A in registers, ``tcgen05.MmaI8Op`` on 10.3, bf16 that tcgen05 accumulates in f16, ``warp.MmaFP8Op``
before 8.9. ``instruction_violations`` reports those.
"""

from __future__ import annotations

from collections.abc import Sequence

from triage.legality import dtypes, tcgen05, wgmma
from triage.legality.dtypes import DType
from triage.legality.explanation import RuleTable
from triage.legality.limits import architecture
from triage.legality.mma.table import OPERATIONS, Operation
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.tcgen05.instruction import CAPABILITIES
from triage.legality.violation import Violation, refuse, require, require_major, spoken
from triage.legality.wgmma.types import OPERANDS
from triage.model.releases import numbers
from triage.model.target import Target

SOURCE = "CuTe DSL 4.8.1, cutlass/cute/nvgpu: __post_init__ of the MMA operations"
TITLE = "matrix operations of CuTe DSL: types, shapes, architectures by release"
_STEPS_OF_8 = (4, 3, 5)
"""The first release in which N of tcgen05 goes in steps of 8 (16 for two CTAs)."""
_FAMILIES = (4, 3)
"""The first release with tcgen05 on other architectures than 10.0."""
_TMEM_K_MAJOR = (4, 4)
"""The first release that refuses an MN-major A in tensor memory."""
_WARP_FP8_SINCE = 89
_SCALE_TYPES = ("ue8m0", "e4m3")
_SCALED_WARP = ("sm_120a", "sm_120f", "sm_121a", "sm_121f")
_SCALED_TCGEN05: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
    ((4, 8), ("sm_100a", "sm_100f", "sm_103a", "sm_107a", "sm_110a")),
    ((4, 6), ("sm_100a", "sm_100f", "sm_103a", "sm_110a")),
    ((4, 3), ("sm_100a", "sm_103a")),
    ((4, 0), ("sm_100a",)),
)
"""Architectures of block-scaled operations, from a release on (their ``admissible_archs``)."""


def violations(
    *,
    operation: str,
    a: str | DType,
    b: str | DType | None = None,
    d: str | DType | None = None,
    m: int,
    n: int,
    k: int | None = None,
    a_major: str = "k",
    b_major: str = "k",
    a_from: str = "shared",
    cta_group: int = 1,
    scales: str | DType | None = None,
    target: str | Target | None = None,
    release: str | None = None,
) -> list[Violation]:
    """Violations by an operation's arguments; empty if CuTe DSL constructs it.

    ``operation`` as in ``OPERATIONS``; types in any spelling, ``b`` defaults to ``a`` and ``d`` to the first
    accumulator; ``m``, ``n``, ``k`` of the instruction, ``k`` defaults to its only value. ``a_from`` is ``shared``,
    ``registers`` or ``tmem``. ``target`` as PTX (``sm_90a``) or Triton spells it, ``release`` of CuTe DSL (None: the
    newest). Nothing raises: an unknown name is a violation.
    """
    row = OPERATIONS.get(operation)
    if row is None:
        reason = f"{operation} is not one of {', '.join(OPERATIONS)}"
        return [refuse("mma-operation.operation", operation, tuple(OPERATIONS), SOURCE, reason, ())]
    if _before(release, row.since) and (row.also is None or (numbers(release or "") or ())[:2] != row.also):
        first = ".".join(map(str, row.since))
        reason = f"CuTe DSL {release} has no {operation}: it came with {first}"
        return [refuse("mma-operation.release", str(release), (first,), SOURCE, reason)]
    broken = [
        *_target(row, target, release),
        *_types(row, a, b, d),
        *_scales(row, scales),
        *_shape(row, m, n, k, cta_group, b, a, b_major, release),
    ]
    if row.level == "tcgen05" and a_from == "tmem" and not _before(release, _TMEM_K_MAJOR):
        reason = "a operand must be of major-mode k when coming from tmem"
        broken += require_major("mma-operation", "a", a_major, ("k",), SOURCE, reason)
    return broken


def instruction_violations(
    *,
    operation: str,
    a: str | DType,
    b: str | DType | None = None,
    d: str | DType | None = None,
    m: int,
    n: int,
    k: int | None = None,
    a_major: str = "k",
    b_major: str = "k",
    a_from: str = "shared",
    cta_group: int = 1,
    target: str | Target | None = None,
) -> list[Violation]:
    """Violations of the instruction that an operation stands for, which its constructor may let pass; parameters as of
    ``violations``. Empty for an unknown operation, and for block-scaled and sparse ones, which are not judged."""
    row = OPERATIONS.get(operation)
    if row is None or row.scales or row.sparse:
        return []
    if row.level == "warpgroup":
        return wgmma.violations(a, b, d, m, n, k, a_major, b_major, a_from, target=target)
    if row.level == "tcgen05":
        origin = "tmem" if a_from == "tmem" else "shared"
        return tcgen05.violations(
            a=a,
            b=b,
            d=d,
            m=m,
            n=n,
            k=k,
            cta_group=cta_group,
            a_from=origin,
            a_major=a_major,
            b_major=b_major,
            target=target,
        )
    number = architecture(target)[0] if target is not None else _WARP_FP8_SINCE
    if operation == "warp.MmaFP8Op" and number < _WARP_FP8_SINCE:
        reason = f"{target} has no mma of e4m3 and e5m2: it begins with 8.9"
        source = "PTX ISA, mma: target ISA notes"
        return [refuse("mma-operation.target", str(target), ("sm_89", "sm_90"), source, reason)]
    return []


def _before(release: str | None, first: tuple[int, ...]) -> bool:
    return release is not None and (numbers(release) or first) < first


def _target(row: Operation, target: str | Target | None, release: str | None) -> list[Violation]:
    if target is not None and row.scales:
        by_release = (names for first, names in _SCALED_TCGEN05 if not _before(release, first))
        allowed = _SCALED_WARP if row.level == "warp" else next(by_release)
        number, features = architecture(target)
        reason = f"expects arch to be one of {spoken(allowed)}, but got {target}"
        return require("mma-operation.target", f"sm_{number}{features}", allowed, SOURCE, reason)
    if target is None or row.level == "warp":
        return []
    number, features = architecture(target)
    text = str(target)
    if row.level == "warpgroup":
        if (number, features) == (90, "a"):
            return []
        reason = f"expects arch to be sm_90a, but got {text}"
        return [refuse("mma-operation.target", text, ("sm_90a",), SOURCE, reason)]
    families = (100,) if _before(release, _FAMILIES) else CAPABILITIES
    if features and number in families:
        return []
    reason = f"expects arch to be one of the families sm_100f and sm_110f, but got {text}"
    return [refuse("mma-operation.target", text, ("sm_100a", "sm_100f", "sm_103a", "sm_110a"), SOURCE, reason)]


def _types(row: Operation, a: str | DType, b: str | DType | None, d: str | DType | None) -> list[Violation]:
    broken = []
    left, right = dtypes.name(a), dtypes.name(a if b is None else b)
    for name, operand, known in (("a", a, left), ("b", b, right)):
        if operand is None or known in row.types:
            continue
        reason = f"{row.name} multiplies {spoken(row.types)}, not {known or operand}"
        broken.append(refuse(f"mma-operation.{name}", str(operand), row.types, SOURCE, reason))
    if not broken and row.crossed and (left == "e2m1") == (right == "e2m1"):
        near = tuple(name for name in row.types if (name == "e2m1") != (left == "e2m1"))
        reason = f"{row.name} multiplies e2m1 with one of e4m3 and e5m2, not {left} with {right}"
        broken.append(refuse("mma-operation.b", str(b), near, SOURCE, reason))
    if not broken and not row.mixed and left != right:
        reason = f"{row.name} has one type for A and B: {left} and {right} do not mix"
        broken.append(refuse("mma-operation.b", str(b), (str(left),), SOURCE, reason))
    allowed = ("f32",) if left == "bf16" and row.level != "tcgen05" else row.d
    if d is not None and dtypes.name(d) not in allowed:
        reason = f"{row.name} of {left} accumulates in {spoken(allowed)}, not {dtypes.name(d) or d}"
        broken.append(refuse("mma-operation.d", str(d), allowed, SOURCE, reason))
    return broken


def _scales(row: Operation, scales: str | DType | None) -> list[Violation]:
    if scales is None or not row.scales:
        return []
    text = str(scales).lower()
    stated = text if text in _SCALE_TYPES else dtypes.name(scales) or text
    reason = f"{row.name} scales blocks by {spoken(row.scales)}, not {stated}"
    return require("mma-operation.scales", stated, row.scales, SOURCE, reason)


def _shape(
    row: Operation,
    m: int,
    n: int,
    k: int | None,
    group: int,
    b: str | DType | None,
    a: str | DType,
    b_major: str,
    release: str | None,
) -> list[Violation]:
    rows: Sequence[int] = (16,)
    columns: Sequence[int] = (8,)
    if row.level == "warpgroup":
        rows, columns = (64,), OPERANDS[row.types[0]].n
    elif row.level == "tcgen05":
        rows = ((128,) if row.scales else (64, 128)) if group == 1 else (128, 256)
        known = dtypes.find(str(a if b is None else b))
        wide = known is not None and known.bits == 8 and b_major.lower() in ("mn", "n")
        step = _step(row, m, group, wide, release)
        columns = tuple(range(step, 257, step))
    broken = []
    for name, value, allowed in (("m", m, rows), ("n", n, columns), ("k", k, row.k)):
        if value is not None:
            reason = f"expects {name.upper()} of {row.name} to be {spoken(tuple(allowed))}, but got {value}"
            broken += require(f"mma-operation.{name}", value, tuple(allowed), SOURCE, reason)
    return broken


def _step(row: Operation, m: int, group: int, wide: bool, release: str | None) -> int:
    """The step of N of tcgen05; ``wide``: an MN-major B of 8-bit elements."""
    if row.scales:
        return 16 if group == 2 else 8
    if row.sparse or _before(release, _STEPS_OF_8):
        return 32 if group == 2 else 8 if m == 64 else 16
    return (16 if wide else 8) * (2 if group == 2 else 1)


_PARAMETERS = (
    RuleParameter("operation", Syntax.CHOICE, "the operation", tuple(OPERATIONS), required=True),
    RuleParameter("a", Syntax.DTYPE, "type of A", required=True),
    RuleParameter("b", Syntax.DTYPE, "type of B [that of A]"),
    RuleParameter("d", Syntax.DTYPE, "type of the accumulator"),
    RuleParameter("m", Syntax.INTEGER, "M of the instruction", default="64"),
    RuleParameter("n", Syntax.INTEGER, "N of the instruction", default="64"),
    RuleParameter("k", Syntax.INTEGER, "K of the instruction [the operation's]"),
    RuleParameter("a-major", Syntax.CHOICE, "contiguous dimension of A", ("k", "mn", "m"), "k"),
    RuleParameter("b-major", Syntax.CHOICE, "contiguous dimension of B", ("k", "mn", "n"), "k"),
    RuleParameter("a-from", Syntax.CHOICE, "where A is", ("shared", "registers", "tmem"), "shared"),
    RuleParameter("cta-group", Syntax.INTEGER, "1 CTA or a pair (tcgen05)", default="1"),
    RuleParameter("scales", Syntax.CHOICE, "type of the scale factors of blocks", _SCALE_TYPES),
    RuleParameter(
        "target",
        Syntax.CHOICE,
        "architecture as PTX names it",
        (
            "sm_80",
            "sm_89",
            "sm_90",
            "sm_90a",
            "sm_100",
            "sm_100a",
            "sm_100f",
            "sm_103a",
            "sm_110a",
            "sm_120a",
        ),
    ),
    RuleParameter("release", Syntax.RELEASE, "release of CuTe DSL [newest]"),
)


def _judge(args: Arguments) -> Judgement:
    own = {name: value for name, value in args.items() if name not in ("release", "scales")}
    broken = violations(**args)
    behind = instruction_violations(**own)
    stated = {violation.parameter for violation in broken}
    quiet = [violation for violation in behind if violation.parameter not in stated]
    renamed = [
        refuse(
            f"mma-operation.{violation.parameter.replace('_', '-')}",
            violation.given,
            violation.allowed,
            violation.source,
            f"the constructor takes it, the instruction does not: {violation.message}",
            violation.nearest,
        )
        for violation in quiet
    ]
    subject = f"{args['operation']} of {args['a']}, M={args['m']} N={args['n']}"
    return Judgement(subject, [*broken, *renamed])


def _tables(args: Arguments) -> list[RuleTable]:
    rows = tuple(
        (
            row.name,
            " ".join(row.types),
            " ".join(row.d),
            "/".join(map(str, row.k)),
            " ".join(row.scales) or "-",
            _columns(row),
        )
        for row in OPERATIONS.values()
    )
    return [RuleTable(TITLE, ("operation", "A, B", "D", "K", "scales", "M, N, architectures"), rows)]


_SHAPES = {
    "warp": "16, 8",
    "warpgroup": "64, 8 … 256 by 8 (int8: by 16 from 32); sm_90a",
    "tcgen05": "64/128, by 8; pairs 128/256, by 16; 100a/f 103a/f 110a/f",
    "scaled warp": "16, 8; 120a/f 121a/f",
    "scaled tcgen05": "128, by 8; pairs 128/256, by 16; 100a/f 103a 107a 110a",
    "sparse tcgen05": "64 by 8, 128 by 16; pairs 128/256, by 32; 100a/f 103a/f 110a/f",
}


def _columns(row: Operation) -> str:
    kind = "scaled " if row.scales else "sparse " if row.sparse else ""
    return _SHAPES[kind + row.level]


RULE = LegalityRule(
    "mma-operation",
    TITLE,
    _PARAMETERS,
    _judge,
    _tables,
    (
        "--operation tcgen05.MmaF16BF16Op --a bf16 --m 128 --n 20 --target sm_100a",
        "--operation warpgroup.MmaF8Op --a e4m3 --b-major mn --target sm_90a",
        "--operation warp.MmaF16BF16Op --a bf16 --d f16 --m 16 --n 8",
        "--operation tcgen05.MmaMXF8F6F4Op --a e4m3 --b e2m1 --m 64 --target sm_100a",
    ),
    (SOURCE,),
)
