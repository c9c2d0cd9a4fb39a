"""Divisions of layouts and tiles, and tensor maps of strided tensors."""

from __future__ import annotations

import pytest

from triage.legality import tiling, tma
from triage.legality.algebra.layout import read
from triage.model.errors import InputError


def test_a_tiler_has_at_most_the_rank_of_the_layout() -> None:
    layout = read("(64,64):(64,1)")
    assert tiling.division(layout, (8, 8)) == []
    assert tiling.division(layout, (8,)) == []
    [violation] = tiling.division(layout, (8, 8, 8))
    assert (violation.rule, violation.nearest) == ("tiling.rank", ((8, 8),))
    assert "rank(target)=2 and rank(tiler)=3" in violation.message
    assert [violation.rule for violation in tiling.division(layout, (0, 8))] == ["tiling.tiler"]


def test_what_reaches_beyond_the_tensor_is_told() -> None:
    assert tiling.overhang(read("(128,100):(100,1)"), (32, 32)) == (0, 28)
    assert tiling.overhang(read("(?,64):(64,1)"), (128, 64)) == (0, 0)


def test_compositions() -> None:
    assert tiling.composition(read("(6,2):(8,2)"), read("(4,3):(3,1)")) == []
    [violation] = tiling.composition(read("(8,4):(16,4)"), read("16:12"))
    assert violation.message.startswith("unable to compute the following composition: (8,4):(16,4) o 16:12")


@pytest.mark.parametrize(
    ("tile", "operation", "atoms", "wrong"),
    [
        ((64, 64, 16), (16, 8, 16), (4, 1, 1), []),
        ((16, 8, 24), (16, 8, 16), (1, 1, 1), ["tiling.k"]),
        ((64, 8, 16), (16, 8, 16), (3, 1, 1), ["tiling.m"]),
        ((128, 192, 64), (64, 256, 16), (2, 1, 1), ["tiling.n"]),
        ((0, 8, 16), (16, 8, 16), (1, 1, 1), ["tiling.m"]),
    ],
)
def test_a_tile_is_a_multiple_of_the_operation(
    tile: tuple[int, int, int], operation: tuple[int, int, int], atoms: tuple[int, int, int], wrong: list[str]
) -> None:
    assert [violation.rule for violation in tiling.tile_violations(tile, operation, atoms)] == wrong


@pytest.mark.parametrize(
    ("dtype", "layout", "tile", "alignment", "rules"),
    [
        ("f16", "(256,256):(256,1)", (64, 64), 16, set()),
        ("f16", "(256,256):(1,256)", (64, 64), 16, set()),
        ("f16", "(256,?):(?{8},1)", (64, 64), 16, set()),
        ("f16", "(512,512):(512,1)", (512, 8), 16, {"tma.box"}),
        ("f16", "(256,256):(256,1)", (64, 6), 16, {"tma.box-inner"}),
        ("f16", "(256,250):(250,1)", (64, 64), 16, {"tma.strides"}),
        ("f16", "(256,?):(?,1)", (64, 64), 16, {"tma.strides"}),
        ("f16", "(256,128):(512,2)", (64, 64), 16, {"tma.contiguous"}),
        ("f16", "(256,256):(256,1)", (64, 64), 8, {"tma.base-alignment"}),
    ],
)
def test_tensor_maps_of_strided_tensors(
    dtype: str, layout: str, tile: tuple[int, int], alignment: int, rules: set[str]
) -> None:
    broken = tma.strided_violations(dtype=dtype, layout=read(layout), tile=tile, alignment=alignment, target="cuda:90")
    assert {violation.rule for violation in broken} == rules


def test_a_box_has_an_extent_for_each_mode() -> None:
    with pytest.raises(InputError):
        tma.strided_violations(dtype="f16", layout=read("(64,64):(64,1)"), tile=(64,))
