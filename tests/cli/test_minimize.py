"""``triage minimize``: real kernels to their least, with a script that shows it; stopped, resumed, and nobody's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import KERNELS, Run, call_triage
from conftest import Traces
from running import sharing_key

import triage
from triage.minimize.source.specimen import tokens

HELPERS = """\
import triton
import triton.language as tl


@triton.jit
def masked(pointer, offsets, n):
    # Everything below n.
    return tl.load(pointer + offsets, mask=offsets < n, other=0.0)
"""
KERNEL = '''\
"""A kernel with a mistake in the middle, and another one behind it that must not be taken for it."""
import triton
import triton.language as tl
from helpers import masked

LIMIT = tl.constexpr(4)


@triton.jit
def scaled(value, factor):
    return value * factor


@triton.jit
def secret_kernel(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """Adds and multiplies."""
    row = tl.program_id(0)
    offsets = row * BLOCK + tl.arange(0, BLOCK)
    x = masked(x_ptr, offsets, n)
    if WIDE:
        y = masked(y_ptr, offsets * stride, n)
    else:
        y = x
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for step in range(LIMIT):
        total += scaled(x, step) + y
    pair = tl.reshape(total, [BLOCK, 2])
    tl.store(y_ptr + offsets, pair, mask=offsets < n)
    tl.dot(total, total)
'''
OPTIONS = (
    "--arg", "x_ptr=*fp16", "--arg", "y_ptr=*fp16", "--arg", "n=i64", "--arg", "stride=i32", "--const", "BLOCK=64",
    "--const", "WIDE=True", "--divisible", "n=16", "--num-warps", "8", "--num-stages", "2", "--target", "cuda:80",
)  # fmt: skip

Minimize = Callable[..., Run]


def prepared(folder: Path, cache: Path) -> Minimize:
    """The command on the kernel above, in a folder that holds it."""
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "kernel.py").write_text(KERNEL)
    kernel = f"{folder / 'kernel.py'}::secret_kernel"
    return lambda *arguments: call_triage(cache, "minimize", kernel, *OPTIONS, "-o", folder / "min", *arguments)


@pytest.fixture
def minimize(empty_cache: Path, tmp_path: Path) -> Minimize:
    return prepared(tmp_path, empty_cache)


@pytest.fixture(scope="module")
def minimized(empty_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """One whole reduction, and the folder that it left."""
    folder = tmp_path_factory.mktemp("minimized")
    return prepared(folder, empty_cache)("--json"), folder / "min"


def reproduce(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The script, in a fresh process that knows nothing of triage."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    command = [sys.executable, "-I", str(folder / "reproducer.py")]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_a_kernel_with_a_sibling_comes_down_to_its_mistake(minimized: tuple[Run, Path]) -> None:
    done, folder = minimized
    document, text = done.document, (folder / "kernel.py").read_text()
    assert (done.code, document["ended"], document["confirmed"], document["reproduced"]) == (
        0,
        "complete",
        True,
        [1, 1],
    )
    assert document["signature"].startswith("v2|frontend-error|")
    assert "reshape" in document["signature"]
    assert document["after"]["body_lines"] == 1
    assert document["after"]["tokens"] == tokens(text) <= 40
    assert (document["case"]["options"], document["case"]["constexprs"]) == ({}, {})
    assert "dot" not in text  # the other mistake
    assert {path.name for path in folder.iterdir()} == {
        "case.json", "kernel.py", "minimized.json", "reproducer.py", "state.json", "tried.jsonl",
    }  # fmt: skip
    assert json.loads((folder / "case.json").read_text()) == document["case"]


def test_the_reproducer_says_gone_there_and_cannot_tell(minimized: tuple[Run, Path], tmp_path: Path) -> None:
    text = (minimized[1] / "reproducer.py").read_text()
    assert text.startswith("# Exit codes (as `git bisect run` has them): 0 the bug is gone, 1 it is there, 125 ")
    head, mark, rest = text.partition("# ---- the kernel")
    start, end = rest.index("\n    "), rest.index("\n\n# ---- its")

    def ends(script: str) -> tuple[int, str]:
        (tmp_path / "reproducer.py").write_text(sharing_key(script))
        done = reproduce(tmp_path)
        return done.returncode, done.stdout.splitlines()[-1].partition(":")[0]

    assert ends(text) == (1, "it is there")
    assert ends(head + mark + rest[:start] + "\n    pass" + rest[end:]) == (0, "it is gone")
    assert ends(head + mark + rest[:start] + "\n    another()" + rest[end:]) == (125, "cannot tell")
    assert ends(text.replace("import triton.language as tl", "import nowhere as tl")) == (125, "cannot tell")


@pytest.mark.slow
def test_anonymous(minimize: Minimize, tmp_path: Path) -> None:
    done = minimize("--anonymize", "--json")
    everything = "".join(path.read_text() for path in (tmp_path / "min").iterdir())
    assert (done.document["anonymous"], done.code) == (True, 0)
    assert [
        word for word in ("secret", "x_ptr", "BLOCK", "offsets", "helpers", str(tmp_path)) if word in everything
    ] == []


def test_what_compiles_is_no_case(empty_cache: Path, tmp_path: Path) -> None:
    arguments = ("--arg", "x_ptr=*fp32", "--arg", "y_ptr=*fp32", "--arg", "n=i32", "--const", "BLOCK=128")
    done = call_triage(empty_cache, "minimize", f"{KERNELS}::add", *arguments, "-o", tmp_path / "min")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1] == f"triage: {KERNELS}::add: does not fail: it compiles"


@pytest.mark.slow
def test_a_budget_ends_it_and_the_same_command_goes_on(minimize: Minimize) -> None:
    first = minimize("--budget", "20", "--json")
    assert (first.code, first.document["ended"]) == (0, "budget")
    second = minimize("--json")
    assert "continuing from" in second.err
    assert (second.code, second.document["ended"]) == (0, "complete")
    assert second.document["after"]["tokens"] < first.document["after"]["tokens"] < first.document["before"]["tokens"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_stopped_it_keeps_the_best(
    minimize: Minimize, tmp_path: Path, empty_cache: Path, number: int, code: int, traces: Traces
) -> None:
    process = _started(tmp_path, empty_cache)
    began = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 3
    document = json.loads(out)
    assert (process.returncode, document["ended"], document["confirmed"]) == (code, "interrupted", None), err
    assert (document["reproduced"], document["ir"]) == (None, None)
    assert err.splitlines()[-1] == "triage: interrupted"
    traces.assert_gone()
    assert reproduce(tmp_path / "min").returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1, 12])
def test_a_time_budget_bounds_the_whole_call(cache: Path, tmp_path: Path, seconds: int) -> None:
    """A kernel with many candidates, of which one compile takes about a second, and IR that can be reduced."""
    began = time.monotonic()
    done = call_triage(
        cache, "minimize", "wgmma-tf32-mn-major", "-o", tmp_path / "min", "--budget", f"{seconds}s", "--json"
    )
    assert time.monotonic() - began < 1.3 * seconds + 6
    if done.code == 3:
        assert f"the time budget of {seconds} s was used up before the first candidate" in done.err
    else:
        assert (done.code, done.document["ended"]) == (0, "budget")
        assert "the time budget is used up" in done.err


@pytest.mark.slow
def test_killed_it_leaves_a_whole_case(minimize: Minimize, tmp_path: Path, empty_cache: Path) -> None:
    process = _started(tmp_path, empty_cache)
    process.kill()
    process.communicate()
    done = call_triage(empty_cache, "check", tmp_path / "min", "--no-suggest", "--json")
    assert "reshape" in done.document["diagnosis"]["signature"]


def _started(folder: Path, cache: Path) -> subprocess.Popen[str]:
    """A reduction that has come so far that it has something better than the original."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(triage.__file__).parent.parent),
        "TRITON_TRIAGE_CACHE": str(cache),
    }
    kernel = f"{folder / 'kernel.py'}::secret_kernel"
    words = [sys.executable, "-m", "triage", "minimize", kernel, *OPTIONS, "-o", str(folder / "min"), "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    tried, until = folder / "min" / "tried.jsonl", time.monotonic() + 60
    while time.monotonic() < until and not (tried.is_file() and tried.read_text().count("same") >= 3):
        time.sleep(0.02)
    return process
