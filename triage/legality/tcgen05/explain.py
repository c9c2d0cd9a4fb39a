"""``triage explain tcgen05``."""

from triage.legality import tmem
from triage.legality.explanation import Drawing, Fact, RuleTable
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.tcgen05.descriptor import InstructionDescriptor, encode
from triage.legality.tcgen05.instruction import MMA, violations
from triage.legality.tcgen05.kinds import (
    KINDS,
    SCALE_TYPES,
    SHAPES,
    TRANSPOSE,
    TYPES,
    VECTORS,
    MmaKind,
    accumulators,
    of,
)
from triage.legality.tcgen05.lowering import SOURCE, lowered
from triage.legality.violation import spoken
from triage.model.errors import InputError

TITLE = "tcgen05.mma: kinds, shapes, types, majors, block scales, instruction descriptor"
_ASKED = ("kind", "a", "b", "d", "m", "n", "k", "cta_group", "a_from", "a_major", "b_major", "scale_vector", "scale")
_FLAGS = ("sparse", "ws")


def _judge(args: Arguments) -> Judgement:
    named = {name: args[name] for name in (*_ASKED, *_FLAGS) if name in args}
    broken = violations(**named, target=args["target"])
    left, right = str(args["a"]), str(args.get("b", args["a"]))
    kind = KINDS[args["kind"]] if "kind" in args else of(left, right, args.get("scale_vector"))
    facts: list[Fact] = []
    drawings: list[Drawing] = []
    notes = []
    if kind is not None and not broken:
        facts = _facts(args, kind, left, right)
        if not args.get("ws"):
            drawings = [tmem.drawing([tmem.tile(args["m"], args["n"], "f32", args["cta_group"])])]
    if "tile" in args:
        a, tile = args["a"], args["tile"]
        if len(tile) != 3:
            raise InputError("--tile: give M x N x K of the dot")
        lowering = lowered(a, args.get("b", a), tile, args["num_warps"], args["target"], args.get("triton"))
        if lowering.reason:
            facts.append(Fact("triton", None, "Triton's instruction", "no tcgen05.mma"))
            notes.append(f"Triton makes no tcgen05.mma of such a tl.dot: {lowering.reason}.")
        else:
            m, n, k, count = lowering.m, lowering.n, lowering.k, lowering.count
            text = f"{count} of m{m}n{n}k{k}, kind::{lowering.kind}"
            facts.append(Fact("triton", [m, n, k], "Triton's instruction", text))
            facts.append(Fact("triton_count", count, "for the whole tile"))
    form = f"{left} x {right}, M={args['m']} N={args['n']}, cta_group::{args['cta_group']}"
    form += "".join(f", {name}" for name in _FLAGS if args.get(name))
    subject = f"tcgen05.mma of {form} on {args['target']}"
    sources = (SOURCE,) if "tile" in args else ()
    return Judgement(subject, broken, facts, drawings=drawings, notes=notes, sources=sources)


def _facts(args: Arguments, kind: MmaKind, left: str, right: str) -> list[Fact]:
    sparse, ws, group = args.get("sparse", False), args.get("ws", False), args["cta_group"]
    d = str(args.get("d", accumulators(kind, left)[0]))
    k = args.get("k", kind.depths(sparse)[0])
    vector = args.get("scale_vector")
    # Where it is not given, the scales have the type that the vector has alone.
    scale = str(args.get("scale", dict(kind.vectors).get(vector or "", ("ue8m0",))[0]))
    name = f"tcgen05.mma{'.ws' if ws else ''}{'.sp' if sparse else ''}.cta_group::{group}.kind::{kind.name}"
    if kind.block_scaled:
        name += ".block_scale" + (f".{'' if vector.startswith('block') else 'scale_vec::'}{vector}" if vector else "")
    a_major, b_major = ("k" if args[name] == "k" else "mn" for name in ("a_major", "b_major"))
    descriptor = InstructionDescriptor(
        kind.name, left, right, d, args["m"], args["n"], a_major, b_major, sparse, scale=scale, k=k
    )
    bits = encode(descriptor)
    facts = [
        Fact("kind", kind.name, "kind"),
        Fact("mnemonic", name, "instruction"),
        Fact("shape", [args["m"], args["n"], k], "shape", f"m{args['m']}n{args['n']}k{k}"),
        Fact("accumulator", d, "accumulates in"),
        Fact("descriptor", bits, "instruction descriptor", f"{bits:#010x}"),
    ]
    if not ws:
        part = tmem.tile(args["m"], args["n"], "f32", group)
        text = f"{part.columns} of {tmem.COLUMNS}{', half of the lanes' if part.half else ''}"
        facts.append(Fact("columns", part.columns, "tensor memory columns", text))
    return facts


