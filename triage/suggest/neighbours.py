"""Neighbours of a failing case, in the order in which they are worth a compile.

Generators propose with a prior, the evidence moves the proposals, and pairs of the best follow. Nothing is compiled
here, and nothing is promised: the harness tries them from the front.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import InputError
from triage.suggest.budget import Budget
from triage.suggest.changes.constexprs import assembly, flags, formats, numbers, texts
from triage.suggest.changes.dtypes import dtypes
from triage.suggest.changes.layouts import layouts
from triage.suggest.changes.options import options
from triage.suggest.changes.targets import targets
from triage.suggest.changes.tiles import tile_sizes
from triage.suggest.effects import alters
from triage.suggest.predictions import Predictions, loads
from triage.suggest.proposal import Move, Proposal
from triage.suggest.ranking import rank, shrinks_to
from triage.suggest.rewrites.recipe import Subject
from triage.suggest.scene import Scene

Generator = Callable[[Scene], Iterator[Proposal]]

GENERATORS: tuple[Generator, ...] = (
    options,
    flags,
    tile_sizes,
    numbers,
    texts,
    formats,
    assembly,
    layouts,
    dtypes,
    targets,
)

LIMIT = Budget.most
"""Proposals for one case; a search compiles about forty of them."""
_CONTRADICTS = 1.0
"""Penalty of a change that leaves behind the layouts that it unsettles."""
_UNSETTLING = (Move.OPTION, Move.TILE, Move.NUMBER)
_PAIRED = 9
"""Singles that are paired: 36 pairs, as many as a search would still try."""
_PAIR_LATER = 2.2
"""Penalty of a pair beyond the sum of its ranks: singles of an even chance come before it."""
_PAIR_NEEDLESS = 1.0
"""Additional penalty of a pair where each of the two alone removes the confirmed violation."""
_CROWDING = 0.12
"""Penalty of each further value of the same parameters, so that one parameter does not fill the front."""


def neighbours(case: Case, source: str, diagnosis: Diagnosis, log: str = "") -> Iterator[Proposal]:
    """Likeliest and cheapest first; deterministic, without duplicates, each different from the case.

    ``source`` is the text of the kernel's file; it is parsed, and may be wrong or empty. ``log`` is what the
    compiler printed, used for places in the source that the diagnosis does not name.
    """
    scene = Scene.of(case, source, diagnosis, log)
    predictions = Predictions(scene, loads(Subject.of(scene, source)))
    proposals = (proposal for generator in GENERATORS for proposal in generator(scene))
    singles = _ordered(_ranked(scene, predictions, _followed(scene, proposals)))
    pairs = _ordered(_pairs(scene, predictions, singles))
    possible = (entry for entry in singles if not predictions.excludes(entry[1]))
    seen: set[str] = set()
    for _, proposal in sorted([*possible, *pairs], key=lambda entry: entry[0]):
        if proposal.key in seen or len(seen) == LIMIT:
            continue
        seen.add(proposal.key)
        yield proposal


Ranked = tuple[float, Proposal]


def _followed(scene: Scene, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """The proposals, each before or after its twin with the layouts that it unsettles. In Gluon the layouts are
    parameters beside the tiles and the warps they were written for, so a change of one alone rarely compiles."""
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


def _ranked(scene: Scene, predictions: Predictions, proposals: Iterator[Proposal]) -> Iterator[Ranked]:
    """Proposals that apply and change something, the best of equal ones kept. Where a resource is what lacks, another
    program that needs less of it does not repair it."""
    best: dict[str, Ranked] = {}
    resources = scene.diagnosis.kind is Kind.OUT_OF_RESOURCES or scene.evidence.over_shared
    for proposal in proposals:
        if not _applies(scene.case, proposal) or (resources and alters(scene.case, scene.source, proposal.changes)):
            continue
        entry = (rank(scene, predictions, proposal), proposal)
        if proposal.key not in best or entry[0] < best[proposal.key][0]:
            best[proposal.key] = entry
    yield from best.values()


def _applies(case: Case, proposal: Proposal) -> bool:
    try:
        changed = case.with_changes(proposal.changes)
    except (KeyError, InputError):
        return False
    before, after = case.to_json(), changed.to_json()
    # An option that only spells out its default is the same configuration.
    return before != after and all(_value(case, name) != value for name, value in proposal.changes.items())


def _value(case: Case, name: str) -> object:
    for values in (case.constexprs, case.signature):
        if name in values:
            return values[name]
    if name == "target":
        return str(case.target)
    return case.options.get(name, 1 if name == "num_ctas" else None)


def _ordered(entries: Iterator[Ranked]) -> list[Ranked]:
    """By rank, values of one set of parameters spaced out; equal ranks keep the order of their generators."""
    taken: dict[frozenset[str], int] = {}
    spaced: list[Ranked] = []
    for priority, proposal in sorted(entries, key=lambda entry: entry[0]):
        about = frozenset(proposal.changes)
        spaced.append((priority + _CROWDING * taken.get(about, 0), proposal))
        taken[about] = taken.get(about, 0) + 1
    return sorted(spaced, key=lambda entry: entry[0])


def _pairs(scene: Scene, predictions: Predictions, singles: list[Ranked]) -> Iterator[Ranked]:
    """Two of the best at once, where they touch different things. Targets and data are not worth combining."""
    usable = [entry for entry in singles if entry[1].move not in (Move.TARGET, Move.DATA)][:_PAIRED]
    for (first_rank, first), (second_rank, second) in combinations(usable, 2):
        proposal = first.combined(second)
        if proposal is not None and _applies(scene.case, proposal) and not predictions.excludes(proposal):
            together = max(first_rank, 0) + max(second_rank, 0)
            later = _PAIR_LATER
            if predictions.confirmed and not (predictions.excludes(first) or predictions.excludes(second)):
                later += _PAIR_NEEDLESS
            yield (0.3 + 0.5 * together if _needed(scene, proposal) else together + later), proposal


def _needed(scene: Scene, proposal: Proposal) -> bool:
    """Too much memory by a factor that two changes may make up for, and no single one."""
    needed = scene.evidence.shrink_to
    if needed is None or needed > 0.5:
        return False  # Halving one parameter may be enough.
    return 0.25 * needed < shrinks_to(scene.case, proposal.changes) <= 0.75 * needed
