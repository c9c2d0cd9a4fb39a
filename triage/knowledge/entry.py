"""Values of the knowledge base: an entry and its parts. ``knowledge_base/README.md`` describes the file format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from triage.model.compilers import COMPILERS, TRITON, Compiler

PLACEHOLDER = "WRITE:"
"""Begins the text of a draft that somebody must still write."""


@dataclass(frozen=True, slots=True)
class Symptoms:
    """The failures that an entry matches: every field that is not empty must hold.

    ``message`` and ``function`` hold if one of their texts occurs, the others if one of them is equal. In a text, ``…``
    is any text within the line. ``compiler``: those whose failures they are; Triton's if it is empty. The rest are
    conditions on the case or the machine: ``targets`` are prefixes of the target (``cuda:9``); ``triton``, ``cute``
    (CuTe DSL) and ``torch`` are ranges of releases (``<3.3``).
    """

    kind: tuple[str, ...] = ()
    function: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    message: tuple[str, ...] = ()
    pass_name: tuple[str, ...] = ()
    stage: tuple[str, ...] = ()
    exception: tuple[str, ...] = ()
    compiler: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    triton: str | None = None
    cute: str | None = None
    torch: str | None = None
    system: str | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Advice:
    """A change that was tried and its observed result. ``ran``: the release, target and tile it was tried on."""

    change: str
    observed: str
    ran: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One known failure; if ``generic``, a family of failures that have more than one cause.

    It matches by its ``symptoms``, or by one of ``alternatives``.

    ``next_steps`` are commands and questions that tell the members of the family apart. ``rewrites`` names the recipes
    (``triage/suggest/rewrites``) that fix a kernel's source.
    """

    id: str
    title: str
    cause: str
    rule: str
    symptoms: Symptoms
    evidence: str
    fixed_in: str | None = None
    upstream: tuple[str, ...] = ()
    reproducers: tuple[str, ...] = ()
    helps: tuple[Advice, ...] = ()
    does_not_help: tuple[Advice, ...] = ()
    rewrites: tuple[str, ...] = ()
    alternatives: tuple[Symptoms, ...] = ()
    generic: bool = False
    next_steps: tuple[str, ...] = ()

    @property
    def compiler(self) -> Compiler:
        """Whose releases the entry speaks of: the first compiler that it matches."""
        return COMPILERS[self.symptoms.compiler[0]] if self.symptoms.compiler else TRITON
