"""``mma.sync``: which tensor-core instructions of one warp there are, and who holds which element."""

from triage.legality.mma.check import violations
from triage.legality.mma.explain import RULE

__all__ = ["RULE", "violations"]
