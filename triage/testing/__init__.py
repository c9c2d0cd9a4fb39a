"""What the pytest plugin does once it is asked to: guard a session, and compile for other GPUs and releases.

``compile_matrix`` is a ``CompileMatrix``, returns ``Compiled`` and raises ``DoesNotCompile``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.testing.matrix import Compiled, CompileMatrix, DoesNotCompile

__all__ = ["CompileMatrix", "Compiled", "DoesNotCompile"]


def __getattr__(name: str) -> Any:
    # Every session of pytest loads the plugin; what that loads here shall cost nothing.
    if name in __all__:
        from triage.testing import matrix

        return getattr(matrix, name)
    raise AttributeError(f"module 'triage.testing' has no attribute {name!r}")
