"""The GPU that the program is shown, as ``triage run`` has described it."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Tuple, Union


class Device:
    """One part of the target's architecture. ``arch`` is the compute capability times ten, or the gfx name."""

    def __init__(self, given: Dict[str, Any]) -> None:
        self.backend: str = given["backend"]
        self.arch: Union[int, str] = given["arch"]
        self.warp_size: int = given["warp_size"]
        self.name: str = given["name"]
        self.shared_bytes: int = given["shared_bytes"]
        self.shared_bytes_multiprocessor: int = given["shared_bytes_multiprocessor"]
        self.threads: int = given["threads"]
        self.warps: int = given["warps"]
        self.multiprocessors: int = given["multiprocessors"]
        self.memory_bytes: int = given["memory_bytes"]

    @property
    def capability(self) -> Tuple[int, int]:
        """(major, minor); of AMD's as torch has it, gfx942 is (9, 4) and gfx1100 (11, 0)."""
        if isinstance(self.arch, int):
            return divmod(self.arch, 10)
        digits = self.arch[3:]
        return int(digits[:-2]), int(digits[-2], 16)


def described() -> Device:
    """The device of this run. Raises KeyError and ValueError where triage has described none."""
    return Device(json.loads(os.environ["TRITON_TRIAGE_DEVICE"]))
