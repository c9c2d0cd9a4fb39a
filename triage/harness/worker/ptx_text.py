"""PTX as blocks of the machine's instructions, as far as they decide addresses. Pure functions of text.

A PTX instruction on 32-bit integers or predicates is translated into the machine instruction that computes the same
(``sass_values.py``), with an unlimited number of registers. All others write unknown values. Loops inside inline
assembly, which wait for a barrier, change no address and are left out.
"""

import re
from typing import Callable, Dict, List, Optional, Tuple

from .sass_text import Block, Instruction, Unreadable, divided

_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(.*?\)[^{]*\{", re.DOTALL)
_DYNAMIC = re.compile(r"\.extern\s+\.shared\s+(?:\.align\s+\d+\s+)?\.b8\s+([\w$]+)\[\]")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', re.MULTILINE)
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+))?")
_LABEL = re.compile(r"(\$[\w$]+):")
_STATEMENT = re.compile(r"(?:@(!?)(%?\w+)\s+)?([a-z][\w.:]*)\s*(.*?);")
_SKIPPED = re.compile(
    r"(?:fma|ex2|lg2|rcp|sqrt|rsqrt|neg\.f|abs\.f|(?:mul|add|sub|max|min|div)\.(?:[a-z]+\.)*[bf]?f|cvt|mul\.wide"
    r"|mad\.wide"
    r"|(?:add|sub|shl|shr|and|or|xor|mov|mul\.lo|mad\.lo|ld\.param|cvta\S*)\.[bsu]?64|st\.global|wgmma|mma|//|\.reg|\.param)"
)
"""Lines that are skipped: statements that write neither a 32-bit integer nor a predicate (most of a kernel), and
declarations and comments."""
_SHARED = re.compile(r"(st|ld)\.(?:\w+\.)*shared(?:::cta)?(?:\.v(\d))?\.[bsuf](\d+)$")
_ASYNC = re.compile(r"cp\.async\.c[ag]\.shared(?:::cta)?\.global")
_MATRIX = re.compile(r"(ld|st)matrix\.sync\.aligned\.m8n8\.x(\d)\.(?:trans\.)?shared(?:::cta)?\.b16$")
_WIDTHS = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}
_UNSIGNED = {"lo": "LT", "ls": "LE", "hi": "GT", "hs": "GE"}

Operands = List[str]


def _three(opcode: str, order: str) -> Callable[[str, Operands], List[Tuple[str, Operands]]]:
    """Translation into one machine instruction. ``order``: its operands; ``d``, ``a``, ``b`` and ``c`` stand for PTX's,
    anything else for itself."""

    def translated(_: str, operands: Operands) -> List[Tuple[str, Operands]]:
        return [(opcode, [operands["dabc".index(part)] if part in "dabc" else part for part in order.split()])]

    return translated


def _field(name: str, operands: Operands) -> List[Tuple[str, Operands]]:
    """bfe: a shift, then a zero or sign extension."""
    d, a, start, length = operands
    extended = "SGXT" if name.endswith("s32") else "SGXT.U32"
    return [("SHF.R.U32.HI", [d, "RZ", start, a]), (extended, [d, d, length])]


def _difference(_: str, operands: Operands) -> List[Tuple[str, Operands]]:
    d, a, b = operands
    return [("IADD3", [d, a, b[1:] if b.startswith("-") else "-" + b, "RZ"])]


def _comparison(name: str, operands: Operands) -> List[Tuple[str, Operands]]:
    _, comparison, type_ = name.split(".")
    is_unsigned = type_ == "u32" or comparison in _UNSIGNED
    spelled = _UNSIGNED.get(comparison, comparison.upper())
    p, a, b = operands
    return [("ISETP.%s%s.AND" % (spelled, ".U32" if is_unsigned else ""), [p, "PT", a, b, "PT"])]


_TRANSLATIONS = (
    (r"mov\.[bsu]32", _three("MOV", "d a")),
    (r"ld\.param\.[bsu]32", lambda _, operands: [("LDC", [operands[0], "c" + operands[1]])]),
    (r"and\.b32", _three("LOP3.LUT", "d a b RZ 0xc0 !PT")),
    (r"or\.b32", _three("LOP3.LUT", "d a b RZ 0xfc !PT")),
    (r"xor\.b32", _three("LOP3.LUT", "d a b RZ 0x3c !PT")),
    (r"not\.b32", _three("LOP3.LUT", "d a RZ RZ 0xf !PT")),
    (r"and\.pred", _three("PLOP3.LUT", "d PT a b PT 0xc0 0x0")),
    (r"or\.pred", _three("PLOP3.LUT", "d PT a b PT 0xfc 0x0")),
    (r"xor\.pred", _three("PLOP3.LUT", "d PT a b PT 0x3c 0x0")),
    (r"not\.pred", _three("PLOP3.LUT", "d PT a PT PT 0xf 0x0")),
    (r"shl\.b32", _three("SHF.L.U32", "d a b RZ")),
    (r"shr\.[bu]32", _three("SHF.R.U32.HI", "d RZ b a")),
    (r"shr\.s32", _three("SHF.R.S32.HI", "d RZ b a")),
    (r"add\.[su]32", _three("IADD3", "d a b RZ")),
    (r"sub\.[su]32", _difference),
    (r"neg\.s32", lambda name, operands: _difference(name, [operands[0], "RZ", operands[1]])),
    (r"mul\.lo\.[su]32", _three("IMAD", "d a b RZ")),
    (r"mad\.lo\.[su]32", _three("IMAD", "d a b c")),
    (r"bfe\.[su]32", _field),
    (r"prmt\.b32", _three("PRMT", "d a c b")),
    (r"setp\.(?:eq|ne|lt|le|gt|ge|lo|ls|hi|hs)\.[bsu]32", _comparison),
    (r"selp\.[bsu]32", _three("SEL", "d a b c")),
    (r"shfl\.sync\.idx\.b32", _three("SHFL.IDX", "PT d a b c")),
)
_TRANSLATE = tuple((re.compile(pattern + r"$"), translated) for pattern, translated in _TRANSLATIONS)
_SPECIAL = {"%tid.x": "SR_TID.X", "%laneid": "SR_LANEID", "%ctaid.x": "SR_CTAID.X", "%ctaid.y": "SR_CTAID.Y"}


