"""Occupancy: the vendors' numbers, the driver's formula by hand, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from triage.legality import occupancy
from triage.legality.limits import limits, multiprocessor, multiprocessors
from triage.model.target import Target

KNOWN = [
    # target, shared bytes, registers, threads: blocks, limited by
    ("cuda:80", 0, 32, 1024, 2, "registers"),
    ("cuda:80", 0, 64, 1024, 1, "registers"),
    ("cuda:80", 0, 65, 1024, 0, "registers"),
    ("cuda:80", 166912, 32, 128, 1, "shared memory"),
    # 163 KiB and the driver's KiB are all of an A100's 164; half of that is 82944 and not 83968.
    ("cuda:80", 82944, 32, 128, 2, "shared memory"),
    ("cuda:80", 82945, 32, 128, 1, "shared memory"),
    ("cuda:80", 0, 16, 32, 32, "blocks"),
    ("cuda:86", 0, 16, 32, 16, "blocks"),
    ("cuda:89", 0, 16, 32, 24, "blocks"),
    ("cuda:86", 0, 32, 1024, 1, "warps"),
    ("cuda:90", 98304, 168, 128, 2, "shared memory"),
    ("cuda:90", 232448, 168, 384, 1, "shared memory"),
    ("cuda:90", 232449, 168, 384, 0, "shared memory"),
    ("cuda:90", 0, 168, 384, 1, "registers"),
    ("cuda:90", 0, 128, 256, 2, "registers"),
    # 255 registers are 8192 a warp: two warps a partition, so eight in all.
    ("cuda:90", 0, 255, 256, 1, "registers"),
    ("cuda:90", 0, 255, 288, 0, "registers"),
    # 96 registers: five warps a partition, 20 an SM, though 65536 registers would hold 21.
    ("cuda:90", 0, 96, 96, 6, "registers"),
    ("cuda:75", 0, 32, 1024, 1, "warps"),
    ("cuda:75", 65536, 32, 32, 1, "shared memory"),
    ("cuda:120", 0, 32, 512, 3, "warps"),
    # LLVM's occupancy of agpr-register-count.ll and occupancy-levels.ll, in waves a SIMD.
    ("hip:gfx90a", 0, 44, 64, 32, "warps"),
    ("hip:gfx908", 0, 40, 64, 24, "registers"),
    ("hip:gfx942", 0, 128, 256, 4, "registers"),
    ("hip:gfx942", 0, 512, 256, 1, "registers"),
    ("hip:gfx942", 32768, 64, 256, 2, "shared memory"),
    ("hip:gfx950", 81920, 64, 256, 2, "shared memory"),
    ("hip:gfx942", 65537, 64, 256, 0, "shared memory"),
]


@pytest.mark.parametrize(("target", "shared", "registers", "threads", "blocks", "limited"), KNOWN)
def test_known_numbers(target: str, shared: int, registers: int, threads: int, blocks: int, limited: str) -> None:
    found = occupancy.of(shared_bytes=shared, registers=registers, threads=threads, target=Target.parse(target))
    assert found is not None
    assert (found.blocks_per_sm, found.limited_by) == (blocks, limited), found


TARGETS = [target for target, _ in multiprocessors()]


@given(
    st.sampled_from(TARGETS), st.integers(0, 240000), st.integers(0, 600), st.integers(1, 1100), st.integers(0, 2000)
)
def test_less_of_anything_never_lowers_it(target: Target, shared: int, registers: int, threads: int, less: int) -> None:
    found = occupancy.of(shared_bytes=shared, registers=registers, threads=threads, target=target)
    assert found is not None
    for smaller in (
        occupancy.of(shared_bytes=max(0, shared - less), registers=registers, threads=threads, target=target),
        occupancy.of(shared_bytes=shared, registers=max(0, registers - less), threads=threads, target=target),
        occupancy.of(shared_bytes=shared, registers=registers, threads=max(1, threads - less), target=target),
    ):
        assert smaller is not None
        assert smaller.blocks_per_sm >= found.blocks_per_sm


@given(st.sampled_from(TARGETS), st.integers(0, 240000), st.integers(1, 512), st.integers(1, 1024))
def test_nothing_is_given_out_twice(target: Target, shared: int, registers: int, threads: int) -> None:
    found, sm, block = (
        occupancy.of(shared_bytes=shared, registers=registers, threads=threads, target=target),
        multiprocessor(target),
        limits(target),
    )
    assert found is not None and sm is not None and block is not None
    assume(found.blocks_per_sm)
    assert found.blocks_per_sm * (shared + sm.reserved_bytes) <= sm.shared_bytes
    lanes = sm.partitions * target.warp_size
    assert found.warps_per_sm * target.warp_size * registers <= sm.registers * lanes
    assert found.warps_per_sm <= sm.warps
    assert 0 < found.fraction <= 1
    assert found.limited_by == min(found.allowed, key=lambda one: one[1])[0]


@given(st.sampled_from(TARGETS), st.integers(0, 240000), st.integers(0, 600), st.integers(1, 1100))
def test_a_violation_is_said_exactly_when_no_block_fits(
    target: Target, shared: int, registers: int, threads: int
) -> None:
    asked = {"shared_bytes": shared, "registers": registers, "threads": threads, "target": target}
    found = occupancy.of(**asked)
    assert found is not None
    assert bool(occupancy.violations(**asked)) == (found.blocks_per_sm == 0)


def test_a_block_of_the_maximum_fits_an_sm() -> None:
    for target, sm in multiprocessors():
        row = limits(target)
        assert row is not None
        assert row.shared_bytes + sm.reserved_bytes <= sm.shared_bytes
        assert row.threads <= sm.warps * target.warp_size


def test_what_is_not_in_the_table_is_not_judged() -> None:
    asked = {"shared_bytes": 1, "registers": 1, "threads": 1, "target": Target("cuda", "999")}
    assert occupancy.of(**asked) is None
    assert occupancy.violations(**asked) == []


def test_how_it_reads() -> None:
    found = occupancy.of(shared_bytes=98304, registers=168, threads=128, target=Target("cuda", "90"))
    assert str(found) == "2 blocks an SM, limited by shared memory"
    found = occupancy.of(shared_bytes=0, registers=168, threads=384, target=Target("cuda", "90"))
    assert str(found) == "1 block an SM, limited by registers"
    with pytest.raises(ValueError, match="0 threads"):
        occupancy.of(shared_bytes=0, registers=1, threads=0, target=Target("cuda", "90"))
