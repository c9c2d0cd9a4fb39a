"""One instruction's effect on the values of registers: what it writes, and how much of it is known. Pure functions."""

import re
from struct import error as struct_error
from struct import pack, unpack
from typing import List, NamedTuple, Optional, Tuple

from .sass_text import Instruction
from .sass_values import OPERATIONS, State, Value, combine, is_predicate, read, special

_NARROW = frozenset(
    {
        "B2R", "BMSK", "BREV", "CREDUX", "ELECT", "F2FP", "F2I", "FADD", "FCHK", "FFMA", "FLO",
        "FMNMX", "FMNMX3", "FMUL", "FRND", "FSEL", "FSETP", "FSWZADD", "GETLMEMBASE", "HADD2", "HFMA2",
        "HMNMX2", "HMUL2", "HSET2", "HSETP2", "I2F", "I2FP", "I2I", "I2IP", "IABS", "IADD", "IADD3", "IDP",
        "IDP4A", "IMNMX", "ISETP", "LEA", "LEPC", "LOP3", "MATCH", "MOV", "MUFU", "P2R", "PLOP3", "POPC",
        "PRMT", "R2P", "R2UR", "REDUX", "S2R", "S2UR", "SEL", "SGXT", "SHF", "SHFL", "UFADD", "VABSDIFF",
        "VABSDIFF4", "VHMNMX", "VIADD", "VIADDMNMX", "VIMNMX", "VIMNMX3", "VOTE",
    }
)  # fmt: skip
"""Instructions that write one register (or pair, with a suffix of 64 bits), and those of uniform registers alike."""
_MEMORY = frozenset(
    {
        "ATOM", "ATOMG", "ATOMS", "CS2R", "LD", "LDC", "LDCU", "LDG", "LDL", "LDS", "LDSM", "LDT", "LDTM",
        "QSPC", "RED", "SULD", "TEX", "TLD", "ULDC",
    }
)  # fmt: skip
_WITHOUT_RESULT = frozenset(
    {
        "ACQBULK", "ACQSHMINIT", "ARRIVES", "BAR", "BPT", "BRA", "BREAK", "BSSY", "BSYNC", "CCTL", "CCTLL",
        "DEPBAR", "ERRBAR", "EXIT", "FENCE", "KILL", "LDGDEPBAR", "LDGSTS", "MEMBAR", "NANOSLEEP", "NOP",
        "PMTRIG", "PREEXIT", "RED", "REDAS", "REDG", "RET", "ST", "STAS", "STG", "STL", "STS", "STSM", "STTM",
        "UBLKCP", "UBLKPF", "UBLKRED", "UCGABAR_ARV", "UCGABAR_WAIT", "USETMAXREG", "UTCBAR", "UTCCP",
        "UTMACCTL", "UTMACMDFLUSH", "UTMALDG", "UTMAPF", "UTMAREDG", "UTMASTG", "WARPGROUP", "WARPSYNC", "YIELD",
    }
)  # fmt: skip
_MOST = 128
"""Registers that a matrix instruction may write; of an instruction that is not known, all that it could."""
_ADDRESS = re.compile(r"^(?:[\w.]*)\[(.*)\]$")


def name_of(instruction: Instruction) -> str:
    """The opcode without its suffixes, and without the U of those on uniform registers."""
    name = instruction.opcode.partition(".")[0]
    if name == "VOTEU":
        return "VOTE"
    return name[1:] if name[0] == "U" and (name[1:] in _NARROW or name[1:] in OPERATIONS) else name


class Step(NamedTuple):
    """An instruction, taken apart once: a loop's are executed several times. ``writes``: the registers, without
    predicates; ``is_known``: whether anything that it writes may be known afterwards."""

    each: Instruction
    name: str
    parts: Tuple[str, ...]
    predicates: Tuple[str, ...]
    writes: Tuple[str, ...]
    sources: Tuple[str, ...]
    is_known: bool


def step_of(each: Instruction) -> Step:
    """The step of an instruction."""
    name = name_of(each)
    parts = tuple(part for part in each.opcode.split(".")[1:] if part not in _MEANINGLESS.get(name, ()))
    if name in _WITHOUT_RESULT:
        return Step(each, name, parts, (), (), (), name == "STL")
    predicates, register, sources = _written(each, name)
    writes: Tuple[str, ...] = ()
    if register:
        kind, number = register.rstrip("0123456789"), int(register.lstrip("UR"))
        writes = tuple("%s%d" % (kind, number + offset) for offset in range(_width(name, parts)))
    elif name == "R2P" or each.operands[:1] in (("PR",), ("UPR",)):
        predicates = ["%sP%d" % (kind, number) for kind in ("", "U") for number in range(7)]
    return Step(each, name, parts, tuple(predicates), writes, sources, name in _RESULTS or name in OPERATIONS)


