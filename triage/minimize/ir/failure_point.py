"""Finds the shortest part of a compile that fails alone: a pass with the module before it, or a later stage with its
input."""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triage.filesystem.files import read_file, replace_file
from triage.harness.request import JOURNAL, IrTask, RecordPasses, RunPasses, RunStage
from triage.ir.mlir import reparsable
from triage.minimize.ir.replays import Replays
from triage.model.case import MOST_IR
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Stage

_ENDINGS = {Stage.PTX: ".ll", Stage.AMDGCN: ".ll", Stage.CUBIN: ".ptx", Stage.HSACO: ".s"}
"""The inputs of the stages after MLIR."""
_WITHOUT_IR = {
    Stage.SOURCE: "it fails in the front end, before there is IR",
    Stage.LOAD: "it compiles: what it asks for is over a limit of the target, which no pass looks at",
    Stage.LAUNCH: "it compiles, and fails when it is launched",
}
"""Why a failure in these stages has no IR."""
RecordedPass = Mapping[str, Any]


class NoIR(Exception):
    """No IR shows the failure; the message says why."""


@dataclass(frozen=True, slots=True)
class FailurePoint:
    """``text`` is the input of ``stage`` from its ``passes`` on; without passes, of the part of the stage after them.
    ``seen``: the failure as that part alone showed it. ``call``: what the stage passed to the code generator or the
    assembler, where that is known: a list of arguments, or a command line."""

    stage: Stage
    text: str
    ending: str
    passes: tuple[RecordedPass, ...]
    seen: tuple[Diagnosis, Outcome]
    call: Any = None

    def task(self, path: Path) -> IrTask:
        """The task that shows the failure on the text in ``path``."""
        return _task(path, self.passes, self.stage)


def find(replays: Replays) -> FailurePoint:
    """The shortest part of the compile that shows the failure by itself. Raises NoIR."""
    stage = replays.failure.outcome.stage
    if not replays.failure.outcome.imported:
        raise NoIR("it fails while the kernel's file is imported, before the kernel is looked at")
    if stage is None or stage in _WITHOUT_IR:
        raise NoIR(_WITHOUT_IR[stage or Stage.SOURCE])
    point = _stepped(replays, stage) or _whole(replays, stage)
    if point is None:
        raise NoIR(f"no pass or stage shows it alone, on what it is given at {stage.value}")
    return point


def _task(path: Path, passes: tuple[RecordedPass, ...], stage: Stage) -> IrTask:
    return RunPasses(path, passes, stage) if passes else RunStage(path, stage)


def _journal(replays: Replays, step: bool) -> tuple[Path, list[dict[str, Any]]]:
    """Compile the kernel and record its passes; the folder of the journal, and its records."""
    folder = replays.folder / ("stepped" if step else "whole")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    replays.run(RecordPasses(folder, step))
    try:
        journal = read_file(folder / JOURNAL, folder, MOST_IR).decode("utf-8", "replace")
    except OSError:
        return folder, []
    records = []
    for line in journal.splitlines():
        with suppress(ValueError):  # A kill may have cut a line short.
            records.append(json.loads(line))
    return folder, records


def _try(
    replays: Replays, folder: Path, record: Mapping[str, Any], passes: Sequence[RecordedPass], stage: Stage
) -> FailurePoint | None:
    """The failure point that begins with a record, where the failure occurs there."""
    name = record["file"]
    if name is None:
        return None
    try:
        text = reparsable(read_file(folder / name, folder, MOST_IR).decode("utf-8", "replace"))
    except OSError:
        return None
    ending = ".mlir" if name.endswith(".mlir") else _ENDINGS.get(stage, ".txt")
    path = replays.folder / f"input{ending}"
    # Locations in the kernel's file name its folder on this machine.
    home = str(replays.case.folder.resolve())
    text = text.replace(f"{home}/", "").replace(home, ".")
    replace_file(path, text)
    seen = replays.shows(_task(path, tuple(passes), stage))
    return FailurePoint(stage, text, ending, tuple(passes), seen) if seen else None


def _stepped(replays: Replays, stage: Stage) -> FailurePoint | None:
    """With each pass in a pass manager of its own: the pass that failed, or the fewest last passes that
    fail together."""
    folder, records = _journal(replays, step=True)
    of_stage = [record for record in records if record["stage"] == stage.value]
    calls = [record["arguments"] for record in of_stage if record["kind"] == "call"]
    inputs = [record for record in of_stage if record["kind"] != "call"]
    if not inputs:
        return None
    last = inputs[-1]
    if last["kind"] != "pass":
        point = _try(replays, folder, last, (), stage)
        return replace(point, call=calls[-1]) if point is not None and calls else point
    passes: list[RecordedPass] = []
    for record in reversed([record for record in inputs if record["pipeline"] == last["pipeline"]]):
        passes.insert(0, record["steps"][0])
        if (point := _try(replays, folder, record, passes, stage)) is not None:
            return point
    return None


def _whole(replays: Replays, stage: Stage) -> FailurePoint | None:
    """The pipeline that failed, run as the compile runs it, without the passes that the failure does not need."""
    folder, records = _journal(replays, step=False)
    pipelines = [record for record in records if record["stage"] == stage.value and record["kind"] == "pipeline"]
    point = _try(replays, folder, pipelines[-1], pipelines[-1]["steps"], stage) if pipelines else None
    if point is None:
        return None
    for index in reversed(range(len(point.passes))):
        # Those behind the index are needed.
        fewer = [*point.passes[:index], *point.passes[index + 1 :]]
        if fewer:
            point = _try(replays, folder, pipelines[-1], fewer, stage) or point
    return point
