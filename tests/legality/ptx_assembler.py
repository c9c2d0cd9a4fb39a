"""Asks ptxas which of many instructions it takes: all of them in one file, again without those that it named."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_NAMED = re.compile(r"line (\d+); (?:error|fatal)\s*:\s*(.*)")


@cache
def binaries() -> Path:
    """Where the assemblers of the Triton beside the tests are, found without importing it."""
    found = importlib.util.find_spec("triton")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "backends" / "nvidia" / "bin"


def assembler(capability: int) -> tuple[Path, str]:
    """The assembler that Triton uses for a target, with the newest PTX version that it reads."""
    return (binaries() / "ptxas", "8.8") if capability < 90 else (binaries() / "ptxas-blackwell", "9.4")


def architecture(capability: int) -> str:
    """The target as Triton spells it to ptxas."""
    return f"sm_{capability}{'a' if capability >= 90 else ''}"


def errors(
    instructions: Sequence[str], declarations: str, capability: int, using: tuple[Path, str] | None = None
) -> dict[int, str]:
    """The first error of every instruction that is refused, by place.

    ptxas checks in several passes, and one that finds errors is the last: what it named is taken out until the rest
    assembles.
    """
    tool, version = using or assembler(capability)
    target = architecture(capability)
    left = list(range(len(instructions)))
    found: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "instructions.ptx"
        while True:
            head = f".version {version}\n.target {target}\n.address_size 64\n.visible .entry f() {{\n{declarations}\n"
            source.write_text(head + "\n".join(instructions[place] for place in left) + "\nret;\n}\n")
            done = subprocess.run(
                [str(tool), f"-arch={target}", "-O0", str(source), "-o", str(Path(folder) / "out.cubin")],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if done.returncode == 0:
                return found
            first = head.count("\n") + 1
            named: set[int] = set()
            for line, message in _NAMED.findall(done.stdout + done.stderr):
                place = left[int(line) - first]
                named.add(place)
                found.setdefault(place, message)
            assert named, f"{tool.name} {target} ended with {done.returncode}: {(done.stdout + done.stderr)[:500]}"
            left = [place for place in left if place not in named]
