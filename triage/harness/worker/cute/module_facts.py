"""Facts of a traced module that no verifier of the DSL checks: tensor maps, which the driver encodes at a launch,
the outputs of inline PTX, register tensors of a dynamic size, and the tiles that matrix operations share. Pure
functions of the text, printed with locations."""

import re
from typing import Any, Dict, Iterator, List, Optional, Tuple

_ALIAS = re.compile(r'^(!\w+) = !cute\.memref<(\w+), gmem, align<(\d+)>, "([^"]+)">', re.MULTILINE)
_MAP = re.compile(
    r"make_non_exec_tiled_tma_\w+\(.*? : \((!\w+|!cute\.memref<[^>]*>[^,]*), .*?tma_gbasis = <\"([^\"]+)\">"
)
_INLINE = re.compile(r'llvm\.inline_asm .*?"((?:[^"\\]|\\.)*)", "([^"]*)" .*? : \(.*?\) -> (.*?)(?: loc\(|$)')
_TILED_MMA = re.compile(
    r"^(!\w+) = !cute\.tiled_mma<!.*?(\d+)x(\d+)x(\d+),.*?atom_layout_MNK = <\"([^\"]+)\">"
    r"(?:, permutation_MNK = <\"\[([^\"]*)\]\">)?",
    re.MULTILINE,
)
_SHARED_TENSOR = re.compile(r'^(!\w+) = !cute\.memref<\w+, \w+, .*?"([^"]+)">', re.MULTILINE)
_PARTITION = re.compile(r"tiled\.mma\.partition ([ABC]) \(.*?\) : \((!\w+), (!cute\.coord_tensor|!\w+)")
_DYNAMIC_REGISTERS = re.compile(r'^(!\w+) = !cute\.memref<\w+, rmem, .*?"[^"]*\?[^"]*">', re.MULTILINE)
_ALLOCATED = re.compile(r"cute\.memref\.alloca\(.*?\) : (!\w+)")
_AXES = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}
"""Of M, N, K: those of an operand's first two modes."""
_LOCATION = re.compile(r"loc\((#loc\d*)\)\s*$")
_DEFINED = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_PRINTED = re.compile(r'"([^"]+)":(\d+):\d+')
_REFERENCE = re.compile(r"#loc\d*")
_BASIS = re.compile(r"[\d@E]+")
_MOST_STEPS = 16


def read(text: str) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Events: ``tensor_map`` with ``dtype``, ``shape``, ``strides`` and ``box`` in elements, outermost first, and
    ``align`` in bytes; ``inline_asm`` with the number of ``outputs`` in its constraints and of ``results``;
    ``mma_tile``: see :func:`_mma_tiles`; ``dynamic_registers``: the first register tensor of a dynamic size; each
    with ``file`` and ``line``, None where the module has no location."""
    yield from _mma_tiles(text)
    yield from _dynamic_registers(text)
    if "tiled_tma" not in text and "inline_asm" not in text:
        return
    tensors = {name: (dtype, int(align), layout) for name, dtype, align, layout in _ALIAS.findall(text)}
    locations = dict(_DEFINED.findall(text))
    for line in text.splitlines():
        mapped, inline = _MAP.search(line), _INLINE.search(line)
        if mapped and mapped.group(1) in tensors:
            stated = _tensor_map(*tensors[mapped.group(1)], mapped.group(2))
            if stated is not None:
                yield "tensor_map", {**stated, **_location(line, locations)}
        elif inline:
            outputs = sum(part.lstrip().startswith("=") for part in inline.group(2).split(","))
            yield "inline_asm", {"outputs": outputs, "results": _results(inline.group(3)), **_location(line, locations)}


def _mma_tiles(text: str) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """``mma_tile`` for each tile in memory that a matrix operation's threads share: ``axes`` (two of ``mnk``) with
    ``extents`` of the tile and ``steps`` that the operation's warps cover together. Only where all of that is known,
    and no coordinate tensor is partitioned alike: a kernel computes its predicates from such a tensor."""
    operations = {
        name: _steps([int(m), int(n), int(k)], atoms, permutation)
        for name, m, n, k, atoms, permutation in _TILED_MMA.findall(text)
    }
    if not operations:
        return
    tensors, locations = dict(_SHARED_TENSOR.findall(text)), dict(_DEFINED.findall(text))
    matches = [(match, line) for line in text.splitlines() for match in (_PARTITION.search(line),) if match]
    predicated = {match.group(1, 2) for match, _ in matches if match.group(3).startswith("!cute.")}
    stated = []
    for match, line in matches:
        operand, operation, tensor = match.groups()
        modes = [_size(mode) for mode in _modes(tensors.get(tensor, "").split(" o ")[-1])[:2]]
        steps = operations.get(operation)
        if (operand, operation) in predicated or steps is None or len(modes) != 2:
            continue
        fact = {
            "axes": "".join("mnk"[axis] for axis in _AXES[operand]),
            "extents": modes,
            "steps": [steps[axis] for axis in _AXES[operand]],
        }
        if None not in modes and fact not in stated:
            stated.append(fact)
            yield "mma_tile", {**fact, **_location(line, locations)}


def _dynamic_registers(text: str) -> Iterator[Tuple[str, Dict[str, Any]]]:
    types = _DYNAMIC_REGISTERS.findall(text)
    for line in text.splitlines() if types else ():
        allocation = _ALLOCATED.search(line)
        if allocation and allocation.group(1) in types:
            yield "dynamic_registers", _location(line, dict(_DEFINED.findall(text)))
            return


def _steps(shape: List[int], atoms: str, permutation: str) -> Optional[List[int]]:
    """The extents that the warps of a tiled operation cover along M, N and K: those of the permutation, or else atoms
    times the operation's shape. None where an extent is not known."""
    counts = [_size(mode) for mode in _modes(atoms)]
    permuted = [_size(mode) for mode in _split(permutation, ";")] if permutation else []
    if len(counts) < len(shape) or None in counts[: len(shape)]:
        return None
    steps = [size * (counts[axis] or 1) for axis, size in enumerate(shape)]
    for axis, size in enumerate(permuted[: len(steps)]):
        steps[axis] = size or steps[axis]
    return steps


def _modes(layout: str) -> List[str]:
    """The modes of a layout's shape, as texts: of ``((8,8),64):((64,512),1)`` they are ``(8,8)`` and ``64``."""
    shape = _split(layout, ":")[0].strip()
    return _split(shape[1:-1], ",") if shape.startswith("(") else [shape]


def _size(mode: str) -> Optional[int]:
    """The product of a mode's extents, written as a shape or as a layout; None where one is not known."""
    extents = re.findall(r"[^(),\s]+", _split(mode, ":")[0])
    size = 1
    for extent in extents:
        if not extent.isdigit():
            return None
        size *= int(extent)
    return size if extents else None


def _split(text: str, separator: str) -> List[str]:
    """The parts between separators outside parentheses."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == separator and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


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


def _location(line: str, locations: Dict[str, str]) -> Dict[str, Any]:
    """File and line of an operation: the first of its location, with aliases resolved."""
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
