"""The estimate of shared memory against compiles: recorded ones of several releases, and some made here and now.

``measured.csv`` holds what ``measure.py`` printed for random configurations (the header says which columns), so that
every release is compared on every run; the newest one, and 3.2.0 where it is kept, are compiled anew.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import triton_forks
from hypothesis import given
from hypothesis import strategies as st

from triage.harness.toolchains import Toolchain
from triage.legality import dtypes, smem
from triage.legality.limits import limits
from triage.model.errors import InputError
from triage.model.target import Target

HERE = Path(__file__).parent
RECORDED = ("3.2", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9")
TARGETS = ("cuda:80", "cuda:86", "cuda:90", "cuda:100", "cuda:120", "hip:gfx942", "hip:gfx950")


@dataclass(frozen=True)
class Measured:
    """One compile: the configuration as ``measure.py`` reads it, and ``ttg.shared``."""

    triton: str
    configuration: str
    shared: int

    def estimate(self) -> smem.Estimate:
        target, m, n, k, dtype, out, b_layout, loads, epilogue, stages, warps = self.configuration.split()
        return smem.estimate(
            tile=(int(m), int(n), int(k)),
            dtype_a=dtypes.parse(dtype),
            dtype_out=dtypes.parse(out),
            stages=int(stages),
            target=Target.parse(target),
            num_warps=int(warps),
            loads=loads,
            b_layout=b_layout,
            epilogue=epilogue,
            triton=self.triton,
        )


def recorded() -> Iterator[Measured]:
    with (HERE / "measured.csv").open() as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            yield Measured(row["triton"], row["configuration"], int(row["shared"]))


def disagreement(one: Measured) -> str | None:
    """What is wrong with the estimate of a compile; None where it holds.

    Exact totals are equal. Else the loop's exact parts are a lower bound and the total is an upper one: too high by
    the scratch of the layout conversion, or by a sixteenth (padding on gfx950), or by a tile that is not copied."""
    found = one.estimate()
    row = limits(found.loop.target)
    assert row is not None
    least = found.loop_bytes if all(part.exact for part in found.during) else 0
    if found.exact and one.shared != found.total_bytes:
        return f"{one}: exactly {found.total_bytes} expected"
    if not least <= one.shared <= found.total_bytes:
        return f"{one}: {least} … {found.total_bytes} expected"
    padding = sum(part.bytes for part in found.during if part.name == "padding")
    if padding and found.total_bytes > one.shared * 17 / 16:
        return f"{one}: {found.total_bytes} is more than a sixteenth too high"
    if found.fits != (one.shared <= row.shared_bytes):
        return f"{one}: fits {found.fits}, the limit is {row.shared_bytes}"
    return None


def disagreements(compiles: Iterable[Measured]) -> list[str]:
    return [wrong for one in compiles if (wrong := disagreement(one))]


def configurations(count: int, seed: int, target: str, pointers_only: bool = False) -> list[str]:
    """Random ones; 8-bit types need BLOCK_K of 32."""
    chosen = random.Random(f"{seed} {target}")
    types = {"fp16": "fp16", "fp32": "fp32", "i8": "i32"}
    types["fp8e5" if target in ("cuda:80", "cuda:86") else "fp8e4nv"] = "fp16"
    tma = not pointers_only and target in ("cuda:90", "cuda:100", "cuda:120")
    found = []
    for _ in range(count):
        dtype = chosen.choice(sorted(types))
        loads = chosen.choice(("pointer", "tma") if tma else ("pointer",))
        m, n = (chosen.choice((16, 32, 64, 128, 256)) for _ in range(2))
        values = (
            target,
            m,
            n,
            chosen.choice((32, 64, 128)),
            dtype,
            types[dtype],
            chosen.choice(("kn", "nk")),
            loads,
            chosen.choice(("pointer", "tma")) if loads == "tma" else "pointer",
            chosen.choice((1, 2, 3, 4, 5)),
            chosen.choice((4, 8)),
        )
        found.append(" ".join(map(str, values)))
    return found


def compiled(toolchain: Toolchain, triton: str, asked: list[str]) -> list[Measured]:
    """What the toolchain's Triton allocates; configurations that do not compile are left out."""
    done = triton_forks.run(str(HERE / "measure.py"), "\n".join(asked), toolchain.python)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = (line.rpartition(" ") for line in done.stdout.splitlines())
    return [Measured(triton, configuration, int(shared)) for configuration, _, shared in lines if shared != "-"]


@pytest.mark.parametrize("release", RECORDED)
def test_recorded_compiles(release: str) -> None:
    compiles = [one for one in recorded() if one.triton == release]
    assert len(compiles) > 100
    assert disagreements(compiles) == []


def test_records_cover_both_verdicts_and_every_target() -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    exact = total = 0
    for one in recorded():
        found = one.estimate()
        seen[str(found.loop.target), bool(found.fits)] += 1
        exact += found.exact
        total += 1
    assert all(seen[target, fits] >= 5 for target in TARGETS for fits in (True, False)), seen
    assert exact > total / 2


