"""Compiled neighbours that were seen to compute wrong results on hardware."""

import re

from triage.model.case import Case
from triage.model.outcome import Resources
from triage.model.releases import in_range

_POINTER_STORE = re.compile(r"\btl\.store\(")


def caution(case: Case, triton: str, resources: Resources) -> str:
    """One sentence for a compiled neighbour that was seen to compute wrong results on hardware, "" for others.

    Measured with Triton 3.6.0 on an H200: warp-specialized matmuls of fp16 and fp32 with 128 rows a block, which the
    compiler splits over two warp groups, leave half of the tile unwritten when they store through pointers; with a
    descriptor store, or with 64 rows, they are right.
    """
    specialized = in_range(triton, ">=3.6,<3.7") and str(case.target) == "cuda:90" and resources.warp_specialized
    if specialized and _POINTER_STORE.search(case.text()):
        return (
            "Triton 3.6 was seen to leave half of a 128-row tile unwritten when a warp-specialized kernel stores it "
            "through pointers (H200): compare the results, or store through a descriptor"
        )
    return ""
