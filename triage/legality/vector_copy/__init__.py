"""Vector copies: bits that a thread moves at once, by contiguity and alignment.

``tile`` judges plain tiles, ``tiled`` the tiled copies of CuTe.
"""

from triage.legality.vector_copy.rule import RULE
from triage.legality.vector_copy.tile import CopySide, alignment_bits, run, violations, widest, widths

__all__ = ["RULE", "CopySide", "alignment_bits", "run", "violations", "widest", "widths"]
