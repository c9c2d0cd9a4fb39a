"""Reduce a failure to one pass or stage and its smallest input, with a script that shows it."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from triage.filesystem.files import make_folder, read_file, writing
from triage.harness.request import DescribeModule, RunPasses
from triage.ir import passes
from triage.ir.llvm import count_instructions
from triage.minimize import reproducer as reproducers
from triage.minimize.failure import OriginalFailure
from triage.minimize.ir import assembly, llvm
from triage.minimize.ir import script as scripts
from triage.minimize.ir.edits import TextProblem
from triage.minimize.ir.failure_point import FailurePoint, NoIR, find
from triage.minimize.ir.mlir import reduce as mlir
from triage.minimize.ir.replays import Replays
from triage.minimize.problem import ReductionProblem, RunBudget, Size, finishing, search
from triage.minimize.result_folder import write
from triage.model.case import MOST_IR
from triage.model.diagnosis import Kind
from triage.model.document import Doc, Documented

SECONDS = 60.0
"""Time limit of the search alone."""
_SLOWEST, _LEAST_S, _HANG_S = 4.0, 15.0, 3.0
"""A text may take that many times what the compile took, but at least ``_LEAST_S``. Where the compile hangs, a text
that has not ended after ``_HANG_S``, or that many times what the finished stages took, counts as hanging. The final
check has the original's limit."""
FOLDER = "ir"


@dataclass(frozen=True, slots=True)
class _Format:
    """A textual form of IR: the stem of its file, its size, its number of operations, and how it is reduced."""

    stem: str
    measure: Callable[[str], Size]
    count: Callable[[str], int]
    reduce: Callable[[TextProblem, mlir.Describe], None]


_MLIR = _Format("before", mlir.measure, mlir.count, mlir.reduce)
_LLVM = _Format("module", llvm.measure, count_instructions, lambda problem, describe: llvm.reduce(problem))
_ASSEMBLY = _Format("module", assembly.measure, assembly.count, lambda problem, describe: assembly.reduce(problem))
_FORMATS = {".mlir": _MLIR, ".ll": _LLVM}


@dataclass(frozen=True, slots=True)
class IRSize(Documented):
    """Operations (instructions below MLIR) and bytes."""

    operations: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ReducedIR(Documented):
    """The reduced input of a failing stage or pass.

    ``file`` is the input of ``stage``, or of its pass ``pass_name`` (in mlir-opt's syntax); ``command`` shows the
    failure with the compiler's own tools, ``script`` with Triton alone. ``reproduced``: exit codes of two runs of the
    script; None where there was no time for them. ``ended``: ``complete``, ``budget``, ``interrupted``, or what went
    wrong.
    """

    file: Path
    script: Path
    stage: str
    pass_name: Annotated[str | None, Doc(name="pass")]
    adder: str | None
    command: str
    before: IRSize
    after: IRSize
    reproduced: tuple[int, int] | None
    runs: int
    ended: str


def reduce_ir(replays: Replays, folder: Path, step: Callable[[str], None], seconds: float = SECONDS) -> ReducedIR:
    """Find the failing pass or stage, reduce its input, write ``folder``/ir and run its script twice. The smallest
    module so far is on disk at any time, with the script; an interrupt keeps it. Raises NoIR with the reason where no
    IR shows the failure, and BudgetUsed where the runner's deadline comes before that is known."""
    failure, limits = replays.failure, replays.limits
    if failure.diagnosis.kind is Kind.OUT_OF_MEMORY:
        raise NoIR("it runs out of memory, which depends on more than the module")
    replays.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds
    bounded = replace(replays, limits=replace(limits, timeout_s=min(limits.timeout_s, _patience_s(failure))))
    step("IR: stepping the passes")
    point = find(bounded)
    format_ = _FORMATS.get(point.ending, _ASSEMBLY)
    home = folder / FOLDER
    with writing(home):
        make_folder(home, folder)
    file, script = home / f"{format_.stem}{point.ending}", home / "rerun.py"
    write(file, point.text)
    spelling = _spelling(bounded, point, file)
    command = scripts.command(point, spelling, file.name, replays.case)
    write(script, scripts.script(point, point.seen, replays, file.name, command))
    before = IRSize(format_.count(point.text), len(point.text.encode()))

    def report(name: str, best: str) -> None:
        step(f"IR, {name}: {format_.count(best)} of {before.operations} operations, {replays.runner.runs} runs")

    problem = ReductionProblem(
        bounded.oracle(point.task, point.ending),
        point.text,
        format_.measure,
        width=max(4, 3 * replays.runner.jobs),
        budget=RunBudget(until=until),
        improved=lambda text: write(file, text),
        report=report,
    )
    deadline = replays.runner.deadline
    end, deadline.until = deadline.until, min(until, deadline.until)
    ended = search(lambda: format_.reduce(problem, lambda text: _described(bounded, text)))
    deadline.until = end
    text, reproduced = problem.best, None
    write(file, text)
    with finishing(ended, deadline):
        step("IR: running its script twice")
        if (seen := replays.shows(point.task(file))) is None:
            # What was too slow within a candidate's limit may end within the original's.
            text, ended = point.text, "undone: what was left does not fail alike with the whole limit"
            write(file, text)
            seen = replays.shows(point.task(file)) or point.seen
        # The script looks for the text that the smaller module prints.
        write(script, scripts.script(point, seen, replays, file.name, command))
        reproduced = reproducers.run_twice(script, replays.toolchain, limits.timeout_s, deadline)
    return ReducedIR(
        file=file,
        script=script,
        stage=point.stage.value,
        pass_name=spelling and passes.without_options(spelling),
        adder=", ".join(pass_["adder"] for pass_ in point.passes) or None,
        command=command,
        before=before,
        after=IRSize(format_.count(text), len(text.encode())),
        reproduced=reproduced,
        runs=replays.runner.runs,
        ended=ended,
    )


def _patience_s(failure: OriginalFailure) -> float:
    """Seconds that a text may take: several times the whole compile, little where that did not end."""
    if failure.diagnosis.kind is Kind.TIMEOUT:
        return max(_HANG_S, _SLOWEST * sum(stage.seconds for stage in failure.outcome.stages))
    return max(_LEAST_S, _SLOWEST * failure.outcome.duration_s)


def _described(replays: Replays, text: str) -> mlir.Description | None:
    """The module as the release itself prints it, with the types of its values."""
    path, to = replays.folder / "described.mlir", replays.folder / "described.json"
    to.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    replays.run(DescribeModule(path, to))
    try:
        description = json.loads(read_file(to, replays.folder, MOST_IR))
    except (OSError, ValueError):
        return None
    return description["text"], description["operations"]


def _spelling(replays: Replays, point: FailurePoint, file: Path) -> str | None:
    """The passes in mlir-opt's syntax: from the pass manager itself, or from the reproducer that it writes."""
    if not point.passes:
        return None
    to = replays.folder / "spelling.txt"
    to.unlink(missing_ok=True)
    replays.run(RunPasses(file, point.passes, point.stage, spelling=to))
    try:
        return passes.pipeline(read_file(to, replays.folder, MOST_IR).decode("utf-8", "replace"))
    except OSError:
        return None