def _tables(args: Arguments) -> list[RuleTable]:
    shapes, types = [], []
    for kind in KINDS.values():
        for group in (1, 2):
            columns, transposed = kind.columns(group), kind.columns(group, kind.majors[-1])
            n = spoken(columns) + (f"; N-major B: {spoken(transposed)}" if transposed != columns else "")
            k = f"{kind.k} (96 on 10.3)" if len(kind.depths()) > 1 else str(kind.k)
            shapes.append((kind.name, str(group), spoken(kind.rows(group)), n, f"{k}; sparse {2 * kind.k}"))
        scales = "; ".join(f"{vector}: {'/'.join(listed)}" for vector, listed in kind.vectors) or "none"
        majors = "K or MN" if "mn" in kind.majors else "K"
        targets = "10.0, 11.0" if kind.name == "i8" else "10.0, 10.3, 11.0"
        types.append((kind.name, " ".join(kind.operands), " ".join(kind.accumulators), majors, scales, targets))
    return [
        RuleTable("Shapes", ("kind", "CTAs", "M", "N", "K"), tuple(shapes)),
        RuleTable("Types", ("kind", "A, B", "D", "majors", "scale vectors", "targets"), tuple(types), (TRANSPOSE,)),
    ]


RULE = LegalityRule(
    "tcgen05",
    TITLE,
    (
        RuleParameter("a", Syntax.DTYPE, "type of A; tf32 for fp32 with TF32 precision", required=True),
        RuleParameter("b", Syntax.DTYPE, "type of B, unless it is A's"),
        RuleParameter("d", Syntax.DTYPE, "type of the accumulator"),
        RuleParameter("m", Syntax.INTEGER, "rows of the instruction, of both CTAs", default="128"),
        RuleParameter("n", Syntax.INTEGER, "columns of the instruction", default="128"),
        RuleParameter("k", Syntax.INTEGER, "depth of the instruction"),
        RuleParameter("kind", Syntax.CHOICE, "the kind, where the types leave a choice", tuple(KINDS)),
        RuleParameter("cta-group", Syntax.INTEGER, "1 CTA or a pair", default="1"),
        RuleParameter("a-from", Syntax.CHOICE, "where A is", ("shared", "tmem"), "shared"),
        RuleParameter("a-major", Syntax.CHOICE, "major of A", ("k", "mn", "m"), "k"),
        RuleParameter("b-major", Syntax.CHOICE, "major of B", ("k", "mn", "n"), "k"),
        RuleParameter("scale-vector", Syntax.CHOICE, "of a block-scaled kind", VECTORS),
        RuleParameter("scale", Syntax.CHOICE, "type of the scales", SCALE_TYPES),
        RuleParameter("sparse", Syntax.FLAG, "A is 2:4 sparse"),
        RuleParameter("ws", Syntax.FLAG, "the weight-stationary form"),
        RuleParameter("tile", Syntax.SHAPE, "M, N and K of a Triton dot: what it becomes"),
        RuleParameter("num-warps", Syntax.INTEGER, "warps of that kernel", default="4"),
        RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:100"),
        RuleParameter("triton", Syntax.RELEASE, "release of Triton that compiles the dot"),
    ),
    _judge,
    _tables,
    (
        "--a fp16 --d fp32 --m 128 --n 256",
        "--a e4m3 --m 128 --n 8 --b-major n",
        "--a e2m1 --scale-vector block16 --m 128 --n 128",
        "--a int8 --target cuda:103",
        "--a bf16 --tile 256x128x64 --num-warps 8",
        "--a fp16 --m 256 --n 100 --cta-group 2",
    ),
    (SHAPES, TYPES, MMA),
    (
        "M and N are in a register, so no assembler checks them.",
        "The weight-stationary form (.ws) has one CTA, M of 32, 64 or 128, N of 64, 128 or 256 (sparse: to 128), "
        "and no block scales.",
        "A in tensor memory is K-major.",
    ),
)
