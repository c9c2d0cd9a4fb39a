"""Changes of a draft that Triton's front end refuses, by the words of the refusal. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator

from triage.drafts.model import Basis
from triage.drafts.refusal import Refusal

_SAME_TYPE = re.compile(
    r"same (?:data)?type|initial type|re-?assigned|Mismatched type|then block|incompatible (?:types|dtype)"
    r"|must have the same|both operands", re.IGNORECASE
)  # fmt: skip
_POINTER = re.compile(r"pointer|ptr\b|Unsupported ptr|address", re.IGNORECASE)
_SHAPE = re.compile(
    r"power of (?:2|two)|shape|incompatible dimensions|>= ?\d+|rank|numel|number of elements|divisible|block size"
    r"|static_assert|assert|reshape|broadcast|dimension|expand|at least", re.IGNORECASE
)  # fmt: skip
_DIMENSIONS = re.compile(r"(\d+) (?:and|vs\.?|!=) (\d+)")
_MULTIPLE = re.compile(r"\b(\w+) % (\w+) == 0")
_OPERANDS = re.compile(r"invalid operands of type|Unsupported \w+ dtype|unexpected type|out of range for type")
_FLOATS = ("fp16", "bf16", "fp32", "fp64")
_INTEGERS = ("i8", "u8", "i32", "i64")
LEAST_TILE = 16
"""Of an operand of a dot, the least that every release takes."""
_FIXED = frozenset({Basis.USER, Basis.CONFIG, Basis.HEURISTIC})
"""A correction does not change these: a launch could not either."""


def corrections(refusal: Refusal) -> Iterator[dict[str, object]]:
    """Changes that may fix a refusal, the most likely first."""
    message, values = refusal.message, refusal.draft.values
    changeable = [name for name in refusal.related if values[name].basis not in _FIXED]
    pointers, integers = dict(guessed_pointers(refusal)), dict(guessed_pointers(refusal, _INTEGERS))
    related = {name: type_ for name, type_ in pointers.items() if name in refusal.related}

    def is_assumed(name: str) -> bool:
        return values[name].basis is Basis.ASSUMED

    if _SAME_TYPE.search(message):
        # Variables become what 32-bit scalars make of them; the operands of a dot are what the others are.
        first = related.values() if "perands" in message else ["*fp32"]
        for element in dict.fromkeys([*first, "*fp32", "*fp16"]):
            yield {name: element for name, type_ in related.items() if type_ != element and is_assumed(name)}
        if "int32" in message:  # an accumulator of 8-bit products
            yield dict.fromkeys(related, "*i8")
        yield dict.fromkeys(integers, "*i32")
        for element in dict.fromkeys([*related.values(), "*fp32"]):
            yield {name: element for name, type_ in pointers.items() if type_ != element}
    if "out_dtype" in message:
        dtypes = [name for name in changeable if str(values[name].value).startswith("tl.")]
        yield dict.fromkeys(dtypes, "tl.float32")
    if _OPERANDS.search(message):
        # What is shifted or masked is an integer: packed operands are 32 bits wide, quantized ones 8.
        nearest = [name for name in refusal.related if name in pointers]
        for name in nearest:
            yield from ({name: other} for other in _others(refusal, name) if str(other).startswith(("*i", "*u")))
        yield dict.fromkeys(nearest[:1], "*i32")
        of_line = [name for name in integers if name in refusal.related]
        yield dict.fromkeys(of_line, "*i8")
        yield dict.fromkeys(of_line, "*fp16")
    yield _multiplied(refusal)
    if _SHAPE.search(message):
        yield from _resized(refusal)
    if "None" in message:
        changeable.sort(key=lambda name: values[name].value is not None)
        absent = [name for name in values if values[name].value is None and name in changeable]
        yield {name: other for name in absent for other in _others(refusal, name)[:1]}
    others = [(name, candidate) for name in changeable for candidate in _others(refusal, name)]
    if _POINTER.search(message):
        others.sort(key=lambda other: _is_pointer(other[1]) == _is_pointer(values[other[0]].value))
    yield from ({name: candidate} for name, candidate in others)
    if _POINTER.search(message):
        for name in changeable:
            if refusal.draft.is_argument(name) and not _is_pointer(values[name].value):
                yield {name: "*fp32"}
    for element in ("*fp32", "*fp16"):
        yield {name: element for name, type_ in pointers.items() if type_ != element}


def _resized(refusal: Refusal) -> Iterator[dict[str, object]]:
    sizes = refusal.sizes(refusal.related)
    if not sizes:
        return
    yield {name: 1 << (size - 1).bit_length() for name, size in sizes.items() if size & (size - 1)}
    for left, right in _DIMENSIONS.findall(refusal.message):
        for before, after in ((left, right), (right, left)):
            yield {name: int(after) for name, size in sizes.items() if size == int(before)}
    yield {name: LEAST_TILE for name, size in sizes.items() if size < LEAST_TILE}
    for size in (64, 32, LEAST_TILE):
        yield dict.fromkeys(sizes, size)


def _multiplied(refusal: Refusal) -> dict[str, object]:
    """The sizes that an assertion asks to be multiples of others."""
    values, sizes = refusal.draft.values, refusal.sizes(refusal.related)
    # An assertion with a message of its own does not repeat what it asserts.
    asserted = refusal.source.splitlines()[refusal.line - 1 : refusal.line] if refusal.line else []
    pairs = [pair for text in (refusal.message, *asserted) for pair in _MULTIPLE.findall(text)]
    divisors = {name: values[of].value for name, of in pairs if name in sizes and of in values}
    return {name: math.lcm(sizes[name], of) for name, of in divisors.items() if type(of) is int and of > 0}


def _others(refusal: Refusal, name: str) -> list[object]:
    """The values of a parameter's other candidates."""
    parameter = next(parameter for parameter in refusal.draft.function.parameters if parameter.name == name)
    before = repr(refusal.draft.values[name].value)
    return [candidate.value for candidate in parameter.candidates if repr(candidate.value) != before]


def guessed_pointers(refusal: Refusal, elements: Container[str] = _FLOATS) -> Iterator[tuple[str, str]]:
    """The pointers to such elements whose type is not stated."""
    for name, value in refusal.draft.values.items():
        if _is_pointer(value.value) and value.value[1:] in elements and not refusal.is_stated(name):
            yield name, value.value


def _is_pointer(value: object) -> bool:
    return isinstance(value, str) and value.startswith("*")
