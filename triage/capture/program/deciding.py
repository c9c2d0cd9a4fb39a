"""Environment variables of this process that change what a compile produces."""

from __future__ import annotations

import os
from typing import Dict

_DECIDES = ("TRITON_", "MLIR_", "LLVM_", "DISABLE_", "PTXAS_", "USE_IR_LOC", "USE_TTGIR_LOC", "NVPTX_", "AMDGCN_")
_DECIDES_NOT = ("TRITON_TRIAGE_", "TRITON_CACHE_DIR", "TRITON_HOME")
"""Triage's own variables, and locations: tests with separate caches shall share a service."""


def variables() -> Dict[str, str]:
    """Name and value of each, sorted."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(_DECIDES) and not name.startswith(_DECIDES_NOT)
    }
