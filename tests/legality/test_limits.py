"""The limits table: numbers as the vendors print them, and the order in which a launch meets them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.legality.limits import OverLimit, limits, over_limit
from triage.model.target import Target

SHARED = {
    "cuda:70": 98304,
    "cuda:72": 98304,
    "cuda:75": 65536,
    "cuda:80": 166912,
    "cuda:86": 101376,
    "cuda:87": 166912,
    "cuda:89": 101376,
    "cuda:90": 232448,
    "cuda:100": 232448,
    "cuda:101": 232448,
    "cuda:103": 232448,
    "cuda:110": 232448,
    "cuda:120": 101376,
    "cuda:121": 101376,
    "hip:gfx906": 65536,
    "hip:gfx90a": 65536,
    "hip:gfx942": 65536,
    "hip:gfx950": 163840,
    "hip:gfx1030": 65536,
    "hip:gfx1100": 65536,
    "hip:gfx1201": 65536,
    "hip:gfx1250": 327680,
}
TENSOR_MEMORY = {"cuda:100", "cuda:101", "cuda:103", "cuda:110"}
CLUSTERS = dict.fromkeys([*TENSOR_MEMORY, "cuda:90"], 16) | {"cuda:120": 8, "cuda:121": 8}

targets = st.sampled_from(sorted(SHARED)).map(Target.parse)


@pytest.mark.parametrize(("text", "expected"), SHARED.items())
def test_shared_memory_of_a_block(text: str, expected: int) -> None:
    row = limits(Target.parse(text))
    assert row is not None
    assert row.shared_bytes == expected
    assert row.source


@pytest.mark.parametrize("text", SHARED)
def test_tensor_memory_and_clusters(text: str) -> None:
    row = limits(Target.parse(text))
    assert row is not None
    assert row.tensor_memory_columns == (512 if text in TENSOR_MEMORY else 0)
    assert row.cluster_blocks == CLUSTERS.get(text, 1)


def test_an_unknown_target_is_never_judged() -> None:
    assert limits(Target("cuda", "999")) is None
    assert over_limit(Target("cuda", "999"), shared_bytes=1 << 40) is None


@pytest.mark.parametrize(
    ("target", "asked", "resource"),
    [
        ("cuda:86", {"shared_bytes": 131072, "threads": 256}, "shared memory"),
        ("cuda:100", {"tensor_memory_columns": 1024}, "tensor memory"),
        ("cuda:90", {"tensor_memory_columns": 32}, "tensor memory"),
        ("cuda:90", {"threads": 2048}, "threads"),
        ("hip:gfx942", {"threads": 32 * 64}, "threads"),
        ("cuda:90", {"num_ctas": 32}, "cluster blocks"),
        ("cuda:80", {"num_ctas": 2}, "cluster blocks"),
        ("cuda:86", {"shared_bytes": 131072, "threads": 4096}, "shared memory"),
    ],
)
def test_the_resource_is_named_as_triton_names_it(target: str, asked: dict[str, int], resource: str) -> None:
    found = over_limit(Target.parse(target), **asked)
    assert found is not None
    assert found.resource == resource
    assert found.required > found.limit
    assert str(found.required) in str(found)


def test_the_a100_configuration_on_an_a10() -> None:
    assert over_limit(Target.parse("cuda:86"), 131072, 256) == OverLimit(
        "shared memory", 131072, 101376, "CUDA C++ Programming Guide, technical specifications per compute capability"
    )
    assert over_limit(Target.parse("cuda:80"), 131072, 256) is None


@given(targets, st.integers(0, 1 << 20), st.integers(0, 4096))
def test_over_exactly_when_beyond_the_table(target: Target, shared: int, threads: int) -> None:
    row = limits(target)
    assert row is not None
    found = over_limit(target, shared, threads)
    assert (found is not None) == (shared > row.shared_bytes or threads > row.threads)
