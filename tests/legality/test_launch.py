"""Warps, threads and clusters of a launch."""

from __future__ import annotations

import pytest

from triage.legality import launch
from triage.model.target import Target


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100"])
def test_warps_are_powers_of_two_up_to_1024_threads(target: str) -> None:
    parsed = Target.parse(target)
    for warps in range(70):
        legal = warps > 0 and warps & (warps - 1) == 0 and warps * parsed.warp_size <= 1024
        assert (launch.violations(parsed, num_warps=warps) == []) == legal


def test_the_nearest_is_named() -> None:
    [violation] = launch.violations(Target("cuda", "90"), num_warps=6)
    assert (violation.rule, violation.given, violation.nearest) == ("launch.num-warps", 6, (8, 4))
    [violation] = launch.violations(Target("hip", "gfx942"), num_warps=32)
    assert violation.nearest == (16,)
    [violation] = launch.violations(Target("cuda", "80"), num_ctas=2)
    assert (violation.rule, violation.allowed) == ("launch.num-ctas", (1,))
