"""Run every reproducer, and its fixed variant, on the releases asked for: what ``kb check`` compares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.knowledge.observed import Observation, observe
from triage.model import case as cases
from triage.model.case import Case
from triage.model.outcome import Undecided

CASE, FIXED = "case", "fixed"


@dataclass(frozen=True, slots=True)
class Seen:
    """All that was run: reproducer → variant → release → observation. ``undecided`` could not be told."""

    tables: dict[str, dict[str, dict[str, Observation]]]
    undecided: tuple[str, ...]


def run(
    folders: Iterable[Path],
    toolchains: Iterable[Toolchain],
    engine: Engine,
    limits: Limits,
    use_cache: bool = True,
    done: Callable[[str], None] = lambda line: None,
) -> Seen:
    """Compile every variant of every reproducer with every toolchain, in parallel. Raises InputError."""
    tables: dict[str, dict[str, dict[str, Observation]]] = defaultdict(lambda: defaultdict(dict))
    undecided = []
    chosen = list(toolchains)
    requests = list(_requests(folders, chosen, limits, use_cache))
    for number, attempt in enumerate(engine.run(requests), start=1):
        name, variant, release = attempt.request.tag
        if isinstance(attempt.result, Undecided):
            undecided.append(f"{name} ({variant}) on Triton {release}: {attempt.result.reason}")
            continue
        tables[name][variant][release] = observe(attempt.result, attempt.diagnosis)
        done(f"{number} of {len(requests)}: {name} ({variant}) on Triton {release}")
    plain = {name: {variant: dict(table) for variant, table in rows.items()} for name, rows in tables.items()}
    return Seen(plain, tuple(undecided))


def _requests(
    folders: Iterable[Path], toolchains: list[Toolchain], limits: Limits, use_cache: bool
) -> Iterator[Request]:
    variants = [(folder.name, variant, case) for folder in folders for variant, case in _variants(folder)]
    for toolchain in toolchains:
        for name, variant, case in variants:
            tag = (name, variant, toolchain.triton)
            action = FullCompile(observe=True, use_cache=use_cache)
            yield Request(replace(case, triton=toolchain.triton), toolchain, limits, action, tag)


def _variants(folder: Path) -> Iterator[tuple[str, Case]]:
    yield CASE, cases.load(folder / "case.json")
    if (folder / "fixed.json").is_file():
        yield FIXED, cases.load(folder / "fixed.json")


def own_release(folder: Path) -> str | None:
    """The release that a reproducer's case names."""
    return cases.load(folder / "case.json").triton
