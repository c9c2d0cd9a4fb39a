"""wgmma: the matrix instructions of a warpgroup on Hopper (sm_90a), their operands' layouts, and who waits for whom.

PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from triage.legality.wgmma.instruction import violations
from triage.legality.wgmma.rule import RULE

__all__ = ["RULE", "violations"]
