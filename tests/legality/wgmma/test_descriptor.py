"""The 64-bit descriptor: fields, limits, and those of a tile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.legality import dtypes
from triage.legality.wgmma.descriptor import FIELDS, MatrixDescriptor, for_tile
from triage.legality.wgmma.layouts import LAYOUTS, OperandTile, SharedLayout

HALF = dtypes.parse("f16")
offsets = st.integers(0, (1 << 14) - 1).map(lambda units: units * 16)


@given(st.builds(MatrixDescriptor, offsets, offsets, offsets, st.sampled_from([0, 32, 64, 128]), st.integers(0, 7)))
def test_encoding_is_undone(descriptor: MatrixDescriptor) -> None:
    value = descriptor.encode()
    assert 0 <= value < 1 << 64
    assert MatrixDescriptor.decode(value) == descriptor
    assert MatrixDescriptor.decode(value - (1 << 64)) == descriptor  # as LLVM prints a constant with the top bit set


def test_bits() -> None:
    """Each field alone, and two constants: a K-major tile with 128-byte swizzle, and an MN-major one with K = 128."""
    assert MatrixDescriptor(0x100, 0, 0).encode() == 0x10
    assert MatrixDescriptor(0, 16, 0).encode() == 1 << 16
    assert MatrixDescriptor(0, 0, 16).encode() == 1 << 32
    assert MatrixDescriptor(0, 0, 0, 0, 5).encode() == 5 << 49
    assert [MatrixDescriptor(0, 0, 0, width).encode() >> 62 for width in (0, 128, 64, 32)] == [0, 1, 2, 3]
    assert MatrixDescriptor(0, 16, 1024, 128).encode() == 0x4000004000010000
    assert MatrixDescriptor.decode(4611686293372403712) == MatrixDescriptor(0, 128 * 128, 1024, 128)
    used = [bit for _, low, width, _ in FIELDS for bit in range(low, low + width)]
    assert len(used) == len(set(used)) == 47


@pytest.mark.parametrize(
    "fields", [(8, 0, 0), (0, 1, 0), (0, 0, 1 << 18), (-16, 0, 0), (0, 0, 0, 16), (0, 0, 0, 128, 8)]
)
def test_what_no_field_holds(fields: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"start_address|offset|swizzle"):
        MatrixDescriptor(*fields).encode()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_steps_through_a_tile(layout: SharedLayout) -> None:
    """Instructions along K and along M or N start where their first element lies, before the swizzle."""
    tile = OperandTile(128, 128, HALF, layout)
    for row in (0, 64):
        for k in range(0, 128, 16):
            found = for_tile(tile, 4096, row, k)
            assert found.start_address == 4096 + tile.offset(row, k)
            assert (found.swizzle, found.base_offset) == (layout.swizzle, 0)


def test_k_major_steps_of_32_bytes() -> None:
    tile = OperandTile(64, 128, HALF, SharedLayout("k", 128))
    starts = [for_tile(tile, 0, 0, k).start_address for k in range(0, 128, 16)]
    assert starts == [0, 32, 64, 96, 8192, 8224, 8256, 8288]


def test_base_offset_of_a_tile_off_its_pattern() -> None:
    tile = OperandTile(64, 64, HALF, SharedLayout("k", 128))
    assert [for_tile(tile, 2048 + 128 * step).base_offset for step in range(8)] == list(range(8))
    with pytest.raises(ValueError, match="128 bytes at least"):
        for_tile(tile, 64)
    with pytest.raises(ValueError, match="a multiple of"):
        for_tile(tile, 0, 0, 8)
