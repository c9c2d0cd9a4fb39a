"""The eight layouts: atoms, shape:stride forms, strides, swizzles, drawings."""

from __future__ import annotations

import itertools
import re

import pytest

from triage.legality import dtypes
from triage.legality.wgmma.layouts import LAYOUTS, OperandTile, SharedLayout, drawing, swizzle_of

TYPES = [dtypes.parse(name) for name in ("tf32", "f16", "bf16", "e4m3", "s8")]
ATOMS = {
    # layout: elements of f16, of tf32, of 8-bit types, as (M or N, K)
    ("k", 128): ((8, 64), (8, 32), (8, 128)),
    ("k", 64): ((8, 32), (8, 16), (8, 64)),
    ("k", 32): ((8, 16), (8, 8), (8, 32)),
    ("k", 0): ((8, 8), (8, 4), (8, 16)),
    ("mn", 128): ((64, 8), (32, 8), (128, 8)),
    ("mn", 64): ((32, 8), (16, 8), (64, 8)),
    ("mn", 32): ((16, 8), (8, 8), (32, 8)),
    ("mn", 0): ((8, 8), (4, 8), (16, 8)),
}


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_atoms(layout: SharedLayout) -> None:
    found = tuple(layout.atom(dtypes.parse(name)) for name in ("f16", "tf32", "s8"))
    assert found == ATOMS[layout.major, layout.swizzle]
    rows, k = found[0]
    assert layout.atom_bytes == rows * k * 2 == {0: 128, 32: 256, 64: 512, 128: 1024}[layout.swizzle]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_form_is_the_offset(layout: SharedLayout, dtype: dtypes.DType) -> None:
    """Shape and stride as text give the offset that the formula gives, for an instruction's operand."""
    per = 128 // dtype.bits
    leading, stride = per * 7000, per * 70
    shape, strides = (_modes(part) for part in layout.form().split(":"))
    names = {"T": per, "LBO": leading, "SBO": stride, "n": 1 << 30, "2k": 2, "k": 2}
    size = dtype.bits // 8
    for row, k in itertools.product(range(64), range(256 // dtype.bits)):
        expected = sum(_coordinate(at, shape[side], strides[side], names) for side, at in enumerate((row, k)))
        assert layout.offset(row, k, dtype.bits, leading * size, stride * size) == expected * size, (row, k)


def _modes(text: str) -> list[list[str]]:
    return [found.split(",") for found in re.findall(r"\(([^()]+)\)", text)]


def _coordinate(at: int, shape: list[str], strides: list[str], names: dict[str, int]) -> int:
    """CUTLASS: the first mode runs fastest; the last takes what is left."""
    total = 0
    for place, (extent, step) in enumerate(zip(shape, strides, strict=True)):
        size = names.get(extent) or int(extent)
        index = at if place == len(shape) - 1 else at % size
        at //= size
        total += index * _number(step, names)
    return total


def _number(text: str, names: dict[str, int]) -> int:
    match = re.fullmatch(r"(\d+)T", text)
    return int(match[1]) * names["T"] if match else names.get(text) or int(text)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_tile_fills_its_bytes_once(layout: SharedLayout, dtype: dtypes.DType) -> None:
    rows, k = layout.atom(dtype)
    tile = OperandTile(rows * 2, max(k * 2, 256 // dtype.bits * 2), dtype, layout)
    taken = {tile.address(row, at) for row in range(tile.rows) for at in range(tile.k)}
    assert taken == set(range(0, tile.bytes, dtype.bits // 8))


def test_packed_strides() -> None:
    half = dtypes.parse("f16")
    found = {
        (major, swizzle): OperandTile(128, 64, half, SharedLayout(major, swizzle)).strides
        for major in ("k", "mn")
        for swizzle in (128, 64, 32, 0)
    }
    assert {key: stride for key, (_, stride) in found.items()} == {
        ("k", 128): 1024,
        ("k", 64): 512,
        ("k", 32): 256,
        ("k", 0): 128,
        ("mn", 128): 1024,
        ("mn", 64): 512,
        ("mn", 32): 256,
        ("mn", 0): 64 * 16,
    }
    assert found["k", 0][0] == 128 * 16
    assert [found["mn", swizzle][0] for swizzle in (128, 64, 32, 0)] == [64 * 128, 64 * 64, 64 * 32, 128]


def test_the_swizzle_exchanges_units_within_a_line() -> None:
    for layout in LAYOUTS:
        for line in range(8):
            start = line * layout.line_bytes
            units = [layout.swizzled(start + unit * 16) - start for unit in range(layout.units)]
            assert sorted(units) == [unit * 16 for unit in range(layout.units)]
    assert SharedLayout("k", 128).swizzled(3 * 128 + 5 * 16) == 3 * 128 + (5 ^ 3) * 16
    assert [SharedLayout("k", 64).swizzled(line * 64) % 64 for line in range(8)] == [0, 0, 16, 16, 32, 32, 48, 48]
    assert [SharedLayout("k", 32).swizzled(line * 32) % 32 for line in range(8)] == [0, 0, 0, 0, 16, 16, 16, 16]


@pytest.mark.parametrize(("rows", "k"), [(12, 64), (0, 64), (64, 8), (64, 96), (64, 0)])
def test_a_tile_is_made_of_whole_atoms(rows: int, k: int) -> None:
    with pytest.raises(ValueError, match="whole 8 x 64 atoms"):
        OperandTile(rows, k, dtypes.parse("f16"), SharedLayout("k", 128))


def test_the_widest_swizzle_that_fits() -> None:
    widths = {16: 0, 32: 32, 48: 0, 64: 64, 96: 32, 128: 128, 192: 64, 256: 128}
    assert {contiguous: swizzle_of(contiguous) for contiguous in widths} == widths


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_drawings_fit(layout: SharedLayout) -> None:
    for dtype in [*TYPES, dtypes.parse("b1")]:
        lines = drawing(layout, dtype)
        assert len(lines) == 9
        assert max(map(len, lines)) <= 98
