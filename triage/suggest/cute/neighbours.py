"""Neighbours of a failing CuTe case, in the order in which they are worth a compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from triage.model.case import Case
from triage.model.errors import InputError
from triage.suggest.budget import Budget
from triage.suggest.cute.arguments import arguments
from triage.suggest.cute.choices import assembly, flags, texts
from triage.suggest.cute.copies import copies, hopeless
from triage.suggest.cute.elements import elements
from triage.suggest.cute.numbers import numbers
from triage.suggest.cute.predictions import CallPredictions
from triage.suggest.cute.scene import CuteScene
from triage.suggest.cute.targets import targets
from triage.suggest.proposal import Move, Proposal

GENERATORS: tuple[Callable[[CuteScene], Iterator[Proposal]], ...] = (
    arguments,
    flags,
    texts,
    assembly,
    copies,
    numbers,
    elements,
    targets,
)
_CROWDING = 0.15
"""Penalty of each further value of the same parameters, so that one parameter does not fill the front."""
_PAIRED = 8
_PAIR_LATER = 1.4
"""Penalty of a pair beyond the sum of its priors."""
_SMALLER = (Move.NUMBER, Move.FLAG, Move.TARGET, Move.DTYPE)
"""What may need less of a resource."""
_UNRELATED = 2.0
_REFUSED_LATER = 4.0
"""Penalty of what a legality rule refuses."""


def neighbours(scene: CuteScene) -> Iterator[Proposal]:
    """Likeliest first; deterministic, without duplicates, each different from the case."""
    case = scene.case
    best: dict[str, tuple[float, Proposal]] = {}
    predictions = CallPredictions(scene)
    for generator in GENERATORS:
        for proposal in generator(scene):
            prior = proposal.prior + (_REFUSED_LATER if hopeless(scene, proposal) else 0.0)
            prior += _UNRELATED if scene.over_limit and proposal.move not in _SMALLER else 0.0
            if _applies(case, proposal) and (proposal.key not in best or prior < best[proposal.key][0]):
                best[proposal.key] = prior, proposal
    singles = _predicted(predictions, _spaced(list(best.values())))
    pairs = _predicted(predictions, list(_pairs(case, singles)))
    ordered = sorted([*singles, *pairs], key=lambda entry: entry[0])
    seen: set[str] = set()
    for _, proposal in ordered:
        if proposal.key not in seen and len(seen) < Budget.most:
            seen.add(proposal.key)
            yield proposal


def _applies(case: Case, proposal: Proposal) -> bool:
    try:
        changed = case.with_changes(proposal.changes)
    except (KeyError, InputError):
        return False
    return changed.to_json() != case.to_json()


def _spaced(entries: list[tuple[float, Proposal]]) -> list[tuple[float, Proposal]]:
    """By prior, values of one set of parameters spaced out; equal ones keep the order of their generators."""
    taken: dict[frozenset[str], int] = {}
    spaced: list[tuple[float, Proposal]] = []
    for prior, proposal in sorted(entries, key=lambda entry: entry[0]):
        about = frozenset(proposal.changes)
        spaced.append((prior + _CROWDING * taken.get(about, 0), proposal))
        taken[about] = taken.get(about, 0) + 1
    return sorted(spaced, key=lambda entry: entry[0])


def _predicted(predictions: CallPredictions, entries: list[tuple[float, Proposal]]) -> list[tuple[float, Proposal]]:
    """In the order that the legality rules give them, without what they exclude."""
    weighed = [
        (prior + predictions.weight(proposal), proposal)
        for prior, proposal in entries
        if not predictions.excludes(proposal)
    ]
    return sorted(weighed, key=lambda entry: entry[0])


def _pairs(case: Case, singles: list[tuple[float, Proposal]]) -> Iterator[tuple[float, Proposal]]:
    """Two of the best at once, where they touch different parameters."""
    usable = [entry for entry in singles if entry[1].move is not Move.TARGET][:_PAIRED]
    for (first_prior, first), (second_prior, second) in combinations(usable, 2):
        proposal = first.combined(second)
        if proposal is not None and _applies(case, proposal):
            yield max(first_prior, 0) + max(second_prior, 0) + _PAIR_LATER, proposal
