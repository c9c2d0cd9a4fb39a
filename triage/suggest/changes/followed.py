"""Gluon: a change together with the layouts that it unsettles.

In Gluon the layouts are parameters beside the tiles and the warps they were written for, so a change of one alone
rarely compiles. Every simple proposal is made a second time, with the layouts following.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_CONTRADICTS = 1.0
_UNSETTLING = (Move.OPTION, Move.TILE, Move.NUMBER)


def followed(scene: Scene, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """The proposals, each before or after its twin with layouts."""
    has_layouts = bool(scene.configuration.layouts())
    for proposal in proposals:
        if not has_layouts or proposal.move not in _UNSETTLING:
            yield proposal
            continue
        changes = scene.with_layouts(proposal.changes)
        if len(changes) == len(proposal.changes):
            yield proposal
        else:
            # Alone it contradicts the layouts, as far as the source shows.
            yield replace(proposal, prior=proposal.prior + _CONTRADICTS)
            extra = [name for name in changes if name not in proposal.changes]
            yield Proposal(
                changes,
                proposal.move,
                proposal.prior - 0.2,
                proposal.distance + 0.5 * len(extra),
                f"{proposal.why}, {', '.join(extra)} following",
            )
