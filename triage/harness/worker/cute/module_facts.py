"""What a traced module states that no verifier of the DSL looks at: tensor maps, which the driver encodes at a launch,
and the outputs of inline PTX. Pure functions of the text, printed with locations."""

import re
from typing import Any, Dict, Iterator, List, Optional, Tuple

_ALIAS = re.compile(r'^(!\w+) = !cute\.memref<(\w+), gmem, align<(\d+)>, "([^"]+)">', re.MULTILINE)
_MAP = re.compile(
    r"make_non_exec_tiled_tma_\w+\(.*? : \((!\w+|!cute\.memref<[^>]*>[^,]*), .*?tma_gbasis = <\"([^\"]+)\">"
)
_INLINE = re.compile(r'llvm\.inline_asm .*?"((?:[^"\\]|\\.)*)", "([^"]*)" .*? : \(.*?\) -> (.*?)(?: loc\(|$)')
_LOCATION = re.compile(r"loc\((#loc\d*)\)\s*$")
_DEFINED = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_PRINTED = re.compile(r'"([^"]+)":(\d+):\d+')
_REFERENCE = re.compile(r"#loc\d*")
_BASIS = re.compile(r"[\d@E]+")
_MOST_STEPS = 16


def read(text: str) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Events: ``tensor_map`` with ``dtype``, ``shape``, ``strides`` and ``box`` in elements, outermost first, and
    ``align`` in bytes; ``inline_asm`` with ``outputs`` that its constraints state and ``results`` that are taken; each
    with ``line`` of ``file``, where the module says."""
    if "tiled_tma" not in text and "inline_asm" not in text:
        return
    tensors = {name: (dtype, int(align), layout) for name, dtype, align, layout in _ALIAS.findall(text)}
    locations = dict(_DEFINED.findall(text))
    for line in text.splitlines():
        mapped, inline = _MAP.search(line), _INLINE.search(line)
        if mapped and mapped.group(1) in tensors:
            stated = _tensor_map(*tensors[mapped.group(1)], mapped.group(2))
            if stated is not None:
                yield "tensor_map", {**stated, **_place(line, locations)}
        elif inline:
            outputs = sum(part.lstrip().startswith("=") for part in inline.group(2).split(","))
            yield "inline_asm", {"outputs": outputs, "results": _results(inline.group(3)), **_place(line, locations)}


def _tensor_map(dtype: str, align: int, layout: str, basis: str) -> Optional[Dict[str, Any]]:
    """None where the layout or the box is not known, or one axis of the tensor is several of the box."""
    shape, _, strides = layout.partition(":")
    extents, steps = _numbers(shape), _numbers(strides)
    sizes, _, axes = basis.partition(":")
    boxes, coordinates = _numbers(sizes), _BASIS.findall(axes)
    if extents is None or steps is None or boxes is None or not len(extents) == len(steps) == len(boxes):
        return None
    box: Dict[int, int] = {}
    if len(boxes) != len(coordinates):
        return None
    for index, coordinate in enumerate(coordinates):
        step, at, axis = coordinate.partition("@")
        if step != "1" or not at or not axis.isdigit() or int(axis) in box:
            return None
        box[int(axis)] = boxes[index]
    if sorted(box) != list(range(len(extents))):
        return None
    order = sorted(range(len(extents)), key=lambda axis: -steps[axis])
    return {
        "dtype": dtype,
        "align": align,
        "shape": [extents[axis] for axis in order],
        "strides": [steps[axis] for axis in order],
        "box": [box[axis] for axis in order],
    }


def _numbers(text: str) -> Optional[List[int]]:
    """The numbers of a flat tuple; None where it is nested or an element is not known."""
    parts = text.strip().strip("()").split(",")
    return [int(part) for part in parts] if all(part.strip().isdigit() for part in parts) else None


def _results(text: str) -> int:
    struct = re.match(r"!llvm\.struct<\((.*)\)>", text)
    if struct:
        return struct.group(1).count(",") + 1
    return 0 if text.strip() in ("()", "!llvm.void") else 1


def _place(line: str, locations: Dict[str, str]) -> Dict[str, Any]:
    """File and line of an operation: those that its location names first, with aliases followed."""
    at = _LOCATION.search(line)
    file, number = _resolved(at.group(1), locations) if at else (None, None)
    return {"file": file, "line": number}


def _resolved(alias: str, locations: Dict[str, str]) -> Tuple[Optional[str], Optional[int]]:
    for _ in range(_MOST_STEPS):
        text = locations.get(alias, "")
        printed, reference = _PRINTED.search(text), _REFERENCE.search(text)
        if printed and not (reference and reference.start() < printed.start()):
            return printed.group(1), int(printed.group(2))
        if not reference:
            break
        alias = reference.group()
    return None, None
