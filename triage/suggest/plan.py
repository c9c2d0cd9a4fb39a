"""Order in which the neighbours of a failing case are compiled: rewrites of its source that an entry names, the
likeliest configurations, other releases, and then the rest."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path

from triage.cases import reproducers
from triage.frontends.frontend import frontend
from triage.frontends.triton import READ_FROM_TTGIR_ON
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.match import Match
from triage.model.outcome import Outcome
from triage.model.releases import in_range
from triage.model.report import Suggestion, SuggestionKind
from triage.suggest.budget import ENOUGH
from triage.suggest.families import FAMILIES, Proposers, SearchedCase
from triage.suggest.frontend_fixes import SourceFix, as_advice, by_rewrite_alone, frontend_fix
from triage.suggest.further import LaterFailure, repaired, together
from triage.suggest.neighbour import Neighbour, releases, rewritten_source
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene
from triage.suggest.tuning.expectations import Expectations
from triage.suggest.tuning.tuning import Tuning
from triage.suggest.unrolled import in_parts

_MOST_ADVICE = 2
_MOST_REPAIRED = 2
_BEFORE_LAYOUTS = frozenset({".source", ".ttir"})
_MAXNREG_IN_LLIR = "<3.5"
"""From 3.5 on the cap on registers is an attribute of the module, which stage ttgir sets."""


@dataclass(frozen=True)
class NeighbourPlan:
    """One failure to find neighbours for. ``folder`` is where rewritten sources may be written."""

    case: Case
    toolchain: Toolchain
    outcome: Outcome
    diagnosis: Diagnosis
    matches: tuple[Match, ...]
    folder: Path

    @cached_property
    def _source(self) -> str:
        # IR is not Python: it has no kernels to search for.
        return "" if self.case.is_ir else self.case.text()

    @cached_property
    def _scene(self) -> Scene:
        return Scene.of(self.case, self._source, self.diagnosis, self.outcome.log)

    @cached_property
    def _proposers(self) -> Proposers:
        failure = SearchedCase(self.case, self.toolchain, self._source, self.diagnosis, self.outcome.log)
        return FAMILIES[frontend(self.case.language).family](failure)

    @property
    def unhelpful(self) -> tuple[str, ...]:
        """Changes that rules refuse, in sentences."""
        return () if self.case.is_ir or not self.outcome.imported else tuple(self._proposers.unhelpful())

    @cached_property
    def fix(self) -> SourceFix | None:
        """What the message says to do; None where it leaves the cause open."""
        return None if self.case.is_ir else frontend_fix(self._scene)

    def tuning(self, expectations: Expectations, enough: int = ENOUGH) -> Tuning | None:
        """What the static model can do for this failure: None where there is no TTIR to read."""
        if self.case.is_ir or not frontend(self.case.language).has_tiles or not self.outcome.imported:
            return None
        scene = self._scene
        wanted = scene.diagnosis.kind is Kind.OUT_OF_RESOURCES or scene.evidence.over_shared
        begins = wanted and "tensor memory" not in (scene.diagnosis.resource or "")
        resources = self.outcome.resources
        return Tuning(self.case, self.toolchain, self._source, scene.source, begins, expectations, resources, enough)

    def neighbours(self, others: Callable[[], Iterable[Toolchain]]) -> Iterator[Neighbour]:
        """All of them, lazily. ``others`` finds the other releases, which may take the making of an environment."""
        if not self.outcome.imported:
            # No configuration changes how the module itself fails.
            yield from releases(self.case, others())
            return
        settled_by_rewrite = False
        for neighbour in () if self.case.is_ir else self._rewritten():
            settled_by_rewrite = by_rewrite_alone(self._scene)
            yield neighbour
        configurations = self._configurations()
        if settled_by_rewrite or self.fix is not None:
            yield from (other for other in configurations if other.changes.keys() <= self._scene.guards)
            yield from releases(self.case, others()) if self.fix is not None and self.fix.releases else ()
            return
        yield from islice(configurations, self._proposers.before_releases)
        yield from releases(self.case, others())
        yield from configurations

    def configurations(self) -> Iterator[Neighbour]:
        """Those of them that change numbers of the configuration."""
        if self.outcome.imported and not self.case.is_ir:
            yield from (each for each in self._configurations() if "target" not in each.changes)

    def further(self, failures: Iterable[LaterFailure]) -> Iterator[Neighbour]:
        """Second changes of neighbours that fail otherwise than the case, and no earlier: by turns of the best two."""
        most = self._proposers.most_further
        if not most or self.case.is_ir or not self.outcome.imported:
            return
        best = repaired(self.outcome.stage, self.diagnosis, self.case, failures)[:_MOST_REPAIRED]
        turns = [islice(self._on_top(failure), most // _MOST_REPAIRED) for failure in best]
        for seconds in zip_longest(*turns):
            yield from filter(None, seconds)

    def _on_top(self, failure: LaterFailure) -> Iterator[Neighbour]:
        first = failure.neighbour
        plan = replace(self, case=first.case, outcome=failure.outcome, diagnosis=failure.diagnosis, matches=())
        for seconds in zip_longest(plan._rewritten(), plan._configurations()):
            for second in filter(None, seconds):
                undone = second.case.to_json() == self.case.to_json() and second.case.text() == self._source
                if not undone and "target" not in second.changes:
                    yield together(self.case, first, second)

    def _rewritten(self) -> Iterator[Neighbour]:
        named = [name for match in self.matches for name in match.rewrites]
        for rewritten in islice(self._proposers.rewrites(named), self._proposers.most_rewrites):
            yield rewritten_source(self.case, self.toolchain, rewritten, self.folder)

    def _configurations(self) -> Iterator[Neighbour]:
        proposals = self._proposers.proposals()
        if self.case.is_ir:
            proposals = applicable(self.case, self.toolchain.release, proposals)
        for proposal in proposals:
            yield self._proposers.neighbour(proposal)

    def advice(self, suggestions: Sequence[Suggestion]) -> Iterator[Suggestion]:
        """What was not compiled on the user's source, and helps: the fix in words, and what reproducers show."""
        if self.fix is not None and not any(suggestion.diff for suggestion in suggestions):
            yield as_advice(self.fix)
        if not suggestions and not self.case.is_ir:
            yield from in_parts(self._scene)
        yield from advice(self.matches, suggestions)


