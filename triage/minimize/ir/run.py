"""After the kernel: its failure taken down to one pass and a module, that module made smaller, and a script for it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from triage.files import replace_file
from triage.harness import ir_tasks
from triage.harness.engine import Engine
from triage.ir.llvm import count_instructions
from triage.minimize import emit as reproducers
from triage.minimize.ir import assembly, emit, llvm
from triage.minimize.ir.kernel import Kernel
from triage.minimize.ir.mlir import reduce as mlir
from triage.minimize.ir.oracle import Replays, TextOracle
from triage.minimize.ir.place import NoIR, Place, find
from triage.minimize.ir.search import Search, Size
from triage.minimize.oracle import BudgetUsed, Failure
from triage.model.diagnosis import Kind
from triage.model.document import Doc, Documented
from triage.model.errors import EnvironmentFault

SECONDS = 60.0
"""What the reduction of the module may take by itself."""
_SLOWEST, _LEAST_S, _HANG_S = 4.0, 15.0, 3.0
"""A text may take that many times what the compile took, but at least so long; what has not ended after the third, or
as many times what the finished stages took, is taken to hang where the compile did. The end has the whole limit."""
FOLDER = "ir"
_NAMES = {".mlir": "before.mlir", ".ll": "module.ll", ".ptx": "module.ptx", ".s": "module.s", ".txt": "module.txt"}


@dataclass(frozen=True, slots=True)
class Measure(Documented):
    """Operations (instructions below MLIR) and bytes."""

    operations: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Result(Documented):
    """The reduced input of a failing stage or pass.

    ``file`` is what ``stage`` was given, or its pass ``pass_name`` (as mlir-opt spells the pipeline); ``command``
    shows the failure with the compiler's own tools, ``script`` with Triton alone. ``reproduced``: exit codes of two
    runs of the script. ``ended``: ``complete``, ``budget``, ``interrupted``, or what went wrong.
    """

    file: Path
    script: Path
    stage: str
    pass_name: Annotated[str | None, Doc(name="pass")]
    adder: str | None
    command: str
    before: Measure
    after: Measure
    reproduced: tuple[int, int]
    runs: int
    ended: str

    @property
    def holds(self) -> bool:
        """Whether the script was seen to show the failure, twice."""
        return self.reproduced == (1, 1)


def reduce_ir(
    kernel: Kernel, engine: Engine, folder: Path, scratch: Path, told: Callable[[str], None], seconds: float = SECONDS
) -> Result:
    """Find the place, reduce, write ``folder``/ir and run its script twice. The smallest module so far is on disk at
    any time, with the script; an interrupt keeps it. Raises NoIR with the reason where there is nothing to show."""
    if kernel.failure.diagnosis.kind is Kind.OUT_OF_MEMORY:
        raise NoIR("it runs out of memory, which depends on more than the module")
    scratch.mkdir(parents=True, exist_ok=True)
    failure, whole = kernel.failure, kernel.limits
    limits = replace(whole, timeout_s=min(whole.timeout_s, _patience_s(failure)))
    until = time.monotonic() + seconds
    replays = Replays(engine, kernel.case, kernel.toolchain, limits, failure, scratch, until, kernel.repeat)
    told("IR: stepping the passes")
    place = find(replays)
    home = folder / FOLDER
    file = home / _NAMES[place.ending]
    script = home / "rerun.py"
    count, reduction = _ways(place, replays)
    _write(file, place.text)
    spelling = _spelling(replays, place, file)
    command = emit.command(place, spelling, file.name, kernel)
    _write(script, emit.script(place, place.seen, kernel, file.name, command))
    before = Measure(count(place.text), len(place.text.encode()))
    judge = TextOracle(replays, place.task, place.ending)
    search = Search(judge, place.text, _measure(place), lambda text: _write(file, text))

    def say(what: str) -> None:
        told(f"IR, {what}: {count(search.best)} of {before.operations} operations, {replays.runs} runs")

    ended = "complete"
    try:
        reduction(search, say)
    except BudgetUsed:
        ended = "budget"
    except KeyboardInterrupt:
        ended = "interrupted"
    except EnvironmentFault as error:
        ended = f"stopped: {error}"
    text = search.best
    _write(file, text)
    told("IR: running its script twice")
    replays.limits = whole
    if (seen := replays.shows(place.task(file))) is None:
        # What was too slow for a candidate's limit may end within the whole one.
        text, ended = place.text, "undone: what was left does not fail alike with the whole limit"
        _write(file, text)
        seen = replays.shows(place.task(file)) or place.seen
    # The text that is looked for is what the smaller module prints.
    _write(script, emit.script(place, seen, kernel, file.name, command))
    return Result(
        file=file,
        script=script,
        stage=place.stage.value,
        pass_name=emit.pass_name(spelling),
        adder=", ".join(step["adder"] for step in place.steps) or None,
        command=command,
        before=before,
        after=Measure(count(text), len(text.encode())),
        reproduced=reproducers.run_twice(script, kernel.toolchain, kernel.limits.timeout_s),
        runs=replays.runs,
        ended=ended,
    )


def _patience_s(failure: Failure) -> float:
    """How long a text may take: many times what the whole compile took, little where that did not end."""
    if failure.diagnosis.kind is Kind.TIMEOUT:
        return max(_HANG_S, _SLOWEST * sum(stage.seconds for stage in failure.outcome.stages))
    return max(_LEAST_S, _SLOWEST * failure.outcome.duration_s)


def _measure(place: Place) -> Callable[[str], Size]:
    if place.ending == ".mlir":
        return mlir.measure
    return llvm.measure if place.ending == ".ll" else assembly.measure


def _ways(
    place: Place, replays: Replays
) -> tuple[Callable[[str], int], Callable[[Search, Callable[[str], None]], None]]:
    """How operations are counted, and how they are made fewer."""
    if place.ending == ".mlir":
        return mlir.count, lambda search, say: mlir.reduce(search, lambda text: _described(replays, text), say)
    if place.ending == ".ll":
        return count_instructions, llvm.reduce
    return assembly.count, assembly.reduce


def _described(replays: Replays, text: str) -> mlir.Description | None:
    """The module as the release itself prints it, with the types of its values."""
    path, to = replays.folder / "described.mlir", replays.folder / "described.json"
    to.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    replays.run(ir_tasks.DescribeModule(path, to))
    try:
        told = json.loads(to.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told["text"], told["operations"]


def _spelling(replays: Replays, place: Place, file: Path) -> str | None:
    """The passes as mlir-opt spells them: by the pass manager itself, or by the reproducer that it writes."""
    if not place.steps:
        return None
    to = replays.folder / "spelling.txt"
    to.unlink(missing_ok=True)
    replays.run(ir_tasks.RunPasses(file, place.steps, place.stage, spelling=to))
    try:
        return emit.pipeline(to.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def _write(path: Path, text: str) -> None:
    """Replace a file atomically. Raises EnvironmentFault."""
    try:
        replace_file(path, text)
    except OSError as error:
        raise EnvironmentFault(f"{path}: cannot be written: {error.strerror}") from None
