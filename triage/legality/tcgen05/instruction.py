"""Checks whether a tcgen05.mma is legal, and spells it.

What ptxas checks (the form, kind, CTA group, scale vector, origin of A, collector, ashift, width of the disabled
lanes, target) agrees with ptxas 12.9, 13.1, 13.3 and 13.4 by enumeration. What ptxas cannot check, because it is in
registers (M, N, types, majors, K of 96), follows the ISA; tests compare the parts that Triton uses with what it emits.

The assembler differs from PTX ISA 9.1 in this: .sp has no mxf4 or mxf4nvf4 on family targets (sm_100f), and
.scale_vec::NX is refused on family targets but taken on all of sm_100a, 103a and 110a.
"""

from triage.legality import dtypes
from triage.legality.dtypes import DType
from triage.legality.limits import architecture
from triage.legality.tcgen05.kinds import (
    KINDS,
    SCALE_TYPES,
    SCALES,
    SHAPES,
    TRANSPOSE,
    TYPES,
    VECTORS,
    MmaKind,
    accumulators,
    of,
)
from triage.legality.violation import Violation, refuse, require, require_major, spoken
from triage.model.gpus import ARCHITECTURES, TensorCore
from triage.model.target import Target

MMA = "PTX ISA, tcgen05.mma"
WEIGHT_STATIONARY = "PTX ISA, tcgen05.mma.ws"
TARGET = "PTX ISA, tcgen05.mma: target ISA notes"

CAPABILITIES = tuple(int(row.name) for row in ARCHITECTURES if row.matrix is TensorCore.TCGEN05)
"""Compute capabilities, times ten, that have it. 101 is what PTX before 9.0 calls 110."""
_WITHOUT_I8 = (103, 107)
COLLECTORS = tuple(f"a::{op}" for op in ("fill", "use", "lastuse", "discard"))
WS_COLLECTORS = tuple(f"b{buffer}::{op}" for buffer in range(4) for op in ("fill", "use", "lastuse", "discard"))
_ORIGINS = {"shared": "shared", "smem": "shared", "tmem": "tmem"}
_NEAR = {"f32": ("tf32", "bf16", "f16"), "f64": ("tf32",)}
"""The closest types that tcgen05.mma multiplies, for each type that it does not."""


def violations(
    *,
    a: str | DType,
    b: str | DType | None = None,
    d: str | DType | None = None,
    m: int = 128,
    n: int = 64,
    k: int | None = None,
    kind: str | None = None,
    cta_group: int = 1,
    a_from: str = "shared",
    a_major: str = "k",
    b_major: str = "k",
    scale_vector: str | None = None,
    scale: str | DType | None = None,
    sparse: bool = False,
    ws: bool = False,
    collector: str | None = None,
    ashift: bool = False,
    output_lanes: int = 0,
    target: str | Target | None = None,
) -> list[Violation]:
    """Violations of one ``tcgen05.mma`` (``.sp``, ``.ws``); empty when it is legal.

    ``a``, ``b``, ``d`` are types in any spelling; an fp32 operand with TF32 precision is ``tf32``. ``b`` defaults to
    ``a``, ``d`` to the accumulator of the kind, and the kind to that of the types. ``m``, ``n``, ``k`` in elements, of
    the instruction and not of a tile, for both CTAs if ``cta_group`` is 2. ``a_from`` is ``shared`` or ``tmem``; majors
    are ``k`` or ``mn`` (also ``m`` for A, ``n`` for B). ``scale_vector`` is ``1X``, ``2X``, ``4X``, ``block16`` or
    ``block32``, ``scale`` the scales' type. ``collector`` is written ``a::fill`` (``b0::fill`` with ``ws``);
    ``output_lanes`` is the length of the disable-output-lane vector in 32-bit words, 0 without one. ``target`` as
    Triton (``cuda:100``) or PTX (``sm_100a``, ``sm_100f``) spells it; without it the target is not checked. Nothing
    raises: an unknown name is a violation.
    """
    left, right = dtypes.name(a), dtypes.name(a if b is None else b)
    names = (left or "", right or "")
    # Types that no block-scaled kind multiplies are checked as their own kind, which has no scales.
    row = KINDS.get(kind) if kind is not None else of(*names, scale_vector) or of(*names)
    if kind is not None and row is None:
        reason = f"kind::{kind} is not one of {', '.join(KINDS)}"
        return [refuse("tcgen05.kind", kind, tuple(KINDS), MMA, reason, ())]
    capability, family = _architecture(target)
    broken = [
        *_operands(str(a), None if b is None else str(b), left, right, row),
        *_accumulator(d, left, row),
        *_form(row, cta_group, ws, a_from, ashift, collector, output_lanes),
        *_target(target, capability, family, row, sparse, scale_vector),
    ]
    if row is None:
        return broken
    broken += _major(row, "a", a_major, a_from) + _major(row, "b", b_major, "shared")
    broken += _scales(row, scale_vector, scale)
    group = cta_group if cta_group in (1, 2) else 1
    depths = row.depths(sparse, capability)
    columns = row.columns(group, "mn" if b_major.strip().lower() in ("mn", "n") else "k", sparse, ws, k)
    broken += _size("m", m, row.rows(group, sparse, ws), row, group, sparse, ws, "")
    broken += _size("n", n, columns, row, group, sparse, ws, _transposed(row, b_major, ws))
    if k is not None:
        broken += _size("k", k, depths, row, group, sparse, ws, "")
    return broken


