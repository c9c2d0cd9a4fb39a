"""ldmatrix and stmatrix: 8x8 and 16x16 matrices between shared memory and the registers of a warp.

From PTX ISA, "Warp-level matrix load instruction: ldmatrix" and "… store instruction: stmatrix", enumerated against
the assemblers of the Triton 3.9.0 wheel. They are looser than the document in one way that is not followed here: both
take ``.x8``, ``.x16`` and so on, modifiers of other instructions, and then with 1, 2 or 4 registers alone.
"""

from dataclasses import dataclass

from triage.legality.explanation import Drawing, Fact, RuleTable, grid
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, refuse, spoken
from triage.model.target import Target

_SOURCES = {
    "ldmatrix": "PTX ISA, warp-level matrix load instruction: ldmatrix",
    "stmatrix": "PTX ISA, warp-level matrix store instruction: stmatrix",
}
_TRITON = "Triton 3.9.0, third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/MemoryOpToLLVM.cpp"
_TITLES = {
    "ldmatrix": "ldmatrix: matrices from shared memory to the registers of a warp",
    "stmatrix": "stmatrix: matrices from the registers of a warp to shared memory",
}
ROW_BYTES = 16
"""A row is 16 bytes in shared memory, whatever its type, and its address is a multiple of that."""


@dataclass(frozen=True, slots=True)
class MatrixForm:
    """Instructions of one shape. ``registers`` is what one matrix takes of a thread, 32 bits each; ``trans`` says
    whether ``.trans`` may, must or must not be written; ``since`` is the lowest compute capability times ten."""

    shape: str
    dtypes: tuple[str, ...]
    counts: tuple[int, ...]
    trans: tuple[bool, ...]
    registers: int
    since: int


_PADDED = ("b8x16.b6x16_p32", "b8x16.b4x16_p64")

FORMS: dict[str, tuple[MatrixForm, ...]] = {
    "ldmatrix": (
        MatrixForm("m8n8", ("b16",), (1, 2, 4), (False, True), 1, 75),
        MatrixForm("m8n16", _PADDED, (1, 2, 4), (False,), 1, 100),
        MatrixForm("m16n16", ("b8", *_PADDED), (1, 2), (True,), 2, 100),
    ),
    "stmatrix": (
        MatrixForm("m8n8", ("b16",), (1, 2, 4), (False, True), 1, 90),
        MatrixForm("m16n8", ("b8",), (1, 2, 4), (True,), 1, 100),
    ),
}
"""Every legal instruction. Shapes from cuda:100 on are those of the targets that Triton assembles for (sm_100a …): the
plain sm_100 has m8n8 alone."""


def violations(
    *,
    instruction: str = "ldmatrix",
    shape: str = "m8n8",
    count: int = 1,
    trans: bool = False,
    dtype: str = "b16",
    alignment: int | None = None,
    target: Target,
) -> list[Violation]:
    """Violations of ``ldmatrix`` or ``stmatrix`` ``.sync.aligned.SHAPE.xCOUNT{.trans}.shared.DTYPE``; empty when
    it is legal.

    ``count`` is the number of matrices, ``alignment`` what the addresses of rows are known to be a multiple of, in
    bytes (the assembler cannot see it). Source: PTX ISA, ldmatrix and stmatrix.
    """
    source, forms = _SOURCES[instruction], FORMS[instruction]
    available = [form for form in forms if (target.capability or 0) >= form.since]
    if not available:
        first = min(form.since for form in forms)
        allowed = [f"cuda:{since}" for since in (75, 80, 86, 89, 90, 100, 120) if since >= first]
        message = f"{target} has no {instruction}: it came with cuda:{first}"
        return [refuse(f"{instruction}.target", str(target), allowed, source, message)]

    def legal(form: MatrixForm, dtype: str, count: int, trans: bool) -> bool:
        return dtype in form.dtypes and count in form.counts and trans in form.trans

    form = next((form for form in available if form.shape == shape), None)
    if form is None:
        shapes = [form.shape for form in available if legal(form, dtype, count, trans)]
        since = next((form.since for form in forms if form.shape == shape), None)
        came = f": it came with cuda:{since}" if since else ""
        listed = spoken([form.shape for form in available])
        message = f"{instruction} has no {shape} on {target}{came}; there is {listed}"
        return [refuse(f"{instruction}.shape", shape, shapes, source, message, shapes[:2])]
    name = f"{instruction} of {shape}"
    broken = []
    if dtype not in form.dtypes:
        types = [option for option in form.dtypes if legal(form, option, count, trans)]
        message = f"{name} moves {spoken(form.dtypes)}, not {dtype}"
        broken.append(refuse(f"{instruction}.dtype", dtype, types, source, message, types[:2]))
    if trans not in form.trans:
        flags = [flag for flag in form.trans if legal(form, dtype, count, flag)]
        message = f"{name} is always .trans" if form.trans[0] else f"{name} has no .trans"
        broken.append(refuse(f"{instruction}.trans", trans, flags, source, message, flags))
    if count not in form.counts:
        numbers = [option for option in form.counts if legal(form, dtype, option, trans)]
        message = f"{name} moves {spoken(form.counts)} matrices, not {count}"
        broken.append(refuse(f"{instruction}.count", count, numbers, source, message))
    if alignment is not None and (alignment <= 0 or alignment % ROW_BYTES):
        verb = "writes" if instruction == "stmatrix" else "reads"
        message = f"rows lie at multiples of {alignment} bytes; {instruction} {verb} addresses of {ROW_BYTES}"
        broken.append(refuse(f"{instruction}.alignment", alignment, (ROW_BYTES,), source, message))
    return broken


