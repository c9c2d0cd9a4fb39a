"""triton-triage: what failed in a Triton compile, why, and which nearby configuration compiles and is still fast.

The public API is imported on first use, so that ``import triage`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage._version import __version__

if TYPE_CHECKING:
    from triage.api import check, diagnose, draft, match, sweep
    from triage.capture.live import early_config_prune, guard

    CompileFailed: type[Exception]

__all__ = [
    "CompileFailed",
    "__version__",
    "check",
    "diagnose",
    "draft",
    "early_config_prune",
    "guard",
    "match",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name in ("check", "diagnose", "draft", "match", "sweep"):
        from triage import api

        return getattr(api, name)
    if name in ("early_config_prune", "guard"):
        from triage.capture import live

        return getattr(live, name)
    if name == "CompileFailed":
        from triage.capture import live

        return live.compile_failed()
    if name in ("load_ipython_extension", "unload_ipython_extension"):
        from triage.integrations import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module 'triage' has no attribute {name!r}")