def step(state: State, taken: Step, threads: int) -> None:
    """Execute an instruction in every thread."""
    each = taken.each
    guard = read(state, each.guard) if each.guard else 1
    if taken.name == "CALL":
        state.clear()
    elif taken.name == "STL":
        _store(state, each, taken.parts, guard)
    elif not taken.is_known:
        if guard != 0:
            for name in (*taken.predicates, *taken.writes):
                state.pop(name, None)
    elif guard != 0:
        predicates, registers = _results(state, taken, threads)
        for names, values in ((taken.predicates, predicates), (taken.writes, registers)):
            for index, name in enumerate(names):
                _write(state, name, values[index] if index < len(values) else None, guard, each.at)


_RESULTS = frozenset({"S2R", "S2UR", "CS2R", "LDC", "LDCU", "ULDC", "LDL", "PLOP3"})
"""Instructions, beside those of ``OPERATIONS``, whose results are known."""


def _results(state: State, taken: Step, threads: int) -> Tuple[List[Value], List[Value]]:
    """The values of the predicates and registers that an instruction writes, as far as they are known."""
    each, name, parts = taken.each, taken.name, taken.parts
    if name in ("S2R", "S2UR"):
        return [], [special(each.operands[-1], threads)]
    if name == "CS2R":
        return [], [0, 0] if each.operands[-1] == "SRZ" else []
    if name in ("LDC", "LDCU", "ULDC"):
        constant = read(state, each.operands[-1])
        is_whole = constant is not None and set(parts) <= {"64", "128"}
        return [], [(constant, word) for word in range(len(taken.writes))] if is_whole else []
    if name == "LDL":
        return [], _loaded(state, each, parts)
    if name == "PLOP3":
        return _predicate_logic(state, each), []
    sources, last = list(taken.sources), ""
    if name in ("LOP3", "IADD3", "LEA") and sources and is_predicate(sources[-1]):
        last = sources.pop()
    elif name == "R2UR" and sources and is_predicate(sources[0]):
        sources = sources[1:]
    operands = [read(state, source, each.at) for source in sources]
    if name == "HFMA2":
        operands[2:] = [_half(source) for source in sources[2:]]
    result = OPERATIONS[name](parts, operands, each.at)
    if name in ("ISETP", "VOTE"):
        return [result], []
    if name == "LOP3" and taken.predicates and last in ("!PT", "!UPT"):
        return [combine((each.at, "nonzero"), _is_nonzero, result)], [result]
    return [], [result]


def _is_nonzero(value: int) -> int:
    return int(value != 0)


_MEANINGLESS = {
    "MOV": ("U32",),
    "IMAD": ("MOV", "U32", "SHL", "IADD"),
    "LOP3": ("LUT",),
    "SHF": ("W",),
    "IADD3": ("U32",),
    "R2UR": ("FILL",),
    "HFMA2": ("MMA",),
}
"""Parts of opcodes that change nothing for the values that are asked for."""


_PREDICATES_WRITTEN = {"PLOP3": 2, "VOTE": 1}
"""Of instructions whose sources are predicates as well, how many predicates are results."""


def _half(operand: str) -> Value:
    """A number as the bits of a half."""
    try:
        (bits,) = unpack("<H", pack("<e", float(operand)))
        return int(bits)
    except (ValueError, OverflowError, struct_error):
        return None


def _written(each: Instruction, name: str) -> Tuple[List[str], str, Tuple[str, ...]]:
    """The predicates and the (first) register that an instruction writes, and its other operands. Both kinds come
    first."""
    most = _PREDICATES_WRITTEN.get(name, len(each.operands))
    predicates: List[str] = []
    register = ""
    at = 0
    for at, operand in enumerate(each.operands):
        if len(predicates) < most and is_predicate(operand) and not operand.startswith("!"):
            predicates.append(operand)
        elif (
            not register and re.match(r"^U?R(\d+|Z)(\.reuse|\.64)?$", operand) and not (predicates and _compares(each))
        ):
            register = operand
        else:
            return predicates, "" if register in ("RZ", "URZ") else register.partition(".")[0], each.operands[at:]
    return predicates, "" if register in ("RZ", "URZ") else register.partition(".")[0], ()


