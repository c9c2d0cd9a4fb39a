"""What a kernel asks of the compiler that the target may have or not, and what became of it. Pure functions of text.

The lines are sent as they are: triage reads them (``triage/performance/drawbacks.py``)."""

import re
from typing import Any, Dict, List, Mapping

_ASKED = re.compile(r"\btt\.(?:dot|dot_scaled|warp_specialize)\b.*")
_PRODUCT = re.compile(r"\btt\.dot\b.*")
_BLOCK_SCALED = re.compile(r"\.block_scale\b|\bv_(?:mfma|wmma)_(?:ld_)?scale")
"""In PTX (mma, tcgen05.mma), and in AMD's assembly (gfx950, gfx1250)."""
_MOST_LINES, _MOST_CHARACTERS = 64, 1000
"""Distinct lines, and characters of one; an attention kernel has four, of 200."""


def read(assembly: Mapping[str, Any]) -> Dict[str, Any]:
    """``asked``: matrix products and requests in TTIR; ``products``: those left in TTGIR as such, with the layout that
    was chosen; ``block_scaled``: whether the assembly has an instruction that scales blocks;
    ``indexed``: arrays in local memory, which tiles have none of."""
    binary = assembly.get("ptx", "") or assembly.get("amdgcn", "")
    return {
        "asked": _lines(_ASKED, assembly.get("ttir", "")),
        "products": _lines(_PRODUCT, assembly.get("ttgir", "")),
        "block_scaled": _BLOCK_SCALED.search(binary) is not None,
        "indexed": None,
    }


def _lines(pattern: Any, text: str) -> List[str]:
    """Distinct matches, without the names of values and the positions in the source."""
    seen: Dict[str, None] = {}
    for match in pattern.finditer(text):
        line = re.sub(r"%[\w#]+", "%", match.group().partition(" loc(")[0])
        seen[line[:_MOST_CHARACTERS]] = None
        if len(seen) == _MOST_LINES:
            break
    return list(seen)
