"""Every rule by name. Modules are imported when their rule is asked for."""

import importlib
from typing import Any

from triage.legality.rule import LegalityRule

_MODULES = {
    "launch": "triage.legality.launch",
    "smem": "triage.legality.smem",
    "registers": "triage.legality.registers",
    "occupancy": "triage.legality.occupancy",
    "wgmma": "triage.legality.wgmma",
    "mma": "triage.legality.mma",
    "mma-operation": "triage.legality.mma.operations",
    "ldmatrix": "triage.legality.ldmatrix",
    "stmatrix": "triage.legality.stmatrix",
    "cp-async": "triage.legality.vector_copy.asynchronous",
    "vector-copy": "triage.legality.vector_copy",
    "tcgen05": "triage.legality.tcgen05",
    "tmem": "triage.legality.tmem",
    "tma": "triage.legality.tma",
    "tiling": "triage.legality.tiling",
    "mfma": "triage.legality.amd.mfma",
    "wmma": "triage.legality.amd.wmma",
    "dot": "triage.legality.dot",
    "language": "triage.legality.language",
    "dtype": "triage.legality.dtype_support",
}
"""Where each rule's ``RULE`` is, in the order in which the list shows them."""


def names() -> tuple[str, ...]:
    """All rules."""
    return tuple(_MODULES)


def rule(name: str) -> LegalityRule:
    """A rule by name. Raises KeyError."""
    module: Any = importlib.import_module(_MODULES[name])
    value = module.RULE
    assert isinstance(value, LegalityRule)
    return value
