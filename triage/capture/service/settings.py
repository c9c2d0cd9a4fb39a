"""The settings of the service that compiles for guarded programs."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_TIMEOUT_S = 600.0
"""A compile that takes ten minutes is slow; the guard must not fail what only is slow."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a guarded compile may use. ``memory_bytes``: None for the machine's default. ``knowledge``: folders with
    entries beside those that ship with triage."""

    timeout_s: float = DEFAULT_TIMEOUT_S
    memory_bytes: int | None = None
    jobs: int | None = None
    cache: bool = True
    knowledge: tuple[str, ...] = ()
