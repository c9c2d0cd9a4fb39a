"""compute-sanitizer's memcheck: how it is found and run, and what its text says.

Formats of the text and options: Compute Sanitizer's user manual (docs.nvidia.com/compute-sanitizer, "Understanding
Memcheck Errors"), releases 11.4 to 13.5.
"""

import os
import re
import shutil
import sysconfig
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path

from triage.filesystem.files import read_file
from triage.model.measurement import MemoryCheck

_NAME = "compute-sanitizer"
_PRINTED = 100
"""Errors that are printed; the summary counts all."""
_MOST_TEXT = 4 << 20
"""Bytes: about 2 KiB for each of the errors."""
MISSING = "no compute-sanitizer on PATH, in CUDA_HOME, or beside the compiler: pip install nvidia-cuda-sanitizer-api"
ENVIRONMENT = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
"""Every tensor is an allocation of its own: within torch's pools, what is beyond a tensor is often allocated."""
_ERROR = re.compile(r"========= (?P<access>Invalid __\w+__ (?:read|write|atomic)\b.*)")
_DETAIL = re.compile(r"=========     +(?P<text>.*)")
_AT = re.compile(r"at (?P<kernel>.+?)\+0x[0-9a-f]+(?: in (?P<place>\S+:\d+))?$")
_AT_OF_OLDER = re.compile(r"at 0x[0-9a-f]+ in (?P<place>\S+?:\d+):(?P<kernel>.+)")
_THREAD = re.compile(r"by (?P<thread>thread \(\d+,\d+,\d+\) in block \(\d+,\d+,\d+\))")
_ADDRESS = re.compile(r"(?:Address|Access to) 0x[0-9a-f]+ is (?P<why>.+)")
_SUMMARY = re.compile(r"========= ERROR SUMMARY: (?P<errors>[\d,]+) errors?\b")
_FAULT = re.compile(r"========= (?:Internal Sanitizer )?(?:Error|ERROR): (?!SUMMARY)(?P<text>.+)")


def located(site_packages: Path | None = None) -> Path | None:
    """The program: on PATH, in a CUDA toolkit, or in the wheel ``nvidia-cuda-sanitizer-api`` in ``site_packages`` or
    triage's own environment."""
    return next(filter(_is_program, _candidates(site_packages)), None)


def _candidates(site_packages: Path | None) -> Iterator[Path]:
    if on_path := shutil.which(_NAME):
        yield Path(on_path)
    for toolkit in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if toolkit:
            yield from (Path(toolkit, "bin", _NAME), Path(toolkit, _NAME, _NAME))
    for packages in (site_packages, Path(sysconfig.get_path("purelib"))):
        if packages is not None:
            yield from sorted(packages.glob(f"nvidia/*/{_NAME}/{_NAME}"))


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def command(program: Path, log: Path) -> list[str]:
    """What to put before a command line. The text goes to ``log``. API errors are not reported: torch makes calls that
    may fail."""
    options = {
        "--tool": "memcheck",
        "--target-processes": "application-only",
        "--report-api-errors": "no",
        "--print-limit": str(_PRINTED),
        "--log-file": str(log),
    }
    return [str(program), *(part for option in options.items() for part in option)]


def written(log: Path) -> str:
    """The text that the program wrote. Raises OSError."""
    return read_file(log, log.parent, _MOST_TEXT).decode(errors="replace")


def parsed(text: str) -> MemoryCheck | None:
    """What the text reports; None where it has no summary."""
    lines = text.splitlines()
    summary = next((match for line in lines if (match := _SUMMARY.match(line))), None)
    if summary is None:
        return None
    errors = ((match["access"], at) for at, line in enumerate(lines) if (match := _ERROR.match(line)))
    first = next((_first(access, lines[at + 1 :]) for access, at in errors), "")
    return MemoryCheck(int(summary["errors"].replace(",", "")), first)


def fault(text: str) -> str:
    """Why the tool itself did not work, in one line; "" where it does not say."""
    return next((match["text"] for line in text.splitlines() if (match := _FAULT.match(line))), "")


def _first(access: str, below: list[str]) -> str:
    """The access with its place, thread and reason, which stand below it."""
    details = [match["text"] for match in takewhile(bool, map(_DETAIL.match, below)) if match]
    facts: Mapping[str, str | None] = {}
    for detail in details:
        for pattern in (_AT, _AT_OF_OLDER, _THREAD, _ADDRESS):
            if match := pattern.match(detail):
                facts = {**match.groupdict(), **facts}
    at = " in ".join(part for part in (facts.get("kernel"), facts.get("place")) if part)
    thread, why = facts.get("thread"), facts.get("why")
    return ", ".join(part for part in (f"{access} at {at}" if at else access, thread, why) if part)
