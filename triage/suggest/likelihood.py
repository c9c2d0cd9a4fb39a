"""How early a proposal should be tried, given the failure.

``rank`` adds to a proposal's prior what the evidence says for (negative) or against (positive) it. The rules are a
table: each looks at one fact, and they add up. A change of an option cannot mend what the front-end refused; a
parameter that the message names, or that guards the failing line, is probably the one to change.
"""

from __future__ import annotations

from collections.abc import Callable

from triage.diagnosis import Kind
from triage.suggest.candidate import Move, Proposal
from triage.suggest.scene import Scene

Rule = Callable[[Scene, Proposal], float]


def rank(scene: Scene, proposal: Proposal) -> float:
    """Lower is earlier."""
    return proposal.prior + sum(rule(scene, proposal) for rule in RULES)


def _named_in_the_message(scene: Scene, proposal: Proposal) -> float:
    return -0.9 if scene.evidence.mentions & set(proposal.changes) else 0.0


def _guards_the_failing_line(scene: Scene, proposal: Proposal) -> float:
    names = set(proposal.changes)
    if names & scene.guards and proposal.move in (Move.FLAG, Move.TEXT, Move.NUMBER, Move.TILE):
        return -1.0
    return -0.4 if names & scene.on_lines and proposal.move is not Move.DATA else 0.0


def _front_end_ignores_options(scene: Scene, proposal: Proposal) -> float:
    if not scene.evidence.frontend or set(proposal.changes) & scene.evidence.mentions:
        return 0.0
    match proposal.move:
        case Move.OPTION:
            # Gluon's layouts are checked against num_warps while the IR is built.
            return 1.6 if "num_warps" not in proposal.changes or scene.case.language.value != "gluon" else 0.8
        case Move.TILE | Move.NUMBER:
            return 0.0 if scene.evidence.grow or scene.evidence.shrink else 0.5
        case Move.FLAG:
            # The other branch of the kernel is another program to the front-end.
            return -0.3
    return 0.0


def _back_end_listens_to_options(scene: Scene, proposal: Proposal) -> float:
    crashed = scene.diagnosis.kind in (
        Kind.ASSERTION,
        Kind.UNREACHABLE,
        Kind.SEGFAULT,
        Kind.ABORT,
        Kind.LLVM_FATAL,
    )
    return -0.2 if crashed and scene.evidence.backend and proposal.move is Move.OPTION else 0.0


def _types_are_at_fault(scene: Scene, proposal: Proposal) -> float:
    if not scene.evidence.dtypes:
        return 0.0
    return -0.3 if proposal.move in (Move.DTYPE, Move.DATA) else 0.0


def _resources(scene: Scene, proposal: Proposal) -> float:
    """Out of shared memory, tensor memory, registers or threads: the fewer stages, then the smaller tile."""
    if scene.diagnosis.kind is not Kind.OUT_OF_RESOURCES and not scene.evidence.over_shared:
        return 0.0
    now, new = scene.case.options, proposal.changes
    if "num_stages" in new:
        # Shallow cuts first: each stage given up costs speed.
        given_up = now.get("num_stages", 3) - new["num_stages"]
        return -1.9 + 0.3 * min(given_up, 4) if given_up > 0 else 3.0
    if "num_warps" in new and len(new) == 1:
        fewer = new["num_warps"] < now.get("num_warps", 4)
        over_threads = "thread" in (scene.diagnosis.resource or "")
        return (-1.5 if fewer else 3.0) if over_threads else 0.8
    return 0.0 if proposal.move in (Move.TILE, Move.OPTION, Move.TARGET) else 0.6


def _exhausted(scene: Scene, proposal: Proposal) -> float:
    if not scene.evidence.exhausted:
        return 0.0
    return 0.0 if proposal.move is Move.TILE else 0.3 if proposal.move is Move.FLAG else 1.2


def _specialization(scene: Scene, proposal: Proposal) -> float:
    """Warp specialization wants warpgroups and a pipeline: four or eight warps, or no pipeline to specialize."""
    if not scene.evidence.specialization or len(proposal.changes) != 1:
        return 0.0
    if proposal.changes.get("num_warps") in (4, 8) or proposal.changes.get("num_stages") == 1:
        return -0.7
    return 0.0


RULES: tuple[Rule, ...] = (
    _named_in_the_message,
    _guards_the_failing_line,
    _front_end_ignores_options,
    _back_end_listens_to_options,
    _types_are_at_fault,
    _resources,
    _exhausted,
    _specialization,
)
