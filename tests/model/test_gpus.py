"""The table of architectures: what every row must satisfy, and the numbers that other modules read from it."""

from __future__ import annotations

import pytest

from triage.harness.driver import driver_properties
from triage.model.gpus import (
    ARCHITECTURES,
    Architecture,
    TensorCore,
    is_newer,
    neighbours,
    newest,
    number,
    with_distinct_limits,
)
from triage.model.target import Target

every_row = pytest.mark.parametrize("row", ARCHITECTURES, ids=str)


@every_row
def test_a_row_is_a_target(row: Architecture) -> None:
    target = Target.parse(str(row))
    assert target.gpu is row
    assert target.caveat is None
    assert target.warp_size == row.warp_size


@every_row
def test_a_row_is_consistent(row: Architecture) -> None:
    amd = row.matrix in (TensorCore.MFMA, TensorCore.WMMA)
    assert (row.matrix_version > 0) == amd
    assert row.backend == "hip" or not amd
    assert (row.year is None) == (row.generation == "not announced")
    if row.block is not None and row.sm is not None:
        assert row.block.shared_bytes + row.sm.reserved_bytes <= row.sm.shared_bytes
        assert row.block.threads <= row.sm.warps * row.warp_size
        assert (row.block.tensor_memory_columns > 0) == (row.matrix is TensorCore.TCGEN05)
    if row.typical:
        assert row.product is not None


@every_row
def test_the_stub_driver_answers_as_the_product(row: Architecture) -> None:
    properties = driver_properties(Target(row.backend, row.name))
    if row.product is not None and row.block is not None:
        assert properties["multiprocessor_count"] == row.product.multiprocessors
        assert properties["max_shared_mem"] == row.block.shared_bytes
    assert properties["warpSize"] == row.warp_size


def test_rows_are_in_the_order_of_their_numbers() -> None:
    for backend in ("cuda", "hip"):
        numbers = [number(row.backend, row.name) for row in ARCHITECTURES if row.backend == backend]
        assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("target", "product", "multiprocessors"),
    [
        ("cuda:86", "NVIDIA GeForce RTX 3090", 82),
        ("cuda:90", "NVIDIA H100 80GB HBM3", 132),
        ("cuda:110", "NVIDIA Thor", 20),
        ("hip:gfx90a", "AMD Instinct MI250X", 110),
        ("hip:gfx942", "AMD Instinct MI300X", 304),
        ("hip:gfx1100", "AMD Radeon RX 7900 XTX", 48),
    ],
)
def test_products(target: str, product: str, multiprocessors: int) -> None:
    row = Target.parse(target).gpu
    assert row is not None and row.product is not None
    assert (row.product.name, row.product.multiprocessors) == (product, multiprocessors)


def test_one_typical_chip_stands_for_those_with_its_limits() -> None:
    shown = [str(row) for row in with_distinct_limits()]
    assert {str(row) for row in ARCHITECTURES if row.typical or row.backend == "cuda"} <= set(shown)
    assert "hip:gfx941" not in shown


@pytest.mark.parametrize(
    ("backend", "name", "newer"),
    [
        ("cuda", str(int(newest("cuda").name) + 1), True),
        ("cuda", str(int(newest("cuda").name) // 10 * 10 + 40), True),
        ("cuda", str(int(newest("cuda").name) // 10 * 10 + 50), False),
        ("cuda", newest("cuda").name, False),
        ("cuda", "91", False),
        ("hip", "gfx1310", True),
        ("hip", "gfx1700", False),
        ("hip", "gfx90b", False),
    ],
)
def test_newer_is_after_the_last_row_by_a_few_generations(backend: str, name: str, newer: bool) -> None:
    assert is_newer(backend, name) == newer


def test_neighbours_of_a_number() -> None:
    assert [str(row) for row in neighbours("cuda", "91")] == ["cuda:90", "cuda:100"]
    assert neighbours("cuda", "50") == (ARCHITECTURES[0],)
    assert neighbours("hip", "gfx9999") == (newest("hip"),)
