"""Integer constexprs that are not tile sizes: modes, pipeline depths, widths of a register operand.

Modes are compared with literals in the source, and those are the values worth trying. Widths of an operand
(``kWidth``) are 1, 2, 4, 8 or 16. Depths of a pipeline behave as ``num_stages``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from triage.suggest.changes.tiles import is_power_of_two, tiles
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_WIDTH = re.compile(r"K_?WIDTH|\AVEC", re.IGNORECASE)
_DEPTH = re.compile(r"STAGES?\b|STAGES?\Z|DEPTH", re.IGNORECASE)
_WARPS = re.compile(r"WARPS", re.IGNORECASE)
_REGISTERS = re.compile(r"REGS?\Z|REGISTERS", re.IGNORECASE)
_WIDTHS = (1, 2, 4, 8, 16)
_REGISTER_COUNTS = (24, 40, 80, 128, 168, 232)
"""setmaxnreg takes multiples of 8 from 24 to 256; these are the usual ones."""


def numbers(scene: Scene) -> Iterator[Proposal]:
    """Single changes of integers that are not tiles."""
    known = tiles(scene)
    for name, value in scene.case.constexprs.items():
        if type(value) is int and name not in known:
            yield from _values(scene, name, value)


def _values(scene: Scene, name: str, value: int) -> Iterator[Proposal]:
    for other in scene.source.compared.get(name, ()):
        if type(other) is int and other != value:
            why = f"{name}={other}, which the kernel tests for"
            yield Proposal({name: other}, Move.TEXT, 1.7, 2.5, why)
    move, prior, values = _usual(scene, name, value)
    for index, other in enumerate(other for other in values if other not in (value, 0)):
        yield Proposal({name: other}, move, prior + 0.15 * index, 1.5, f"{name}={other}")


def _usual(scene: Scene, name: str, value: int) -> tuple[Move, float, Iterable[int]]:
    """What the parameter's name and use say it counts, when to try other values, and which."""
    used_as = scene.source.keywords.get(name, set())
    if _WIDTH.search(name) or used_as & {"k_width", "kWidth"}:
        # Wider first: an operand packs at least 32 bits, so too narrow is the common mistake.
        return Move.NUMBER, 0.8, sorted(_WIDTHS, key=lambda width: (width < value, abs(width - value)))
    if _REGISTERS.search(name):
        return Move.NUMBER, 2.0, _REGISTER_COUNTS
    if _DEPTH.search(name) or "num_stages" in used_as:
        return Move.OPTION, 1.3, (2, 1, 3, 4)
    if _WARPS.search(name):
        return Move.OPTION, 1.5, (4, 8, 2, 1)
    return Move.NUMBER, 2.3, (value * 2, value // 2, 1) if is_power_of_two(value) else ()
