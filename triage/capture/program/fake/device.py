"""The emulated GPU, as described by ``triage run``."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Tuple, Union


class Device:
    """One GPU model of the target's architecture. ``arch`` is the compute capability times ten, or the gfx name."""

    def __init__(self, description: Dict[str, Any]) -> None:
        self.backend: str = description["backend"]
        self.arch: Union[int, str] = description["arch"]
        self.warp_size: int = description["warp_size"]
        self.name: str = description["name"]
        self.shared_bytes: int = description["shared_bytes"]
        self.shared_bytes_multiprocessor: int = description["shared_bytes_multiprocessor"]
        self.threads: int = description["threads"]
        self.warps: int = description["warps"]
        self.multiprocessors: int = description["multiprocessors"]
        self.memory_bytes: int = description["memory_bytes"]

    @property
    def capability(self) -> Tuple[int, int]:
        """(major, minor); for AMD as torch reports it: gfx942 is (9, 4) and gfx1100 (11, 0)."""
        if isinstance(self.arch, int):
            return divmod(self.arch, 10)
        digits = self.arch[3:]
        return int(digits[:-2]), int(digits[-2], 16)


def described() -> Device:
    """The device of this run. Raises KeyError and ValueError if triage described none."""
    return Device(json.loads(os.environ["TRITON_TRIAGE_DEVICE"]))
