"""Changes of a case that is IR: options that a later stage reads. All else is compiled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from triage.model.case import Case, Language
from triage.model.releases import in_range
from triage.suggest.proposal import Move, Proposal

_BEFORE_LAYOUTS = frozenset({".source", ".ttir"})
_READ_FROM_TTGIR_ON = frozenset(
    {
        "num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "num_consumer_groups",
        "num_buffers_warp_spec", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint",
    }
)  # fmt: skip
"""By make_ttgir and what follows it, in some release (triton/backends/*/compiler.py); Triton's layouts, and with them
warps and clusters, are made there."""
_MAXNREG_IN_LLIR = "<3.5"
"""From 3.5 on the cap on registers is an attribute of the module, which stage ttgir sets."""


def applicable(case: Case, triton: str, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Those of the proposals that change what is left to compile, and what only later stages read."""
    ending = Path(case.file).suffix
    if ending == ".mlir":
        return
    if ending in _BEFORE_LAYOUTS and case.language is Language.TRITON:
        yield from (proposal for proposal in proposals if proposal.changes.keys() <= _READ_FROM_TTGIR_ON)
        return
    if ending == ".ttgir" and in_range(triton, _MAXNREG_IN_LLIR) and case.options.get("maxnreg") is not None:
        yield Proposal({"maxnreg": None}, Move.OPTION, 0.0, 1.0, "no cap on registers")
    fused = case.options.get("enable_fp_fusion", True)
    why = "without fused multiply-add" if fused else "with fused multiply-add"
    yield Proposal({"enable_fp_fusion": not fused}, Move.OPTION, 0.0, 2.0, why)
