"""Compiles a case for the static model: the resources that the compiler reports, and the TTIR that the model reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from triage.filesystem.files import read_file
from triage.frontends.frontend import frontend
from triage.harness.artifacts import MOST_BYTES, give_up
from triage.harness.dialogues import Dialogue
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.outcome import Outcome, Resources, Stage, Status
from triage.performance.estimate.estimate import ProblemSizes, TimeEstimate, machine, of_work
from triage.performance.estimate.reader import read
from triage.performance.estimate.work import BlockWork

_TTIR = ".ttir"


@dataclass(frozen=True, slots=True)
class CompiledCase:
    """``resources`` are None where the compiler reported none, and ``failure`` says, in one line, how it failed.
    ``unclear``: triage could not tell, and why. ``ttir`` is None where there is none, which ``without_ttir`` explains;
    ``front_end``: because the front end refuses the kernel."""

    case: Case
    resources: Resources | None = None
    failure: str = ""
    unclear: str = ""
    ttir: str | None = None
    without_ttir: str = ""
    front_end: bool = False


def compiled(case: Case, toolchain: Toolchain, limits: Limits, use_cache: bool = True) -> Dialogue[CompiledCase]:
    """Compile a case through all stages, and to TTIR once more, since a finished compile keeps none."""
    done = CompiledCase(case)
    if (problem := _no_ttir(case)) is not None:
        return replace(done, without_ttir=problem)
    attempt = yield Request(case, toolchain, limits, FullCompile(use_cache=use_cache))
    if not isinstance(attempt.result, Outcome):
        return replace(done, unclear=attempt.result.reason)
    done = replace(done, resources=attempt.result.resources, failure=_headline(attempt))
    if Path(case.file).suffix == _TTIR:
        return replace(done, ttir=case.text())
    attempt = yield Request(case, toolchain, limits, PartialCompile(Stage.TTIR, keep=True))
    outcome = attempt.result
    if not isinstance(outcome, Outcome):
        return replace(done, unclear=outcome.reason)
    if outcome.status is Status.OK and "ttir" in outcome.artifacts:
        done = replace(done, ttir=_text(outcome.artifacts["ttir"]))
    else:
        why = _headline(attempt) or "the compile left none"
        done = replace(done, without_ttir=f"no TTIR: {why}", front_end=outcome.status is not Status.OK)
    give_up(outcome.artifacts.values())
    return done


def _text(path: Path) -> str:
    return read_file(path, path.parent, MOST_BYTES).decode(errors="replace")


def _headline(attempt: Attempt) -> str:
    return attempt.diagnosis.headline if attempt.diagnosis is not None else ""


def _no_ttir(case: Case) -> str | None:
    ending = Path(case.file).suffix
    if case.is_ir and ending != _TTIR:
        return f"no TTIR: the case is a {ending} file, which comes after it or is not Triton's"
    reason = frontend(case.language).without_ttir
    return f"no TTIR: {reason}" if reason else None


@dataclass(frozen=True, slots=True)
class Estimated:
    """A compiled case and what the model makes of it. ``work`` is None where there is no TTIR that can be read,
    ``time`` where no block fits or the target's rates are not known; ``reason`` says why either is missing."""

    compiled: CompiledCase
    problem: ProblemSizes
    work: BlockWork | None
    time: TimeEstimate | None
    reason: str = ""


def estimated(done: CompiledCase, sizes: Mapping[str, float] | None = None) -> Estimated:
    """``sizes`` replace those of the case's inputs, by integer argument. What does not compile is estimated as if one
    block of it fitted on a multiprocessor."""
    case = done.case
    problem = ProblemSizes.of(case)
    problem = replace(problem, sizes={**problem.sizes, **(sizes or {})})
    work = None if done.ttir is None else read(done.ttir, problem.sizes, problem.extent)
    if done.ttir is None:
        return Estimated(done, problem, None, None, done.unclear or done.without_ttir)
    if work is None:
        return Estimated(done, problem, None, None, "the TTIR cannot be read")
    if machine(case.target) is None:
        return Estimated(done, problem, work, None, f"the rates of {case.target} are not known")
    time = of_work(work, case, done.resources, problem, fits=not done.failure)
    return Estimated(done, problem, work, time, "" if time else "no block of it fits on a multiprocessor")
