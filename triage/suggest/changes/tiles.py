"""Tile sizes: powers of two that the grid or a loop steps by, doubled and halved, or set to what the message asks for.
A size of the problem is none, whatever it is called: another value computes something else.

The message decides which direction to try first; without a message, a tile below 32 is more likely too small for an
instruction and one above 128 more likely too large for the registers.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from math import log2

from triage.model.diagnosis import Kind
from triage.source.roles import RoleKind
from triage.suggest.configuration import dimension
from triage.suggest.evidence import Evidence
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_TILE_NAME = re.compile(r"BLOCK|TILE|BLK|\AB?[MNKDT]\Z|(?:\A|_)[MNKD]\Z|HEAD_DIM|SIZE|CHUNK", re.IGNORECASE)
_NOT_A_TILE = re.compile(r"GROUP|NUM_|STRIDE|STAGE|WARPS|REGS|SMS|K_?WIDTH|VERSION|SPLIT", re.IGNORECASE)
_UNKNOWN_LATER = 2.0
"""Penalty of a size of which the kernel does not show that it is a tile: after all that leaves results alone."""
_LARGEST = 1 << 20
"""Triton's own limit on the elements of a tensor (``TRITON_MAX_TENSOR_NUMEL``)."""


def is_power_of_two(value: int) -> bool:
    """Positive, and one bit set."""
    return value > 0 and value & (value - 1) == 0


def tiles(scene: Scene) -> dict[str, int]:
    """The constexprs that the grid or a loop steps by. Where the kernel does not show what one is used for: those that
    stand in a shape, or are named like a tile."""
    return {
        name: value
        for name, value in scene.case.constexprs.items()
        if type(value) is int and value > 0 and _is_tile(scene, name, value)
    }


def _is_tile(scene: Scene, name: str, value: int) -> bool:
    kind = scene.source.kind(name)
    if kind is not RoleKind.UNKNOWN or _NOT_A_TILE.search(name):
        return kind is RoleKind.TILE
    return name in scene.source.shape_names or (value > 1 and _TILE_NAME.search(name) is not None)


def tile_sizes(scene: Scene) -> Iterator[Proposal]:
    """Single changes of tile sizes, and several tiles moved together where one message asks for all of them."""
    sizes = tiles(scene)
    known = {name: value for name, value in sizes.items() if scene.source.kind(name) is RoleKind.TILE}
    for index, (name, value) in enumerate(sizes.items()):
        later = 0.0 if name in known else _UNKNOWN_LATER
        for proposal in _alone(scene, name, value, 0.06 * index, sizes):
            yield replace(proposal, prior=proposal.prior + later)
    for name, value in _rounded_up(scene).items():
        role = scene.source.roles[name]
        for proposal in _alone(scene, name, value, 0.0, sizes):
            if proposal.changes[name] > value:
                yield replace(proposal, why=f"{proposal.why}: every access is masked by {role.masked_by}")
    yield from _together(scene, known)


def _alone(scene: Scene, name: str, value: int, late: float, sizes: dict[str, int]) -> Iterator[Proposal]:
    yield from _quoted(scene.evidence, name, value, sizes)
    if is_power_of_two(value):
        yield from _steps(scene, name, value, late)
    else:
        yield from _nearest_powers(name, value)


def _rounded_up(scene: Scene) -> dict[str, int]:
    """Blocks that cover a row and are masked by its length: a larger one computes the same, a smaller one a part."""
    return {
        name: value
        for name, value in scene.case.constexprs.items()
        if type(value) is int and value > 0
        if (role := scene.source.roles.get(name)) is not None and role.kind is RoleKind.PROBLEM and role.masked_by
    }


def _tile(name: str, value: int, now: int, prior: float, why: str) -> Proposal:
    steps = abs(log2(value / now))
    return Proposal({name: value}, Move.TILE, prior, 1.5 * max(steps, 0.5), why)


