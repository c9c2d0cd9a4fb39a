"""Asks an assembler which of many instructions it takes, on any target and with any PTX version.

ptxas names every line that its parser refuses in one run, and looks further only when there was none. So there are two
rounds: all lines in one function with a bad one at the end, which keeps it from generating code; then what is left,
each in a function of its own (tcgen05 of one CTA and of two do not go together in one), until nothing more is named.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

_REGISTERS = ".reg .f32 %f<130>; .reg .b16 %h<10>; .reg .b32 %r<320>; .reg .b64 %rd<12>; .reg .pred %p<2>;"
_POISON = "mov.b32 %r0, %rd0;"
_ERROR = re.compile(r"ptxas\S* \S+, line (\d+); error\s*: (.*)")


def beside(name: str = "ptxas-blackwell") -> Path:
    """An assembler of the Triton beside the tests, found without importing it."""
    found = importlib.util.find_spec("triton")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "backends" / "nvidia" / "bin" / name


def refused(
    folder: Path,
    lines: Sequence[str],
    architecture: str = "sm_100a",
    version: str = "9.0",
    ptxas: Path | None = None,
) -> dict[int, str]:
    """The instructions that the assembler does not take, by place, with the first thing that it says of each."""
    used = ptxas or beside()
    found = _named(used, folder, dict(enumerate(lines)), architecture, version, parse=True)
    left = {place: line for place, line in enumerate(lines) if place not in found}
    while left and (more := _named(used, folder, left, architecture, version, parse=False)):
        found.update(more)
        left = {place: line for place, line in left.items() if place not in more}
    return found


def disagreements(
    answers: Iterable[tuple[str, bool]], folder: Path, architecture: str = "sm_100a", version: str = "9.0"
) -> list[str]:
    """Where a rule (an instruction and whether the rule has it legal) and the assembler differ, in words."""
    asked = list(answers)
    bad = refused(folder, [line for line, _ in asked], architecture, version)
    return [
        f"{architecture}: {line}: the rule says {'legal' if legal else 'illegal'}, ptxas {bad.get(place, 'takes it')}"
        for place, (line, legal) in enumerate(asked)
        if legal == (place in bad)
    ]


def _named(
    ptxas: Path, folder: Path, lines: dict[int, str], architecture: str, version: str, parse: bool
) -> dict[int, str]:
    written = [f".version {version}", f".target {architecture}", ".address_size 64"]
    places: dict[int, int] = {}

    def function(name: str, body: dict[int, str], last: Sequence[str]) -> None:
        written.extend((f".visible .entry {name}() {{", _REGISTERS))
        for place, line in body.items():
            written.append(line)
            places[len(written)] = place
        written.extend((*last, "ret;", "}"))

    if parse:
        function("all", lines, (_POISON,))
        places[len(written) - 2] = -1
    else:
        for place, line in lines.items():
            function(f"f{place}", {place: line}, ())
    path = folder / "instructions.ptx"
    path.write_text("\n".join([*written, ""]))
    command = [str(ptxas), f"-arch={architecture}", "-O0", str(path), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    found: dict[int, str] = {}
    for line in (done.stdout + done.stderr).splitlines():
        if match := _ERROR.match(line):
            found.setdefault(places[int(match[1])], match[2])
    if parse:
        assert found.pop(-1, None), done.stderr[-2000:]
    assert parse or bool(found) == (done.returncode != 0), done.stderr[-2000:]
    return found