def _compares(each: Instruction) -> bool:
    return "SETP" in each.opcode.partition(".")[0]


def _width(name: str, parts: Tuple[str, ...]) -> int:
    if name in _MEMORY:
        if "256" in parts:
            return 8
        if name in ("LDTM", "LDT"):
            return _MOST
        return 4 if {"128", "4"} & set(parts) else 2 if {"64", "2"} & set(parts) or name == "CS2R" else 1
    if name in _NARROW:
        return 2 if {"64", "F64", "U64", "S64", "WIDE"} & set(parts) and name != "SHF" else 1
    if name == "IMAD":
        return 2 if "WIDE" in parts else 1
    if name in ("F2F", "FADD2", "FMUL2", "FFMA2", "DADD", "DMUL", "DFMA", "DMNMX"):
        return 2
    if name in ("HMMA", "IMMA", "QMMA", "OMMA", "BMMA", "DMMA"):
        return 8 if name == "DMMA" or "884" in parts else 4
    return _MOST


def _write(state: State, name: str, value: Value, guard: Value, at: int) -> None:
    if name in ("PT", "UPT"):
        return
    if guard != 1:
        old = state.get(name)
        if old != value or old is None:
            value = (
                None
                if old is None or value is None
                else combine((at, name), lambda n, o, g: n if g else o, value, old, guard)
            )
    if value is None:
        state.pop(name, None)
    else:
        state[name] = value


def _predicate_logic(state: State, each: Instruction) -> List[Value]:
    """PLOP3: three predicates through a table of eight bits; the second result has another table."""
    operands = each.operands
    table = read(state, operands[5]) if len(operands) == 7 and all(map(is_predicate, operands[:5])) else None
    if not isinstance(table, int):
        return []
    sources = [read(state, operand, each.at) for operand in operands[2:5]]
    return [combine(each.at, lambda a, b, c: table >> (4 * a + 2 * b + c) & 1, *sources)]


def _slot(operand: str) -> Optional[int]:
    match = re.match(r"^\[R1(?:\+(0x[0-9a-f]+))?\]$", operand)
    return None if match is None else int(match.group(1) or "0", 16)


def _words(parts: Tuple[str, ...]) -> int:
    return 4 if "128" in parts else 2 if "64" in parts else 1


def slots_of(taken: Step) -> Tuple[str, ...]:
    """The words of the stack that a load or store has, where its address is known."""
    operand = taken.each.operands[-1 if taken.name == "LDL" else 0]
    slot = _slot(operand)
    if slot is None or {"U8", "S8", "U16", "S16"} & set(taken.parts):
        return ()
    return tuple("[%d]" % (slot + 4 * word) for word in range(_words(taken.parts)))


def _store(state: State, each: Instruction, parts: Tuple[str, ...], guard: Value) -> None:
    slot = _slot(each.operands[0])
    if slot is None or {"U8", "S8", "U16", "S16"} & set(parts):
        for name in [name for name in state if name.startswith("[")]:
            del state[name]
        return
    source = re.match(r"^R(\d+|Z)", each.operands[1])
    for word in range(_words(parts)):
        value = None
        if source is not None:
            value = 0 if source.group(1) == "Z" else state.get("R%d" % (int(source.group(1)) + word))
        _write(state, "[%d]" % (slot + 4 * word), value, guard, each.at)


def _loaded(state: State, each: Instruction, parts: Tuple[str, ...]) -> List[Value]:
    slot = _slot(each.operands[-1])
    if slot is None or {"U8", "S8", "U16", "S16"} & set(parts):
        return []
    return [state.get("[%d]" % (slot + 4 * word)) for word in range(_words(parts))]


def _plus(total: int, value: int, factor: int) -> int:
    return total + value * factor


def address(state: State, operand: str, at: int) -> Value:
    """The address ``[R2+UR4+0x800]``; None where it is not known."""
    match = _ADDRESS.match(operand)
    if match is None:
        return None
    total: Value = 0
    for term in match.group(1).split("+"):
        register, _, scale = term.partition(".X")
        value = read(state, register.replace(".64", "").replace(".U32", ""), at)
        factor = int(scale) if scale.isdigit() else 1
        total = combine((at, operand, term), _plus, total, value, factor)
    return total