def test_the_newest_release(release: Callable[[str], Toolchain]) -> None:
    asked = [line for target in TARGETS for line in configurations(1, 11, target)]
    compiles = compiled(release("newest"), "3.9", asked)
    assert len(compiles) >= 6
    assert disagreements(compiles) == []


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_newest_release_at_length(release: Callable[[str], Toolchain], target: str) -> None:
    compiles = compiled(release("newest"), "3.9", configurations(50, 12, target))
    assert len(compiles) >= 45
    assert disagreements(compiles) == []


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942"])
def test_3_2_0(release: Callable[[str], Toolchain], target: str) -> None:
    compiles = compiled(release("3.2.0"), "3.2", configurations(40, 13, target, pointers_only=True))
    # Up to a third of them is 8-bit floats, which 3.2 does not compile for gfx942.
    assert len(compiles) >= 25
    assert disagreements(compiles) == []


F16 = dtypes.parse("fp16")
H100 = Target("cuda", "90")


def test_the_parts_of_a_hopper_pipeline() -> None:
    found = smem.estimate(tile=(128, 256, 64), dtype_a=F16, stages=4, target=H100)
    assert [(part.name, part.bytes, part.buffers) for part in found.during] == [("A", 65536, 4), ("B", 131072, 4)]
    assert (found.bytes_per_stage, found.total_bytes, found.limit_bytes) == (49152, 196608, 232448)
    assert (found.exact, found.fits, found.notes) == (True, True, ())
    assert smem.stages_that_fit(found) == (1, 2, 3, 4)


def test_what_fits_instead() -> None:
    [violation] = smem.violations(tile=(128, 256, 64), dtype_a=F16, stages=5, target=H100)
    assert (violation.rule, violation.parameter, violation.given) == ("smem.total", "stages", 5)
    assert (violation.allowed, violation.nearest) == ((1, 2, 3, 4), (4,))
    [violation] = smem.violations(tile=(256, 256, 256), dtype_a=F16, stages=1, target=Target("hip", "gfx942"))
    assert (violation.parameter, violation.given) == ("tile", (256, 256, 256))
    assert violation.nearest[0] == (256, 256, 128)
    for tile in violation.allowed:
        assert isinstance(tile, tuple)
        assert smem.violations(tile=tile, dtype_a=F16, stages=1, target=Target("hip", "gfx942")) == []


@given(
    st.sampled_from(TARGETS),
    st.tuples(*[st.sampled_from([16, 32, 64, 128, 256])] * 3),
    st.sampled_from(["fp16", "fp32", "fp8e5", "i8"]),
    st.sampled_from(["pointer", "tma"]),
    st.integers(1, 12),
)
def test_more_stages_never_need_less(target: str, tile: tuple[int, ...], dtype: str, loads: str, stages: int) -> None:
    asked = {"tile": tile, "dtype_a": dtypes.parse(dtype), "target": Target.parse(target), "loads": loads}
    fewer, more = (smem.estimate(stages=count, **asked) for count in (stages, stages + 1))
    # Without pipelining a part may be the most that was seen, which is more than what two stages need.
    unpipelined = stages == 1 and not all(part.exact for part in fewer.during)
    if not unpipelined:
        assert fewer.loop_bytes <= more.loop_bytes
    found = smem.stages_that_fit(fewer)
    assert found in (tuple(range(1, len(found) + 1)), tuple(range(2, len(found) + 2)))
    assert (stages in found) == fewer.fits


def test_what_no_compile_confirmed_is_said() -> None:
    asked = {"tile": (64, 64, 32), "dtype_a": F16, "stages": 2}
    for change, word in (
        ({"target": H100, "triton": "3.1.0"}, "Triton 3.1"),
        ({"target": Target("cuda", "75")}, "cuda:75"),
        ({"target": H100, "warp_specialized": True}, "warp specialization"),
        ({"target": H100, "num_warps": 16}, "16 warps"),
        ({"target": H100, "dtype_b": dtypes.parse("i8")}, "different types"),
        ({"target": Target("cuda", "80"), "loads": "tma"}, "no TMA"),
    ):
        [note] = smem.estimate(**{**asked, **change}).notes
        assert word in note


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"tile": (64, 64)}, "--tile"),
        ({"tile": (48, 64, 64)}, "--tile"),
        ({"stages": 0}, "--stages"),
        ({"num_warps": 3}, "--num-warps"),
        ({"triton": "newest"}, "write a release"),
    ],
)
def test_numbers_without_sense(change: dict[str, object], word: str) -> None:
    asked: dict[str, object] = {"tile": (64, 64, 64), "dtype_a": F16, "stages": 2, "target": H100, **change}
    with pytest.raises(InputError, match=word):
        smem.estimate(**asked)  # type: ignore[arg-type]