def _architecture(target: str | Target | None) -> tuple[int | None, bool]:
    """Compute capability times ten (0 for what has no tcgen05 or is not a target), and whether only the features of the
    family are on."""
    if target is None:
        return None, False
    number, features = architecture(target)
    return (number if number in CAPABILITIES and features else 0), features == "f"


def _target(
    target: str | Target | None,
    capability: int | None,
    family: bool,
    row: MmaKind | None,
    sparse: bool,
    vector: str | None,
) -> list[Violation]:
    if capability is None:
        return []
    allowed = tuple(f"cuda:{number}" for number in CAPABILITIES)
    own = f"cuda:{capability}"
    text = str(target).strip()
    reason = ""
    if capability == 0:
        reason = (
            f"{text} has no tcgen05: it is on datacenter Blackwell (10.x, 11.0), with its own features on (sm_100a)"
        )
    elif row is not None and row.name == "i8" and (family or capability in _WITHOUT_I8):
        reason = f"{text} has no kind::i8: it is on sm_100a and sm_110a alone"
        allowed = tuple(f"cuda:{number}" for number in CAPABILITIES if number not in _WITHOUT_I8)
    elif family and sparse and row is not None and row.k == 64:
        reason, allowed = f"{text} has no sparse kind::{row.name}: only the target's own features (a) do", (own,)
    elif family and vector in ("1X", "2X", "4X"):
        reason, allowed = f"{text} has no .scale_vec::{vector}: write .block16 or .block32, or assemble for a", (own,)
    if not reason:
        return []
    near = (own,) if own in allowed else allowed[:1]
    return [refuse("tcgen05.target", text, allowed, TARGET, reason, near)]


def _operands(a: str, b: str | None, left: str | None, right: str | None, row: MmaKind | None) -> list[Violation]:
    """Violations by types that the kind (without one: any) does not multiply or mix. Without ``b`` both
    have the same type, which is reported once."""
    allowed = row.operands if row else tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.operands))
    broken = []
    for parameter, operand, name in (("a", a, left), ("b", b, right)):
        if operand is None or name in allowed:
            continue
        near = tuple(dtype for dtype in _NEAR.get(name or "", ()) if dtype in allowed)
        whose = f"kind::{row.name}" if row else "no tcgen05.mma"
        if name is None:
            reason = f"{operand} is not an element type"
        elif name == "f32" and not row:
            reason = "no tcgen05.mma multiplies f32: fp32 operands are read as tf32 (19 bits), or not at all"
        else:
            reason = f"{whose} {'does not multiply' if row else 'multiplies'} {name}"
        broken.append(refuse(f"tcgen05.{parameter}", operand, allowed, TYPES, reason, near))
    if b is not None and not broken and left != right and (row is None or not row.mixed):
        assert left is not None
        partners = row.operands if row and row.mixed else _partners(left)
        reason = f"no tcgen05.mma multiplies {left} with {right}: {left} takes a {spoken(partners)} B"
        broken.append(refuse("tcgen05.b", b, partners, TYPES, reason, (left,)))
    return broken


def _partners(left: str) -> tuple[str, ...]:
    kind = of(left, left)
    return kind.operands if kind and kind.mixed else (left,)


def _accumulator(d: str | DType | None, left: str | None, row: MmaKind | None) -> list[Violation]:
    if d is None:
        return []
    allowed = accumulators(row, left or "") if row else ("f32", "f16", "s32")
    name = dtypes.name(d)
    if name in allowed:
        return []
    whose = f"kind::{row.name}" + (" of bf16" if left == "bf16" else "") if row else "tcgen05.mma"
    reason = f"{whose} accumulates in {spoken(allowed)}, not {name or d}"
    return [refuse("tcgen05.d", str(d), allowed, TYPES, reason)]