def applicable(case: Case, triton: str, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Changes of a case that is IR: those of the proposals, and others, that only the stages left to compile read."""
    ending = Path(case.file).suffix
    if ending == ".mlir":
        return
    if ending in _BEFORE_LAYOUTS and frontend(case.language).has_tiles:
        yield from (proposal for proposal in proposals if proposal.changes.keys() <= READ_FROM_TTGIR_ON)
        return
    if ending == ".ttgir" and in_range(triton, _MAXNREG_IN_LLIR) and case.options.get("maxnreg") is not None:
        yield Proposal({"maxnreg": None}, Move.OPTION, 0.0, 1.0, "no cap on registers")
    fused = case.options.get("enable_fp_fusion", True)
    why = "without fused multiply-add" if fused else "with fused multiply-add"
    yield Proposal({"enable_fp_fusion": not fused}, Move.OPTION, 0.0, 2.0, why)


def advice(matches: Iterable[Match], suggestions: Iterable[Suggestion]) -> Iterator[Suggestion]:
    """Repairs that reproducers of the matched entries show, for the user to make: nothing was compiled of the user's.
    None where the user's own source was rewritten and compiles."""
    if any(suggestion.kind is SuggestionKind.SOURCE for suggestion in suggestions):
        return
    named = dict.fromkeys(name for match in matches for name in match.evidence)
    variants = ((name, reproducers.fixed(name)) for name in named)
    for name, variant in islice(((name, variant) for name, variant in variants if variant), _MOST_ADVICE):
        _, change = variant
        why = f"not compiled on your source: shown on the reproducer {name}, whose fixed.py compiles"
        yield Suggestion({"source": change}, SuggestionKind.SOURCE, 2.0, None, why, verified=False, why=why)
