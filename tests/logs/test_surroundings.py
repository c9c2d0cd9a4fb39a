"""What a text tells of the machine."""

from __future__ import annotations

import pytest

from triage import logs
from triage.logs.surroundings import setting_of
from triage.model.setting import Setting

TEXTS: dict[str, Setting] = {
    "triton==3.2.0 torch==2.6.0+cu124": Setting("3.2.0", "2.6.0"),
    "PyTorch version: 2.7.1+cu128\nTriton version: 3.3.1": Setting("3.3.1", "2.7.1"),
    "| triton-windows | 3.4.0.post20 |": Setting("3.4.0"),
    "pytorch-triton-rocm 3.1.0+cf34004b8a on MI300X": Setting("3.1.0", targets=("hip:gfx942",)),
    "works with triton 3.1.0, fails with triton 3.2.0": Setting(),
    "triton==3.2.0; triton 3.1.0 was fine": Setting("3.2.0"),
    "Triton Inference Server 2.34.0, tritonclient==2.34.0": Setting(),
    "nvidia-cutlass-dsl[cu13]==4.6.0 and torch==2.9.0": Setting(torch="2.9.0", cute="4.6.0"),
    "nvidia-cutlass-dsl           : 4.5.2\nnvidia-cutlass-dsl-libs-base : 4.5.2": Setting(cute="4.5.2"),
    "fails with CuTe DSL 4.8.1, works with CuTe DSL 4.7.1": Setting(),
    "site-packages/nvidia_cutlass_dsl-4.4.2.dist-info": Setting(cute="4.4.2"),
    "ptxas --gpu-name=sm_90a": Setting(targets=("cuda:90",)),
    "GPUTarget(backend='cuda', arch=120, warp_size=32)": Setting(targets=("cuda:120",)),
    "device cuda:0, cuda:1": Setting(),
    "NVIDIA GeForce RTX 3090 (compute capability 8.6)": Setting(targets=("cuda:86",)),
    "A100 and H100": Setting(targets=("cuda:80", "cuda:90")),
    "Tesla T4": Setting(targets=("cuda:75",)),
    "AMDGPU gfx1151": Setting(targets=("hip:gfx1151",)),
    'File "C:\\Users\\me\\x.py", line 3': Setting(system="windows"),
    'File "/usr/lib/python3.11/x.py", line 3': Setting(system="linux"),
    "": Setting(),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items(), ids=TEXTS.keys())
def test_what_is_stated(text: str, expected: Setting) -> None:
    assert setting_of(text.encode(), b"") == expected


@pytest.mark.parametrize("filler", ["", "x\n" * 400_000], ids=["short", "long"])
def test_a_diagnosis_has_what_stands_at_both_ends_of_its_text(filler: str) -> None:
    failure = "python: Foo.cpp:12: void mlir::zork(): Assertion `a == b' failed.\n"
    diagnosis = logs.diagnose_text(f"triton==3.2.0\n{filler}{failure}{filler}on an RTX 3090\n")
    assert diagnosis is not None
    assert diagnosis.setting == Setting("3.2.0", targets=("cuda:86",))
