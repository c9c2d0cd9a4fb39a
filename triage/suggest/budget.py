"""How much a search for neighbours may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Compiles and seconds, whichever is used up first; and how many neighbours that lose nothing are enough."""

    compiles: int = 48
    seconds: float = 90.0
    enough: int = 4
