"""triton-triage: what failed in a Triton compile, why, and which nearby configuration compiles and is still fast.

The public API is imported on first use, so that ``import triage`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage._version import __version__

if TYPE_CHECKING:
    from triage.api import check, diagnose, match

__all__ = ["__version__", "check", "diagnose", "match"]


def __getattr__(name: str) -> Any:
    if name in ("check", "diagnose", "match"):
        from triage import api

        return getattr(api, name)
    raise AttributeError(f"module 'triage' has no attribute {name!r}")