def _steps(scene: Scene, name: str, value: int, late: float) -> Iterator[Proposal]:
    up, down = _leanings(scene, name, value)
    for factor, step in ((2, 0.0), (4, 0.5), (8, 1.3), (16, 2.2)):
        if value * factor <= _LARGEST:
            prior = 1.5 + up + step + late
            yield _tile(name, value * factor, value, prior, f"{name} {factor} times as large")
        if value // factor >= 1:
            prior = 1.6 + down + step + late
            yield _tile(name, value // factor, value, prior, f"{name} {factor} times smaller")
    if scene.evidence.exhausted or value > 1 << 15:
        yield from _far_down(name, value, late + (0.0 if scene.evidence.exhausted else 2.0))


def _far_down(name: str, value: int, late: float) -> Iterator[Proposal]:
    """A compile that did not end has far too many elements a thread: go down to what threads can hold."""
    # Every wrong guess here costs a whole time limit, so the first goes to 16384 elements: what 128 threads can hold.
    certain = value // 16384 if value > 16384 else 16
    for index, factor in enumerate(dict.fromkeys((certain, 16, 64, 256, 4))):
        if factor > 1 and value // factor >= 16:
            yield _tile(name, value // factor, value, -0.6 + 0.25 * index + late, f"{name} {factor} times smaller")


def _leanings(scene: Scene, name: str, value: int) -> tuple[float, float]:
    """Penalties for growing and for shrinking a tile; negative ones favour it."""
    evidence = scene.evidence
    up, down = (-0.2, 0.3) if value < 32 else (0.3, -0.2) if value > 128 else (0.0, 0.0)
    if evidence.grow and not evidence.shrink:
        up, down = up - 0.7, down + 0.8
    if evidence.shrink and not evidence.grow:
        up, down = up + 1.5, down - 0.7
    if evidence.dimensions:
        named = dimension(name) in evidence.dimensions
        up, down = up + (-0.8 if named else 0.6), down + (-0.3 if named else 0.6)
    if scene.diagnosis.kind is Kind.OUT_OF_RESOURCES or evidence.over_shared:
        # The K tile is in every stage of the pipeline and in no accumulator: it is the cheapest to halve.
        up, down = 3.0, (-1.0 if dimension(name) == "K" else -0.7)
    if evidence.exhausted:
        up, down = 3.0, 0.0
    return up, down


def _quoted(evidence: Evidence, name: str, value: int, sizes: dict[str, int]) -> Iterator[Proposal]:
    """Values that the message asks for: a minimum, a maximum, a multiple, or the number it compares ours with."""
    letter = dimension(name)
    least = evidence.minimums.get(letter or "") or evidence.minimums.get("")
    if least is None and letter is None and evidence.minimums:
        least = max(evidence.minimums.values())
    if least is not None and value < least <= _LARGEST and evidence.scale is None:
        for step, factor in enumerate((1, 2)):
            why = f"{name} at the least value that the message names" if factor == 1 else f"{name} well above it"
            yield _tile(name, _power_at_least(least) * factor, value, -0.5 + 0.3 * step, why)
    for most in evidence.maximums:
        if 0 < most < value:
            yield _tile(name, 1 << (most.bit_length() - 1), value, -0.5, f"{name} at the largest value allowed")
    for multiple in evidence.multiples:
        if (
            value % multiple
            and is_power_of_two(multiple)
            and (not evidence.dimensions or letter in evidence.dimensions)
        ):
            yield _tile(name, multiple, value, -0.4, f"{name} a multiple of {multiple}")
            yield _tile(name, 2 * multiple, value, 0.0, f"{name} a multiple of {multiple}")
    if evidence.scale is not None and evidence.scale[0] == value:
        yield _tile(name, _power_at_least(evidence.scale[1]), value, -0.8, f"{name} as wide as the message asks for")
    # "(32) must be equal to … (64)": one of two tiles that the message compares takes the other's value.
    if value in evidence.numbers and list(sizes.values()).count(value) < len(sizes):
        for other in sorted(evidence.numbers & set(sizes.values()) - {value}):
            yield _tile(name, other, value, 0.4, f"{name} equal to the {other} that the message compares it with")


def _nearest_powers(name: str, value: int) -> Iterator[Proposal]:
    """tl.arange and every shape want powers of two."""
    above = _power_at_least(value)
    for index, power in enumerate((above, above // 2)):
        yield _tile(name, power, value, -0.6 + 0.2 * index, f"{name} a power of two")


def _power_at_least(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()


def _together(scene: Scene, sizes: dict[str, int]) -> Iterator[Proposal]:
    """All M and N tiles one step, and all tiles below a minimum raised to it: one change is often not enough."""
    plane = {name: value for name, value in sizes.items() if dimension(name) in ("M", "N") and is_power_of_two(value)}
    up, down = _leanings(scene, "", 64)
    if len(plane) == 2:
        smaller = {name: max(value // 2, 1) for name, value in plane.items()}
        yield Proposal(smaller, Move.TILE, 2.2 + down, 3, f"{' and '.join(plane)} halved")
        larger = {name: value * 2 for name, value in plane.items()}
        yield Proposal(larger, Move.TILE, 2.2 + up, 3, f"{' and '.join(plane)} doubled")
    if least := max(scene.evidence.minimums.values(), default=0):
        small = {name: _power_at_least(least) for name, value in sizes.items() if value < least <= 1024}
        if len(small) > 1:
            yield Proposal(small, Move.TILE, 0.2, 1.5 * len(small), f"every tile at least {least}")
    if scene.evidence.exhausted and sizes:
        largest = max(sizes, key=lambda name: sizes[name])
        for factor, warps in ((32, 16), (64, 8)):
            if sizes[largest] // factor >= 16 and warps <= scene.max_warps:
                changes = {largest: sizes[largest] // factor, "num_warps": warps}
                yield Proposal(changes, Move.TILE, 0.3, 3, f"{largest} {factor} times smaller over {warps} warps")
