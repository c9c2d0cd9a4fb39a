"""Shared input of all generators: the case, its parsed source and the evidence of its failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.gpus import MAX_THREADS
from triage.source import parameters as kernel_source
from triage.source.parameters import KernelSource
from triage.suggest import evidence as evidence_module
from triage.suggest.configuration import Configuration
from triage.suggest.evidence import Evidence
from triage.suggest.layout_fit import refit


@dataclass(frozen=True)
class Scene:
    """One failure to find neighbours for."""

    case: Case
    diagnosis: Diagnosis
    source: KernelSource
    evidence: Evidence

    @classmethod
    def of(cls, case: Case, source: str, diagnosis: Diagnosis, log: str) -> Scene:
        """Read the source and the failure."""
        return cls(case, diagnosis, kernel_source.read(source, case.name), evidence_module.read(case, diagnosis, log))

    @cached_property
    def configuration(self) -> Configuration:
        """The failing configuration."""
        return Configuration.of(self.case, self.source)

    def with_layouts(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Changes, together with every layout that must follow them."""
        return refit(dict(changes), self.configuration, Configuration.of(self.case, self.source, changes))

    @cached_property
    def guards(self) -> frozenset[str]:
        """Parameters that decide whether a failing line is compiled."""
        return frozenset().union(*(self.source.guards(line) for line in self.evidence.lines))

    @cached_property
    def on_lines(self) -> frozenset[str]:
        """Parameters used on a failing line."""
        return frozenset().union(*(self.source.names_on(line) for line in self.evidence.lines))

    @property
    def max_warps(self) -> int:
        """Warps of the largest block."""
        return MAX_THREADS // self.case.target.warp_size
