"""What the tests of the recipes share: kernels written to a folder, a failure told or really compiled, and patches."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage import knowledge
from triage.cases import reproducers
from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.logs.outcomes import diagnose_outcome
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.model.outcome import Outcome, Status
from triage.model.target import Target
from triage.source.module import Module
from triage.source.package_copy import rewritten_case
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.registry import recipe as recipe_of
from triage.suggest.rewrites.registry import rewrites
from triage.suggest.scene import Scene

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


def reproducer(name: str) -> Case:
    """A reproducer that ships with triage."""
    folder = reproducers.folder(name)
    assert folder is not None, name
    return documents.load(folder)


def write(folder: Path, source: str, signature: Mapping[str, str], constexprs: Mapping[str, Any], **more: Any) -> Case:
    """A case of a kernel whose file has this text; its first jitted function is the kernel, called ``kernel``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.py").write_text(source, encoding="utf-8")
    target = Target.parse(more.pop("target", "cuda:80"))
    return Case(folder, "kernel.py", "kernel", signature, constexprs, target=target, **more)


def proposed(recipe: str, case: Case, message: str = "", at: str | None = None, **more: Any) -> list[Rewritten]:
    """What a recipe makes of a case that fails with a message at the line that holds a text. Nothing is compiled."""
    source = case.path.read_text(encoding="utf-8")
    place = None
    if at is not None:
        line = next(number for number, text in enumerate(source.splitlines(), start=1) if at in text)
        place = SourceLocation(case.file, line)
    diagnosis = Diagnosis(Kind.FRONTEND_ERROR, message, message, source=place, stage="source", **more)
    scene = Scene.of(case, source, diagnosis, "")
    module = Module.parse(source)
    assert module is not None
    return list(recipe_of(recipe)(Subject(module, module.functions(case.name)[0], scene)))


def changed(case: Case, rewritten: Rewritten) -> list[tuple[str, str]]:
    """The lines that differ, before and after, without their indents; for rewrites that keep the number of lines."""
    before = case.path.read_text(encoding="utf-8").splitlines()
    after = rewritten.text.splitlines()
    assert len(before) == len(after), rewritten.text
    return [(one.strip(), other.strip()) for one, other in zip(before, after, strict=True) if one != other]


@dataclass(frozen=True)
class Tried:
    """One rewrite of one case, and what its compile said."""

    case: Case
    rewritten: Rewritten
    outcome: Outcome

    @property
    def compiled(self) -> bool:
        return self.outcome.status is Status.OK


def compile_rewrites(engine: Engine, toolchain: Toolchain, cases: Sequence[Case], folder: Path) -> list[list[Tried]]:
    """Compile cases that fail, and then all their rewrites, as a session would name and place them: those of each
    case, in the order of the cases."""

    outcomes = _compile(engine, toolchain, cases)
    made: list[tuple[int, Rewritten, Case]] = []
    for place, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
        diagnosis = diagnose_outcome(outcome, case.path)
        assert diagnosis is not None, f"{case.path} compiles"
        matches = knowledge.match(diagnosis, knowledge.load_all(), case, toolchain.release)
        scene = Scene.of(case, case.path.read_text(encoding="utf-8"), diagnosis, outcome.log)
        for rewritten in rewrites(case, scene, [name for match in matches for name in match.rewrites]):
            changed_case = rewritten_case(case.with_changes(rewritten.changes), rewritten.text, folder)
            made.append((place, rewritten, changed_case))
    results = _compile(engine, toolchain, [other for _, _, other in made])
    found: list[list[Tried]] = [[] for _ in cases]
    for (place, rewritten, _), outcome in zip(made, results, strict=True):
        found[place].append(Tried(cases[place], rewritten, outcome))
    return found


def _compile(engine: Engine, toolchain: Toolchain, cases: Iterable[Case]) -> list[Outcome]:
    limits = Limits(timeout_s=120)
    requests = [Request(case, toolchain, limits, FullCompile(use_cache=False), tag) for tag, case in enumerate(cases)]
    attempts = sorted(engine.run(requests), key=lambda attempt: attempt.request.tag)
    results = [attempt.result for attempt in attempts]
    assert all(isinstance(result, Outcome) for result in results), results
    return [result for result in results if isinstance(result, Outcome)]


def patched(case: Case, patch: str, folder: Path) -> str:
    """The case's file after ``patch -p1`` of a diff, in a folder of its own."""
    folder.mkdir(parents=True)
    target = folder / case.file
    target.write_text(case.path.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run(["patch", "-p1", "--no-backup-if-mismatch"], cwd=folder, input=patch, text=True, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return target.read_text(encoding="utf-8")
