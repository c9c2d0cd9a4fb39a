"""Accesses to shared memory beyond what a block has, read from the machine code. Pure functions of text.

The address of an access that depends on nothing but the number of the thread is computed for every thread of the block,
and compared with the bytes that the block has: the binary's own, and those that its launch asks for. An access whose
address is not known (a stage of a pipeline, an index that was loaded), or of which it is not known which threads
execute it, is left out.
"""

from typing import Any, List, NamedTuple, Optional

from .sass_flow import flow_of, mask_of
from .sass_slice import accessed
from .sass_steps import address, step
from .sass_text import Block, Instruction, blocks_of
from .sass_values import State, Value, read

_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


class Access(NamedTuple):
    """An access at address ``at`` of the code: its bytes from ``first`` on, by ``thread``."""

    at: int
    opcode: str
    first: int
    bytes: int
    thread: int


class Range(NamedTuple):
    """``beyond``: the accesses of which some thread's is beyond the end, each with the thread that is furthest;
    ``decided``: how many accesses were compared; ``skipped``: how many not; ``end``: one past the highest byte."""

    beyond: List[Access]
    decided: int
    skipped: int
    end: int


def shared_range(text: str, kernel: str, threads: int, limit: int) -> Range:
    """The accesses of a kernel of ``threads`` threads a block, with ``limit`` bytes of shared memory, in what nvdisasm
    prints. Raises Unreadable or TooLong."""
    return range_of(blocks_of(text, kernel), threads, limit)


def range_of(blocks: List[Block], threads: int, limit: int) -> Range:
    """The accesses of a kernel. Raises TooLong."""
    if not blocks:
        return Range([], 0, 0, 0)
    flow = flow_of(blocks, threads)
    beyond: List[Access] = []
    decided = skipped = end = 0
    for number, start in sorted(flow.states.items()):
        state: State = dict(start)
        does = flow.does.get(number, 0)
        for taken in flow.steps[number]:
            each, operand = taken.each, accessed(taken)
            if operand:
                where = address(state, operand, each.at)
                mask = does & _guarded(state, each, threads)
                width, lanes = _extent(each)
                first = _furthest(where, mask, threads, lanes) if isinstance(where, (int, list)) else None
                if first is None:
                    skipped += 1
                else:
                    decided, end = decided + 1, max(end, first[0] + width)
                    if first[0] + width > limit:
                        beyond.append(Access(each.at, each.opcode, first[0], width, first[1]))
            step(state, taken, threads)
    return Range(beyond, decided, skipped, end)


def _guarded(state: State, each: Instruction, threads: int) -> int:
    """The threads of which the instruction's own predicate is true, or would be: one that all have in common."""
    if not each.guard:
        return -1
    guard = read(state, each.guard)
    if guard is None:
        return 0
    return -1 if isinstance(guard, tuple) else mask_of(guard, threads)


def _extent(each: Instruction) -> Any:
    """Bytes from the address on, and how many lanes of a warp have an address that counts."""
    parts = each.opcode.split(".")
    if parts[0] in ("LDSM", "STSM"):
        # A row of a matrix for each lane: eight lanes a matrix.
        return 16, 32 if "4" in parts else 16 if "2" in parts else 8
    return next((_BYTES[part] for part in parts if part in _BYTES), 4), 32


def _furthest(where: Value, mask: int, threads: int, lanes: int) -> Optional[Any]:
    """The highest address of the threads that execute an access, and which of them has it."""
    values = where if isinstance(where, list) else [where] * threads
    counted = [(value, index) for index, value in enumerate(values) if mask >> index & 1 and index & 31 < lanes]
    return max(counted, default=None)
