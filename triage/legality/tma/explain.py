"""``triage explain tma``."""

import math

from triage.legality.explanation import Drawing, Fact, RuleTable, grid
from triage.legality.limits import limits
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.tma import descriptor, tensor_map
from triage.legality.tma.copy import COPY, TENSORS
from triage.legality.tma.types import ELEMENTS, IM2COL, INTERLEAVES, MAP, SWIZZLES, Element, element

TITLE = "tensor maps and bulk tensor copies (TMA): boxes, swizzles, strides, alignment"
_PATTERNS = "PTX ISA, tensors: swizzling modes"
_UNIT = tensor_map.UNIT
_LINE = 128
"""Bytes of a line of shared memory, over whose number a swizzle runs."""


def _judge(args: Arguments) -> Judgement:
    names = ("dtype", "box", "shape", "strides", "swizzle", "interleave", "base_alignment", "mode", "padded", "target")
    broken = tensor_map.violations(**{name: args[name] for name in names if name in args})
    row = element(args["dtype"], args.get("padded", False))
    shape = "x".join(map(str, args["box"]))
    swizzle = "no swizzle" if args["swizzle"] == "none" else f"swizzle {args['swizzle']}"
    too_wide = any(violation.rule == "tma.swizzle-span" for violation in broken)
    return Judgement(
        f"a box of {shape} {args['dtype']}, {swizzle}, mode {args['mode']} on {args['target']}",
        broken,
        _facts(args, row) if row else (),
        drawings=_drawings(args, row) if row and not broken else (),
        notes=_notes(args, row) if row else (),
        sources=(IM2COL if args["mode"].startswith("im2col") else MAP,),
        alternatives=[("swizzle none", {"swizzle": "none"})] if too_wide else (),
    )


def _facts(args: Arguments, row: Element) -> tuple[Fact, ...]:
    box = args["box"]
    inner, size = row.span(box[-1]), row.span(math.prod(box))
    repeat = 8 * SWIZZLES[args["swizzle"]]
    aligned = max(_LINE, repeat)
    facts = [
        Fact("driver_type", f"CU_TENSOR_MAP_DATA_TYPE_{row.driver}", "type in the map"),
        Fact("row_bytes", inner, "row of the box", f"{box[-1]} x {row.shared_bits or row.bits} bits = {inner} bytes"),
        Fact("box_bytes", size, "box in shared memory", f"{size} bytes, what the mbarrier expects of one copy"),
        Fact(
            "shared_alignment",
            aligned,
            "shared memory",
            f"aligned to {aligned} bytes" + (f": the swizzle repeats every {repeat}" if repeat > _LINE else ""),
        ),
    ]
    if args["mode"] == "tile" and not descriptor.violations(dtype=args["dtype"], block=box):
        boxes = descriptor.boxes(args["dtype"], box)
        shape = "x".join(map(str, boxes.box))
        facts += [
            Fact("triton_box", list(boxes.box), "Triton, for this block", f"{boxes.count} boxes of {shape}"),
            Fact("triton_swizzle", boxes.swizzle, "Triton's swizzle"),
        ]
    return tuple(facts)


def _notes(args: Arguments, row: Element) -> tuple[str, ...]:
    notes = []
    size = row.span(math.prod(args["box"]))
    most = limits(args["target"])
    if most is not None and size > most.shared_bytes:
        notes.append(f"{size} bytes are over the {most.shared_bytes} of shared memory of {args['target']}.")
    if args["mode"] == "tile":
        for violation in descriptor.violations(dtype=args["dtype"], block=args["box"]):
            notes.append(f"Triton makes no descriptor of such a block: {violation}.")
    return tuple(notes)


def _drawings(args: Arguments, row: Element) -> tuple[Drawing, ...]:
    """The place of each 16-byte unit of each row in shared memory, by lines of 128 bytes."""
    span = SWIZZLES[args["swizzle"]]
    units = row.span(args["box"][-1]) // _UNIT
    rows = math.prod(args["box"][:-1])
    a_line = _LINE // _UNIT
    if not span or args["interleave"] != "none" or units * rows < 2:
        return ()
    # The pattern repeats every eight lines, and no unit leaves them.
    lies = {swizzled(unit, span): f"{unit // units}.{unit % units}" for unit in range(min(units * rows, 8 * a_line))}
    cells = {divmod(position, a_line): text for position, text in lies.items()}
    title = f"Swizzle {span}: the box in shared memory, 128 bytes a line, row.unit of each 16 bytes"
    return (grid(title, cells, "line"),)


