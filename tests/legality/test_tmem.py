"""``tmem`` against the assembler (allocation, loads, stores) and against what Triton asks for (columns of tiles)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blackwell_compiles import UNPIPELINED, compiled
from blackwell_ptx import disagreements, refused
from hypothesis import example, given
from hypothesis import strategies as st

from triage.harness.toolchains import Toolchain
from triage.legality import tmem

KERNELS = Path(__file__).with_name("blackwell_kernels.py").read_text()
REDUCTIONS = ("min", "max")


def allocations() -> Iterator[tuple[str, bool]]:
    for group, columns in itertools.product((1, 2), (*range(130), 192, 255, 256, 257, 384, 511, 512, 513, 544, 1024)):
        legal = tmem.violations(columns=columns, cta_group=group, target="cuda:100") == []
        yield f"tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [%r1], {columns};", legal
        yield f"tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %r1, {columns};", legal


def moves(target: str, reduce: bool) -> Iterator[tuple[str, bool]]:
    """Every shape and repeat with every number of registers that some shape has, and neighbours."""
    counts = (1, 2, 3, 4, 8, 16, 32, 64, 128)
    for shape, repeat, count in itertools.product(tmem.SHAPES, (1, 2, 3, 4, 8, 16, 32, 64, 128, 256), counts):
        legal = tmem.move_violations(shape=shape, repeat=repeat, count=count, reduce=reduce, target=target) == []
        vector = f"{{{','.join(f'%r{place}' for place in range(count))}}}"
        offset = ", 16" if shape == "16x32bx2" else ""
        qualified = f"sync.aligned.{shape}.x{repeat}"
        if reduce:
            for operation in REDUCTIONS:
                yield f"tcgen05.ld.red.{qualified}.{operation}.u32 {vector}, %r300, [%r310]{offset};", legal
            continue
        for half in ("", "16b"):
            yield f"tcgen05.ld.{qualified}{'.pack::16b' if half else ''}.b32 {vector}, [%r310]{offset};", legal
            yield f"tcgen05.st.{qualified}{'.unpack::16b' if half else ''}.b32 [%r310]{offset}, {vector};", legal


def test_allocations_agree_with_the_assembler(tmp_path: Path) -> None:
    assert disagreements(allocations(), tmp_path) == []


@pytest.mark.parametrize(("target", "architecture"), [("cuda:100", "sm_100a"), ("cuda:103", "sm_103a")])
def test_loads_and_stores_agree_with_the_assembler(tmp_path: Path, target: str, architecture: str) -> None:
    assert disagreements(moves(target, reduce=False), tmp_path, architecture) == []
    assert disagreements(moves(target, reduce=True), tmp_path, architecture) == []


@pytest.mark.slow
@pytest.mark.parametrize("capability", [90, 100, 103, 110, 120])
def test_every_target_agrees(tmp_path: Path, capability: int) -> None:
    for reduce in (False, True):
        found = disagreements(moves(f"cuda:{capability}", reduce), tmp_path, f"sm_{capability}a")
        assert found == []


def test_an_offset_belongs_to_the_split_shape_alone(tmp_path: Path) -> None:
    with_offset = [f"tcgen05.ld.sync.aligned.{shape}.x8.b32 {{}}, [%r310], 16;" for shape in tmem.SHAPES]
    lines = []
    for shape, line in zip(tmem.SHAPES, with_offset, strict=True):
        count = tmem.registers(shape, 8)
        assert count is not None
        lines.append(line.replace("{}", f"{{{','.join(f'%r{place}' for place in range(count))}}}"))
    taken = [shape for place, shape in enumerate(tmem.SHAPES) if place not in refused(tmp_path, lines)]
    assert taken == ["16x32bx2"]


def case(kernel: str, dtype: str = "fp16", warps: int = 4, **constants: int) -> dict[str, Any]:
    return {
        "kernel": kernel,
        "target": 100,
        "types": {"a": f"*{dtype}", "b": f"*{dtype}", "c": "*fp32"},
        "constants": constants,
        "options": {"num_warps": warps},
    }


def dot(m: int, n: int, k: int = 32, warps: int = 4) -> tuple[dict[str, Any], int]:
    """A kernel with one accumulator, and the columns that the rule says."""
    return case("dot", warps=warps, M=m, N=n, K=k, INT=0, AT=0, BT=0), tmem.needed([tmem.tile(m, n)])


def two(m: int, n: int, p: int) -> tuple[dict[str, Any], int]:
    return case("two", M=m, N=n, K=32, P=p), tmem.needed([tmem.tile(m, n), tmem.tile(m, p)])


def chained(m: int, n: int, k: int) -> tuple[dict[str, Any], int]:
    """Both accumulators, and the first one's result as a 16-bit A."""
    parts = [tmem.tile(m, n), tmem.tile(m, k), tmem.tile(m, n, "f16")]
    return case("chained", M=m, N=n, K=k), tmem.needed(parts)


