"""``triage explain mma``: the verdict, registers a thread, who holds what, and what Triton would take."""

from dataclasses import replace
from typing import Any

from triage.legality import dtypes
from triage.legality.explanation import Drawing, Fact, RuleTable, grid
from triage.legality.mma import fragment, triton
from triage.legality.mma.check import MmaInstruction, default_accumulator, form_of, instructions, legal, violations
from triage.legality.mma.forms import FORMS, KINDS, MMA, MMA_SP, InstructionForm
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.model.target import Target

TITLE = "mma.sync: types, shapes and layouts of the tensor-core instruction of one warp"
_TRITON = "Triton 3.9.0, third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/DotOpToLLVM/MMAv2.cpp"


def _judge(args: Arguments) -> Judgement:
    target: Target = args["target"]
    m, n, k = args["m"], args["n"], args["k"]
    vec = int(args["scale_vec"]) if "scale_vec" in args else None
    sparse = args.get("sparse", False)
    broken = violations(**{**args, "scale_vec": vec})
    a, d = args["a"], args.get("d") or dtypes.parse(default_accumulator(str(args["a"])))
    b, c = args.get("b") or a, args.get("c") or d
    row = MmaInstruction(
        sparse, str(a), str(b), args.get("kind", "none"), str(args.get("scale", "none")), vec or 0, m, n, k,
        str(d), str(c), args["a_layout"], args["b_layout"], args.get("op", "none"),
    )  # fmt: skip
    capability = target.capability or 0
    form = form_of(row, capability)
    return Judgement(
        f"{_brief(row)} on {target}",
        broken,
        _facts(row, form, target) if form else (_triton_fact(row.a, target),),
        drawings=_drawings(row) if form else (),
        notes=_notes(row, form),
        sources=(MMA_SP if sparse else MMA,),
        resolved={"b": row.b, "c": row.c, "d": row.d},
        alternatives=_alternatives(row, capability) if broken else (),
    )


def _brief(row: MmaInstruction) -> str:
    words = f"{'mma.sp' if row.sparse else 'mma'} m{row.m}n{row.n}k{row.k}, {row.a} x {row.b} + {row.c} to {row.d}"
    return words + (f", kind {row.kind}" if row.kind != "none" else "")


def spelled(row: MmaInstruction) -> str:
    """The instruction as PTX writes it."""
    name = f"mma{'.sp::ordered_metadata' if row.sparse else ''}.sync.aligned.m{row.m}n{row.n}k{row.k}"
    name += f".{row.a_layout}.{row.b_layout}"
    name += f".kind::{row.kind}" if row.kind != "none" else ""
    name += ".block_scale" if row.scale != "none" else ""
    name += f".scale_vec::{row.scale_vec}X" if row.scale_vec else ""
    name += f".{row.d}.{row.a}.{row.b}.{row.c}"
    name += f".{row.scale}" if row.scale != "none" else ""
    return name + (f".{row.op}.popc" if row.op != "none" else "")


def _facts(row: MmaInstruction, form: InstructionForm, target: Target) -> tuple[Fact, ...]:
    quads = _in_quads(row)
    share = 4 if quads else 1  # each quarter of a warp holds a product of its own
    bits_a = fragment.stored_bits(dtypes.parse(row.a), row.kind)
    bits_b = fragment.stored_bits(dtypes.parse(row.b), row.kind)
    stored_k = row.k // 2 if row.sparse else row.k
    counts = {
        "a": share * fragment.registers(row.m, stored_k, bits_a),
        "b": share * fragment.registers(row.k, row.n, bits_b),
        "c": share * fragment.registers(row.m, row.n, dtypes.parse(row.c).bits),
        "d": share * fragment.registers(row.m, row.n, dtypes.parse(row.d).bits),
    }
    wide = "64-bit" if row.a == "f64" else "32-bit"
    text = ", ".join(f"{name.upper()} {count}" for name, count in counts.items())
    macs = row.m * row.n * row.k * share
    documented = "yes" if form.documented else "no: the assembler takes it"
    return (
        Fact("instruction", spelled(row), "PTX"),
        Fact("registers", counts, "registers a thread", f"{text} ({wide})"),
        Fact("multiply_adds", macs, "multiply-adds a warp"),
        Fact("since", form.only[0] if form.only else form.since, "first target", f"cuda:{form.since}"),
        Fact("documented", form.documented, "in the PTX ISA", documented),
        _triton_fact(row.a, target),
    )


