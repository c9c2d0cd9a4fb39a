"""The emulated GPU, as described by ``triage run``."""

import json
import os
from dataclasses import dataclass
from typing import Tuple, Union


@dataclass(frozen=True)
class FakeDevice:
    """One GPU model of the target's architecture. ``arch`` is the compute capability times ten, or the gfx name."""

    backend: str
    arch: Union[int, str]
    warp_size: int
    name: str
    shared_bytes: int
    shared_bytes_multiprocessor: int
    threads: int
    warps: int
    multiprocessors: int
    memory_bytes: int

    @property
    def capability(self) -> Tuple[int, int]:
        """(major, minor); for AMD as torch reports it: gfx942 is (9, 4) and gfx1100 (11, 0)."""
        if isinstance(self.arch, int):
            return divmod(self.arch, 10)
        digits = self.arch[3:]
        return int(digits[:-2]), int(digits[-2], 16)


def described() -> FakeDevice:
    """The device of this run. Raises KeyError if triage described none."""
    return FakeDevice(**json.loads(os.environ["TRITON_TRIAGE_DEVICE"]))
