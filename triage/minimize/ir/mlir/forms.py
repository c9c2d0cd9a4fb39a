"""Passes that make shapes, layouts and the number of warps smaller, each everywhere in the module at once."""

import math
import re
from collections.abc import Callable

_SHAPED = re.compile(r"\b(tensor|memdesc|tensordesc|vector)<((?:\d+x)+)")
_RANGE = re.compile(r"\b(end|start) = (\d+) : i32")
_LIST = re.compile(r"\[\d+(?:, \d+)*\]")
_ALIAS = re.compile(r"^(#[\w$.-]+) = (#[\w.]+<.*>)$", re.MULTILINE)
_LAYOUT_ONLY = re.compile(r"#(?:ttg|triton_gpu|ttng|triton_nvidia_gpu)\.")
_FIELD = re.compile(r"(\w+) = (\[\d+(?:, \d+)*\]|\d+)")
_WARPS = re.compile(r'("?(?:ttg|triton_gpu)\.num-warps"? = )(\d+)( : i32)')
_PER_WARPS = re.compile(r"(warpsPerCTA = \[)(\d+(?:, \d+)*)(\])")


def smaller_shapes(text: str) -> list[str]:
    """Halve a dimension in every type, or at one position of one shape; largest first."""
    shapes = dict.fromkeys(match[2] for match in _SHAPED.finditer(text))
    texts = []
    for number in sorted({size for shape in shapes for size in _sizes(shape)}, reverse=True):
        if number >= 8:
            texts.append(_dimension(text, number, number // 4))
        if number > 1:
            texts.append(_dimension(text, number, number // 2))
    for shape in sorted(shapes, key=lambda shape: math.prod(_sizes(shape)), reverse=True):
        sizes = _sizes(shape)
        for axis, number in enumerate(sizes):
            if number > 1:
                small = "".join(f"{size}x" for size in [*sizes[:axis], number // 2, *sizes[axis + 1 :]])
                texts.append(_SHAPED.sub(_swap(shape, small), text))
    return texts


def _sizes(shape: str) -> list[int]:
    """The dimensions of ``64x32x``."""
    return [int(size) for size in shape.split("x") if size]


def _swap(shape: str, small: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{match[1]}<{small}" if match[2] == shape else match[0]


def _dimension(text: str, number: int, small: int) -> str:
    def shaped(match: re.Match[str]) -> str:
        parts = [str(small) if size == str(number) else size for size in match[2].split("x")]
        return f"{match[1]}<{'x'.join(parts)}"

    def ranged(match: re.Match[str]) -> str:
        return f"{match[1]} = {small} : i32" if match[2] == str(number) else match[0]

    return _RANGE.sub(ranged, _SHAPED.sub(shaped, text))


def other_layouts(text: str) -> list[str]:
    """Replace a layout by another of its rank everywhere, and remove its alias."""
    aliases = [(name, value) for name, value in _ALIAS.findall(text) if _LAYOUT_ONLY.match(value)]
    texts = []
    for name, value in reversed(aliases):
        for other, other_value in aliases:
            if other != name and _rank(other_value) == _rank(value):
                rest = text.replace(f"{name} = {value}\n", "", 1)
                texts.append(re.sub(rf"{re.escape(name)}(?![\w$.-])", other, rest))
    return texts


def _rank(value: str) -> int:
    match = _LIST.search(value)
    return match[0].count(",") if match else -1


def smaller_layouts(text: str) -> list[str]:
    """Halve a number in a layout, or remove a field from it."""
    texts = []
    for name, value in _ALIAS.findall(text):
        if not _LAYOUT_ONLY.match(value):
            continue
        line = f"{name} = {value}"
        for match in _FIELD.finditer(value):
            for start, end in ((match.start(), match.end() + 2), (match.start() - 2, match.end())):
                if value[start : start + 2] == ", " or value[end - 2 : end] == ", ":
                    texts.append(text.replace(line, f"{name} = {value[:start]}{value[end:]}", 1))
            for number in re.finditer(r"\d+", value[match.start(2) : match.end(2)]):
                if int(number[0]) > 1 and match[1] != "order":
                    at = match.start(2)
                    less = value[: at + number.start()] + str(int(number[0]) // 2) + value[at + number.end() :]
                    texts.append(text.replace(line, f"{name} = {less}", 1))
    return texts


def fewer_warps(text: str) -> list[str]:
    """Halve the number of warps, in the module's attribute and in every layout that spans them all."""
    match = _WARPS.search(text)
    if match is None or int(match[2]) <= 1:
        return []
    warps = int(match[2])

    def halved(layout: re.Match[str]) -> str:
        counts = [int(count) for count in layout[2].split(", ")]
        if math.prod(counts) != warps:
            return layout[0]
        counts[counts.index(max(counts))] //= 2
        return f"{layout[1]}{', '.join(map(str, counts))}{layout[3]}"

    return [_PER_WARPS.sub(halved, _WARPS.sub(lambda match: f"{match[1]}{warps // 2}{match[3]}", text, count=1))]


def magnitude(text: str) -> int:
    """The sum of the logarithms of all dimensions and layout numbers, which these passes reduce."""
    shapes = sum(math.prod(_sizes(match[2])).bit_length() for match in _SHAPED.finditer(text))
    numbers = [int(number) for _, value in _ALIAS.findall(text) for number in re.findall(r"(?<![\w.])\d+", value)]
    warps = _WARPS.search(text)
    return shapes + sum(number.bit_length() for number in numbers) + (int(warps[2]).bit_length() if warps else 0)
