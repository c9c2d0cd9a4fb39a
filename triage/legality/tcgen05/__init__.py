"""tcgen05.mma: the matrix instructions of datacenter Blackwell (10.x, 11.0), which accumulate in tensor memory.

PTX ISA, "TensorCore 5th Generation Family Instructions".
"""

from triage.legality.tcgen05.explain import RULE
from triage.legality.tcgen05.instruction import violations

__all__ = ["RULE", "violations"]
