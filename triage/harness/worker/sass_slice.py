"""Slices a kernel to the instructions that decide an address or a branch; only these have to be executed."""

import re
from typing import Dict, Iterator, List, Set

from .sass_steps import Step, slots_of

_NAME = re.compile(r"\b(U?(?:R|P)\d+)\b")
_ACCESSES = ("STS", "STSM", "LDGSTS", "LDS", "LDSM")


def accessed(step: Step) -> str:
    """The operand with an address in shared memory; empty where there is none."""
    operands = step.each.operands
    if step.name not in _ACCESSES or not operands:
        return ""
    return operands[-1] if step.name in ("LDS", "LDSM") else operands[0]


def sliced(blocks: List[List[Step]]) -> List[List[Step]]:
    """The blocks reduced to accesses to shared memory, their last instructions, and what these depend on: all
    instructions that write a register which one of them reads."""
    writers: Dict[str, List[Step]] = {}
    selected: Set[int] = set()
    needed: List[str] = []
    for steps in blocks:
        for step in steps:
            for name in _written(step):
                writers.setdefault(name, []).append(step)
            if step is steps[-1] or step.name == "CALL" or accessed(step):
                selected.add(id(step))
                needed += _NAME.findall(" ".join((step.each.guard, accessed(step))))
                needed += _read(step) if step is steps[-1] else []
    seen: Set[str] = set()
    while needed:
        name = needed.pop()
        if name not in seen:
            seen.add(name)
            for step in writers.get(name, []):
                if id(step) not in selected or step.is_known:
                    selected.add(id(step))
                    needed += _NAME.findall(step.each.guard)
                    needed += _read(step) if step.is_known else []
    # A store to the stack at an unknown address makes all of it unknown.
    return [
        [each for each in steps if id(each) in selected or (each.name == "STL" and not slots_of(each))]
        for steps in blocks
    ]


def _written(step: Step) -> Iterator[str]:
    yield from step.predicates
    yield from step.writes
    if step.name == "STL":
        yield from slots_of(step)


def _read(step: Step) -> List[str]:
    if step.name == "LDL":
        return list(slots_of(step))
    names = _NAME.findall(" ".join(step.each.operands))
    if step.name == "STL":
        first = names[-1:] if names and names[-1] != "R1" else []
        return ["R%d" % (int(name[1:]) + word) for name in first for word in range(len(slots_of(step)))]
    return names
