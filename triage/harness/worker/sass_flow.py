"""Which values reach each block of a kernel, and which threads execute it.

The values at a block's start are those of all its predecessors, where they agree; iterated until nothing changes, which
is soon: a value is known, or unknown and common to all threads, or unknown, and only gets less known.

Masks are integers with a bit for each thread. A thread *may* execute a block that it can reach by branches whose
conditions are known, or not known. It *does* execute it, as far as that depends on the thread, if no condition on
the way is unknown in one thread and the other, or if every way from such a branch leads there. A condition that all
threads have in common (a loop over the kernel's argument) does not count: whoever compiled the block means it to be
executed.
"""

from typing import Dict, Iterator, List, NamedTuple, Tuple

from .sass_slice import sliced
from .sass_steps import Step, step, step_of
from .sass_text import BRANCHES, Block, Instruction, is_conditional
from .sass_values import State, Value, read

_MOST_STEPS = 300_000
"""Instructions that are executed, 2 to 10 microseconds each. The longest kernels that were seen have 20,000."""


class TooLong(Exception):
    """The kernel is too long, or its flow does not settle soon enough."""


class Flow(NamedTuple):
    """``steps``: of each block; ``states``: at the start of each block that is reached; ``does``: the mask of each."""

    steps: List[List[Step]]
    states: Dict[int, State]
    does: Dict[int, int]


def mask_of(value: Value, threads: int) -> int:
    """The threads in which a known predicate is true."""
    if isinstance(value, list):
        return sum(1 << index for index, each in enumerate(value) if each)
    return (1 << threads) - 1 if value else 0


def condition(state: State, last: Instruction) -> Value:
    """Of a branch or an exit at the end of a block, with the values before it: 0 where there is neither, None where
    the condition is not known."""
    if not last.opcode.startswith(BRANCHES):
        return 0
    if not is_conditional(last):
        return 1
    plain = last.opcode in ("BRA", "EXIT", "RET.REL.NODEC", "BSYNC")
    uniform = last.opcode == "BRA.U" and len(last.operands) == 2
    if uniform:
        own = read(state, last.operands[0])
        guard = read(state, last.guard) if last.guard else 1
        return own if guard == 1 else None
    if plain and last.guard and (last.opcode != "BRA" or len(last.operands) == 1):
        return read(state, last.guard)
    return None


def flow_of(blocks: List[Block], threads: int) -> Flow:
    """The flow of a kernel with so many threads a block. Raises TooLong."""
    steps = sliced([[step_of(each) for each in block.instructions] for block in blocks])
    flow, diverges = _settled(blocks, steps, threads, joins_are_common=True)
    if diverges:
        flow, _ = _settled(blocks, steps, threads, joins_are_common=False)
    return flow


def _settled(blocks: List[Block], steps: List[List[Step]], threads: int, joins_are_common: bool) -> Tuple[Flow, bool]:
    everyone = (1 << threads) - 1
    states: Dict[int, State] = {0: {}}
    may: Dict[int, int] = {0: everyone}
    ends: Dict[int, Value] = {}
    executed = 0
    todo = [0]
    while todo:
        number = min(todo)
        todo.remove(number)
        executed += len(steps[number])
        if executed > _MOST_STEPS:
            raise TooLong
        state = dict(states[number])
        for each in steps[number][:-1]:
            step(state, each, threads)
        last = steps[number][-1]
        ends[number] = condition(state, last.each)
        step(state, last, threads)
        for follower, mask in _edges(blocks[number], ends[number], may[number], threads):
            if not mask:
                continue
            if _merge(states, may, follower, state, mask, joins_are_common) and follower not in todo:
                todo.append(follower)
    does = _executed(blocks, ends, threads)
    return Flow(steps, states, does), any(value is None for value in ends.values())


def _edges(block: Block, end: Value, mask: int, threads: int) -> Iterator[Tuple[int, int]]:
    """The followers of a block, each with those of the threads that go there, or may go there."""
    known = end is not None and not isinstance(end, tuple)
    taken = mask_of(end, threads) if known else (1 << threads) - 1
    others = ~taken if known else -1
    for target in block.targets:
        yield target, mask & taken
    if block.falls is not None:
        yield block.falls, mask & others


def _merge(states: Dict[int, State], may: Dict[int, int], number: int, state: State, mask: int, common: bool) -> bool:
    """Let the values of a predecessor reach a block; whether that changed anything."""
    if number not in states:
        states[number], may[number] = dict(state), mask
        return True
    before, own = states[number], may[number]
    changed = own | mask != own
    may[number] = own | mask
    for name in list(before):
        old, new = before[name], state.get(name)
        if old is new or old == new:
            continue
        merged = _joined(old, new, own, mask, (number, name) if common and own == mask else None)
        if merged != old:
            changed = True
            if merged is None:
                del before[name]
            else:
                before[name] = merged
    return changed


def _joined(old: Value, new: Value, own: int, mask: int, name: object) -> Value:
    if old is None or new is None:
        return None
    if not isinstance(old, list) and not isinstance(new, list):
        if name is not None:
            return ("join", name)
        if isinstance(old, tuple) or isinstance(new, tuple):
            return None
    if isinstance(old, tuple) or isinstance(new, tuple):
        return None
    threads = len(old) if isinstance(old, list) else len(new) if isinstance(new, list) else max(own, mask).bit_length()
    first = old if isinstance(old, list) else [old] * threads
    second = new if isinstance(new, list) else [new] * threads
    result = []
    for index in range(threads):
        has, gets = own >> index & 1, mask >> index & 1
        if has and gets and first[index] != second[index]:
            return None
        result.append(first[index] if has or not gets else second[index])
    return result


def _executed(blocks: List[Block], ends: Dict[int, Value], threads: int) -> Dict[int, int]:
    """The mask of the threads that do execute each block."""
    after = _always_after(blocks)
    does: Dict[int, int] = {0: (1 << threads) - 1}
    changed = True
    while changed:
        changed = False
        for number in sorted(does):
            mask, end = does[number], ends.get(number)
            reached: List[Tuple[int, int]] = []
            if end is None:
                reached = [(follower, mask) for follower in range(len(blocks)) if after[number] >> follower & 1]
            else:
                reached = list(_edges(blocks[number], end, mask, threads))
            for follower, threads_there in reached:
                if threads_there & ~does.get(follower, 0):
                    does[follower] = does.get(follower, 0) | threads_there
                    changed = True
    return does


def _always_after(blocks: List[Block]) -> Dict[int, int]:
    """For each block, the set (a mask) of other blocks on every way from it to the end."""
    everything = (1 << len(blocks)) - 1
    after = dict.fromkeys(range(len(blocks)), everything)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(blocks))):
            block = blocks[number]
            followers = [*block.targets, *([block.falls] if block.falls is not None else [])]
            last = block.instructions[-1]
            ends = last.opcode.startswith(("EXIT", "RET", "KILL"))
            common = everything
            for follower in followers:
                common &= after[follower] | 1 << follower
            if ends or not followers:
                common = 0
            common &= ~(1 << number)
            if common != after[number]:
                after[number], changed = common, True
    return after