def _triton_fact(a: str, target: Target) -> Fact:
    choice = triton.chosen(a, target)
    if a not in triton.DOT_TYPES:
        return Fact("triton", None, "Triton takes", f"nothing: {a} is not an operand type of tl.dot")
    if choice is None:
        return Fact("triton", None, "Triton takes", f"no mma.sync for {a} on {target}: FMA, or it refuses the type")
    shape = f"m{choice.m}n{choice.n}k{choice.k}"
    text = f"{shape} with {choice.operand} operands" + (f", converted from {a}" if choice.operand != a else "")
    return Fact("triton", {"shape": [choice.m, choice.n, choice.k], "operand": choice.operand}, "Triton takes", text)


def _notes(row: MmaInstruction, form: InstructionForm | None) -> tuple[str, ...]:
    notes = []
    if row.sparse:
        notes.append(
            "A is stored as half of K with metadata that says which of each group are kept (2 of 4; pairs of 4-bit "
            "elements 4 of 8; 1 of 2 for tf32)."
        )
    if form is not None and row.a in ("e4m3", "e5m2") and not row.sparse and (row.k == 16 or row.d == "f16"):
        notes.append("fp8 with k=16 or f16 accumulators needs PTX 8.7 (ptxas 12.8, Triton 3.3).")
    if form is not None and not form.documented and row.kind != "none":
        notes.append("The assembler ignores .kind here: the instruction is the one without it.")
    return tuple(notes)


def _alternatives(row: MmaInstruction, capability: int) -> list[tuple[str, dict[str, Any]]]:
    """The instructions of the target with the same types, closest in shape."""
    available = [other for other in instructions() if legal(other, capability)]
    same_d = any(other.d == row.d and other.a == row.a for other in available)
    close = [
        other
        for other in available
        if replace(row, m=other.m, n=other.n, k=other.k, d=other.d, c=other.c) == other
        and (other.d == row.d or not same_d)
    ]
    close.sort(key=lambda other: (abs(other.m - row.m), abs(other.k - row.k), -other.k))
    return [
        (
            f"m{other.m}n{other.n}k{other.k}, D {other.d}",
            {"m": other.m, "n": other.n, "k": other.k, "d": dtypes.parse(other.d), "c": dtypes.parse(other.c)},
        )
        for other in close[:2]
    ]


def _in_quads(row: MmaInstruction) -> bool:
    return (row.m, row.n, row.k) == (8, 8, 4) and row.a != "f64"


