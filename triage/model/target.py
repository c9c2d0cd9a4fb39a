"""A compile target as Triton spells it: ``cuda:90``, ``hip:gfx942``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from triage.model.errors import InputError

_CUDA = re.compile(r"(\d{2,3})[af]?\Z")
_HIP = re.compile(r"gfx[0-9a-f]{3,5}\Z")


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """``backend`` is ``cuda`` or ``hip``; ``arch`` is the compute capability times ten, or the gfx name."""

    backend: str
    arch: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read ``cuda:90`` or ``hip:gfx942``. Raises InputError with the accepted spellings."""
        backend, _, arch = text.strip().partition(":")
        if backend == "cuda":
            arch = arch.removeprefix("sm_").removeprefix("sm")
            if match := _CUDA.match(arch):
                return cls("cuda", match.group(1))
        elif backend == "hip" and _HIP.match(arch):
            return cls("hip", arch)
        raise InputError(f"target {text!r}: write cuda:NN (cuda:80, cuda:90, cuda:100) or hip:gfxNNN (hip:gfx942)")

    @property
    def capability(self) -> int | None:
        """Compute capability times ten (90 for Hopper), None on AMD."""
        return int(self.arch) if self.backend == "cuda" else None

    @property
    def warp_size(self) -> int:
        """Threads a warp: 32 on NVIDIA and RDNA (gfx10 and later), 64 on CDNA and GCN (gfx9)."""
        return 64 if self.backend == "hip" and self.arch.startswith("gfx9") else 32

    def to_message(self) -> dict[str, str | int]:
        """As the worker reads it."""
        return {"backend": self.backend, "arch": self.arch, "warp_size": self.warp_size}

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"
