"""Shared input of all changes of a CuTe case: its types, what its source does with parameters, and the failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from triage.harness.worker.cute import grammar
from triage.harness.worker.cute.grammar import Argument, BadType
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind, Trait
from triage.source.module import calls
from triage.suggest.cute.constraints import Constraints
from triage.suggest.cute.flow import Reach, SourceFlow

_NEEDED = re.compile(r"[Rr]equired: (\d+), \D*[Ll]imit: (\d+)|(\d+) required, \D*(?:limit is|limit) (\d+)")
"""``Required: 212992, Hardware limit: 101376``"""
_ADVICE = re.compile(r"^\s*(?:suggestion|note: This is a bug)\b.*$", re.MULTILINE)
"""Lines in which the DSL advises; their numbers are examples."""
_FRAME = r'File "[^"]*{file}", line (\d+) in |{file}"?:(\d+):\d+'
"""A frame of faulthandler, or a location of MLIR."""
_SHRINK = re.compile(r"exceed|too large|too much|out of resource|overflow|larger than", re.IGNORECASE)
_TYPES = re.compile(r"d?type|BFloat16|Float\d|TFloat32|Int\d|\bbf16\b|\bf\d+\b|\bf8E", re.IGNORECASE)


@dataclass(frozen=True)
class CuteScene:
    """One failure to find neighbours for."""

    case: Case
    diagnosis: Diagnosis
    flow: SourceFlow
    text: str
    log: str

    @classmethod
    def of(cls, case: Case, source: str, diagnosis: Diagnosis, log: str) -> CuteScene:
        """Read the source and the failure."""
        text = f"{diagnosis.headline}\n{diagnosis.message}"
        if diagnosis.resource:
            text += f"\nout of resource: {diagnosis.resource}"
        return cls(case, diagnosis, SourceFlow.of(source, case.name), _ADVICE.sub("", text), log)

    @cached_property
    def constraints(self) -> Constraints:
        """What the message asks of a number."""
        return Constraints.read(self.text)

    @cached_property
    def values(self) -> dict[str, Any]:
        """Compile-time values: constexprs and arguments of the constructor."""
        return {**self.case.construct, **self.case.constexprs}

    @cached_property
    def types(self) -> dict[str, Argument]:
        """The types of the arguments."""
        return {name: parsed for name, text in self.case.signature.items() if (parsed := _parsed(text)) is not None}

    @property
    def tensors(self) -> Iterator[tuple[str, grammar.Tensor]]:
        """The arguments that are tensors."""
        yield from ((name, type_) for name, type_ in self.types.items() if isinstance(type_, grammar.Tensor))

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Lines of the case's file that the failure points at."""
        base = PurePosixPath(self.case.file).name
        location = self.diagnosis.source
        if location is not None and PurePosixPath(location.file).name == base:
            return (location.line,)
        frame = re.compile(_FRAME.replace("{file}", re.escape(base)))
        matches = frame.findall(f"{self.diagnosis.message}\n{self.log}")
        # Of a stack the frame that is entered last comes first.
        return tuple(dict.fromkeys(int(first or second) for first, second in matches))[:1]

    @cached_property
    def reach(self) -> dict[str, Reach]:
        """The parameters that the failing line depends on."""
        return self.flow.reach(self.lines or self._resource_lines)

    @property
    def _resource_lines(self) -> tuple[int, ...]:
        """Lines that ask for the resource that lacks: of allocations, or of the launch."""
        if self.diagnosis.kind is not Kind.OUT_OF_RESOURCES:
            return ()
        names = ("launch",) if "thread" in self.text else ("allocate_tensor", "allocate_array", "allocate")
        return tuple(call.lineno for call in calls(self.flow.tree, *names))

    @property
    def has_died(self) -> bool:
        """The process was killed by a signal."""
        return self.diagnosis.kind.has(Trait.GAVE_UP)

    @property
    def exhausted(self) -> bool:
        """Ran out of time or memory: only much less work will end."""
        return self.diagnosis.kind.has(Trait.EXHAUSTED)

    @property
    def over_limit(self) -> bool:
        """Too much of a resource of the target."""
        return self.diagnosis.kind is Kind.OUT_OF_RESOURCES or bool(_SHRINK.search(self.text))

    @property
    def required(self) -> int | None:
        """What was asked for of a resource; None where the message has no such numbers."""
        match = _NEEDED.search(self.text)
        return None if match is None else int(match[1] or match[3])

    @cached_property
    def share(self) -> float | None:
        """The limit as a share of what was asked for; None where the message has no such numbers."""
        match = _NEEDED.search(self.text)
        if match is None or not self.required:
            return None
        return int(match[2] or match[4]) / self.required

    @cached_property
    def about_types(self) -> bool:
        """The message speaks of element types."""
        return bool(_TYPES.search(self.text))


def _parsed(text: object) -> Argument | None:
    try:
        return grammar.parse(str(text))
    except BadType:
        return None
