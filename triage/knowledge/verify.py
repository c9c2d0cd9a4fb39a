"""Runs reproducers, and their fixed variants, on releases of their compiler: the facts that ``kb check`` compares."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.knowledge import observed
from triage.knowledge.entry import Entry
from triage.knowledge.matching import match, ties
from triage.knowledge.missing_api import missing_api
from triage.knowledge.observed import Behaviour, Observation
from triage.model.case import Case
from triage.model.compilers import Compiler
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Status, Undecided

CASE, FIXED = "case", "fixed"


@dataclass(frozen=True, slots=True)
class Failure:
    """How a reproducer failed on a release of its compiler. ``is_own_release``: its case names that release."""

    reproducer: str
    case: Case
    release: str
    diagnosis: Diagnosis
    is_own_release: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """The results of a run.

    ``tables``: reproducer → variant → release → observation. ``undecided``: one line for each compile without a result.
    """

    tables: dict[str, dict[str, dict[str, Observation]]]
    failures: tuple[Failure, ...]
    undecided: tuple[str, ...]


def run(
    folders: Iterable[Path],
    toolchains: Iterable[Toolchain],
    engine: Engine,
    limits: Limits,
    use_cache: bool = True,
    done: Callable[[str], None] = lambda line: None,
) -> Observed:
    """Compile every variant of every reproducer with the toolchains of its compiler, in parallel. Raises InputError."""
    tables: dict[str, dict[str, dict[str, Observation]]] = {}
    failures = []
    undecided = []
    requests = list(_requests(folders, list(toolchains), limits, use_cache))
    for number, attempt in enumerate(engine.run(requests), start=1):
        name, variant, release, is_own = attempt.request.tag
        on = attempt.request.toolchain.compiler.label(release)
        if isinstance(attempt.result, Undecided):
            undecided.append(f"{name} ({variant}) on {on}: {attempt.result.reason}")
            continue
        observation = observe(attempt.result, attempt.diagnosis)
        tables.setdefault(name, {}).setdefault(variant, {})[release] = observation
        if variant == CASE and observation.behaviour is Behaviour.FAILS and attempt.diagnosis is not None:
            failures.append(Failure(name, attempt.request.case, release, attempt.diagnosis, is_own))
        done(f"{number} of {len(requests)}: {name} ({variant}) on {on}")
    return Observed(tables, tuple(failures), tuple(undecided))


def contradictions(failures: Iterable[Failure], entries: Iterable[Entry]) -> list[str]:
    """Entries whose ``[match]`` does not agree with how reproducers failed, one line each.

    Either several entries match a failure with equal confidence, above all others, or none of the entries that name the
    reproducer matches its failure on the release that its case names.
    """
    known = tuple(entries)
    lines = []
    for failure in failures:
        where = f"{failure.reproducer} on {failure.case.compiler.label(failure.release)}"
        matches = match(failure.diagnosis, known, failure.case, failure.release)
        if tied := ties(matches):
            names = " and ".join(entry.id for entry in tied)
            lines.append(
                f"{names}: match: equal confidence ({tied[0].confidence:.0%}) for {where}; make one of them more "
                "specific, or merge them"
            )
        named_by = {entry.id for entry in known if failure.reproducer in entry.reproducers}
        if failure.is_own_release and named_by and not named_by & {entry.id for entry in matches}:
            names = " and ".join(sorted(named_by))
            lines.append(f"{names}: match: does not match {where}: {failure.diagnosis.headline}")
    return lines


def _requests(
    folders: Iterable[Path], toolchains: list[Toolchain], limits: Limits, use_cache: bool
) -> Iterator[Request]:
    variants = [(folder.name, variant, case) for folder in folders for variant, case in _variants(folder)]
    for toolchain in toolchains:
        for name, variant, case in variants:
            if case.compiler != toolchain.compiler:
                continue
            tag = (name, variant, toolchain.release, case.release in (None, toolchain.release))
            action = FullCompile(observe=True, use_cache=use_cache)
            yield Request(case.with_release(toolchain.release), toolchain, limits, action, tag)


def _variants(folder: Path) -> Iterator[tuple[str, Case]]:
    yield CASE, documents.load(folder / "case.json")
    if (folder / "fixed.json").is_file():
        yield FIXED, documents.load(folder / "fixed.json")


def own_release(folder: Path) -> tuple[Compiler, str | None]:
    """The compiler of a reproducer, and the release of it that its case names."""
    case = documents.load(folder / "case.json")
    return case.compiler, case.release


def is_recorded(folder: Path, release: str | None) -> bool:
    """Whether every variant of a reproducer has an observation of a release. Raises InputError."""
    recorded = observed.read(folder)
    return all(release in recorded.get(variant, {}) for variant, _ in _variants(folder))


def observe(outcome: Outcome, diagnosis: Diagnosis | None) -> Observation:
    """The observation that an outcome amounts to."""
    if outcome.status is Status.OK or diagnosis is None:
        return Observation(Behaviour.COMPILES)
    if missing_api(outcome) is not None:
        return Observation(Behaviour.NOT_APPLICABLE)
    if outcome.status is Status.TIMEOUT:
        # The stage that is reached within the limit depends on the machine, not on the bug.
        return Observation(Behaviour.FAILS, outcome.status.value, kind=diagnosis.kind.value)
    return Observation(
        Behaviour.FAILS,
        outcome.status.value,
        outcome.stage.value if outcome.stage else None,
        diagnosis.kind.value,
        diagnosis.signature,
    )
