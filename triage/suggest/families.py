"""What is proposed for a failing case, by the family of its front end: configurations, rewrites, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Protocol

from triage.frontends.frontend import Family
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.suggest import neighbours
from triage.suggest.cute import copies as cute_copies
from triage.suggest.cute import neighbours as cute_neighbours
from triage.suggest.cute.effects import effects as cute_effects
from triage.suggest.cute.scene import CuteScene
from triage.suggest.neighbour import Neighbour, as_configuration, configuration
from triage.suggest.proposal import Proposal
from triage.suggest.rewrites import cute, registry
from triage.suggest.rewrites.recipe import Rewritten
from triage.suggest.scene import Scene


@dataclass(frozen=True, slots=True)
class SearchedCase:
    """A failed compile. ``source``: the text of the kernel's file, "" for IR. ``log``: what the compiler printed."""

    case: Case
    toolchain: Toolchain
    source: str
    diagnosis: Diagnosis
    log: str


class Proposers(Protocol):
    """Everything that is proposed for one failure, likeliest first; nothing is compiled here.

    ``before_releases``: configurations that are tried before other releases, which start a server of their own each.
    ``most_further``: what is tried on top of a neighbour that fixes the first of two failures; 0 where a compile names
    all that it refuses, or the compiler's message does not tell one failure from the next.
    """

    before_releases: ClassVar[int]
    most_rewrites: ClassVar[int]
    most_further: ClassVar[int]

    def proposals(self) -> Iterator[Proposal]:
        """Changes of the configuration."""
        ...

    def neighbour(self, proposal: Proposal) -> Neighbour:
        """The neighbour that compiles a proposal."""
        ...

    def rewrites(self, named: Iterable[str]) -> Iterator[Rewritten]:
        """Rewritten sources. ``named``: the recipes that entries of the knowledge base name."""
        ...

    def unhelpful(self) -> Iterator[str]:
        """Changes that legality rules refuse, in sentences that save the user the attempts."""
        ...


@dataclass(frozen=True)
class TritonProposers:
    """Of Triton and Gluon: launch options, tiles, layouts."""

    before_releases: ClassVar[int] = 3
    most_rewrites: ClassVar[int] = 3
    most_further: ClassVar[int] = 0
    failure: SearchedCase

    @cached_property
    def _scene(self) -> Scene:
        failure = self.failure
        return Scene.of(failure.case, failure.source, failure.diagnosis, failure.log)

    def proposals(self) -> Iterator[Proposal]:
        """See :class:`Proposers`."""
        failure = self.failure
        return neighbours.neighbours(failure.case, failure.source, failure.diagnosis, failure.log)

    def neighbour(self, proposal: Proposal) -> Neighbour:
        """See :class:`Proposers`."""
        return configuration(self.failure.case, self.failure.toolchain, self._scene.source, proposal)

    def rewrites(self, named: Iterable[str]) -> Iterator[Rewritten]:
        """See :class:`Proposers`."""
        return registry.rewrites(self.failure.case, self._scene, named)

    def unhelpful(self) -> Iterator[str]:
        """See :class:`Proposers`."""
        yield from ()


@dataclass(frozen=True)
class CuteProposers:
    """Of CuTe DSL: compile-time values, argument types, copies, architectures."""

    before_releases: ClassVar[int] = 6
    most_rewrites: ClassVar[int] = 4
    most_further: ClassVar[int] = 8
    failure: SearchedCase

    @cached_property
    def _scene(self) -> CuteScene:
        failure = self.failure
        return CuteScene.of(failure.case, failure.source, failure.diagnosis, failure.log)

    def proposals(self) -> Iterator[Proposal]:
        """See :class:`Proposers`."""
        return cute_neighbours.neighbours(self._scene)

    def neighbour(self, proposal: Proposal) -> Neighbour:
        """See :class:`Proposers`."""
        failure, changes = self.failure, proposal.changes
        meant = cute_effects(failure.case, self._scene.flow, changes)
        return as_configuration(failure.case, failure.toolchain, proposal, changes, meant)

    def rewrites(self, named: Iterable[str]) -> Iterator[Rewritten]:
        """See :class:`Proposers`."""
        return cute.rewrites(self.failure.source, self._scene, self.failure.toolchain.release, named)

    def unhelpful(self) -> Iterator[str]:
        """See :class:`Proposers`."""
        return cute_copies.unhelpful(self._scene)


FAMILIES: Mapping[Family, Callable[[SearchedCase], Proposers]] = MappingProxyType(
    {Family.TRITON: TritonProposers, Family.CUTE: CuteProposers}
)
