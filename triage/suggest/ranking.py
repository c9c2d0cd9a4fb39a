"""Ranking of proposals by the evidence of a failure: a count of the facts for and against each.

A rule looks at one fact and votes for a proposal, against it, or not at all: a change of an option cannot fix what the
front end refused; a parameter that the message names, or that guards the failing line, is probably the one to change.
All votes weigh the same, since nothing is known of which true fact says more. Measured on 52 failing kernels with known
legal neighbours: with equal votes one of these comes first in 39 and among the first three in 46; with a weight for
each rule, set by hand, in 40 and 46; without evidence in 22 and 44.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum

from triage.frontends.frontend import frontend
from triage.model.case import Case
from triage.model.diagnosis import Kind
from triage.source.dtypes import element_bits
from triage.suggest.evidence import words_of
from triage.suggest.predictions import Predictions
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

VOTE = 0.9
"""On the scale of priors, a little less than what separates a likely change from an unlikely one (1.0): two facts
outvote a prior, and one alone decides between changes that are about as likely."""


class Vote(IntEnum):
    """What a fact says of a proposal; a lower rank is earlier."""

    FOR = -1
    SILENT = 0
    AGAINST = 1


Rule = Callable[[Scene, Proposal], Vote]


def rank(scene: Scene, predictions: Predictions, proposal: Proposal) -> float:
    """Lower is earlier."""
    votes = sum(rule(scene, proposal) for rule in RULES)
    return proposal.prior + VOTE * votes + predictions.weight(proposal)


def _named(scene: Scene, proposal: Proposal) -> Vote:
    """The message names a parameter, or shares a word with its name: ``ROUNDING``, "Unsupported rounding mode"."""
    named = frozenset().union(*map(words_of, proposal.changes))
    alike = len(proposal.changes) == 1 and named & scene.evidence.words
    return Vote.FOR if alike or scene.evidence.mentions & set(proposal.changes) else Vote.SILENT


def _on_the_failing_line(scene: Scene, proposal: Proposal) -> Vote:
    """A parameter decides whether the failing line is compiled, or is used on it."""
    names = set(proposal.changes)
    guards = names & scene.guards and proposal.move in (Move.FLAG, Move.TEXT, Move.NUMBER, Move.TILE)
    return Vote.FOR if guards or (names & scene.on_lines and proposal.move is not Move.DATA) else Vote.SILENT


def _front_end_reads_no_options(scene: Scene, proposal: Proposal) -> Vote:
    """Another branch of the kernel is another program to the front end, unless it is known which parameter decides
    about the failing line; warps and stages are the same program."""
    if not scene.evidence.frontend or set(proposal.changes) & scene.evidence.mentions:
        return Vote.SILENT
    match proposal.move:
        case Move.OPTION:
            # Gluon's and CuTe's layouts are checked against num_warps while the IR is built.
            is_read = "num_warps" in proposal.changes and not frontend(scene.case.language).has_tiles
            return Vote.SILENT if is_read else Vote.AGAINST
        case Move.FLAG:
            return Vote.SILENT if scene.guards else Vote.FOR
    return Vote.SILENT


def _by_move(applies: Callable[[Scene], bool], votes: Mapping[Move, Vote], other_moves: Vote = Vote.SILENT) -> Rule:
    """A rule that looks at the kind of change alone."""
    return lambda scene, proposal: votes.get(proposal.move, other_moves) if applies(scene) else Vote.SILENT


def _resources(scene: Scene, proposal: Proposal) -> Vote:
    """Out of shared memory, tensor memory, registers or threads: fewer stages, of which a single one does not pipeline
    any more, or a smaller tile; fewer warps where there are too many threads."""
    if scene.diagnosis.kind is not Kind.OUT_OF_RESOURCES and not scene.evidence.over_shared:
        return Vote.SILENT
    now, new = scene.case.options, proposal.changes
    if "num_stages" in new:
        fewer = new["num_stages"] < now.get("num_stages", 3)
        return (Vote.FOR if new["num_stages"] > 1 else Vote.SILENT) if fewer else Vote.AGAINST
    if "num_warps" in new and len(new) == 1:
        fewer = new["num_warps"] < now.get("num_warps", 4)
        return Vote.FOR if fewer and "thread" in (scene.diagnosis.resource or "") else Vote.AGAINST
    return Vote.SILENT if proposal.move in (Move.TILE, Move.OPTION, Move.TARGET) else Vote.AGAINST


def shrinks_to(case: Case, changes: Mapping[str, object]) -> float:
    """The part of the shared memory that is left under a change, if all of it follows the change: a lower bound."""
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


def _specialization(scene: Scene, proposal: Proposal) -> Vote:
    """Warp specialization wants warpgroups and a pipeline: four or eight warps, or no pipeline to specialize."""
    if not scene.evidence.specialization or len(proposal.changes) != 1:
        return Vote.SILENT
    warps, stages = proposal.changes.get("num_warps"), proposal.changes.get("num_stages")
    return Vote.FOR if warps in (4, 8) or stages == 1 else Vote.SILENT


def _dot_refuses_both_types(scene: Scene, proposal: Proposal) -> Vote:
    """``semantic.dot`` takes operands of one type, and looks at the first one first: where it refuses that, one alone
    helps nothing, and neither does what leaves the operands as they are."""
    if not _dot_refuses(scene):
        return Vote.SILENT
    alone = len(proposal.changes) == 1 and "lhs dtype" in scene.evidence.text
    return Vote.AGAINST if proposal.move is not Move.DATA or alone else Vote.SILENT


def _dot_takes_no_wide_integers(scene: Scene, proposal: Proposal) -> Vote:
    """Of the integers, it takes 8-bit ones alone."""
    wide = any(str(value).lstrip("*") in _WIDE_INTEGERS for value in proposal.changes.values())
    return Vote.AGAINST if _dot_refuses(scene) and proposal.move is Move.DATA and wide else Vote.SILENT


def _dot_refuses(scene: Scene) -> bool:
    return scene.evidence.refused and "hs dtype" in scene.evidence.text


_WIDE_INTEGERS = ("i16", "i32", "i64", "u16", "u32", "u64")
_TYPES_INSTEAD = {
    Move.OPTION: Vote.AGAINST, Move.TILE: Vote.AGAINST, Move.DTYPE: Vote.FOR, Move.DATA: Vote.FOR,
}  # fmt: skip
_OTHER_INSTRUCTION = {
    **_TYPES_INSTEAD, Move.TEXT: Vote.FOR, Move.FLAG: Vote.FOR, Move.TARGET: Vote.FOR,
}  # fmt: skip
"""Another branch, another type or another machine has another instruction; warps and stages have the same."""

RULES: tuple[Rule, ...] = (
    _named,
    _on_the_failing_line,
    _front_end_reads_no_options,
    _resources,
    _specialization,
    _dot_refuses_both_types,
    _dot_takes_no_wide_integers,
    _by_move(lambda scene: bool(scene.evidence.dtypes), {Move.DATA: Vote.FOR}),
    _by_move(lambda scene: bool(scene.evidence.dtypes) and not _dot_refuses(scene), {Move.DTYPE: Vote.FOR}),
    _by_move(lambda scene: scene.evidence.types, _TYPES_INSTEAD),
    _by_move(
        lambda scene: scene.evidence.instruction and scene.diagnosis.kind is not Kind.OUT_OF_RESOURCES,
        _OTHER_INSTRUCTION,
    ),
    # Only less work ends in time: a smaller tile, or another branch.
    _by_move(lambda scene: scene.evidence.exhausted, {Move.TILE: Vote.SILENT, Move.FLAG: Vote.SILENT}, Vote.AGAINST),
)
