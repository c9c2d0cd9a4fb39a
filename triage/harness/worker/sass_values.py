"""What instructions of NVIDIA's machine code compute, for all threads of a block at once. Pure functions.

A value is an ``int`` where it is the same in every thread, a list with an ``int`` for each thread, a tuple that names
something unknown that all threads have in common (a parameter of the kernel, the number of the block), or None:
unknown. Registers have 32 bits; predicates are 0 or 1. An instruction that is not here makes what it writes unknown.

Source of the instructions' meaning: CUDA Binary Utilities, "Instruction Set Reference", for their names; their results
were compared with those of the PTX that ptxas translates into them.
"""

import re
from functools import lru_cache
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

Value = Union[int, List[int], Tuple[Any, ...], None]
State = Dict[str, Value]
"""Values of registers (``R4``, ``UR4``, ``P0``, ``UP0``), and of words of the stack (``[928]``). What is not in it is
unknown."""

MASK = 0xFFFFFFFF
_REGISTER = re.compile(r"^([-~|!]*)(U?R(?:\d+|Z)|U?P(?:\d+|T))(\|?)((?:\.\w+)*)$")
_NUMBER = re.compile(r"^-?(?:0x[0-9a-fA-F]+|\d+)$")
_IGNORED = ("", ".reuse")


def combine(at: Any, function: Callable[..., int], *values: Value) -> Value:
    """The function of the values of each thread. ``at``: names a result that is unknown and the same everywhere."""
    if any(value is None for value in values):
        return None
    threads = next((len(value) for value in values if isinstance(value, list)), 0)
    if any(isinstance(value, tuple) for value in values):
        return None if threads else ("result", at)
    if not threads:
        return function(*values) & MASK
    columns = [value if isinstance(value, list) else [value] * threads for value in values]
    result = [each & MASK for each in map(function, *columns)]
    first = result[0]
    return first if all(each == first for each in result) else result


def signed(value: int) -> int:
    """A 32-bit value as a signed one."""
    return value - (1 << 32) if value & 0x80000000 else value


class _Operand(NamedTuple):
    """An operand, taken apart: a number, a constant of the launch, or a register with signs; all None where it is
    something else."""

    number: Optional[int] = None
    constant: Optional[str] = None
    register: Optional[str] = None
    signs: str = ""


@lru_cache(maxsize=1 << 16)
def _operand(text: str) -> _Operand:
    if _NUMBER.match(text):
        return _Operand(number=int(text, 0) & MASK)
    match = _REGISTER.match(text)
    if match is None:
        # Constants are the launch's, unless a register of a thread is the index.
        is_constant = text.lstrip("-~|!").startswith(("c[", "cx[")) and not re.search(r"\[.*\bR\d", text)
        return _Operand(constant=text) if is_constant else _Operand()
    signs, name, absolute, suffix = match.groups()
    if suffix not in _IGNORED or absolute or "|" in signs:
        return _Operand()
    if name in ("RZ", "URZ") or name in ("PT", "UPT"):
        return _Operand(number=int(name in ("PT", "UPT")), signs=signs)
    return _Operand(register=name, signs=signs)


def read(state: State, text: str, at: Any = None) -> Value:
    """The value of an operand: a register, a predicate, a number, a constant."""
    number, constant, register, signs = _operand(text)
    if constant is not None:
        return ("constant", constant)
    value: Value = state.get(register) if register is not None else number
    for sign in reversed(signs):
        value = combine((at, text), _SIGNS[sign], value)
    return value


_SIGNS: Dict[str, Callable[[int], int]] = {"-": lambda x: -x, "~": lambda x: ~x, "!": lambda x: x ^ 1}


@lru_cache(maxsize=1 << 16)
def is_predicate(operand: str) -> bool:
    """Whether the operand is a predicate."""
    return re.match(r"^!?U?P(?:\d+|T)$", operand) is not None


Operation = Callable[[Tuple[str, ...], List[Value], Any], Value]
"""From the parts of the opcode after its name, the sources and a name for what is unknown to the result."""


