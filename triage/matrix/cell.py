"""The result of one case on one release for one target. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from triage.knowledge.missing_api import missing_api
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.document import Doc, Documented, Internal, encode_fields
from triage.model.outcome import Outcome, Status, Undecided

_CALLED = re.compile(r"(?P<function>[\w.]+)\(\) got an unexpected keyword argument")


class CellVerdict(str, Enum):
    """The cells there are. ``UNDECIDED`` is triage's own failure, and says nothing about the release."""

    COMPILES = "compiles"
    FAILS = "fails"
    SUSPECT = "suspect"
    TIMEOUT = "timeout"
    NOT_APPLICABLE = "not applicable"
    UNDECIDED = "could not tell"

    @property
    def bad(self) -> bool:
        """A failure of the compile."""
        return self in (CellVerdict.FAILS, CellVerdict.SUSPECT, CellVerdict.TIMEOUT)


@dataclass(frozen=True, slots=True)
class MatrixCell(Documented):
    """``triton``, ``cute``: the version of the compiler that ran. ``signature``, ``headline``, ``kind``, ``status`` and
    ``stage`` describe a failure, ``reason`` why it is not applicable or could not be told; ``input_error``: because the
    case does not fit the kernel, or the release does not exist. ``cached``: it was remembered."""

    verdict: CellVerdict
    triton: str | None = None
    cute: str | None = None
    signature: str | None = None
    headline: Internal[str | None] = None
    kind: str | None = None
    status: str | None = None
    stage: str | None = None
    reason: str | None = None
    input_error: Internal[bool] = False
    duration_s: Annotated[float | None, Doc(digits=3)] = None
    cached: bool = False
    artifacts: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, release: str, verdict: CellVerdict) -> MatrixCell:
        """A cell of a case that was compiled with a release of its compiler."""
        compiled_with: dict[str, Any] = {case.compiler.name: release}
        return cls(verdict, **compiled_with)

    @property
    def release(self) -> str | None:
        """The version of the compiler that ran."""
        return self.triton or self.cute

    def to_json(self) -> dict[str, Any]:
        """The cell's part of the matrix document, without what does not apply."""
        return {name: value for name, value in encode_fields(self).items() if value not in (None, {})}


def judge(
    case: Case, release: str, result: Outcome | Undecided, diagnosis: Diagnosis | None, cached: bool = False
) -> MatrixCell:
    """The cell of a finished compile and its diagnosis."""
    if isinstance(result, Undecided):
        if case.is_ir and result.input_error:
            # IR belongs to a release; that another cannot read it is not evidence about the bug.
            return replace(MatrixCell.of(case, release, CellVerdict.NOT_APPLICABLE), reason=result.reason)
        undecided = MatrixCell.of(case, release, CellVerdict.UNDECIDED)
        return replace(undecided, reason=result.reason, input_error=result.input_error)
    cell = replace(MatrixCell.of(case, release, CellVerdict.COMPILES), duration_s=result.duration_s, cached=cached)
    if diagnosis is None:
        return replace(cell, status=result.status.value)
    if result.killed_from_outside:
        return replace(MatrixCell.of(case, release, CellVerdict.UNDECIDED), reason=diagnosis.headline)
    missing = missing_api(result)
    if missing is not None and not _own_function(missing, case):
        return replace(cell, verdict=CellVerdict.NOT_APPLICABLE, reason=missing)
    verdicts = {Status.SUSPECT: CellVerdict.SUSPECT, Status.TIMEOUT: CellVerdict.TIMEOUT}
    verdict = verdicts.get(result.status, CellVerdict.FAILS)
    return replace(
        cell,
        verdict=verdict,
        # How far it gets within the limit depends on the machine, not on the bug.
        signature=diagnosis.kind.value if verdict is CellVerdict.TIMEOUT else diagnosis.signature,
        headline=diagnosis.headline,
        kind=diagnosis.kind.value,
        status=result.status.value,
        stage=result.stage.value if result.stage else None,
        artifacts=dict(result.artifacts),
    )


def _own_function(message: str, case: Case) -> bool:
    """Whether the function that refuses a keyword is the user's own: then no release will take it."""
    called = _CALLED.search(message)
    if called is None:
        return False
    try:
        return called["function"] in _defined(case.read())
    except OSError:
        return False


@lru_cache(maxsize=8)
def _defined(source: bytes) -> frozenset[str]:
    """Functions and methods, by qualified name."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    methods = {
        f"{owner.name}.{node.name}" for owner in classes for node in owner.body if isinstance(node, ast.FunctionDef)
    }
    return frozenset(functions | methods)