def swizzled(unit: int, span: int) -> int:
    """Where a 16-byte unit of a box lies, both counted from a place where the pattern starts: the bits of its place
    within the span are exchanged by those of the number of its 128-byte line (PTX ISA, swizzling modes)."""
    line = unit * _UNIT // _LINE
    return unit ^ (line & (span // _UNIT - 1)) if span else unit


def _tables(args: Arguments) -> list[RuleTable]:
    rules = (
        ("axes", "1 to 5; 3 to 5 with an interleave and in im2col; 2 in gather4 and scatter4", MAP),
        ("box", f"1 to {tensor_map.MAX_BOX} an axis", MAP),
        ("row of the box", f"a multiple of {_UNIT} bytes; with a swizzle at most 32, 64 or 128", MAP),
        ("size of the tensor", "1 to 2^32 an axis", MAP),
        ("strides", f"multiples of {_UNIT} bytes (32 with interleave 32), under 2^40; the last is 1 element", MAP),
        ("base address", f"a multiple of {_UNIT} bytes (32 with interleave 32)", MAP),
        ("traversal steps", f"1 to {tensor_map.MAX_STEP}", MAP),
        ("shared memory", "a multiple of 128 bytes", COPY),
        ("Triton's block", "powers of two; rows of at least 16 bytes in a kernel's own descriptor", descriptor.DEVICE),
        ("Triton's boxes", "rows cut to the swizzle's span, every other axis to 256", descriptor.DEVICE),
    )
    types = []
    for entry in ELEMENTS:
        row = f"{entry.only_box} exactly" if entry.only_box else str(_UNIT * 8 // entry.bits)
        types.append((entry.driver, str(entry.bits), row))
    modes = (
        ("tile", "1 to 5", "9.0 and later", "9.0 and later"),
        ("gather4 / scatter4", "2", "10.x, 11.0; to .shared::cta all from 10.0", "10.x, 11.0"),
        ("im2col", "3 to 5", "9.0 and later", "9.0 and later (.im2col_no_offs)"),
        ("im2col_w", "3 to 5", "10.x, 11.0; to .shared::cta all from 10.0", "none"),
        ("im2col_w_128", "3 to 5", "10.x, 11.0", "none"),
    )
    return [
        RuleTable("A tensor map", ("what", "allowed", "source"), rules, (MAP,)),
        RuleTable("Types", ("CU_TENSOR_MAP_DATA_TYPE_", "bits", "elements of a row: multiples of"), tuple(types)),
        RuleTable("Copies", ("mode", "axes", "loads", "stores"), modes, (TENSORS, _PATTERNS)),
    ]


RULE = LegalityRule(
    "tma",
    TITLE,
    (
        RuleParameter("dtype", Syntax.DTYPE, "type of the elements", required=True),
        RuleParameter("box", Syntax.SHAPE, "elements an axis, the contiguous axis last", required=True),
        RuleParameter("shape", Syntax.SHAPE, "elements of the tensor an axis"),
        RuleParameter("strides", Syntax.SHAPE, "strides of the tensor in elements, the last 1"),
        RuleParameter("swizzle", Syntax.CHOICE, "bytes of the swizzle's span", tuple(SWIZZLES), "none"),
        RuleParameter("interleave", Syntax.CHOICE, "bytes of a channel slice", tuple(INTERLEAVES), "none"),
        RuleParameter("mode", Syntax.CHOICE, "of the copies", tensor_map.MODES, "tile"),
        RuleParameter("base-alignment", Syntax.INTEGER, "bytes to which the tensor's address is aligned", default="16"),
        RuleParameter("padded", Syntax.FLAG, "spread 4-bit elements over bytes in shared memory"),
        RuleParameter("target", Syntax.TARGET, "cuda:NN", default="cuda:90"),
    ),
    _judge,
    _tables,
    (
        "--dtype bf16 --box 64x64 --swizzle 128",
        "--dtype fp16 --box 128x128 --swizzle 128",
        "--dtype fp32 --box 128x32 --swizzle 128 --shape 4096x4096 --strides 4097x1",
        "--dtype fp16 --box 1x64 --mode gather4 --target cuda:90",
        "--dtype e2m1 --box 128x128 --padded --swizzle 128 --target cuda:100",
    ),
    (COPY,),
)
