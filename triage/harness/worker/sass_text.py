"""What ``nvdisasm`` prints of a kernel, as instructions and blocks. Pure functions of text.

An instruction is one line: ``/*00d0*/  @!P0 LOP3.LUT R0, R0, 0x410, R252, 0x78, !PT ;``, from nvdisasm 13 on for some
targets with the scheduling in place of the semicolon. A label is a line of its own: ``.L_x_1:``.
"""

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

_INSTRUCTION = re.compile(
    r"\s*/\*([0-9a-f]{4,8})\*/\s+(?:@(!?U?P(?:\d|T))\s+)?([A-Z][\w.]*)(?:\s+(.*?))?\s*(?:;|\s&.*|\?.*)?\s*$"
)
_LABEL = re.compile(r"\s*(\.L_\w+):\s*$")
_TARGET = re.compile(r"`\(([.\w$]+)\)")
_SECTION = re.compile(r"\s*\.section\s+\.text\.([\w.$]+)")
_OTHER_SECTION = re.compile(r"\s*\.section\s")
_FILE = re.compile(r'\s*//## File "([^"]*)", line (\d+)( inlined at)?')


class Instruction(NamedTuple):
    """``guard``: the predicate that it runs under, with a ``!``; empty for none."""

    at: int
    guard: str
    opcode: str
    operands: Tuple[str, ...]


class Block(NamedTuple):
    """Instructions of which the last alone may branch. ``targets``: the blocks that it may branch to; ``falls``: the
    block that follows on it, None if it ends there."""

    instructions: List[Instruction]
    targets: Tuple[int, ...]
    falls: Optional[int]


BRANCHES = ("EXIT", "RET", "KILL", "BRA", "BSYNC", "WARPSYNC.COLLECTIVE")
"""Prefixes of opcodes after which execution may continue at another instruction than the next."""
_INDIRECT = ("BRX", "BRXU", "JMX", "JMXU", "JMP")


class Unreadable(Exception):
    """The text has a branch whose target is not known."""


def lines_of(text: str, kernel: str) -> Iterator[str]:
    """The lines of the kernel's section."""
    inside = False
    for line in text.splitlines():
        if _OTHER_SECTION.match(line):
            section = _SECTION.match(line)
            inside = section is not None and section.group(1) == kernel
        elif inside:
            yield line


def source_lines(text: str, kernel: str) -> Dict[int, Tuple[str, int]]:
    """File and line of each instruction, by its address (``nvdisasm -g``): of several that are inlined into each other
    the outermost, which is the kernel's own."""
    locations: Dict[int, Tuple[str, int]] = {}
    location: Optional[Tuple[str, int]] = None
    for line in lines_of(text, kernel):
        comment = _FILE.match(line)
        if comment is not None:
            location = (comment.group(1), int(comment.group(2)))
            continue
        instruction = _INSTRUCTION.match(line)
        if instruction is not None and location is not None:
            locations[int(instruction.group(1), 16)] = location
    return locations


def blocks_of(text: str, kernel: str) -> List[Block]:
    """The kernel's blocks, the entry first. Raises Unreadable."""
    instructions: List[Instruction] = []
    labels: Dict[str, int] = {}
    for line in lines_of(text, kernel):
        label = _LABEL.match(line)
        if label is not None:
            labels[label.group(1)] = len(instructions)
            continue
        read = _INSTRUCTION.match(line)
        if read is not None:
            address, guard, opcode, operands = read.groups()
            parts = tuple(part.strip() for part in operands.split(",")) if operands else ()
            instructions.append(Instruction(int(address, 16), guard or "", opcode, parts))
    return divided(instructions, labels)


def divided(instructions: List[Instruction], labels: Dict[str, int]) -> List[Block]:
    """The instructions as blocks, the entry first. ``labels``: the index of the instruction after each label.
    Raises Unreadable."""
    joins: Dict[str, List[str]] = {}
    for each in instructions:
        if each.opcode.startswith("BSSY"):
            joins.setdefault(each.operands[0], []).append(_target(each))
    count = len(instructions)
    jumps = {at: _jumps(each, joins, labels) for at, each in enumerate(instructions)}
    starts = {0} | {at + 1 for at, each in enumerate(instructions) if each.opcode.startswith(BRANCHES)}
    starts |= {target for targets in jumps.values() for target in targets}
    ordered = sorted(start for start in starts if start < count)
    number = {start: index for index, start in enumerate(ordered)}
    result = []
    for index, start in enumerate(ordered):
        end = ordered[index + 1] if index + 1 < len(ordered) else count
        last = instructions[end - 1]
        targets = tuple(dict.fromkeys(number[target] for target in jumps[end - 1] if target < count))
        falls = number.get(end) if _falls(last, targets) else None
        result.append(Block(instructions[start:end], targets, falls))
    return result


def _name(instruction: Instruction) -> str:
    return instruction.opcode.partition(".")[0]


def _target(instruction: Instruction) -> str:
    match = _TARGET.search(", ".join(instruction.operands))
    if match is None:
        raise Unreadable(instruction.opcode)
    return match.group(1)


def _jumps(instruction: Instruction, joins: Dict[str, List[str]], labels: Dict[str, int]) -> List[int]:
    name = _name(instruction)
    if name in _INDIRECT:
        raise Unreadable(name)
    if name == "BRA":
        names = [_target(instruction)]
    elif name == "BSYNC":
        names = joins.get(instruction.operands[0], [])
    elif instruction.opcode.startswith("WARPSYNC.COLLECTIVE"):
        names = [_target(instruction)]
    else:
        return []
    if not names or any(name not in labels for name in names):
        raise Unreadable(instruction.opcode)
    return [labels[name] for name in names]


def is_conditional(instruction: Instruction) -> bool:
    """Whether a branch or an exit depends on something."""
    name = _name(instruction)
    if name == "BRA":
        return bool(instruction.guard) or len(instruction.operands) > 1 or "." in instruction.opcode
    return bool(instruction.guard) or name == "WARPSYNC"


def _falls(last: Instruction, targets: Tuple[int, ...]) -> bool:
    if _name(last) in ("EXIT", "RET", "KILL", "BRA", "BSYNC"):
        return is_conditional(last)
    return True
