"""Ranking of proposals by the evidence of a failure.

``rank`` adds to a proposal's prior what the evidence says for (negative) or against (positive) it. The rules are a
table: each looks at one fact, and they add up. A change of an option cannot fix what the front end refused; a
parameter that the message names, or that guards the failing line, is probably the one to change.
"""

from collections.abc import Callable, Mapping

from triage.frontends.frontend import frontend
from triage.model.case import Case
from triage.model.diagnosis import Kind, Trait
from triage.source.dtypes import element_bits
from triage.suggest.evidence import words_of
from triage.suggest.predictions import Predictions
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

Adjustment = Callable[[Scene, Proposal], float]


def rank(scene: Scene, predictions: Predictions, proposal: Proposal) -> float:
    """Lower is earlier."""
    evidence = proposal.prior + sum(rule(scene, proposal) for rule in ADJUSTMENTS)
    if "smem.total" not in predictions.confirmed:
        evidence += _cannot_fit(scene, proposal)
    return evidence + predictions.weight(proposal)


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
            return 1.6 if "num_warps" not in proposal.changes or frontend(scene.case.language).has_tiles else 0.8
        case Move.TILE | Move.NUMBER:
            return 0.0 if scene.evidence.grow or scene.evidence.shrink else 0.5
        case Move.FLAG:
            # The other branch of the kernel is another program to the front-end.
            return -0.3
    return 0.0


def _by_move(applies: Callable[[Scene], bool], weights: Mapping[Move, float], other_moves: float = 0.0) -> Adjustment:
    """A rule that looks at the kind of change alone."""
    return lambda scene, proposal: weights.get(proposal.move, other_moves) if applies(scene) else 0.0


def _crashed_in_the_back_end(scene: Scene) -> bool:
    return scene.diagnosis.kind.has(Trait.GAVE_UP) and scene.evidence.backend


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


def _cannot_fit(scene: Scene, proposal: Proposal) -> float:
    """Even if all of the memory shrank with it, this change would not be enough."""
    needed = scene.evidence.shrink_to
    return 1.2 if needed is not None and shrinks_to(scene.case, proposal.changes) > needed else 0.0


def shrinks_to(case: Case, changes: Mapping[str, object]) -> float:
    """What part of the shared memory is left under a change, if all of it follows the change: a lower bound."""
    left = 1.0
    for name, value in changes.items():
        if name == "target":
            return 0.0
        now = case.options.get(name, 3 if name == "num_stages" else None) or case.constexprs.get(name)
        if name in case.signature:
            before, after = element_bits(str(case.signature[name])), element_bits(str(value))
            left *= after / before if before and after else 1.0
        elif type(now) is int and type(value) is int and name not in ("num_warps", "num_ctas"):
            left *= max(value, 1) / max(now, 1)
        elif not isinstance(value, int) or isinstance(value, bool):
            return 0.0
    return left


def _specialization(scene: Scene, proposal: Proposal) -> float:
    """Warp specialization wants warpgroups and a pipeline: four or eight warps, or no pipeline to specialize."""
    if not scene.evidence.specialization or len(proposal.changes) != 1:
        return 0.0
    if proposal.changes.get("num_warps") in (4, 8) or proposal.changes.get("num_stages") == 1:
        return -0.7
    return 0.0


def _no_such_instruction(scene: Scene, proposal: Proposal) -> float:
    """Another branch, another type or another machine has another instruction; warps and stages have the same."""
    if not scene.evidence.instruction or scene.diagnosis.kind is Kind.OUT_OF_RESOURCES:
        return 0.0
    if set(proposal.changes) & scene.evidence.mentions:
        return 0.0
    return {
        Move.OPTION: 1.2, Move.TILE: 0.5, Move.TEXT: -0.5, Move.FLAG: -0.3, Move.DTYPE: -0.4, Move.DATA: -0.4,
        Move.TARGET: -0.9,
    }.get(proposal.move, 0.0)  # fmt: skip


def _shares_a_word(scene: Scene, proposal: Proposal) -> float:
    """``ROUNDING`` and "Unsupported rounding mode": what a parameter is called is what it is about."""
    named = frozenset().union(*map(words_of, proposal.changes))
    return -0.9 if len(proposal.changes) == 1 and named & scene.evidence.words else 0.0


def _odd_number_of_stages(scene: Scene, proposal: Proposal) -> float:
    """Nobody runs without a stage: back to a usual number first."""
    now = scene.case.options.get("num_stages", 3)
    return -1.6 if now not in range(1, 7) and set(proposal.changes) == {"num_stages"} else 0.0


def _dot_refuses_a_type(scene: Scene, proposal: Proposal) -> float:
    """``semantic.dot`` takes 8-bit integers and floats, and both operands of one type; it looks at the first one first,
    so where it refuses that, one alone helps nothing."""
    if not scene.evidence.refused or "hs dtype" not in scene.evidence.text:
        return 0.0
    if proposal.move is not Move.DATA:
        return 1.0 if proposal.move is Move.DTYPE else 0.0
    wide = ("i16", "i32", "i64", "u16", "u32", "u64")
    late = 1.5 if any(str(value).lstrip("*") in wide for value in proposal.changes.values()) else 0.0
    return late + (1.5 if len(proposal.changes) == 1 and "lhs dtype" in scene.evidence.text else 0.0)


ADJUSTMENTS: tuple[Adjustment, ...] = (
    _named_in_the_message,
    _guards_the_failing_line,
    _front_end_ignores_options,
    _by_move(_crashed_in_the_back_end, {Move.OPTION: -0.2}),
    _by_move(lambda scene: bool(scene.evidence.dtypes), {Move.DTYPE: -0.3, Move.DATA: -0.3}),
    _resources,
    _by_move(lambda scene: scene.evidence.exhausted, {Move.TILE: 0.0, Move.FLAG: 0.3}, other_moves=1.2),
    _specialization,
    _no_such_instruction,
    _by_move(lambda scene: scene.evidence.types, {Move.OPTION: 0.8, Move.TILE: 0.4, Move.DTYPE: -0.5, Move.DATA: -0.5}),
    _shares_a_word,
    # A mode that the kernel tests for takes the failing operation out, where the back-end died of one.
    _by_move(lambda scene: scene.evidence.backend, {Move.TEXT: -0.4}),
    _odd_number_of_stages,
    _dot_refuses_a_type,
)
