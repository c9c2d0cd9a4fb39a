"""Configurations near that of a case: tiles in powers of two, warps and stages. Other parameters are unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

from triage.model.case import Case
from triage.model.gpus import MAX_THREADS
from triage.performance.estimate.resources import stages_of
from triage.source.roles import RoleKind, roles
from triage.suggest.configuration import DEFAULT_WARPS
from triage.suggest.descriptors import fixed, followed

_SMALLEST_OPERAND, _LARGEST_OPERAND = 16, 256
"""Extents of the tiles of a matrix product that any target has an instruction for, and that registers can hold."""
_LARGEST = 1 << 14
"""Elements along one axis of a block that does nothing but elementwise work: 16 for each of its most threads."""
_WARPS = (1, 2, 4, 8, 16, 32)
_STAGES = {"cuda": (1, 2, 3, 4, 5, 6), "hip": (1, 2, 3)}

Tiles = tuple[tuple[str, int], ...]
"""Names and values of the tiles."""


@dataclass(frozen=True)
class Space:
    """``multiplies``: the kernel has a matrix product; ``pipelines``: in a loop whose stages matter. ``changed``: what
    ``base`` has that the failing case has not; that stays, but for ``onward``: numbers that may go on in the direction
    of their change, True for down."""

    base: Case
    source: str
    multiplies: bool
    changed: Mapping[str, Any] = field(default_factory=dict)
    pipelines: bool = True
    onward: Mapping[str, bool] = field(default_factory=dict)

    @cached_property
    def tiles(self) -> Tiles:
        """The tiles of the base that may be changed."""
        known, tied = roles(self.source, self.base.name), fixed(self.base, self.source)
        return tuple(
            (name, value)
            for name, value in self.base.constexprs.items()
            if type(value) is int and value > 0 and not value & (value - 1) and self._varies(name)
            if name in known and known[name].kind is RoleKind.TILE and name not in tied
        )

    def case(self, tiles: Tiles) -> Case:
        """The base with other tiles. Raises KeyError or InputError where it cannot have them."""
        return self.base.with_changes(followed(self.base, self.source, dict(tiles)))

    def beside(self, tiles: Tiles) -> Iterator[Tiles]:
        """One tile doubled or halved, or one doubled and another halved."""
        now = dict(tiles)
        for name, value in tiles:
            for other in (value * 2, value // 2):
                if self._allowed(name, other):
                    yield tuple({**now, name: other}.items())
        for (grown, value), (shrunk, other) in permutations(tiles, 2):
            if self._allowed(grown, value * 2) and self._allowed(shrunk, other // 2):
                yield tuple({**now, grown: value * 2, shrunk: other // 2}.items())

    def _varies(self, name: str) -> bool:
        return name not in self.changed or name in self.onward

    def _allowed(self, name: str, extent: int) -> bool:
        least, most = (_SMALLEST_OPERAND, _LARGEST_OPERAND) if self.multiplies else (1, _LARGEST)
        return least <= extent <= most and self._goes_on(name, extent, self.base.constexprs[name])

    def _goes_on(self, name: str, value: int, now: int) -> bool:
        if name not in self.onward:
            return True
        return value <= now if self.onward[name] else value >= now

    def options(self) -> Iterator[Mapping[str, int]]:
        """Warps and stages."""
        case = self.base
        warps = case.options.get("num_warps", DEFAULT_WARPS)
        stages = case.options.get("num_stages")
        for num_warps in _WARPS if self._varies("num_warps") else (warps,):
            if num_warps * case.target.warp_size > MAX_THREADS or not self._goes_on("num_warps", num_warps, warps):
                continue
            varies = self.multiplies and self.pipelines and self._varies("num_stages")
            depths = _STAGES[case.target.backend] if varies else (stages,)
            for num_stages in depths:
                if num_stages is not None and not self._goes_on("num_stages", num_stages, stages_of(case)):
                    continue
                yield {"num_warps": num_warps} if num_stages is None else {
                    "num_warps": num_warps, "num_stages": num_stages
                }  # fmt: skip

    def changes(self, tiles: Tiles, options: Mapping[str, int], asked: Case) -> dict[str, Any]:
        """What turns ``asked`` into this configuration."""
        now = {"num_warps": DEFAULT_WARPS, "num_stages": stages_of(asked), **asked.options, **asked.constexprs}
        wanted = {**dict(tiles), **options}
        changes = {**self.changed, **{name: value for name, value in wanted.items() if now.get(name) != value}}
        return followed(asked, self.source, changes)
