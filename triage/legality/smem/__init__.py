"""Shared memory (LDS) of a staged matmul: estimated before anything is compiled, and compared with the limit."""

from triage.legality.smem.allocated import arithmetic, buffers
from triage.legality.smem.estimate import Estimate, estimate, largest_tiles, stages_that_fit, violations, violations_of
from triage.legality.smem.model import MemoryPart
from triage.legality.smem.rule import RULE

__all__ = [
    "RULE",
    "Estimate",
    "MemoryPart",
    "arithmetic",
    "buffers",
    "estimate",
    "largest_tiles",
    "stages_that_fit",
    "violations",
    "violations_of",
]
