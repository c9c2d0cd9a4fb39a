"""Targets as Triton spells them."""

from __future__ import annotations

import pytest

from triage.model.errors import InputError
from triage.model.target import Target


@pytest.mark.parametrize(
    ("text", "backend", "arch", "warp_size"),
    [
        ("cuda:90", "cuda", "90", 32),
        ("cuda:sm_90", "cuda", "90", 32),
        ("cuda:90a", "cuda", "90", 32),
        ("cuda:120", "cuda", "120", 32),
        (" cuda:80 ", "cuda", "80", 32),
        ("hip:gfx942", "hip", "gfx942", 64),
        ("hip:gfx90a", "hip", "gfx90a", 64),
        ("hip:gfx1100", "hip", "gfx1100", 32),
    ],
)
def test_spellings(text: str, backend: str, arch: str, warp_size: int) -> None:
    target = Target.parse(text)
    assert (target.backend, target.arch, target.warp_size) == (backend, arch, warp_size)
    assert Target.parse(str(target)) == target


@pytest.mark.parametrize(
    "text", ["", "cuda", "cuda:", "cuda:9", "cuda:9000", "hip:90", "hip:gfx", "rocm:gfx942", "cpu:x86"]
)
def test_what_is_none_is_told_how_to_write_one(text: str) -> None:
    with pytest.raises(InputError, match=r"write cuda:NN .* or hip:gfxNNN"):
        Target.parse(text)


def test_compute_capability() -> None:
    assert Target("cuda", "90").capability == 90
    assert Target("hip", "gfx942").capability is None
