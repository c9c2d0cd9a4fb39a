"""``triage minimize`` beside a general-purpose reducer, Shrink Ray: on the same files, with the same oracle, in turn.

``pytest -m slow tests/benchmarks/test_shrinkray.py`` prints a table a kernel. The terms: as many jobs for both; the
oracle of ``triage minimize`` itself, warm, for both, so that Shrink Ray pays for no interpreter and candidates that do
not parse cost nothing; wall time of the whole command for both, for ``triage minimize`` with the reproducer and the
runs that confirm it, without the IR, which Shrink Ray is not asked for. Tokens are Python's, lines those that are not
blank.

What differs: ``triage minimize`` reduces the configuration as well, and has no way to leave it alone. Shrink Ray has
the file alone, and a candidate whose kernel no longer takes what the case passes is not interesting. TRIAGE_BENCH_FIT=1
goes further than that in its favour: what a candidate's kernel no longer takes is not passed either.

Shrink Ray needs a newer Python than triage, and brings much with it, so it is no part of the ``dev`` extra: uv makes an
environment for it, or TRIAGE_BENCH_SHRINKRAY names the interpreter of one. It is stopped after TRIAGE_BENCH_LIMIT_S
seconds (600), or five times what ``triage minimize`` took where that is longer; the table says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import Run, start_triage

import triage
from triage.frontends import documents
from triage.minimize.source.specimen import tokens

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]

HERE = Path(__file__).parent
KERNELS = sorted(path.parent for path in (HERE / "kernels").glob("*/case.json"))
# The last release that is all wheels, and the grammar that it would download at run time.
SHRINKRAY = ("shrinkray==26.7.6.1", "tree-sitter-python==0.25.0")
JOBS = min(2, len(os.sched_getaffinity(0)))
LIMIT_S = float(os.environ.get("TRIAGE_BENCH_LIMIT_S", "600"))
FIT = os.environ.get("TRIAGE_BENCH_FIT") == "1"
#: A reducer that knows the language is worth having from there on.
TIMES_FASTER = 5


@dataclass(frozen=True, slots=True)
class Reduced:
    """``calls``: candidates judged; ``compiles``: what that took; ``seconds``: wall time; ``note``: how it ended."""

    text: str
    calls: int
    compiles: int
    seconds: float
    note: str = ""

    def row(self, name: str) -> str:
        """One line of the table."""
        size = f"{tokens(self.text):7} {lines(self.text):6}"
        return f"  {name:16} {size} {self.calls:7} {self.compiles:9} {self.seconds:8.1f}  {self.note}".rstrip()


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


@pytest.fixture(scope="module")
def shrinkray(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has it."""
    if given := os.environ.get("TRIAGE_BENCH_SHRINKRAY"):
        return Path(given)
    folder = tmp_path_factory.mktemp("shrinkray") / "venv"
    python = folder / "bin" / "python"
    for command in (
        ["venv", "--quiet", "--python", "3.12", str(folder)],
        ["pip", "install", "--quiet", "--only-binary", ":all:", "--python", str(python), *SHRINKRAY],
    ):
        done = subprocess.run([sys.executable, "-m", "uv", *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            why = next(iter(done.stderr.strip().splitlines()), "failed")
            needs = f"a Python 3.12 with {' and '.join(SHRINKRAY)}"
            pytest.skip(f"no Shrink Ray: uv {command[0]}: {why}; TRIAGE_BENCH_SHRINKRAY=PYTHON may name {needs}")
    return python


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    done = action()
    return time.perf_counter() - began, done


def by_triage(kernel: Path, cache: Path, folder: Path) -> Reduced:
    options = ["--no-ir", "--jobs", str(JOBS), "--json", "-o", folder]
    seconds, done = timed(lambda: start_triage(cache, "minimize", kernel, *options))
    assert isinstance(done, Run)
    assert done.code == 0, done.err
    document = done.document
    assert (document["ended"], document["confirmed"], document["reproduced"]) == ("complete", True, [1, 1])
    tried = (folder / "tried.jsonl").read_text().count("\n")
    return Reduced((folder / "kernel.py").read_text(), tried, document["compiles"], seconds)


def by_shrinkray(python: Path, kernel: Path, cache: Path, limit_s: float) -> Reduced:
    case = documents.load(kernel)
    oracle = [sys.executable, str(HERE / "shrinkray_oracle.py"), str(kernel), *(["--fit"] if FIT else [])]
    settings = {"file": str(case.path), "oracle": oracle, "jobs": JOBS, "limit_s": limit_s}
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(triage.__file__).parent.parent),
        "TRITON_TRIAGE_CACHE": str(cache),
    }
    command = [str(python), str(HERE / "shrinkray_driver.py"), json.dumps(settings)]
    seconds, done = timed(lambda: subprocess.run(command, capture_output=True, text=True, check=False, env=environment))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # An oracle that finds everything interesting leaves nothing.
    assert case.name in found["text"]
    assert found["undecided"] == 0
    ended = "to its own end" if found["end"] else "stopped"
    note = f"{ended}, last improvement at {found['last']:.0f} s"
    return Reduced(found["text"], found["calls"], found["compiles"], seconds, note)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_smaller_and_faster(
    kernel: Path, shrinkray: Path, empty_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = by_triage(kernel, empty_cache, tmp_path / "min")
    theirs = by_shrinkray(shrinkray, kernel, empty_cache, max(LIMIT_S, TIMES_FASTER * ours.seconds))
    original = documents.load(kernel).path.read_text()
    with capsys.disabled():
        print(
            f"\n{kernel.name}: {tokens(original)} tokens, {lines(original)} lines, {JOBS} jobs"
            f"\n  {'':16}  tokens  lines   calls  compiles  seconds"
            f"\n{ours.row('triage minimize')}\n{theirs.row('Shrink Ray')}"
        )
    assert tokens(ours.text) <= tokens(theirs.text), f"ours:\n{ours.text}\nShrink Ray's:\n{theirs.text}"
    assert ours.seconds * TIMES_FASTER <= theirs.seconds
