"""A candidate: a case, the toolchain to compile it with, and its description."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triage.filesystem.files import ANYWHERE, MOST_SOURCE, read_file
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen, python_text
from triage.model.inputs import stored_transposed
from triage.model.report import SuggestionKind
from triage.source.module import diff, transferred
from triage.source.package_copy import rewritten_case
from triage.source.parameters import KernelSource
from triage.suggest.descriptors import followed
from triage.suggest.effects import Effects, effects
from triage.suggest.proposal import Proposal
from triage.suggest.rewrites.recipe import Rewritten

_TOOLCHAIN_DISTANCE = 10.0
_SOURCE_DISTANCE = 2.0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """``changes``, ``why``, ``results``, ``caller`` and ``diff`` are as in :class:`triage.model.report.Suggestion`."""

    case: Case
    toolchain: Toolchain
    kind: SuggestionKind
    changes: Mapping[str, Any]
    distance: float
    why: str
    results: str = ""
    caller: str = ""
    diff: str | None = None


def configuration(case: Case, toolchain: Toolchain, source: KernelSource, proposal: Proposal) -> Neighbour:
    """A neighbour in constexprs, arguments, options and target, with the descriptors that follow them."""
    changes = proposal.changes if case.is_ir else followed(case, case.text(), proposal.changes)
    return as_configuration(case, toolchain, proposal, changes, effects(case, source, changes))


def as_configuration(
    case: Case, toolchain: Toolchain, proposal: Proposal, changes: Mapping[str, Any], meant: Effects
) -> Neighbour:
    """The neighbour of a proposal with all of its changes."""
    return Neighbour(
        case.with_changes(changes),
        toolchain,
        SuggestionKind.CONFIG,
        changes,
        round(proposal.distance, 3),
        proposal.why,
        meant.results,
        meant.caller,
    )


def releases(case: Case, toolchains: Iterable[Toolchain]) -> Iterator[Neighbour]:
    """The unchanged case with other releases of its compiler."""
    for index, toolchain in enumerate(toolchains):
        why = f"{case.compiler.label(toolchain.release)} compiles it unchanged"
        changes = {case.compiler.name: toolchain.release}
        yield Neighbour(case, toolchain, SuggestionKind.TOOLCHAIN, changes, _TOOLCHAIN_DISTANCE + index, why)


def rewritten_source(case: Case, toolchain: Toolchain, rewritten: Rewritten, folder: Path) -> Neighbour:
    """The user's own source, rewritten; its shadow is made below ``folder``. Raises EnvironmentFault."""
    changed = rewritten_case(case.with_changes(rewritten.changes), rewritten.text, folder)
    if changed.inputs:
        for argument in rewritten.transposed:
            changed = replace(changed, inputs=frozen(stored_transposed(changed.inputs, argument)))
    return Neighbour(
        changed,
        toolchain,
        SuggestionKind.SOURCE,
        {"source": rewritten.change, **rewritten.changes},
        _SOURCE_DISTANCE,
        rewritten.why,
        rewritten.results,
        rewritten.caller,
        difference(case, rewritten.text),
    )


def difference(case: Case, after: str) -> str:
    """The diff to another text of a case's file, as the user has the file."""
    before = case.text()
    if case.slice is not None:
        whole = python_text(read_file(case.path, ANYWHERE, MOST_SOURCE))
        before, after = whole, transferred(before, after, whole)
    return diff(before, after, case.file)
