"""Registers: what ptxas takes for maxnreg and setmaxnreg, by enumeration, and what a block can have."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

from triage.legality import registers
from triage.legality.occupancy import of, register_steps
from triage.model.target import Target

H100 = Target("cuda", "90")
MI300 = Target("hip", "gfx942")


def ptxas(name: str) -> Path:
    """The assembler in the Triton beside the tests."""
    spec = importlib.util.find_spec("triton")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "backends/nvidia/bin" / name


def assemble(tool: Path, arch: str, body: str, folder: Path) -> tuple[set[int], set[int], str]:
    """Lines of ``body`` (from 0) with an error and with a warning, and all that ptxas said."""
    header = f".version 8.7\n.target {arch}\n.address_size 64\n"
    source = folder / "source.ptx"
    source.write_text(header + body)
    command = [str(tool), f"--gpu-name={arch}", str(source), "-o", str(folder / "out.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    first = header.count("\n") + 1
    errors = {int(line) - first for line in re.findall(r"line (\d+); error", said)}
    warned = {int(entry) for entry in re.findall(r"warning : .*entry k(\d+)", said)}
    return errors, warned, said


ARCHITECTURES = [
    ("ptxas", "sm_80", 80),
    ("ptxas", "sm_90a", 90),
    ("ptxas-blackwell", "sm_90a", 90),
    ("ptxas-blackwell", "sm_100a", 100),
    ("ptxas-blackwell", "sm_120a", 120),
]
SOME = [
    pytest.param(*row, marks=() if place in (1, 4) else pytest.mark.slow) for place, row in enumerate(ARCHITECTURES)
]


@pytest.mark.parametrize(("tool", "arch", "capability"), ARCHITECTURES)
@pytest.mark.parametrize("direction", ["inc", "dec"])
def test_setmaxnreg_immediates(tool: str, arch: str, capability: int, direction: str, tmp_path: Path) -> None:
    values = range(301)
    lines = [f"setmaxnreg.{direction}.sync.aligned.u32 {value};" for value in values]
    head = ".visible .entry k()\n.maxntid 384\n{\n"
    errors, _, said = assemble(ptxas(tool), arch, head + "\n".join([*lines, "ret;", "}"]), tmp_path)
    first = head.count("\n")
    target = Target("cuda", str(capability))
    for value in values:
        legal = registers.violations(target, setmaxnreg=value) == []
        assert legal == (first + value not in errors), (value, said[:2000])


@pytest.mark.parametrize(("tool", "arch", "capability"), SOME)
def test_maxnreg_is_an_error_a_warning_or_a_bound(tool: str, arch: str, capability: int, tmp_path: Path) -> None:
    values = [*range(301), 65535, 65536, (1 << 32) - 1, 1 << 32, 1 << 40]
    body = "".join(f".visible .entry k{value}()\n.maxnreg {value}\n{{ ret; }}\n" for value in values)
    errors, _, said = assemble(ptxas(tool), arch, body, tmp_path)
    target = Target("cuda", str(capability))
    illegal = {value for value in values if registers.violations(target, maxnreg=value)}
    assert {values[line // 3] for line in errors} == illegal, said[:2000]
    # Warnings come only of what has no error in it.
    accepted = [value for value in values if value not in illegal]
    body = "".join(f".visible .entry k{value}()\n.maxnreg {value}\n{{ ret; }}\n" for value in accepted)
    errors, warned, said = assemble(ptxas(tool), arch, body, tmp_path)
    assert errors == set()
    assert warned == {value for value in accepted if registers.effective_maxnreg(value) != value}, said[:2000]


def test_no_setmaxnreg_before_hopper(tmp_path: Path) -> None:
    body = ".visible .entry k()\n{\nsetmaxnreg.inc.sync.aligned.u32 40;\nret;\n}\n"
    errors, _, _ = assemble(ptxas("ptxas"), "sm_80", body, tmp_path)
    assert errors == {2}
    [violation] = registers.violations(Target("cuda", "80"), setmaxnreg=40)
    assert (violation.rule, violation.allowed) == ("registers.setmaxnreg", ())


@pytest.mark.parametrize("threads", [768, 896, 1024])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_ptxas_knows_what_a_block_can_have(threads: int, arch: str, tmp_path: Path) -> None:
    """Given ``.maxntid`` and a kernel that wants more, ptxas uses the most with which the block fits."""
    loads = "".join(f"ld.volatile.global.f32 %f{place}, [%a+{4 * place}];\n" for place in range(300))
    stores = "".join(f"st.volatile.global.f32 [%a+{4 * place}], %f{299 - place};\n" for place in range(300))
    head = f".version 8.0\n.target {arch}\n.address_size 64\n.visible .entry k(.param .u64 p)\n.maxntid {threads}\n{{\n"
    source = tmp_path / "source.ptx"
    source.write_text(f"{head}.reg .u64 %a; .reg .f32 %f<300>;\nld.param.u64 %a, [p];\n{loads}{stores}ret;\n}}\n")
    command = [str(ptxas("ptxas")), "-v", f"--gpu-name={arch}", str(source), "-o", str(tmp_path / "out.cubin")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    [used] = re.findall(r"Used (\d+) registers", said)
    steps = register_steps(threads=threads, target=Target("cuda", re.sub(r"\D", "", arch)))
    assert steps[0] == (1, int(used))


def test_maxnreg_beyond_the_file() -> None:
    [violation] = registers.violations(H100, num_warps=32, maxnreg=128)
    assert violation.rule == "registers.maxnreg"
    assert violation.nearest == (64,)
    assert registers.violations(H100, num_warps=32, maxnreg=64) == []
    [violation] = registers.violations(MI300, maxnreg=64)
    assert "waves_per_eu" in violation.message


def test_waves_per_eu() -> None:
    assert registers.violations(MI300, waves_per_eu=8) == []
    [violation] = registers.violations(MI300, waves_per_eu=9)
    assert violation.nearest == (8,)
    # LLVM: 512 VGPRs (with AGPRs) by 8 on gfx942, 1536 by 24 on gfx1100.
    assert [registers.for_waves(MI300, waves) for waves in (1, 2, 3, 4, 8)] == [512, 256, 168, 128, 64]
    assert [registers.for_waves(Target("hip", "gfx1100"), waves) for waves in (5, 6, 16)] == [256, 240, 96]
    assert registers.for_waves(Target("hip", "gfx1250"), 1) is None


@pytest.mark.parametrize(
    ("tile", "warps", "target", "words"),
    [
        ((128, 128), 4, "cuda:90", 128),
        ((128, 256), 8, "cuda:90", 128),
        ((64, 256), 4, "cuda:80", 128),
        ((128, 256), 4, "cuda:100", 0),
        ((32, 256), 4, "cuda:100", 64),
        ((256, 256), 4, "hip:gfx942", 256),
        ((16, 16), 8, "cuda:90", 1),
    ],
)
def test_accumulators(tile: tuple[int, int], warps: int, target: str, words: int) -> None:
    assert registers.accumulator(tile, num_warps=warps, target=Target.parse(target)) == words


def test_the_steps_are_where_a_block_more_fits() -> None:
    for target in (H100, Target("cuda", "86"), MI300, Target("hip", "gfx1100")):
        for threads in (64, 128, 256, 512):
            steps = register_steps(threads=threads, target=target)
            assert steps
            for blocks, most in steps:
                found = of(shared_bytes=0, registers=most, threads=threads, target=target)
                assert found is not None
                assert dict(found.allowed)["registers"] == blocks
