"""Which Triton compiles a case: the one beside triage, a user's own environment, or one that triage manages.

Understand this before changing anything here: a toolchain is only ever *inspected* from outside. Its interpreter is
started with a script that locates Triton's folder without importing it, and everything else (version, identity, ptxas)
is read from that folder's files. Only a worker imports Triton.

A managed environment is complete exactly when its marker file exists; see :mod:`.managed`.
"""

from triage.filesystem.cache import cache_root
from triage.harness.toolchains.model import Toolchain
from triage.harness.toolchains.toolchains import Toolchains

__all__ = ["Toolchain", "Toolchains", "cache_root"]
