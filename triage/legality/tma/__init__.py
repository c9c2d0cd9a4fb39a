"""TMA: tensor maps, the bulk tensor copies that use them, and the tensor descriptors that Triton makes of them.

CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors" and "cp.async.bulk.tensor".
"""

from triage.legality.tma.explain import RULE
from triage.legality.tma.strided import strided_violations
from triage.legality.tma.tensor_map import violations

__all__ = ["RULE", "strided_violations", "violations"]
