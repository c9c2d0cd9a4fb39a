"""A failed compile of a draft, and what it shows of the drafted values. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from triage.drafts.draft import STATED, Draft
from triage.drafts.kernel_names import kernel_definition, statement_names
from triage.drafts.model import Basis
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.outcome import Outcome, Stage

UNDEFINED = re.compile(r"(?:^|NameError[(:] ?[\"']?)(?:name ')?(\w+)'? is not defined", re.MULTILINE)
_TRITONS_OWN = re.compile(r"/(?:site-packages|dist-packages|python)/triton/")
"""Files of an installed Triton, or of a checkout of it. Projects have folders of that name too."""


@dataclass(frozen=True)
class Refusal:
    """A failed compile of a draft. ``source``: the text of the kernel's file, as compiled; ``whole``: that of the
    user's file. ``tried``: the drafts that were compiled before."""

    draft: Draft
    outcome: Outcome
    diagnosis: Diagnosis
    source: str
    whole: str
    tried: tuple[Draft, ...] = ()

    @property
    def in_front_end(self) -> bool:
        """Whether Triton's front end refused the kernel, before there was any IR."""
        kinds = (Kind.FRONTEND_ERROR, Kind.PYTHON_EXCEPTION, Kind.MLIR_DIAGNOSTIC, Kind.OTHER, Kind.UNKNOWN)
        return self.diagnosis.kind in kinds and self.outcome.stage in (Stage.SOURCE, None)

    @property
    def raised_by_triton(self) -> bool:
        """Whether the innermost exception was raised in Triton's own code."""
        frames = self.outcome.errors[-1].frames if self.outcome.errors else ()
        return bool(frames) and _TRITONS_OWN.search(frames[-1].file) is not None

    @property
    def message(self) -> str:
        """What the front end says, all exceptions of the chain together."""
        return "\n".join([self.diagnosis.headline, *(error.message for error in self.outcome.errors)])

    @property
    def line(self) -> int | None:
        """The line of the kernel's file at which the front end was."""
        name = self.draft.function.name
        frame = next((error.kernel_line for error in self.outcome.errors if error.kernel_line), None)
        kernel = kernel_definition(self.source, name)
        if frame is None or kernel is None:
            return None
        if not frame.file:
            return kernel.function.lineno + frame.line - 1  # Of a source that is not known to be a file's.
        return frame.line if frame.function == name else None

    @cached_property
    def related(self) -> list[str]:
        """The parameters on which the failing statement depends, those that it names first; all where the statement is
        not known."""
        kernel = kernel_definition(self.source, self.draft.function.name)
        if kernel is None or self.line is None:
            return list(self.draft.values)
        if self.unassigned is not None:
            return [name for name in kernel.conditions if name in self.draft.values]
        names = kernel.reaching(statement_names(kernel.function, self.line), set(self.draft.values))
        return names or list(self.draft.values)

    @property
    def unassigned(self) -> str | None:
        """The variable that is not defined, if the kernel assigns it elsewhere: in a branch that was not taken."""
        kernel, undefined = kernel_definition(self.source, self.draft.function.name), UNDEFINED.search(self.message)
        return undefined[1] if kernel is not None and undefined is not None and undefined[1] in kernel.sources else None

    @property
    def guessed(self) -> list[str]:
        """The names whose values are not stated. What is used as an integer, such as the bound of a loop, is one."""
        return [name for name in self.related if not (self.is_stated(name) or self._is_integer(name))]

    def _is_integer(self, name: str) -> bool:
        value = self.draft.values[name]
        return value.basis is Basis.USE and value.value == "i32"

    def sizes(self, names: list[str]) -> dict[str, int]:
        """The names whose values are drafted numbers that shapes may depend on."""
        values = {name: self.draft.values[name].value for name in names if not self.is_stated(name)}
        return {name: value for name, value in values.items() if type(value) is int and value > 1}

    def is_stated(self, name: str) -> bool:
        """Whether a source or the user states the value of a parameter. Of several launches, or of a launch and a
        default, each states another, which may be meant for other values of other parameters."""
        value = self.draft.values[name]
        if value.value is None and value.basis is not Basis.USER:
            return False  # A caller passes None in some launches, or a wrapper fills it in.
        if value.basis not in (Basis.LAUNCH, Basis.DEFAULT) or not value.exact:
            return value.basis in STATED and value.exact
        candidates = next(each.candidates for each in self.draft.function.parameters if each.name == name)
        return sum(candidate.basis in STATED for candidate in candidates) == 1
