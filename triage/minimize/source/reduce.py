"""The order in which a kernel's source and configuration are reduced.

Cheap and large reductions come first. The first round tries patches in chunks; later rounds, where little is left to
remove, try them one by one.
"""

from collections.abc import Callable
from functools import partial

from triage.minimize.problem import PatchSet, ReductionProblem, Subset
from triage.minimize.source import arguments, configuration, expressions, helpers, naming, slices, statements
from triage.minimize.source.folding import written_out
from triage.minimize.source.specimen import Specimen
from triage.minimize.source.view import SourcePatch, View, compatible, sound

_MOST_SWEEPS, _MOST_CASCADES = 20, 40
"""Bounds of loops that end on their own unless a pass makes the text longer (``smaller=False``)."""

Problem = ReductionProblem[Specimen]
Propose = Callable[[View], list[SourcePatch]]


def reduce(problem: Problem) -> None:
    """Reduce until nothing more can be removed. Raises BudgetUsed, EnvironmentFault."""
    if not sound(problem.best):
        # The file's functions cannot be read off its text: only the configuration can be reduced.
        _alternatives(problem, configuration.dropped)
        _alternatives(problem, configuration.constexprs)
        _alternatives(problem, configuration.types)
        return
    _cut_out(problem)
    _alternatives(problem, configuration.small)
    _slice(problem)
    problem.rounds(partial(_round, problem))


def anonymize(problem: Problem) -> bool:
    """Replace names and strings by neutral ones; whether the result still fails alike."""
    _run(problem, "strings", naming.strings, chunks=True, smaller=False)
    anonymous = naming.renamed(naming.stripped(problem.best))
    return anonymous.case.name in (naming.KERNEL, naming.CLASS) and problem.attempt(anonymous, larger=True)


def _round(problem: Problem, first: bool) -> None:
    before = problem.best
    run = partial(_run, problem)
    run("functions and imports", statements.top_level, chunks=first)
    run("decorators", statements.decorators, chunks=first)
    _remove_dead(problem)
    depth = 1
    while (view := View.of(problem.best)) is not None and depth <= statements.depth(view):
        run("statements", partial(statements.at_depth, depth=depth), chunks=first)
        depth += 1
    _remove_dead(problem)
    run("branches and loops", statements.flattened)
    run("helpers", helpers.inlined_calls, smaller=False)
    _remove_dead(problem)
    if first:
        _alternatives(problem, configuration.constexprs)
    run("keywords", expressions.keywords, chunks=first)
    run("arguments", arguments.constexprs, chunks=first)
    run("arguments", arguments.constructed, chunks=first)
    run("arguments", arguments.ones, chunks=first)
    run("arguments", arguments.zeros)
    run("helpers' arguments", arguments.of_helpers)
    run("names used once", statements.inlined, chunks=True)
    run("neutral operands", expressions.neutral, chunks=True)
    run("expressions", expressions.parts)
    run("call arguments", expressions.call_arguments)
    _remove_dead(problem)
    run("names used once", statements.inlined, chunks=True)
    run("neutral operands", expressions.neutral, chunks=True)
    run("repeated expressions", expressions.shared)
    run("shapes", expressions.elements)
    run("parentheses", expressions.respelt, chunks=True)
    run("positional arguments", expressions.positional, chunks=True)
    run("annotations", arguments.plain, chunks=True)
    run("strings", expressions.insides)
    _swap(problem, partial(arguments.swaps, single=False))
    _swap(problem, partial(arguments.swaps, single=True))
    _alternatives(problem, configuration.dropped)
    if first:
        _alternatives(problem, configuration.types)
    if problem.best == before:
        run("other expressions", expressions.others)


def _cut_out(problem: Problem) -> None:
    """Leave out what the compiler does not see: comments, decorators but the one that jits, and whatever of the file
    the kernel does not reach. Together where that works."""
    problem.step("what the kernel does not reach")
    specimen = naming.stripped(problem.best)
    for propose in (statements.decorators, statements.unreached):
        if (view := View.of(specimen)) is not None:
            specimen = view.apply(propose(view)) or specimen
    if not _attempt(problem, without_dead(specimen)):
        _attempt(problem, naming.stripped(problem.best))
        _run(problem, "what the kernel does not reach", statements.unreached)
        _run(problem, "decorators", statements.decorators, chunks=True)


def _slice(problem: Problem) -> None:
    """Keep what one operation needs, or drop what others need, of the kernel written out, else of the kernel as it
    is."""
    problem.step("slices")
    longer = written_out(problem.best)
    for specimen in [longer, problem.best] if longer != problem.best else [longer]:
        if (view := View.of(specimen)) is not None and _descend(problem, slices.with_needed(view)):
            return
    specimen = longer
    while (view := View.of(specimen)) is not None and _descend(problem, slices.without_dependents(view)):
        specimen = problem.best


def _descend(problem: Problem, subsets: list[Subset[Specimen]]) -> bool:
    return problem.descend([Subset(subset.parts, partial(_without_dead, subset)) for subset in subsets])


def _without_dead(subset: Subset[Specimen]) -> Specimen | None:
    specimen = subset.make()
    return without_dead(specimen) if specimen is not None else None


def _run(problem: Problem, name: str, propose: Propose, chunks: bool = False, smaller: bool = True) -> None:
    """Sweep over the patches of a pass until none of them works."""
    problem.step(name)
    for _ in range(_MOST_SWEEPS):
        before = problem.best
        if (view := View.of(before)) is not None:
            problem.sweep(PatchSet(propose(view), view.apply, view.fingerprint), chunks, smaller)
        if problem.best == before:
            return
        # What nothing reads any more is not worth a patch of its own each.
        _attempt(problem, without_dead(problem.best))


def _remove_dead(problem: Problem) -> None:
    """Remove everything that nothing reads, at once where that works."""
    if not _attempt(problem, without_dead(problem.best)):
        _run(problem, "dead code", statements.dead, chunks=True)


def _swap(problem: Problem, propose: Propose) -> None:
    """Replace one name by another, where something becomes dead by that."""
    view = View.of(problem.best)
    if view is None:
        return
    swapped = [view.apply([patch]) for patch in propose(view)]
    candidates = [problem.smaller(without_dead(other)) if other is not None else None for other in swapped]
    if any(candidates):
        problem.step("one name for another")
        problem.first(candidates)


def _alternatives(problem: Problem, propose: Callable[[Specimen], list[list[Specimen]]]) -> None:
    """Take the first of each list that keeps the failure. The lists are made anew after each, as one changes others."""
    problem.step("configuration")
    index = 0
    while index < len(lists := propose(problem.best)):
        readable = sound(problem.best)
        if problem.first([other if sound(other) or not readable else None for other in lists[index]]):
            gone = len(lists) - len(propose(problem.best))
            index = max(0, index + 1 - gone) if gone else index
        else:
            index += 1


def _attempt(problem: Problem, candidate: Specimen) -> bool:
    return candidate == problem.best or (sound(candidate) and problem.attempt(candidate))


def without_dead(specimen: Specimen) -> Specimen:
    """The specimen without anything that nothing reads, repeated to the end."""
    for _ in range(_MOST_CASCADES):
        patches = statements.dead(view) if (view := View.of(specimen)) is not None else []
        if view is None or not patches:
            return specimen
        # Adjacent parameters share a comma: those that do not go together go one after the other.
        cuts = (view.apply(together) for together in (compatible(patches), *([patch] for patch in patches)))
        smaller = next((cut for cut in cuts if cut is not None), None)
        if smaller is None:
            return specimen
        specimen = smaller
    return specimen