@lru_cache(maxsize=256)
def _lut(table: int) -> Callable[[int, int, int], int]:
    """The function of three bits with that table; of the most frequent ones the operators of the machine."""
    if table == 0xC0:
        return lambda a, b, c: a & b
    if table == 0xFC:
        return lambda a, b, c: a | b
    if table == 0x3C:
        return lambda a, b, c: a ^ b

    def function(a: int, b: int, c: int) -> int:
        result = 0
        for index in range(8):
            if table >> index & 1:
                result |= (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
        return result

    return function


def _logic(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    if parts or len(sources) < 4 or not isinstance(sources[3], int):
        return None
    return combine(at, _lut(sources[3]), *sources[:3])


def _sum(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    if {"X", "64"} & set(parts):
        return None
    return combine(at, lambda *values: sum(values), *sources[:3])


def _product(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    if {"X", "HI", "WIDE"} & set(parts) or len(sources) < 3:
        return None
    return combine(at, lambda a, b, c: a * b + c, *sources[:3])


def _scaled(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """LEA: ``(a << s) + b``; LEA.HI: the upper half of ``c:a << s``, and b."""
    if "X" in parts:
        return None
    if "HI" in parts:
        if len(sources) != 4:
            return None
        if "SX32" in parts:
            return None
        return combine(at, lambda a, b, c, s: ((c << 32 | a) << (s & 31) >> 32) + b, *sources)
    if len(sources) != 3:
        return None
    return combine(at, lambda a, b, s: (a << (s & 31)) + b, *sources)


def _shift(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """SHF: a shift of the 64 bits ``c:a``."""
    if len(sources) != 3 or not isinstance(sources[1], int) or sources[1] > 31:
        return None
    low, amount, high = sources
    kind = next((part for part in parts if part in ("U32", "S32", "U64", "S64")), "")
    if "L" in parts and "HI" not in parts and kind in ("U32", "S32", ""):
        return combine(at, lambda a, s: a << s, low, amount)
    if "R" in parts and "HI" in parts and kind == "U32":
        return combine(at, lambda c, s: c >> s, high, amount)
    if "R" in parts and "HI" in parts and kind == "S32":
        return combine(at, lambda c, s: signed(c) >> s, high, amount)
    if "R" in parts and "HI" not in parts and kind in ("U64", "S64"):
        return combine(at, lambda a, s, c: (c << 32 | a) >> s, low, amount, high)
    if "L" in parts and "HI" in parts and kind in ("U64", "S64"):
        return combine(at, lambda a, s, c: (c << 32 | a) << s >> 32, low, amount, high)
    return None


def _extended(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """SGXT: the lowest bits of a, extended with their sign, or with 0."""
    width = sources[1] if len(sources) == 2 else None
    if not isinstance(width, int) or not 0 < width < 32 or "W" in parts:
        return None
    top = 1 << (width - 1)
    if "U32" in parts:
        return combine(at, lambda a: a & (1 << width) - 1, sources[0])
    return combine(at, lambda a: ((a & (1 << width) - 1) ^ top) - top, sources[0])


def _permuted(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """PRMT: four of the eight bytes ``c:a``, chosen by the digits of s; with their bit 3 set the byte's sign."""
    if parts or len(sources) != 3:
        return None

    def function(a: int, s: int, c: int) -> int:
        both, result = c << 32 | a, 0
        for index in range(4):
            digit = s >> 4 * index & 15
            byte = both >> 8 * (digit & 7) & 255
            result |= ((255 if byte & 128 else 0) if digit & 8 else byte) << 8 * index
        return result

    return combine(at, function, *sources)


_COMPARISONS: Dict[str, Callable[[int, int], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
_COMBINATIONS: Dict[str, Callable[[int, int], int]] = {
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b,
}


def _compared(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """ISETP: the comparison of a and b, combined with a predicate."""
    comparison = next((_COMPARISONS[part] for part in parts if part in _COMPARISONS), None)
    combination = next((_COMBINATIONS[part] for part in parts if part in _COMBINATIONS), None)
    if comparison is None or combination is None or len(sources) != 3 or {"EX", "64", "U64", "S64"} & set(parts):
        return None
    view = (lambda x: x) if "U32" in parts else signed
    return combine(at, lambda a, b, p: combination(int(comparison(view(a), view(b))), p), *sources)


def _chosen(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    if parts or len(sources) != 3:
        return None
    a, b, p = sources
    if a == b and a is not None and not isinstance(a, tuple):
        return a
    return combine(at, lambda x, y, z: x if z else y, a, b, p)


def _copied(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    return None if parts else sources[0]


def _broadcast(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """R2UR: the value that the threads of a warp have in common."""
    value = sources[0]
    if parts or not isinstance(value, list):
        return None if parts else value
    return value if all(each == value[index & ~31] for index, each in enumerate(value)) else None


def _shuffled(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """SHFL.IDX: the value of one lane of the warp."""
    value, lane = sources[0], sources[1] if len(sources) > 1 else None
    if not isinstance(value, list):
        return value
    if parts != ("IDX",) or not isinstance(lane, int) or lane > 31 or sources[2:] != [0x1F]:
        return None
    return combine(at, lambda x: x, [value[index & ~31 | lane] for index in range(len(value))])


def _voted(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """VOTE of a predicate that is the same in all threads of each warp."""
    return _broadcast((), sources[:1], at) if parts in (("ANY",), ("ALL",)) else None


def _packed_constant(parts: Tuple[str, ...], sources: List[Value], at: Any) -> Value:
    """HFMA2 of zeros is how ptxas writes a constant: as two halves, the upper one first."""
    upper, lower = sources[-2:]
    if parts or sources[:-2] != [0, 0] or not isinstance(upper, int) or not isinstance(lower, int):
        return None
    return upper << 16 | lower


OPERATIONS: Dict[str, Operation] = {
    "MOV": _copied,
    "LOP3": _logic,
    "IADD3": _sum,
    "IADD": _sum,
    "VIADD": _sum,
    "IMAD": _product,
    "LEA": _scaled,
    "SHF": _shift,
    "SGXT": _extended,
    "PRMT": _permuted,
    "ISETP": _compared,
    "SEL": _chosen,
    "R2UR": _broadcast,
    "SHFL": _shuffled,
    "VOTE": _voted,
    "HFMA2": _packed_constant,
}
"""By name; those of uniform registers have a U before it."""

_SPECIAL = {"SR_TID.Y": 0, "SR_TID.Z": 0, "SR_CgaCtaId": 0, "SRZ": 0}
"""Triton's blocks have one dimension. The number of the block in its cluster selects whose shared memory an address is
of, and is 0 for the first; the same code runs for all others."""


def special(name: str, threads: int) -> Value:
    """The value of a special register."""
    if name == "SR_TID.X":
        return list(range(threads))
    if name == "SR_LANEID":
        return [thread & 31 for thread in range(threads)]
    if name.startswith(("SR_CTAID", "SR_NCTAID", "SR_NTID")):
        return ("special", name)
    return _SPECIAL.get(name)
