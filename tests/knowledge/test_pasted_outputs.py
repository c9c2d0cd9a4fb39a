"""What people paste of a failure has its shape from a logger, a CI runner, a notebook or a message: no shape changes
which failure it is, nor the entry that describes it.

The texts are those of our own reproducers (``record_outputs.py``), each reproducer once for each of its signatures.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import triage
from triage.model.diagnosis import Diagnosis

OUTPUTS: dict[str, str] = json.loads(gzip.decompress((Path(__file__).parent / "outputs.json.gz").read_bytes()))
#: What the project promises: the same kind and headline, and the same entry first.
LEAST_RECOGNISED, LEAST_MATCHED = 0.98, 0.95
FAST_SHARE = 30
"""One of so many texts is in the fast tests."""

Lines = list[str]
_FRAME = re.compile(r'  File "(.*)", line (\d+), in (.*)')
_RAISED = re.compile(r"([\w.]+)(?::|$)")
#: Lines that a person leaves above the failing one, at least.
_KEPT_ABOVE = 12


def in_pytest(lines: Lines) -> Lines:
    above = [
        "=" * 30 + " FAILURES " + "=" * 30,
        "_" * 30 + " test_kernel[128] " + "_" * 30,
        "",
        ">       kernel[(1,)](x)",
    ]
    return [*above, *(f"E       {line}".rstrip() for line in lines), "", "test_k.py:12: Failed"]


def in_a_message(lines: Lines) -> Lines:
    asked = ["Hi, since the last upgrade my kernel does not work any more. This is what I get:", "", "```"]
    return [*asked, *lines, "```", "", "It worked last week. Any idea what I could try? Thanks!"]


def in_a_notebook(lines: Lines) -> Lines:
    """IPython's frames, in its older and its newer spelling."""
    shaped = ["-" * 75]
    waiting = lines[::-1]
    while waiting:
        line = waiting.pop()
        if line.startswith("Traceback (most"):
            raised = next((match[1] for text in reversed(waiting) if (match := _RAISED.match(text))), "Error")
            shaped.append(f"{raised.rpartition('.')[2]:42}Traceback (most recent call last)")
        elif (frame := _FRAME.match(line)) and waiting and waiting[-1].startswith("    "):
            number = int(frame[2])
            newer = f"File {frame[1]}:{number}, in {frame[3]}(*args)"
            shaped.append(newer if number % 2 else f"{frame[1]} in {frame[3]}(*args)")
            shaped += [
                f"    {number - 1}     # above",
                f"--> {number} {waiting.pop()}",
                f"    {number + 1}     # below",
                "",
            ]
            if waiting and not waiting[-1].strip(" ^~") and waiting[-1].strip():
                waiting.pop()  # Python's marks below the line
        else:
            shaped.append(line)
    return shaped


def failing(lines: Lines, headline: str) -> list[int]:
    """The lines that have the words of the headline."""
    words = [part for part in re.split(r"[:…]\s", headline) if len(part) > 8][-1:] or [headline]
    return [number for number, line in enumerate(lines) if words[0][:60] in line] or [0, len(lines)]


def stamped(prefix: str) -> Callable[[Lines], Lines]:
    """Each line behind a prefix with its second in place of ``{}``."""
    return lambda lines: [prefix.format(f"{number % 60:02}") + line for number, line in enumerate(lines)]


SHAPES: dict[str, Callable[[Lines], Lines]] = {
    "a logger": stamped("ERROR 02-28 00:20:{} [engine.py:165] "),
    "a worker": stamped("(EngineCore_0 pid=4242) "),
    "a rank": stamped("[rank0]: "),
    "a CI runner": stamped("2025-03-01T12:00:{}.1234567Z "),
    "ComfyUI": stamped("[Warning] [ComfyUI-0/STDERR] "),
    "docker compose": stamped("app-1  | "),
    "a journal": stamped("Feb 28 00:20:{} box python3[812]: "),
    "a quotation": stamped("> "),
    "rich's frame": lambda lines: ["╭" + "─" * 100 + "╮", *(f"│ {line:98} │" for line in lines), "╰" + "─" * 100 + "╯"],
    "Windows": lambda lines: [f"{line}\r" for line in lines],
    "pytest": in_pytest,
    "a message": in_a_message,
    "a notebook": in_a_notebook,
}


def cut(lines: Lines, headline: str) -> dict[str, Lines]:
    """The text without its first and without its last lines; the failing ones are left."""
    numbers = failing(lines, headline)
    return {
        "cut above": lines[max(0, min(numbers[0] - _KEPT_ABOVE, len(lines) // 3)) :],
        "cut below": lines[: max(numbers[-1] + 1, len(lines) * 3 // 4)],
    }


@cache  # most shapes give the same diagnosis
def first(diagnosis: Diagnosis) -> str | None:
    return next((match.id for match in triage.match(diagnosis)), None)


def shares(texts: dict[str, str]) -> None:
    recognised, matched, total = [], [], 0
    for name, text in texts.items():
        lines = text.rstrip("\n").split("\n")
        plain = triage.diagnose(text)
        shaped = {shape: change(lines) for shape, change in SHAPES.items()} | cut(lines, plain.headline)
        for shape, changed in shaped.items():
            total += 1
            read = triage.diagnose("\n".join(changed) + "\n")
            if (read.kind, read.headline) != (plain.kind, plain.headline):
                recognised.append(f"{name} in {shape}: {read.kind.value} {read.headline!r}, not {plain.headline!r}")
            if first(read) != first(plain):
                matched.append(f"{name} in {shape}: {first(read)}, not {first(plain)}")
    print(f"{total}: {total - len(recognised)} recognised, {total - len(matched)} matched")
    assert len(recognised) <= (1 - LEAST_RECOGNISED) * total, "\n".join(recognised)
    assert len(matched) <= (1 - LEAST_MATCHED) * total, "\n".join(matched)


def test_a_shape_changes_neither_the_failure_nor_the_entry() -> None:
    shares(dict(list(OUTPUTS.items())[::FAST_SHARE]))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_shape_changes_any_failure() -> None:
    shares(OUTPUTS)