def _form(
    row: MmaKind | None, cta_group: int, ws: bool, a_from: str, ashift: bool, collector: str | None, lanes: int
) -> list[Violation]:
    """Violations by qualifiers that cannot be combined."""
    source = WEIGHT_STATIONARY if ws else MMA
    scaled = row is not None and row.block_scaled
    groups = (1,) if ws else (1, 2)
    reason = f".cta_group::{cta_group}: {'.ws has one CTA' if ws else 'one CTA or a pair'}"
    broken = require("tcgen05.cta-group", cta_group, groups, source, reason, groups[-1:])
    if ws and row is not None and scaled:
        reason = f"kind::{row.name} has no .ws form: block scaling excludes it"
        broken.append(refuse("tcgen05.ws", True, (False,), source, reason))
    origin = _ORIGINS.get(a_from.strip().lower())
    if origin is None:
        reason = f"a_from={a_from!r}: A is in shared memory or in tensor memory"
        broken.append(refuse("tcgen05.a-from", a_from, ("shared", "tmem"), source, reason, ()))
    if ashift and (ws or scaled or origin != "tmem"):
        why = "the .ws form has none" if ws else "block scaling excludes it" if scaled else "A is not in tensor memory"
        broken.append(refuse("tcgen05.ashift", True, (False,), source, f".ashift: {why}"))
    collectors: tuple[str, ...] = WS_COLLECTORS if ws else COLLECTORS
    if collector is not None:
        allowed = tuple(name for name in collectors if not (ashift and name in ("a::fill", "a::use")))
        what = "with .ashift" if ashift and collector in collectors else "with .ws" if ws else "without .ws"
        reason = f".collector::{collector} is none {what}: {'B' if ws else 'A'} is kept"
        broken += require("tcgen05.collector", collector, allowed, source, reason, ())
    widths = (0,) if ws or scaled else (0, 8) if cta_group == 2 else (0, 4)
    bits = f"{widths[-1] * 32} lanes" if widths[-1] else "no lane mask in this form"
    reason = f"disable-output-lane of {lanes} words: {bits}, so {spoken(widths)} words"
    return broken + require("tcgen05.output-lanes", lanes, widths, source, reason, widths[-1:])


def _major(row: MmaKind, parameter: str, major: str, a_from: str) -> list[Violation]:
    in_tmem = _ORIGINS.get(a_from.strip().lower()) == "tmem"
    if in_tmem:
        reason = "A in tensor memory cannot be M-major: it lies there row by row, a lane a row"
    else:
        which = "A is K-major, not M-major" if parameter == "a" else "B is K-major, not N-major"
        reason = f"kind::{row.name} transposes neither operand: {which}"
    return require_major("tcgen05", parameter, major, ("k",) if in_tmem else row.majors, TRANSPOSE, reason)


def _scales(row: MmaKind, vector: str | None, scale: str | DType | None) -> list[Violation]:
    vectors = dict(row.vectors)
    if vector is None and row.unscaled and scale is None:
        return []
    if not row.block_scaled:
        reason = f"kind::{row.name} is not block-scaled: scales need mxf8f6f4, mxf4 or mxf4nvf4"
        if vector is not None:
            return [refuse("tcgen05.scale-vector", vector, (), SCALES, reason)]
        return [refuse("tcgen05.scale", str(scale), (), SCALES, reason)]
    if vector not in vectors and (vector is not None or not row.unscaled):
        form = f".scale_vec::{vector}" if vector in VECTORS[:3] else f".{vector}"
        reason = f"kind::{row.name} {form if vector else 'without a scale vector'}: it takes {spoken(tuple(vectors))}"
        return [refuse("tcgen05.scale-vector", vector or "none", tuple(vectors), SCALES, reason, ())]
    listed = vectors.values() if vector is None else (vectors[vector],)
    types = tuple(name for name in SCALE_TYPES if any(name in of_vector for of_vector in listed))
    if vector is not None:
        types = vectors[vector]
    if scale is None or dtypes.name(scale) in types:
        return []
    reason = f"kind::{row.name} with {vector or 'its default vector'} has {spoken(types)} scales, not {scale}"
    return [refuse("tcgen05.scale", str(scale), types, SCALES, reason)]


def _transposed(row: MmaKind, b_major: str, ws: bool) -> str:
    wide = b_major.strip().lower() in ("mn", "n") and row.container_bits == 8 and "mn" in row.majors and not ws
    return " when an 8-bit B is N-major" if wide else ""


def _size(
    parameter: str, size: int, allowed: tuple[int, ...], row: MmaKind, group: int, sparse: bool, ws: bool, why: str
) -> list[Violation]:
    form = f"tcgen05.mma{'.ws' if ws else ''}{'.sp' if sparse else ''}.cta_group::{group}.kind::{row.name}"
    reason = f"{parameter.upper()}={size}: {form} takes {spoken(allowed)}{why}"
    return require(f"tcgen05.{parameter}", size, allowed, TRANSPOSE if why else SHAPES, reason)
