"""Shapes, layouts and the number of warps made smaller, each everywhere in the module at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

_SHAPED = re.compile(r"\b(tensor|memdesc|tensordesc|vector)<((?:\d+x)+)")
_RANGE = re.compile(r"\b(end|start) = (\d+) : i32")
_LIST = re.compile(r"\[\d+(?:, \d+)*\]")
_ALIAS = re.compile(r"^(#[\w$.-]+) = (#[\w.]+<.*>)$", re.MULTILINE)
_LAYOUT_ONLY = re.compile(r"#(?:ttg|triton_gpu|ttng|triton_nvidia_gpu)\.")
_FIELD = re.compile(r"(\w+) = (\[\d+(?:, \d+)*\]|\d+)")
_WARPS = re.compile(r'("?(?:ttg|triton_gpu)\.num-warps"? = )(\d+)( : i32)')
_PER_WARPS = re.compile(r"(warpsPerCTA = \[)(\d+(?:, \d+)*)(\])")


def smaller_shapes(text: str) -> list[str]:
    """A dimension halved wherever it stands in a type, or in one place of the shapes only; largest first."""
    numbers = {int(one) for found in _SHAPED.finditer(text) for one in found[2].split("x") if one}
    made = []
    for number in sorted(numbers, reverse=True):
        if number > 1:
            made += [_dimension(text, number, small) for small in _below(number)]
    for shape in sorted({found[2] for found in _SHAPED.finditer(text)}, key=_elements, reverse=True):
        parts = [int(one) for one in shape.split("x") if one]
        for place, number in enumerate(parts):
            if number > 1:
                small = "".join(f"{one}x" for one in [*parts[:place], number // 2, *parts[place + 1 :]])
                made.append(_SHAPED.sub(_swap(shape, small), text))
    return made


def _below(number: int) -> Iterator[int]:
    """A quarter first, then a half."""
    if number >= 8:
        yield number // 4
    yield number // 2


def _elements(shape: str) -> int:
    return math.prod(int(one) for one in shape.split("x") if one)


def _swap(shape: str, small: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}<{small}" if found[2] == shape else found[0]


def _dimension(text: str, number: int, small: int) -> str:
    def shaped(found: re.Match[str]) -> str:
        parts = [str(small) if one == str(number) else one for one in found[2].split("x")]
        return f"{found[1]}<{'x'.join(parts)}"

    def ranged(found: re.Match[str]) -> str:
        return f"{found[1]} = {small} : i32" if found[2] == str(number) else found[0]

    return _RANGE.sub(ranged, _SHAPED.sub(shaped, text))


def other_layouts(text: str) -> list[str]:
    """One layout in the place of another of its rank everywhere, so that its alias goes."""
    aliases = [(name, value) for name, value in _ALIAS.findall(text) if _LAYOUT_ONLY.match(value)]
    made = []
    for name, value in reversed(aliases):
        for other, held in aliases:
            if other != name and _rank(held) == _rank(value):
                rest = text.replace(f"{name} = {value}\n", "", 1)
                made.append(re.sub(rf"{re.escape(name)}(?![\w$.-])", other, rest))
    return made


def _rank(value: str) -> int:
    found = _LIST.search(value)
    return found[0].count(",") if found else -1


def smaller_layouts(text: str) -> list[str]:
    """Numbers in layouts made smaller, an entry at a time, or taken out of their layout."""
    made = []
    for name, value in _ALIAS.findall(text):
        if not _LAYOUT_ONLY.match(value):
            continue
        line = f"{name} = {value}"
        for found in _FIELD.finditer(value):
            for start, end in ((found.start(), found.end() + 2), (found.start() - 2, found.end())):
                if value[start : start + 2] == ", " or value[end - 2 : end] == ", ":
                    made.append(text.replace(line, f"{name} = {value[:start]}{value[end:]}", 1))
            for number in re.finditer(r"\d+", value[found.start(2) : found.end(2)]):
                if int(number[0]) > 1 and found[1] != "order":
                    at = found.start(2)
                    less = value[: at + number.start()] + str(int(number[0]) // 2) + value[at + number.end() :]
                    made.append(text.replace(line, f"{name} = {less}", 1))
    return made


def fewer_warps(text: str) -> list[str]:
    """Half as many warps, in the module's attribute and in every layout that has them all."""
    found = _WARPS.search(text)
    if found is None or int(found[2]) <= 1:
        return []
    warps = int(found[2])

    def halved(match: re.Match[str]) -> str:
        counts = [int(one) for one in match[2].split(", ")]
        if math.prod(counts) != warps:
            return match[0]
        largest = counts.index(max(counts))
        counts[largest] //= 2
        return f"{match[1]}{', '.join(map(str, counts))}{match[3]}"

    return [_PER_WARPS.sub(halved, _WARPS.sub(lambda match: f"{match[1]}{warps // 2}{match[3]}", text, count=1))]


def magnitude(text: str) -> int:
    """The sum of the logarithms of all dimensions and layout numbers: what these changes make smaller."""
    shapes = sum(_elements(found[2]).bit_length() for found in _SHAPED.finditer(text))
    numbers = [int(one) for _, value in _ALIAS.findall(text) for one in re.findall(r"(?<![\w.])\d+", value)]
    warps = _WARPS.search(text)
    return shapes + sum(number.bit_length() for number in numbers) + (int(warps[2]).bit_length() if warps else 0)
