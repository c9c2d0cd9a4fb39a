"""How much a search for neighbours may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Compiles and seconds, whichever is used up first. ``enough`` neighbours that lose nothing end the search, and
    a single one does after ``settled`` compiles: what is tried later is farther away."""

    compiles: int = 48
    seconds: float = 90.0
    enough: int = 4
    settled: int = 16
