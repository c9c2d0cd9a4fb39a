"""Lists: the configurations that a project's autotuners try, each of them a cell for every target and release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triage.drafts.drafting import Settled
from triage.drafts.plans import ProjectKernels
from triage.model.case import Case
from triage.model.errors import InputError
from triage.sweeps.axes import TARGET
from triage.sweeps.grid import Grid, SweepAxis
from triage.sweeps.space import CONFIGURATION, ListSpace


@dataclass(frozen=True, slots=True)
class ListMember:
    """A configuration under a name of its own. ``unclear``: why it cannot be compiled, if it cannot."""

    name: str
    case: Case
    unclear: str | None = None


def drafted(groups: Iterable[Sequence[Settled]], project: ProjectKernels) -> list[ListMember]:
    """The members that drafts of a project are: kernel and configuration, with the file where there are several."""
    settled = [each for group in groups for each in group]
    functions = {(each.plan.function.file, each.plan.function.name) for each in settled}
    files = Counter(name for _, name in functions)
    names: Counter[str] = Counter()
    members = []
    for each in settled:
        function = each.plan.function
        configuration = each.draft.configuration if each.draft is not None else ""
        kernel = f"{project.file(function)}::{function.name}" if files[function.name] > 1 else function.name
        name = (f"{kernel}[{configuration}]" if configuration else kernel) if len(functions) > 1 else configuration
        name = name or kernel
        names[name] += 1
        numbered = name if names[name] == 1 else f"{name} ({names[name]})"
        members.append(ListMember(numbered, each.case, each.unclear))
    return members


def list_space(members: Sequence[ListMember], targets: Sequence[str] = (), releases: Sequence[str] = ()) -> ListSpace:
    """The space of a list; ``targets`` and ``releases``: several of each are axes, one is every member's, none leaves
    each member its own. Raises InputError for members of several compilers with ``releases``."""
    compilers = {member.case.compiler.name for member in members}
    if releases and len(compilers) > 1:
        raise InputError(f"{' and '.join(sorted(compilers))}: releases are of one compiler; name the kernels of each")
    compiler = min(compilers)
    single = {name: values[0] for name, values in ((compiler, releases), (TARGET, targets)) if len(values) == 1}
    axes = [SweepAxis(name, tuple(values)) for name, values in ((compiler, releases), (TARGET, targets))]
    names = SweepAxis(CONFIGURATION, tuple(member.name for member in members))
    grid = Grid([*(axis for axis in axes if len(axis.values) > 1), names])
    bases = tuple(member.case.with_changes(single) for member in members)
    return ListSpace(bases, grid, tuple(member.unclear for member in members))
