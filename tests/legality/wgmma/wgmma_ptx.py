"""Writes wgmma instructions as PTX, legal or not, and asks an assembler which of them it takes."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "b1", "f32", "f64", "s32", "s4", "e2m1")
ACCUMULATORS = {"f16": ("r", 4), "bf16": ("r", 4), "f32": ("f", 2), "s32": ("r", 2), "f64": ("fd", 2)}
"""Accumulator type to register class and how many of N share one register of a thread."""
_FLOATING = ("f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64", "e2m1")
_POISON = "wgmma.mma_async.sync.aligned.m64n8k16.f64.f16.f16 {%f0}, %rd0, %rd1, %p0, 1, 1, 0, 0;"
_ERROR = re.compile(r"ptxas\S* \S+, line (\d+); error\s*: (.*)")


@dataclass(frozen=True, slots=True)
class TileRequest:
    """Arguments of ``wgmma.violations``."""

    a: str
    b: str
    d: str
    n: int
    k: int
    m: int = 64
    a_major: str = "k"
    b_major: str = "k"
    a_from: str = "shared"
    sparse: bool = False

    def ptx(self) -> str:
        """As the ISA writes it, which for an illegal one is what somebody would try: an MN-major operand gets the
        transpose immediates even where the type has none, an unknown type its own name."""
        group, share = ACCUMULATORS[self.d]
        listed = ",".join(f"%{group}{number}" for number in range(max(self.n // share, 1)))
        operands = [f"{{{listed}}}", "%rd0" if self.a_from == "shared" else "{%r300,%r301,%r302,%r303}", "%rd1"]
        operands += ["%r310", "0"] if self.sparse else []
        operands.append("%p0")
        operands += ["1", "1"] if self.a in _FLOATING else []
        if self.a in ("f16", "bf16") or "mn" in (self.a_major, self.b_major):
            if self.a_from == "shared" or self.a_major == "mn":
                operands.append(str(int(self.a_major == "mn")))
            operands.append(str(int(self.b_major == "mn")))
        name = f"wgmma.mma_async{'.sp' if self.sparse else ''}.sync.aligned.m{self.m}n{self.n}k{self.k}"
        suffix = ".and.popc" if self.a == "b1" else ""
        return f"{name}.{self.d}.{self.a}.{self.b}{suffix} {', '.join(operands)};"


def beside(name: str = "ptxas") -> Path:
    """An assembler of the Triton beside the tests."""
    found = importlib.util.find_spec("triton")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "backends" / "nvidia" / "bin" / name


def refused(
    ptxas: Path, folder: Path, lines: Sequence[str], architecture: str = "sm_90a", codegen: bool = False
) -> dict[int, list[str]]:
    """Which of the instructions the assembler does not take, by place, with what it says.

    It names every bad line of a file in one run. A bad instruction at the end keeps it from generating code for the
    good ones, which takes minutes for thousands; ``codegen`` leaves that instruction out.
    """
    head = [".version 8.4", f".target {architecture}", ".address_size 64", ".visible .entry k() {"]
    head.append(".reg .f32 %f<160>; .reg .f64 %fd<160>; .reg .b32 %r<320>; .reg .b64 %rd<4>; .reg .pred %p<2>;")
    path = folder / "instructions.ptx"
    path.write_text("\n".join([*head, *lines, *([] if codegen else [_POISON]), "ret;", "}", ""]))
    command = [str(ptxas), f"-arch={architecture}", str(path), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    found: dict[int, list[str]] = {}
    for line in (done.stdout + done.stderr).splitlines():
        if match := _ERROR.match(line):
            found.setdefault(int(match[1]) - len(head) - 1, []).append(match[2])
    assert codegen == (done.returncode == 0), done.stderr[-2000:]
    assert codegen or found.pop(len(lines), None), done.stderr[-2000:]
    return found
