"""One entry of the knowledge base as a value. ``knowledge_base/README.md`` describes the file format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Symptoms:
    """What an entry matches. Every field that is given must hold; ``message`` and ``function`` hold when one of
    their texts occurs. ``targets`` are prefixes of the target (``cuda:9``), ``triton`` is a range (``<3.3``)."""

    kind: tuple[str, ...] = ()
    function: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    message: tuple[str, ...] = ()
    pass_name: tuple[str, ...] = ()
    stage: tuple[str, ...] = ()
    exception: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    triton: str | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that was tried: the change, and what was observed. ``ran`` says on what."""

    change: str
    observed: str
    ran: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One known failure. ``rewrites`` names the recipes (``triage/suggest/rewrites``) that repair a kernel's source."""

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
