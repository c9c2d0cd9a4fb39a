"""Targets as Triton spells them."""

from __future__ import annotations

import pytest

from triage.model.errors import InputError
from triage.model.gpus import newest
from triage.model.progress import Progress
from triage.model.target import Target, UnknownArchitecture


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


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("cuda:91", "cuda:90 and cuda:100"),
        ("cuda:61", "cuda:70"),
        ("cuda:999", str(newest("cuda"))),
        ("hip:gfx943", "hip:gfx942 and hip:gfx950"),
        ("hip:gfx803", "hip:gfx900"),
        ("hip:gfx9999", str(newest("hip"))),
    ],
)
def test_an_architecture_that_cannot_exist_is_refused(text: str, near: str) -> None:
    with pytest.raises(UnknownArchitecture) as raised:
        Target.parse(text)
    assert str(raised.value).endswith(f"next to it: {near}")


@pytest.mark.parametrize("text", ["cuda:160", "cuda:169", "hip:gfx1600", "hip:gfx16ff"])
def test_a_newer_architecture_is_accepted_with_a_caveat(text: str) -> None:
    target = Target.parse(text)
    caveat = target.caveat
    assert caveat is not None and caveat.startswith(f"{target} is newer than ")
    assert (target.gpu, target.warp_size) == (None, 32)
    lines: list[str] = []
    Progress(warn=lines.append).caveats([target, Target.parse("cuda:90"), target])
    assert lines == [caveat]


def test_compute_capability() -> None:
    assert Target("cuda", "90").capability == 90
    assert Target("hip", "gfx942").capability is None
