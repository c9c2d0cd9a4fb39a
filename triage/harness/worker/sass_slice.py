"""The instructions that decide an address or a branch: few of a kernel's, and no others have to be executed."""

import re
from typing import Dict, Iterator, List, Set

from .sass_steps import Step, slots_of

_NAME = re.compile(r"\b(U?(?:R|P)\d+)\b")
_ACCESSES = ("STS", "STSM", "LDGSTS", "LDS", "LDSM")


def accessed(taken: Step) -> str:
    """The operand with an address in shared memory; empty where there is none."""
    operands = taken.each.operands
    if taken.name not in _ACCESSES or not operands:
        return ""
    return operands[-1] if taken.name in ("LDS", "LDSM") else operands[0]


def sliced(blocks: List[List[Step]]) -> List[List[Step]]:
    """The blocks with nothing but accesses to shared memory, their last instructions, and what these depend on: all
    instructions that write a register that one of them reads."""
    writers: Dict[str, List[Step]] = {}
    kept: Set[int] = set()
    needed: List[str] = []
    for steps in blocks:
        for taken in steps:
            for name in _written(taken):
                writers.setdefault(name, []).append(taken)
            if taken is steps[-1] or taken.name == "CALL" or accessed(taken):
                kept.add(id(taken))
                needed += _NAME.findall(" ".join((taken.each.guard, accessed(taken))))
                needed += _read(taken) if taken is steps[-1] else []
    seen: Set[str] = set()
    while needed:
        name = needed.pop()
        if name not in seen:
            seen.add(name)
            for taken in writers.get(name, []):
                if id(taken) not in kept or taken.is_known:
                    kept.add(id(taken))
                    needed += _NAME.findall(taken.each.guard)
                    needed += _read(taken) if taken.is_known else []
    # What writes to the stack at an address that is not known makes all of it unknown.
    return [
        [each for each in steps if id(each) in kept or (each.name == "STL" and not slots_of(each))] for steps in blocks
    ]


def _written(taken: Step) -> Iterator[str]:
    yield from taken.predicates
    yield from taken.writes
    if taken.name == "STL":
        yield from slots_of(taken)


def _read(taken: Step) -> List[str]:
    if taken.name == "LDL":
        return list(slots_of(taken))
    names = _NAME.findall(" ".join(taken.each.operands))
    if taken.name == "STL":
        first = names[-1:] if names and names[-1] != "R1" else []
        return ["R%d" % (int(name[1:]) + word) for name in first for word in range(len(slots_of(taken)))]
    return names
