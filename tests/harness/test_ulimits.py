"""The environment's own limits: good kernels compile under them, and what they ended is not remembered."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from commands import call_triage, new_cache, set_limits, start_triage

from triage.harness.limits import GIB
from triage.model.case import Case, frozen

KERNEL = """
import mmap
import triton
import triton.language as tl

_compile = triton.compile


@triton.jit
def add(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)


@triton.jit
def greedy(x_ptr, BLOCK: tl.constexpr):
    add(x_ptr, BLOCK)


def compile_(source, **named):
    if source.name == "greedy":
        mmap.mmap(-1, 4 << 30)
    return _compile(source, **named)


triton.compile = compile_
"""


@pytest.mark.slow
def test_an_environment_that_limits_the_address_space(tmp_path: Path) -> None:
    """A good kernel compiles. One for which the environment's limit is too small may be good: nobody can tell, and
    without the limit it compiles."""
    cache, (add, greedy) = new_cache(tmp_path / "cache"), (str(tmp_path / name) for name in ("add", "greedy"))
    for name in ("add", "greedy"):
        # Case folders: of a file, only what the kernel reaches would be imported.
        case = Case(tmp_path / name, "kernel.py", name, frozen({"x_ptr": "*fp32"}), frozen({"BLOCK": 64}))
        case.folder.mkdir()
        case.path.write_text(KERNEL)
        (case.folder / "case.json").write_text(json.dumps(case.to_json()))
    options = ("--memory", "4G", "--json")
    limited = start_triage(cache, "check", add, greedy, *options, limits={resource.RLIMIT_AS: 3 * GIB})
    assert (limited.code, limited.documents[0]["outcome"]["status"]) == (3, "ok")
    assert "greedy: could not tell: memory was refused under `ulimit -v 3145728`" in limited.err
    assert call_triage(cache, "check", greedy, *options).code == 0


def test_which_limits_count() -> None:
    """Those that may end a compile before triage's own do."""
    code = (
        "from triage.harness.limits import Limits; from triage.harness.ulimits import ulimits; print(ulimits(Limits()))"
    )
    tight = {resource.RLIMIT_AS: GIB, resource.RLIMIT_STACK: 1 << 20, resource.RLIMIT_CPU: 60}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, preexec_fn=partial(set_limits, tight)
    )
    assert done.stdout == f"{{'-v': {GIB}, '-s': {1 << 20}, '-t': 60}}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "files", [12, *(pytest.param(files, marks=pytest.mark.slow) for files in (*range(5, 12), 14, 16))]
)
def test_too_few_open_files_are_one_line(tmp_path: Path, files: int) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(KERNEL)
    limits = {resource.RLIMIT_NOFILE: files}
    case = (f"{kernel}::add", "--arg", "x_ptr=*fp32", "--const", "BLOCK=64", "--target", "cuda:90")
    done = start_triage(tmp_path, "check", *case, limits=limits)
    # What takes over a second is announced.
    error = re.sub(r"\Acompiling add for cuda:90, Triton \S+\n", "", done.err)
    assert (done.code, done.out, len(error.splitlines())) == (3, "", 1)
    assert error.endswith("Too many open files; raise `ulimit -n`\n")