def _rows(shape: str) -> int:
    """Rows of 16 bytes in shared memory; m16n8 is stored transposed, its 8 columns of 16 bytes are the rows."""
    return {"m8n8": 8, "m8n16": 8, "m16n16": 16, "m16n8": 8}[shape]


def provider(shape: str, matrix: int, row: int) -> int:
    """The thread whose address a row of a matrix is at: one thread a row, a matrix after the other."""
    return matrix * _rows(shape) + row


def element_m8n8(lane: int, trans: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """Row and column, in shared memory, of the two 16-bit elements that a thread gets of an m8n8 matrix, low half
    first."""
    first, second = (lane // 4, lane % 4 * 2), (lane // 4, lane % 4 * 2 + 1)
    return (first[::-1], second[::-1]) if trans else (first, second)


def loads_operand(bits: int, transposed: bool, target: Target) -> bool:
    """Whether Triton loads an operand of ``mma.sync`` with elements of so many bits by ldmatrix.

    Rows along K are taken as pairs of 16 bits, whatever their type. A tile that is contiguous the other way
    (``transposed``) needs ``.trans``, which moves 16-bit elements; the bytes of m16n16 (cuda:100 on) Triton 3.9.0
    leaves to single loads. Source: observed, tests compile it; MemoryOpToLLVM.cpp.
    """
    if (target.capability or 0) < 75 or bits > 32:
        return False
    return bits == 16 or not transposed


def _judge(instruction: str, args: Arguments) -> Judgement:
    target, count, trans = args["target"], args["count"], args.get("trans", False)
    shape, dtype = args["shape"], args["dtype"]
    broken = violations(instruction=instruction, **args)
    spelled = f"{instruction}.sync.aligned.{shape}.x{count}{'.trans' if trans else ''}.shared.{dtype}"
    form = next((form for form in FORMS[instruction] if form.shape == shape), None)
    facts: tuple[Fact, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    if form is not None and not broken:
        rows = _rows(shape)
        bytes_moved = count * form.registers * 32 * 4
        facts = (
            Fact("registers", count * form.registers, "registers a thread"),
            Fact("bytes", bytes_moved, "bytes in registers", f"{bytes_moved} a warp"),
            Fact("row_bytes", ROW_BYTES, "bytes a row", f"{ROW_BYTES} in shared memory, at a multiple of {ROW_BYTES}"),
            Fact("threads_with_addresses", rows * count, "addresses", f"of threads 0 … {rows * count - 1}"),
        )
        drawings = _drawings(instruction, shape, count, trans)
    return Judgement(f"{spelled} on {target}", broken, facts, drawings=drawings, notes=_NOTES[instruction])


_NOTES = {
    "ldmatrix": (
        "Rows are 16 bytes of anything: without .trans it loads operands of 8, 16 and 32 bits that are contiguous "
        "along K.",
        ".trans swaps 16-bit elements only: a tile contiguous along M or N can be loaded with 16-bit elements, not "
        "with 8- or 32-bit ones: Triton then takes one ld.shared an element (for bytes from cuda:100 on too, where "
        "m16n16 .b8 exists).",
    ),
    "stmatrix": (
        "It stores accumulators after conversion to 16 bits; 32-bit results take st.shared.",
        ".trans stores what lies along rows in registers along columns: the output tile may be column-major.",
    ),
}


def _drawings(instruction: str, shape: str, count: int, trans: bool) -> tuple[Drawing, ...]:
    providers = {
        (row, matrix): f"T{provider(shape, matrix, row)}" for matrix in range(count) for row in range(_rows(shape))
    }
    addresses = grid("whose address each row of 16 bytes is at, a matrix a column", providers, "row")
    if shape != "m8n8":
        return (addresses,)
    held = {element: f"T{lane}" for lane in range(32) for element in element_m8n8(lane, trans)}
    verb = "gets" if instruction == "ldmatrix" else "gives"
    return addresses, grid(f"which thread {verb} which 16 bits of a matrix, as it lies in shared memory", held, "row")


def _table(instruction: str) -> RuleTable:
    rows = tuple(
        (
            form.shape,
            ", ".join(form.dtypes),
            ", ".join(f".x{count}" for count in form.counts),
            {(False, True): "either", (True,): "always", (False,): "never"}[form.trans],
            str(form.registers),
            f"cuda:{form.since} on",
        )
        for form in FORMS[instruction]
    )
    columns = ("shape", "types", "matrices", ".trans", "registers a matrix", "targets")
    return RuleTable(instruction, columns, rows)


def _rule(instruction: str, examples: tuple[str, ...]) -> LegalityRule:
    forms = FORMS[instruction]
    shapes = tuple(form.shape for form in forms)
    types = tuple(dict.fromkeys(name for form in forms for name in form.dtypes))
    return LegalityRule(
        instruction,
        _TITLES[instruction],
        (
            RuleParameter("shape", Syntax.CHOICE, "shape of a matrix", shapes, "m8n8"),
            RuleParameter("count", Syntax.INTEGER, "matrices, the N of .xN", default="1"),
            RuleParameter("trans", Syntax.FLAG, "with .trans"),
            RuleParameter("dtype", Syntax.CHOICE, "type of elements", types, "b16"),
            RuleParameter("alignment", Syntax.INTEGER, "bytes that addresses of rows are a multiple of"),
            RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:90"),
        ),
        lambda args: _judge(instruction, args),
        lambda args: [_table(instruction)],
        examples,
        (_SOURCES[instruction], _TRITON),
        _NOTES[instruction],
    )


RULE = _rule(
    "ldmatrix",
    ("--count 4 --target cuda:80", "--count 4 --trans --alignment 8", "--shape m16n16 --dtype b8 --count 2 --trans"),
)
STMATRIX = _rule("stmatrix", ("--count 2 --trans", "--count 4 --target cuda:80"))
