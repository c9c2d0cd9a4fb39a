"""The GPUs of this machine. None is fine: triage compiles for targets, it does not launch."""

import re
from dataclasses import dataclass
from pathlib import Path

from triage.harness.machine.clock import Clock
from triage.model.errors import InputError
from triage.model.target import Target

_NVIDIA_SMI = (
    "nvidia-smi",
    "--query-gpu=name,compute_cap,memory.total,driver_version",
    "--format=csv,noheader,nounits",
)


@dataclass(frozen=True, slots=True)
class Gpu:
    """``target``: what to compile for it, None when only its device file is known."""

    name: str
    target: str | None
    memory_bytes: int | None = None
    driver: str | None = None

    @property
    def caveat(self) -> str | None:
        """One line when triage refuses to compile for this GPU, or does not know its limits."""
        try:
            return Target.parse(self.target).caveat if self.target is not None else None
        except InputError as error:
            return str(error)


def gpus(clock: Clock) -> list[Gpu]:
    """NVIDIA's and AMD's GPUs, as the driver reports them, else from their device files."""
    devices = [Gpu(f"NVIDIA GPU at {path}", None) for path in sorted(Path("/dev").glob("nvidia[0-9]*"))]
    return [*(_from_nvidia_smi(clock) or devices), *_amd(Path("/sys/class/kfd/kfd/topology/nodes"))]


def _from_nvidia_smi(clock: Clock) -> list[Gpu]:
    detected = []
    for line in (clock.ask(_NVIDIA_SMI) or "").splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4:
            name, capability, memory, driver = fields
            major, _, minor = capability.partition(".")
            target = f"cuda:{major}{minor}" if major.isdigit() and minor.isdigit() else None
            detected.append(Gpu(name, target, int(memory) << 20 if memory.isdigit() else None, driver))
    return detected


def _amd(nodes: Path) -> list[Gpu]:
    """From the kernel driver's own files: rocm-smi reports the same, and takes a second."""
    detected = []
    for properties in sorted(nodes.glob("*/properties")):
        try:
            version = re.search(r"^gfx_target_version (\d+)$", properties.read_text("ascii", "replace"), re.MULTILINE)
        except OSError:
            continue
        if version and (number := int(version.group(1))):  # 0 is a CPU
            # 90402 is gfx942 and 90010 is gfx90a: the stepping is written in hexadecimal.
            major, minor, stepping = number // 10000, number // 100 % 100, number % 100
            target = f"hip:gfx{major}{minor}{stepping:x}"
            detected.append(Gpu(f"AMD GPU, node {properties.parent.name}", target))
    if not detected and Path("/dev/kfd").exists():
        detected.append(Gpu("AMD GPU at /dev/kfd", None))
    return detected
