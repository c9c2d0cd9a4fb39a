"""What a text or a case shows of the machine on which something failed."""

from __future__ import annotations

from dataclasses import dataclass

SYSTEMS = ("linux", "windows")


@dataclass(frozen=True, slots=True)
class Setting:
    """The releases, the GPUs and the system of a failure. None, or empty: unknown. ``cute`` is CuTe DSL's release.

    ``targets`` are written as a case's: ``cuda:90``, ``hip:gfx942``. A text may name several. ``system`` is one of
    ``SYSTEMS``.
    """

    triton: str | None = None
    torch: str | None = None
    targets: tuple[str, ...] = ()
    system: str | None = None
    cute: str | None = None


UNKNOWN_SETTING = Setting()