class Ptx:
    """A kernel's PTX. ``blocks``: its instructions, each at the number of its line; ``source_line``: file and
    line of the kernel's source at such a line. Raises Unreadable."""

    def __init__(self, text: str) -> None:
        entries = list(_ENTRY.finditer(text))
        if len(entries) != 1:
            raise Unreadable("not one kernel")
        self._files = {number: name or folder for number, folder, name in _FILE.findall(text)}
        self._symbols = set(_DYNAMIC.findall(text))
        self._lines = text[entries[0].end() :].splitlines()
        self._translated: Dict[str, Callable[[str, Operands], List[Tuple[str, Operands]]]] = {}
        self.blocks = self._read()

    def source_line(self, at: int) -> Optional[Tuple[str, int]]:
        """File and line of the source; of inlined code those of the call."""
        for line in reversed(self._lines[: at + 1]):
            match = _LOC.search(line)
            if match is not None:
                file, number = match.group(3, 4) if match.group(3) else match.group(1, 2)
                return (self._files[file], int(number)) if file in self._files else None
        return None

    def _read(self) -> List[Block]:
        instructions: List[Instruction] = []
        labels: Dict[str, int] = {}
        for at, line in enumerate(map(str.strip, self._lines)):
            if line.startswith("$L__func_end"):
                break
            if _SKIPPED.match(line):
                continue
            label = _LABEL.match(line)
            if label is not None:
                labels[label.group(1)] = len(instructions)
                continue
            for negated, guard, name, rest in _STATEMENT.findall(line.partition("//")[0]):
                # Predicates are named as P3; any other name is declared in inline assembly, and unknown.
                own = "" if not guard else ("!" if negated else "") + self._operand(guard)
                for opcode, operands in self._statement(name, rest):
                    instructions.append(Instruction(at, own, opcode, tuple(operands)))
        return divided(instructions, labels)

    def _statement(self, name: str, rest: str) -> List[Tuple[str, Operands]]:
        if name.startswith("bra"):
            return [("BRA", ["`(%s)" % rest.strip()])] if rest.startswith("$") else []
        if name in ("ret", "exit", "ret.uni"):
            return [("EXIT", [])]
        if name.startswith("brx"):
            raise Unreadable(name)
        operands = [self._operand(part) for part in _parts(rest)]
        access = _SHARED.match(name)
        if access is not None:
            kind = access.group(1)
            width = _WIDTHS.get(int(access.group(2) or 1) * int(access.group(3)) // 8)
            if kind == "st":
                return [] if width is None else [("STS" + width, operands[:1])]
            read = [] if width is None else [("LDS" + width, ["RZ", operands[-1]])]
            return [*read, *_clobbered(operands[:1])]
        matrix = _MATRIX.match(name)
        if matrix is not None:
            count = {"1": "", "2": ".2", "4": ".4"}[matrix.group(2)]
            if matrix.group(1) == "st":
                return [("STSM.16.M88" + count, operands[:1])]
            return [("LDSM.16.M88" + count, ["RZ", operands[-1]]), *_clobbered(operands[:1])]
        if _ASYNC.match(name):
            width = _WIDTHS.get(int(operands[2], 0)) if operands[2:] and operands[2].isdigit() else None
            return [] if width is None else [("LDGSTS" + width, [operands[0]])]
        if name.startswith("mov.") and rest.rpartition(",")[2].strip() in _SPECIAL:
            return [("S2R", [operands[0], _SPECIAL[rest.rpartition(",")[2].strip()]])]
        if name not in self._translated:
            self._translated[name] = next((by for pattern, by in _TRANSLATE if pattern.match(name)), _unknown)
        try:
            return self._translated[name](name, operands)
        except (ValueError, IndexError):  # another number of operands
            return _clobbered(operands[:1])

    def _operand(self, text: str) -> str:
        text = text.strip()
        if text.startswith("[") and text.endswith("]"):
            inner = text[1:-1].replace(" ", "")
            terms = [self._operand(term) for term in inner.split("+")]
            return "[%s]" % "+".join(terms)
        if text.startswith("%r") and text[2:].isdigit():
            return "R" + text[2:]
        if text.startswith("%p") and text[2:].isdigit():
            return "P" + text[2:]
        if text in self._symbols:
            return "0x0"
        return text.rstrip("U") if re.match(r"-?(?:0x[0-9a-fA-F]+|\d+)U?$", text) else text


def _parts(rest: str) -> List[str]:
    """Operands; a list in braces or brackets is one operand."""
    return [part.strip() for part in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+", rest) if part.strip()]


def _clobbered(operands: Operands) -> List[Tuple[str, Operands]]:
    """Instructions that make the written registers unknown."""
    names = [name for operand in operands for name in re.findall(r"%?\b([rpRP]\d+)\b", operand)]
    registers = [("MUFU", [name.upper()]) for name in names if name[0] in "rR"]
    return registers + [("PLOP3.LUT", [name.upper(), "PT"]) for name in names if name[0] in "pP"]


def _unknown(_: str, operands: Operands) -> List[Tuple[str, Operands]]:
    return _clobbered(operands[:1]) if operands and not operands[0].startswith("[") else []
