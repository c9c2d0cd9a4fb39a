"""``triage explain tma``."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from triage.legality.explanation import Drawing, Explanation, Fact, Table
from triage.legality.limits import limits
from triage.legality.rule import Form, Given, Parameter, Rule
from triage.legality.tma import descriptor, tensor_map
from triage.legality.tma.copy import COPY, TENSORS
from triage.legality.tma.types import ELEMENTS, IM2COL, INTERLEAVES, MAP, SWIZZLES, Element, element
from triage.legality.violation import Violation

TITLE = "tensor maps and bulk tensor copies (TMA): boxes, swizzles, strides, alignment"
_PATTERNS = "PTX ISA, tensors: swizzling modes"
_UNIT = tensor_map.UNIT
_LINE = 128
"""Bytes of a line of shared memory, over whose number a swizzle runs."""


def _explain(given: Given) -> Explanation:
    found = _violations(given)
    return _explained(given, found, _instead(given, found))


def _violations(given: Given) -> list[Violation]:
    names = ("dtype", "box", "shape", "strides", "swizzle", "interleave", "base_alignment", "mode", "padded", "target")
    return tensor_map.violations(**{name: given[name] for name in names if name in given})


def _explained(given: Given, found: list[Violation], instead: tuple[tuple[str, Explanation], ...] = ()) -> Explanation:
    row = element(given["dtype"], given.get("padded", False))
    shape = "x".join(map(str, given["box"]))
    swizzle = "no swizzle" if given["swizzle"] == "none" else f"swizzle {given['swizzle']}"
    what = f"a box of {shape} {given['dtype']}, {swizzle}, mode {given['mode']} on {given['target']}"
    facts, notes = (_facts(given, row), _notes(given, row)) if row else ((), ())
    return Explanation(
        "tma",
        TITLE,
        f"{'illegal' if found else 'legal'}: {what}",
        {name: _plain(value) for name, value in given.items()},
        not found,
        tuple(found),
        facts,
        drawings=_drawings(given, row) if row and not found else (),
        notes=notes,
        sources=(MAP, COPY) if not given["mode"].startswith("im2col") else (IM2COL, COPY),
        instead=instead,
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value if isinstance(value, int | bool) else str(value)


def _instead(given: Given, found: list[Violation]) -> tuple[tuple[str, Explanation], ...]:
    """What is legal with one change: the nearest box, or the swizzle that the box fits."""
    changes = []
    for violation in found:
        if violation.parameter in ("box", "strides", "swizzle", "base_alignment"):
            changes += [(violation.parameter, near) for near in violation.nearest]
        if violation.rule == "tma.swizzle-span":
            changes.append(("swizzle", "none"))
    shown = []
    for name, value in dict.fromkeys(changes):
        changed = {**given, name: value}
        if not _violations(changed):
            text = "x".join(map(str, value)) if isinstance(value, tuple) else value
            shown.append((f"{name} {text}", _explained(changed, [])))
    # One picture of the swizzle is enough.
    return tuple(
        (text, replace(one, drawings=() if place else one.drawings)) for place, (text, one) in enumerate(shown[:2])
    )


def _facts(given: Given, row: Element) -> tuple[Fact, ...]:
    box = given["box"]
    inner, size = row.span(box[-1]), row.span(math.prod(box))
    repeat = 8 * SWIZZLES[given["swizzle"]]
    aligned = max(_LINE, repeat)
    found = [
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
    if given["mode"] == "tile" and not descriptor.violations(dtype=given["dtype"], block=box):
        made = descriptor.boxes(given["dtype"], box)
        shape = "x".join(map(str, made.box))
        found += [
            Fact("triton_box", list(made.box), "Triton, for this block", f"{made.count} boxes of {shape}"),
            Fact("triton_swizzle", made.swizzle, "Triton's swizzle"),
        ]
    return tuple(found)


def _notes(given: Given, row: Element) -> tuple[str, ...]:
    found = []
    size = row.span(math.prod(given["box"]))
    most = limits(given["target"])
    if most is not None and size > most.shared_bytes:
        found.append(f"{size} bytes are over the {most.shared_bytes} of shared memory of {given['target']}.")
    if given["mode"] == "tile":
        for violation in descriptor.violations(dtype=given["dtype"], block=given["box"]):
            found.append(f"Triton makes no descriptor of such a block: {violation}.")
    return tuple(found)


def _drawings(given: Given, row: Element) -> tuple[Drawing, ...]:
    """Which 16-byte unit of which row lies where in shared memory, by lines of 128 bytes."""
    span = SWIZZLES[given["swizzle"]]
    units = row.span(given["box"][-1]) // _UNIT
    rows = math.prod(given["box"][:-1])
    a_line = _LINE // _UNIT
    if not span or given["interleave"] != "none" or units * rows < 2:
        return ()
    # The pattern repeats every eight lines, and no unit leaves them.
    lies = {swizzled(unit, span): unit for unit in range(min(units * rows, 8 * a_line))}
    lines = ["line   row.unit of each 16 bytes"]
    for line in range(min(-(-units * rows // a_line), 8)):
        cells = []
        for spot in range(line * a_line, (line + 1) * a_line):
            unit = lies.get(spot)
            cells.append(f"{'' if unit is None else f'{unit // units}.{unit % units}':>5}")
        lines.append(f"{line:>4} {' '.join(cells)}")
    return (Drawing(f"Swizzle {span}: the box in shared memory, 128 bytes a line", tuple(lines)),)


def swizzled(unit: int, span: int) -> int:
    """Where a 16-byte unit of a box lies, both counted from a place where the pattern starts: the bits of its place
    within the span are exchanged by those of the number of its 128-byte line (PTX ISA, swizzling modes)."""
    line = unit * _UNIT // _LINE
    return unit ^ (line & (span // _UNIT - 1)) if span else unit


def _table(given: Given) -> Explanation:
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
    types = tuple(
        (entry.driver, str(entry.bits), f"{entry.only_box} exactly" if entry.only_box else _rows(entry))
        for entry in ELEMENTS
    )
    modes = (
        ("tile", "1 to 5", "9.0 and later", "9.0 and later"),
        ("gather4 / scatter4", "2", "10.x, 11.0; to .shared::cta all from 10.0", "10.x, 11.0"),
        ("im2col", "3 to 5", "9.0 and later", "9.0 and later (.im2col_no_offs)"),
        ("im2col_w", "3 to 5", "10.x, 11.0; to .shared::cta all from 10.0", "none"),
        ("im2col_w_128", "3 to 5", "10.x, 11.0", "none"),
    )
    return Explanation(
        "tma",
        TITLE,
        TITLE,
        tables=(
            Table("A tensor map", ("what", "allowed", "source"), rules),
            Table("Types", ("CU_TENSOR_MAP_DATA_TYPE_", "bits", "elements of a row: multiples of"), types),
            Table("Copies", ("mode", "axes", "loads", "stores"), modes),
        ),
        sources=(MAP, COPY, TENSORS, _PATTERNS),
    )


def _rows(entry: Element) -> str:
    return str(_UNIT * 8 // entry.bits)


RULE = Rule(
    "tma",
    TITLE,
    (
        Parameter("dtype", Form.DTYPE, "type of the elements", required=True),
        Parameter("box", Form.SHAPE, "elements an axis, the contiguous axis last", required=True),
        Parameter("shape", Form.SHAPE, "elements of the tensor an axis"),
        Parameter("strides", Form.SHAPE, "strides of the tensor in elements, the last 1"),
        Parameter("swizzle", Form.CHOICE, "bytes of the swizzle's span", tuple(SWIZZLES), "none"),
        Parameter("interleave", Form.CHOICE, "bytes of a channel slice", tuple(INTERLEAVES), "none"),
        Parameter("mode", Form.CHOICE, "of the copies", tensor_map.MODES, "tile"),
        Parameter("base-alignment", Form.INTEGER, "bytes to which the tensor's address is aligned", default="16"),
        Parameter("padded", Form.FLAG, "spread 4-bit elements over bytes in shared memory"),
        Parameter("target", Form.TARGET, "cuda:NN", default="cuda:90"),
    ),
    _explain,
    _table,
    (
        "--dtype bf16 --box 64x64 --swizzle 128",
        "--dtype fp16 --box 128x128 --swizzle 128",
        "--dtype fp32 --box 128x32 --swizzle 128 --shape 4096x4096 --strides 4097x1",
        "--dtype fp16 --box 1x64 --mode gather4 --target cuda:90",
        "--dtype e2m1 --box 128x128 --padded --swizzle 128 --target cuda:100",
    ),
)
