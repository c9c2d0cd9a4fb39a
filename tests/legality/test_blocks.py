"""Launches by their dimensions: blocks, clusters, grids, shared memory, named barriers."""

from __future__ import annotations

from typing import Any

import pytest

from triage.legality import blocks
from triage.model.target import Target

H100 = Target("cuda", "90")


@pytest.mark.parametrize(
    ("launch", "rules"),
    [
        ({"block": (128, 1, 1)}, []),
        ({"block": (1024, 1, 1), "cluster": (2, 1, 1), "grid": (4, 1, 1), "shared_bytes": 232448}, []),
        ({"block": (16, 16, 4), "cluster": (4, 4, 1)}, []),
        ({"block": (0, 1, 1)}, ["launch.block"]),
        ({"block": (1536, 1, 1)}, ["launch.block", "launch.threads"]),
        ({"block": (1, 1, 128)}, ["launch.block"]),
        ({"block": (32, 32, 2)}, ["launch.threads"]),
        ({"block": (128,)}, ["launch.block"]),
        ({"cluster": (2, 1)}, ["launch.cluster"]),
        ({"cluster": (0, 1, 1)}, ["launch.cluster"]),
        ({"cluster": (32, 1, 1)}, ["launch.cluster-blocks"]),
        ({"cluster": (2, 1, 1), "grid": (3, 1, 1)}, ["launch.grid-cluster"]),
        ({"grid": (1, 65536, 1)}, ["launch.grid"]),
        ({"grid": (1, 1, 1, 1)}, ["launch.grid"]),
        ({"shared_bytes": 300 * 1024}, ["launch.shared-bytes"]),
    ],
    ids=str,
)
def test_launches_on_hopper(launch: dict[str, Any], rules: list[str]) -> None:
    assert [violation.rule for violation in blocks.violations(H100, **launch)] == rules


def test_limits_are_those_of_the_target() -> None:
    for capability, most in (("80", 163), ("86", 99), ("90", 227), ("100", 227), ("120", 99)):
        target = Target("cuda", capability)
        assert blocks.violations(target, shared_bytes=most * 1024) == []
        [violation] = blocks.violations(target, shared_bytes=most * 1024 + 1)
        assert violation.allowed == (most * 1024,)
    [violation] = blocks.violations(Target("cuda", "80"), cluster=(2, 1, 1))
    assert violation.allowed == ((1, 1, 1),)


def test_named_barriers() -> None:
    assert [barrier for barrier in range(-1, 100) if blocks.barrier_violations(barrier=barrier) == []] == list(
        range(16)
    )
    legal = [threads for threads in range(-32, 1100) if blocks.barrier_violations(threads=threads) == []]
    assert legal == list(range(32, 1025, 32))