def _drawings(row: MmaInstruction) -> tuple[Drawing, ...]:
    if _in_quads(row):
        return ()
    bits = fragment.stored_bits(dtypes.parse(row.a), row.kind)
    each = max(32 // bits, 1)
    stored_k = row.k // 2 if row.sparse else row.k
    words_a = range(fragment.registers(row.m, stored_k, bits))
    words_b = range(fragment.registers(row.k, row.n, bits))
    a = {fragment.operand_a(lane, r, row.m, bits)[0]: (lane, r) for lane in range(32) for r in words_a}
    b = {fragment.operand_b(lane, r, bits)[0]: (lane, r) for lane in range(32) for r in words_b}
    values = range(row.m * row.n // 32)
    d = {fragment.accumulator(lane, value): (lane, value) for lane in range(32) for value in values}
    run = f"{each} elements along k in each cell" if each > 1 else "one element in each cell"
    return (
        _fragment(f"A, m down, k across: thread and register, {run}", a, "a"),
        _fragment(f"B, k down, n across: thread and register, {run}", b, "b"),
        _fragment("C and D, m down, n across: thread and value", d, "d"),
    )


def _fragment(title: str, held: dict[tuple[int, int], tuple[int, int]], letter: str) -> Drawing:
    return grid(title, {at: f"T{lane} {letter}{index}" for at, (lane, index) in held.items()})


def _tables(args: Arguments) -> list[RuleTable]:
    target: Target = args["target"]
    stated = "every target" if target == _DEFAULT else str(target)
    rows = tuple(_row(form) for form in FORMS if target == _DEFAULT or form.on(target.capability or 0))
    columns = ("A x B", "shapes", "D C", "layouts", "kind and scale", "targets")
    return [RuleTable(f"mma.sync on {stated}", columns, rows, (MMA, MMA_SP)), _choices()]


def _row(form: InstructionForm) -> tuple[str, ...]:
    types = list(dict.fromkeys(a for a, _ in form.pairs))
    mixed = len(form.pairs) > len(types)
    shapes = ", ".join(f"m{m}n{n}k{k}" for m, n, k in form.shapes)
    scales = [f"{vec}X {scale}" if vec else scale for vec, scale in form.scales if scale != "none"]
    kind = "any kind" if len(form.kinds) == len(KINDS) else form.kinds[0]
    words = [kind] if kind != "none" else []
    words += [f"scale {', '.join(scales)}"] if scales else []
    words += [f"{' and '.join(form.ops)}.popc"] if form.ops != ("none",) else []
    operands = ("sparse " if form.sparse else "") + " or ".join(types) + (", mixed" if mixed else "")
    accumulators = ", ".join(f"{d} {c}" for d, c in form.accumulators)
    layouts = "any" if len(form.layouts) > 1 else "row col"
    targets = ", ".join(f"cuda:{number}" for number in form.only) or f"cuda:{form.since} on"
    return operands, shapes, accumulators, layouts, ", ".join(words), targets + ("" if form.documented else " *")


def _choices() -> RuleTable:
    targets = [Target("cuda", arch) for arch in ("80", "86", "89", "90", "100", "120")]
    rows = []
    for a in ("f16", "bf16", "tf32", "f64", "s8", "e4m3", "e5m2"):
        cells = [a]
        for target in targets:
            choice = triton.chosen(a, target)
            converted = f" as {choice.operand}" if choice and choice.operand != a else ""
            cells.append(f"m{choice.m}n{choice.n}k{choice.k}{converted}" if choice else "-")
        rows.append(tuple(cells))
    return RuleTable("what Triton 3.9.0 takes where it takes mma.sync", ("operands", *map(str, targets)), tuple(rows))


_DEFAULT = Target("cuda", "90")

RULE = LegalityRule(
    "mma",
    TITLE,
    (
        RuleParameter("a", Syntax.DTYPE, "type of A: f16, tf32, e4m3, s8, b1 …", required=True),
        RuleParameter("m", Syntax.INTEGER, "rows of A and D", required=True),
        RuleParameter("n", Syntax.INTEGER, "columns of B and D", required=True),
        RuleParameter("k", Syntax.INTEGER, "columns of A, rows of B", required=True),
        RuleParameter("b", Syntax.DTYPE, "type of B [as A]"),
        RuleParameter("d", Syntax.DTYPE, "type of D [the widest that A has]"),
        RuleParameter("c", Syntax.DTYPE, "type of C [as D]"),
        RuleParameter("a-layout", Syntax.CHOICE, "layout of A", ("row", "col"), "row"),
        RuleParameter("b-layout", Syntax.CHOICE, "layout of B", ("row", "col"), "col"),
        RuleParameter("sparse", Syntax.FLAG, "mma.sp: A is 2:4 sparse"),
        RuleParameter("kind", Syntax.CHOICE, "kind of 8-, 6- and 4-bit operands", KINDS),
        RuleParameter("scale", Syntax.DTYPE, "type of block scales: ue8m0 or ue4m3"),
        RuleParameter("scale-vec", Syntax.CHOICE, "scales a row and instruction", ("1", "2", "4")),
        RuleParameter("op", Syntax.CHOICE, "bit operation of b1", ("xor", "and")),
        RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:90"),
    ),
    _judge,
    _tables,
    (
        "--a f16 --m 16 --n 8 --k 16 --target cuda:80",
        "--a bf16 --m 16 --n 8 --k 16 --target cuda:75",
        "--a e4m3 --m 16 --n 8 --k 64 --target cuda:89",
        "--a e2m1 --m 16 --n 8 --k 64 --kind mxf4nvf4 --scale ue4m3 --scale-vec 4 --target cuda:120",
    ),
    (_TRITON,),
    ("* The assembler takes it, and the PTX ISA does not have it.",),
)