def scaled(m: int, n: int, k: int, vector: int, warps: int = 4) -> tuple[dict[str, Any], int]:
    asked = case("scaled", "u8", warps, M=m, N=n, K=k, PA=2, PB=2, V=vector)
    asked["constants"] |= {"AF": "e2m1", "BF": "e2m1"}
    scale = "*u8" if vector == 32 else "*fp8e4nv"
    asked["types"] |= {"sa": scale, "sb": scale}
    return asked, tmem.needed([tmem.tile(m, n), tmem.scales(m, k // vector), tmem.scales(n, k // vector)])


def check(asked: list[tuple[dict[str, Any], int]], python: str | None = None) -> None:
    cases = [one for one, _ in asked]
    answers = compiled(KERNELS, cases, python) if python else compiled(KERNELS, cases)
    for (one, columns), answer in zip(asked, answers, strict=True):
        assert answer["error"] is None, one
        assert answer["columns"] == tmem.allocated(columns), (one, columns)
        assert bool(answer["tcgen05"]) == (columns <= tmem.COLUMNS)


def test_columns_are_those_of_compiled_kernels() -> None:
    asked = [dot(128, 32), dot(64, 16), two(64, 32, 64), chained(64, 64, 64), scaled(128, 32, 128, 16)]
    check([({**one, "options": {**one["options"], **UNPIPELINED}}, columns) for one, columns in asked])


@pytest.mark.slow
@pytest.mark.parametrize("version", ["newest", "3.8.0", "3.7.1", "3.6.0"])
def test_columns_of_many_tiles(release: Callable[[str], Toolchain], version: str) -> None:
    # Before 3.8 a dot of 8 columns is no tcgen05.
    widths = (8 if version in ("newest", "3.8.0") else 16, 32, 64, 256, 512)
    asked = [dot(m, n) for m, n in itertools.product((64, 128, 256, 512), widths) if m * n <= 1 << 16]
    asked += [
        two(64, 64, 64),
        two(128, 64, 128),
        two(64, 64, 256),
        two(64, 256, 256),
        two(128, 256, 256),
        two(256, 64, 64),
    ]
    asked += [chained(128, 128, 64), chained(128, 128, 128), chained(128, 64, 64), chained(128, 64, 128)]
    asked += [scaled(128, 128, 128, 32), scaled(128, 256, 128, 16), scaled(256, 128, 256, 16, 8)]
    if version == "3.6.0":  # which says so where one accumulator is over the columns that there are
        asked = [(one, columns) for one, columns in asked if columns <= tmem.COLUMNS]
    check(asked, str(release(version).python))


@pytest.mark.slow
def test_what_is_over_compiles_without_a_matrix_instruction() -> None:
    """Nothing says so before the launch."""
    [answer] = compiled(KERNELS, [dot(512, 256, 32, 8)[0]])
    assert (answer["error"], answer["columns"], answer["tcgen05"]) == (None, 1024, [])
    [violation] = tmem.violations(tiles=[(512, 256, "fp32")], target="cuda:100")
    assert (violation.rule, violation.nearest) == ("tmem.columns", ((512, 128),))


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ({"tiles": [(128, 512, "fp32")]}, []),
        ({"tiles": [(128, 256, "fp32")] * 2}, []),
        ({"tiles": [(128, 256, "fp32")] * 3}, ["tmem.columns"]),
        ({"tiles": [(64, 256, "fp32")] * 4}, []),
        ({"tiles": [(64, 256, "fp32")] * 5}, ["tmem.columns"]),
        ({"tiles": [(256, 512, "fp32")], "cta_group": 2}, []),
        ({"tiles": [(128, 128, "fp32")], "block_scales": [(128, 4), (128, 4)]}, []),
        ({"tiles": [(128, 512, "fp32")], "block_scales": [(128, 4)]}, ["tmem.columns"]),
        ({"tiles": [(96, 64, "fp32")]}, ["tmem.rows"]),
        ({"tiles": [(64, 64, "fp32")], "cta_group": 2}, ["tmem.rows"]),
        ({"tiles": [(128, 0, "fp32")]}, ["tmem.tile"]),
        ({"tiles": [(128, 64, "?")]}, ["tmem.dtype"]),
        ({"tiles": [(128, 64, "fp32")], "cta_group": 4}, ["tmem.cta-group"]),
        ({"columns": 96}, ["tmem.alloc"]),
        ({"columns": 64, "target": "cuda:90"}, ["tmem.target"]),
        ({"columns": 64, "target": "?"}, ["tmem.target"]),
    ],
)
def test_what_is_wrong(arguments: dict[str, Any], rules: list[str]) -> None:
    assert [violation.rule for violation in tmem.violations(**arguments)] == rules


SIZES = st.tuples(st.sampled_from((64, 128, 256)), st.sampled_from((8, 16, 32, 64, 128, 256)))


@given(st.lists(SIZES, max_size=6), SIZES)
def test_another_tile_never_takes_less(sizes: list[tuple[int, int]], more: tuple[int, int]) -> None:
    parts = [tmem.tile(*size) for size in sizes]
    assert tmem.needed(parts) <= tmem.needed([*parts, tmem.tile(*more)])
    bits = sum(m * n * 32 for m, n in sizes)
    assert tmem.needed(parts) * tmem.LANES * 32 >= bits


@given(st.lists(SIZES, min_size=1, max_size=5))
@example([(64, 8), (64, 8), (64, 256), (128, 256)])
def test_a_picture_shows_each_tile_by_its_size(sizes: list[tuple[int, int]]) -> None:
    parts = [tmem.tile(*size) for size in sizes]
    if tmem.needed(parts) > tmem.COLUMNS:
        return
    lines = tmem.drawing(parts).lines[1:]
    assert len(lines) == 8 and len({len(line) for line in lines}) == 1
    for letter, part in zip("ABCDE", parts, strict=False):
        cells = sum(line.count(letter) for line in lines)
        assert cells == part.columns // 8 * (4 if part.half else 8)
