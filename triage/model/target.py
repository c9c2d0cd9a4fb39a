"""A compile target as Triton spells it: ``cuda:90``, ``hip:gfx942``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from triage.model import gpus
from triage.model.errors import InputError

_CUDA = re.compile(r"(\d{2,3})[af]?\Z")
_HIP = re.compile(r"gfx\d{1,3}[0-9a-f]{2}\Z")


DEFAULT_TARGET = "cuda:90"
"""Where neither the user nor a source says which."""


class UnknownArchitecture(InputError):
    """A target that is spelled as one and cannot exist."""


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """``backend`` is ``cuda`` or ``hip``; ``arch`` is the compute capability times ten, or the gfx name."""

    backend: str
    arch: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read ``cuda:90`` or ``hip:gfx942``.

        Raises InputError for another spelling, with the accepted ones; UnknownArchitecture for one that is not in the
        table of ``gpus`` and cannot be newer than it (``gpus.is_newer``), with its neighbours there. One that may be
        newer is accepted; ``caveat`` says what that means.
        """
        backend, _, arch = text.strip().partition(":")
        if backend == "cuda":
            match = _CUDA.match(arch.removeprefix("sm_").removeprefix("sm"))
            arch = match.group(1) if match else ""
        elif backend != "hip" or not _HIP.match(arch):
            arch = ""
        if not arch:
            raise InputError(
                f"target {text!r:.80}: write cuda:NN (cuda:80, cuda:90, cuda:100) or hip:gfxNNN (hip:gfx942)"
            )
        target = cls(backend, arch)
        if target.gpu is None and not gpus.is_newer(backend, arch):
            near = " and ".join(map(str, gpus.neighbours(backend, arch)))
            raise UnknownArchitecture(
                f"target {text!r:.80}: not a GPU architecture that Triton compiles for; next to it: {near}"
            )
        return target

    @property
    def gpu(self) -> gpus.Architecture | None:
        """The facts of the architecture, None where the table does not have it."""
        return gpus.architecture(self.backend, self.arch)

    @property
    def caveat(self) -> str | None:
        """One line about a target that is newer than the table of architectures, None for any other."""
        if self.gpu is not None or not gpus.is_newer(self.backend, self.arch):
            return None
        return (
            f"{self} is newer than every architecture that this version of triage knows (up to "
            f"{gpus.newest(self.backend)}): its limits are not checked"
        )

    @property
    def capability(self) -> int | None:
        """Compute capability times ten (90 for Hopper), None on AMD."""
        return int(self.arch) if self.backend == "cuda" else None

    @property
    def warp_size(self) -> int:
        """Threads a warp; 32 for an architecture that the table does not have, as on all newer ones of both vendors."""
        return self.gpu.warp_size if self.gpu is not None else 32

    def to_message(self) -> dict[str, str | int]:
        """As the worker reads it."""
        return {"backend": self.backend, "arch": self.arch, "warp_size": self.warp_size}

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"
