"""What compiles and is known to compute wrong results is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.model.case import Case, frozen
from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.target import Target
from triage.suggest.cautions import caution

SPECIALIZED = Resources(0, 168, 0, TensorCore.WGMMA, threads=384, warp_specialized=True)
PLAIN = Resources(0, 168, 0, TensorCore.WGMMA, threads=128)


@pytest.mark.parametrize(
    ("store", "triton", "target", "resources", "said"),
    [
        ("tl.store(p, x)", "3.6.0", "cuda:90", SPECIALIZED, True),
        ("c_desc.store([0, 0], x)", "3.6.0", "cuda:90", SPECIALIZED, False),
        ("tl.store(p, x)", "3.6.0", "cuda:90", PLAIN, False),
        ("tl.store(p, x)", "3.9.0", "cuda:90", SPECIALIZED, False),
        ("tl.store(p, x)", "3.6.0", "cuda:100", SPECIALIZED, False),
    ],
)
def test_a_warp_specialized_store_through_pointers(
    tmp_path: Path, store: str, triton: str, target: str, resources: Resources, said: bool
) -> None:
    (tmp_path / "kernel.py").write_text(store)
    case = Case(tmp_path, "kernel.py", "k", frozen(), target=Target.parse(target))
    assert bool(caution(case, triton, resources)) == said
