"""The fp8 types that Triton's front end accepts, by target and release.

Up to 3.1 only fp8e4nv is held back, and only where it is used (dot and casts); from 3.2 on a type that is not among
the backend's ``supported_fp8_dtypes`` cannot even be named in a signature (``dtype.to_ir``, language/core.py).
"""

from triage.legality.release import Series
from triage.model.target import Target

SOURCE = "triton/backends/{nvidia,amd}/compiler.py: supported_fp8_dtypes; triton/language/core.py: dtype.to_ir"
NAMES = ("e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e4m3b15")
"""Triton's fp8e4nv, fp8e5, fp8e4b8, fp8e5b16 and fp8e4b15, as dtypes.py calls them."""


def supported(target: Target, release: Series) -> frozenset[str]:
    """The fp8 types that a kernel for this target may name, of ``NAMES``."""
    if release < (3, 2):
        return frozenset(NAMES)
    if target.capability is not None:
        return frozenset({"e5m2", "e4m3b15", *_native(target)})
    if release >= (3, 5):
        return frozenset({"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
    names = {"e5m2"}
    if "e4m3fnuz" in _native(target):
        names |= {"e4m3fnuz", "e5m2fnuz"}
        if release >= (3, 3):
            names.add("e4m3")
    elif "e4m3" in _native(target) and release >= ((3, 3) if target.arch == "gfx950" else (3, 4)):
        names.add("e4m3")
    return frozenset(names)


def _native(target: Target) -> tuple[str, ...]:
    """The fp8 types of the hardware; of a target that the table does not have, those of all newer ones."""
    return target.gpu.fp8 if target.gpu is not None else ("e4m3", "e5m2")
