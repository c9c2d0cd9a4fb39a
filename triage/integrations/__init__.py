"""triage inside other tools: the pytest plugin, the ``compile_matrix`` fixture, notebooks.

``compile_matrix`` is a ``CompileMatrix``, returns ``Compiled`` and raises ``DoesNotCompile``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.integrations.compile_matrix import Compiled, CompileMatrix, DoesNotCompile

__all__ = ["CompileMatrix", "Compiled", "DoesNotCompile"]


def __getattr__(name: str) -> Any:
    # Imported lazily, because every session of pytest loads this package with the plugin.
    if name in __all__:
        from triage.integrations import compile_matrix as matrix

        return getattr(matrix, name)
    raise AttributeError(f"module 'triage.integrations' has no attribute {name!r}")
