"""Reads the wgmma instructions of a kernel's PTX with the descriptors that they are given.

Descriptors are computed from the operand's address, which only a launch knows. So each is evaluated with every unknown
register taken as zero and every loop in its first round: what remains are the constant fields, and the distance of
the instruction's operand from the first one's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WGMMA = re.compile(r"(wgmma\.mma_async\S+)\s+\{[^}]*\},\s*(\{[^}]*\}|%\w+),\s*(%\w+),\s*([^;]*);")
_DEFINED = re.compile(r"\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)\s+(%\w+)\s*,\s*(.*?);")
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Issued:
    """One instruction: ``a`` is None where A comes from registers; ``flags`` are the operands after the descriptors."""

    mnemonic: str
    a: int | None
    b: int
    flags: tuple[str, ...]


def issued(ptx: str) -> list[Issued]:
    """Every wgmma of a kernel, in the order of the text."""
    lines = ptx.splitlines()
    defined: dict[str, tuple[str, list[str]]] = {}
    for line in lines:
        # The first definition is the one before the loop.
        if (match := _DEFINED.match(line)) and match[2] not in defined:
            defined[match[2]] = (match[1], [part.strip() for part in match[3].split(",")])
    known: dict[str, int] = {}

    def value(text: str) -> int:
        if not text.startswith("%"):
            try:
                return int(text, 0)
            except ValueError:
                return 0  # a symbol: the shared memory of the kernel
        if text not in known:
            known[text] = 0  # a register that depends on itself
            known[text] = _evaluate(*defined[text], value) if text in defined else 0
        return known[text]

    found = []
    for line in lines:
        if match := _WGMMA.search(line):
            a = None if match[2].startswith("{") else value(match[2]) & _MASK
            found.append(Issued(match[1], a, value(match[3]) & _MASK, tuple(re.split(r",\s*", match[4].strip()))))
    return found


def _evaluate(name: str, operands: list[str], value: object) -> int:
    assert callable(value)
    kind = name.split(".", maxsplit=1)[0]
    width = 32 if re.search(r"\.[bus]32$", name) and "wide" not in name else 64
    given = [value(one) for one in operands if not one.startswith(("{", "["))]
    limit = (1 << width) - 1
    match kind, given:
        case "mov" | "cvt" | "cvta", [only]:
            return int(only) & limit
        case "add", [left, right]:
            return int(left + right) & limit
        case "sub", [left, right]:
            return int(left - right) & limit
        case "or", [left, right]:
            return int(left) & limit | int(right) & limit
        case "xor", [left, right]:
            return int(left) & limit ^ int(right) & limit
        case "and", [left, right]:
            return int(left & right) & limit
        case "shl", [left, right]:
            return int(left << right) & limit
        case "shr", [left, right]:
            return (int(left) & limit) >> right
        case "bfe", [word, low, length]:
            return ((int(word) & limit) >> low) & ((1 << length) - 1)
        case "mul", [left, right]:
            return int(left * right) & limit
        case "mad", [left, right, third]:
            return int(left * right + third) & limit
        case "selp", [left, right, chosen]:
            return int(left if chosen else right)
    return 0
