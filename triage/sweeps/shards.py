"""A part of a space for one of several machines, without any engine between them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

from triage.model.errors import InputError
from triage.sweeps.grid import Grid, cells_of, set_of
from triage.sweeps.space import Space

_TEXT = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The part ``number``, from 1, of ``count``."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``I/N``. Raises InputError."""
        match = _TEXT.fullmatch(text.strip())
        number, count = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= count:
            raise InputError(f"--shard {text}: write I/N, the part I of N from 1 on, as in --shard 3/8")
        return cls(number, count)

    def part(self, space: Space) -> Grid:
        """The grid with the cells of this part: by a hash of their values, so that parts are of like cost, and a cell
        stays in its part when others are added."""
        grid = space.grid
        return Grid(grid.axes, set_of(cell for cell in cells_of(grid.allowed) if self._has(grid.values(cell))))

    def _has(self, values: dict[str, object]) -> bool:
        digest = hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"
