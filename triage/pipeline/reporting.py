"""From an outcome to a report: what is added to the facts of a compile, errors named by their case, kept artifacts."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage._version import __version__
from triage.filesystem.files import make_folder, read_file, replace_file, writing
from triage.harness.artifacts import MOST_BYTES, give_up
from triage.harness.machine.caches import triton_cache_folder
from triage.harness.toolchains import Toolchain
from triage.logs.outcomes import refused_operation
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.model.outcome import Outcome, Status
from triage.model.report import POISONED, Report

if TYPE_CHECKING:
    from triage.drafts.drafting import Settled


def unanswered(settled: Settled) -> TriageError:
    """Why a draft has no answer."""
    case, reason = settled.case, settled.unclear or "it was not compiled"
    if settled.input_error:
        return InputError(f"{case.path}::{case.name}: {reason}")
    return of_case(case, EnvironmentFault(reason))


def of_case(case: Case, error: TriageError) -> TriageError:
    """The error with the case that it is of."""
    named = type(error)(f"{case.path}::{case.name}: could not tell: {error}")
    named.__cause__ = error.__cause__
    return named


def with_arithmetic(diagnosis: Diagnosis, case: Case, outcome: Outcome, triton: str) -> Diagnosis:
    """The diagnosis of a failure of sizes with their arithmetic, and the command that explains it: the buffers that
    the compiler allocated where shared memory does not suffice, the tile of an operation that was refused."""
    return replace(diagnosis, notes=(*diagnosis.notes, *_arithmetic(diagnosis, case, outcome, triton)))


def _arithmetic(diagnosis: Diagnosis, case: Case, outcome: Outcome, triton: str) -> list[str]:
    if diagnosis.kind is Kind.FRONTEND_ERROR and (refused := refused_operation(outcome.errors)):
        from triage.legality.refused import arithmetic as of_tile

        return of_tile(refused.operation, refused.operands, case, triton)
    ttgir = outcome.artifacts.get("ttgir")
    required, limit = diagnosis.required, diagnosis.limit
    if diagnosis.resource != "shared memory" or ttgir is None or required is None or limit is None:
        return []
    from triage.legality.smem import arithmetic

    stages = int(case.options.get("num_stages", 3))
    with suppress(OSError):
        text = read_file(ttgir, ttgir.parent, MOST_BYTES).decode("utf-8", "replace")
        return arithmetic(text, required, limit, stages, case.target, triton)
    return []


def environment_of(case: Case, toolchain: Toolchain, outcome: Outcome) -> Mapping[str, str]:
    """Versions and machine of a compile, as the report states them."""
    return {
        toolchain.compiler.name: outcome.environment.get(toolchain.compiler.name, toolchain.release),
        "python": outcome.environment.get("python", toolchain.python_version),
        "target": str(case.target),
        **({"ptxas": outcome.environment["ptxas"]} if "ptxas" in outcome.environment else {}),
        "triage": __version__,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def with_poisoned_entry(outcome: Outcome) -> Outcome:
    """Name the entry that a suspect compile leaves in Triton's cache: every later run takes it for a good one."""
    if outcome.status is not Status.SUSPECT or outcome.cache_key is None:
        return outcome
    entry = triton_cache_folder() / outcome.cache_key
    advice = "exists now: delete it" if entry.is_dir() else "is where a program that compiles this keeps it"
    note = f"poisoned cache entry: {entry} ({advice})"
    artifacts = {**outcome.artifacts, POISONED: entry}
    return replace(outcome, notes=(*outcome.notes, note), artifacts=artifacts)


def keep_artifacts(report: Report, folder: Path, top: Path | None = None) -> Report:
    """Copy a report's artifacts to ``folder``, without following a link below ``top``, by default ``folder``; move
    temporary ones. Raises EnvironmentFault when it cannot be written."""
    top = top or folder
    artifacts: dict[str, Path] = {}
    with writing(f"-o {folder}"):
        make_folder(folder, top)
        for name, path in report.artifacts.items():
            artifacts[name] = path
            if path.is_file():
                artifacts[name] = folder / path.name
                replace_file(artifacts[name], read_file(path, path.parent, MOST_BYTES), top)
    give_up(report.artifacts.values())
    return replace(report, artifacts=artifacts)
