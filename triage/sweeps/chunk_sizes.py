"""How many configurations a chunk has; pure."""

from __future__ import annotations

from dataclasses import dataclass

LEAST, MOST = 4, 64
"""With a second for each configuration a chunk lasts a minute at the most, which is what a lost worker costs; with
fewer than the least, the engine's 5 ms for a chunk would count."""
_PARTS = 4
"""Chunks for each worker of what is left: so the last ones are small, and no worker waits long for another."""
_ROUNDS = 16
"""Chunks for each worker of a strategy that chooses by results, in the whole: what is under way, it does not know."""


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """``cells``: how many are compiled at the most. ``learning``: later cells are chosen by the results of others."""

    cells: int
    learning: bool = False

    def size(self, submitted: int, workers: int) -> int:
        """That of the next chunk."""
        if self.learning:
            return max(1, min(self.cells // (_ROUNDS * workers), MOST))
        left = max(0, self.cells - submitted)
        return max(1, min(max(LEAST, -(-left // (_PARTS * workers))), MOST, -(-left // workers)))
