"""CuTe cases on the command line: options that do not fit, and words that name the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Triage
from cute_environments import NEWEST_CUTE, STORE

TENSOR = ("--arg", "tensor=tensor<f32, (128):(1), align=16>")
BARRIER = (f"{STORE}::barrier", *TENSOR, "--const", "ID=99")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--target", "hip:gfx942"), "--target hip:gfx942: CuTe DSL compiles for cuda:70 and newer, found hip:gfx942"),
        (("--num-warps", "4"), "--num-warps: not an option of CuTe DSL; it has arch, opt_level, ptxas_options"),
        (("--option", "stages=4"), "--option stages: not an option of CuTe DSL; it has arch"),
        (("--option", "arch=hopper"), "--option arch: expected an architecture such as 'sm_90a', found 'hopper'"),
        (("--option", "opt_level=7"), "--option opt_level: expected 0 to 3, found 7"),
        (("--divisible", "tensor=16"), "--divisible tensor: CuTe's divisors are in the type: write ?{16}"),
        (("--cute", "3.9"), "--cute 3.9: CuTe DSL 3.x is not supported; 4.0 is the oldest"),
        (("--arg", "other=*fp32"), "--arg other: '*fp32': unexpected '*'; write a type such as"),
        (("--arg", "other=tensor<f32, (8)>"), "--arg other: 'tensor<f32, (8)>': expected ':'"),
    ],
)
def test_what_does_not_fit_is_one_line(cli: Triage, options: tuple[str, ...], words: str) -> None:
    done = cli("check", *BARRIER, *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"triage: {words}")
    assert done.err.count("\n") == 1


def test_the_release_of_another_compiler(cli: Triage) -> None:
    done = cli("check", *BARRIER, "--triton", "3.6.0")
    assert (done.code, done.err) == (2, "triage: --triton 3.6.0: barrier is compiled by CuTe DSL; use --cute\n")


def test_no_dsl_beside_triage(cli: Triage) -> None:
    done = cli("check", *BARRIER)
    assert done.code == 3
    assert "has no CuTe DSL; " in done.err
    assert done.err.endswith(" -m pip install nvidia-cutlass-dsl`, or use --cute VERSION\n")


@pytest.mark.slow
def test_a_report_names_its_compiler(cute: Triage, tmp_path: Path) -> None:
    folder = tmp_path / "triage"
    checked = cute("check", *BARRIER, "--cute", NEWEST_CUTE, "--budget", "2", "-o", folder / "check")
    reduced = cute("minimize", *BARRIER, "--cute", NEWEST_CUTE, "--budget", "4", "-o", folder / "minimized")
    assert (checked.code, reduced.code) == (1, 0)
    assert cute("matrix", *BARRIER, "--cute", NEWEST_CUTE, "-o", folder / "matrix").code == 1
    assert f"barrier for cuda:90, CuTe DSL {NEWEST_CUTE}: ID=99" in checked.out
    report = cute("report", folder, "--format", "md").out
    body = report.partition("Made by triton-triage")[0]
    assert "one file that needs CuTe DSL alone, no GPU and no torch" in body
    assert "CuTe DSL releases and targets" in body
    assert "_EXPECTED = " in body
    assert "<secret>" not in body
    assert "Triton" not in body.replace("triton-triage", "")
    posted = cute("attach", folder, "--repo", "NVIDIA/cutlass", "--dry-run").out
    assert "Triton" not in posted.replace("triton-triage", "")


def test_doctor_lists_it(cute: Triage) -> None:
    printed = cute("doctor").out
    section = printed.partition("CuTe DSL\n")[2].partition("\n\n")[0]
    assert section.split()[0] == NEWEST_CUTE


@pytest.mark.parametrize("command", ["check", "draft"])
def test_a_file_needs_the_compiler_of_its_kernels(cli: Triage, command: str) -> None:
    done = cli(command, STORE)
    assert done.code == 3
    assert "pip install nvidia-cutlass-dsl" in done.err


@pytest.mark.slow
def test_annotations_and_uses_state_types(cute: Triage) -> None:
    filler = f"{STORE}::Filler"
    done = cute("check", filler, *TENSOR, "--const", "threads=64", "--cute", NEWEST_CUTE, "--json")
    assert done.code == 0
    assert "count: i32, annotation in line" in done.err
    signature = {"tensor": TENSOR[1].partition("=")[2], "count": "i32", "stream": "stream"}
    assert done.document["case"]["signature"] == signature
