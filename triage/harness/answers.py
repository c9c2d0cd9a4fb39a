"""From the conclusion about a request to the attempt that its caller gets: what is stored, and which files are kept."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from triage.filesystem.scratch import lacks_room
from triage.harness import artifacts
from triage.harness.judge import NO_LLD
from triage.harness.reads import ModuleReads
from triage.harness.request import Attempt, FullCompile, PartialCompile, Request
from triage.harness.second_look import Conclusion
from triage.harness.store import Store
from triage.model.errors import EnvironmentFault
from triage.model.outcome import Outcome, Undecided


@dataclass(frozen=True, slots=True)
class Answers:
    """``store``: None where nothing is remembered. ``keep``: artifacts that requests want, and the store does not
    take, are kept in temporary folders (``artifacts.py``)."""

    store: Store | None
    keep: bool

    def remembered(self, request: Request) -> Attempt | None:
        """The stored answer to a request."""
        outcome = self.store.get(request) if self.store else None
        return None if outcome is None else Attempt(request, outcome, cached=True)

    def attempt(self, request: Request, conclusion: Conclusion, reads: ModuleReads | None) -> Attempt:
        """The answer to a request. ``reads``: what its module read as it was imported."""
        result, folder = conclusion.result, conclusion.folder
        if folder is not None and (not folder.is_dir() or folder.is_symlink()):
            folder = None  # A compile has removed or replaced it.
        if isinstance(result, Outcome) and result.failed and folder is not None and (full := lacks_room(folder)):
            result = Undecided(full)
        if isinstance(result, Outcome):
            if not result.environment:
                toolchain = request.toolchain
                result = replace(result, environment={toolchain.compiler.name: toolchain.release})
            if self.store is not None:
                result = self.store.put(request, result, folder, reads)
            result = self._with_artifacts(request, result, folder)
            match request.action:
                case FullCompile(entry=Path() as entry) if result.cache_key is not None and folder is not None:
                    result = _with_entry(result, folder, entry)
        elif result.reason == NO_LLD:
            result = Undecided(_no_lld(request))
        return Attempt(request, result, printed=conclusion.printed)

    def _with_artifacts(self, request: Request, outcome: Outcome, folder: Path | None) -> Outcome:
        """The outcome with artifacts that the store has not taken, where they are wanted."""
        match request.action:
            case FullCompile(keep=True):
                wanted = self.keep and outcome.failed
            case PartialCompile(keep=True):
                wanted = True
            case _:
                wanted = False
        if wanted and not outcome.artifacts:
            with suppress(OSError, EnvironmentFault):  # a full disk
                return replace(outcome, artifacts=artifacts.collect(folder, outcome.log, artifacts.temporary()))
        return outcome


def _with_entry(outcome: Outcome, folder: Path, destination: Path) -> Outcome:
    """Move the finished cache entry to where it was asked for."""
    assert outcome.cache_key is not None
    try:
        shutil.move(folder / "cache" / outcome.cache_key, destination)
    except OSError as error:
        return replace(outcome, notes=(*outcome.notes, f"{destination}: {error.strerror}"))
    return outcome


def _no_lld(request: Request) -> str:
    return (
        f"Triton {request.toolchain.release} links AMD kernels with ld.lld, and none was found; every stage up to "
        "amdgcn compiled. Install lld, or set TRITON_HIP_LLD_PATH to an ld.lld"
    )
