"""Where a compile fails: the module before the failing pass and the pass, or the text that a later stage was given."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triage.harness import ir_tasks
from triage.ir.mlir import reparsable
from triage.minimize.ir.oracle import Replays
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Stage

_ENDINGS = {Stage.PTX: ".ll", Stage.AMDGCN: ".ll", Stage.CUBIN: ".ptx", Stage.HSACO: ".s"}
"""What the stages behind MLIR are given."""
Step = Mapping[str, Any]


class NoIR(Exception):
    """There is no IR to show the failure with; the reason is for people."""


@dataclass(frozen=True, slots=True)
class Place:
    """``text`` is what ``stage`` was given, from its pass ``steps`` on; without steps, the part of it that is no
    pass's. ``seen``: the failure as it showed there alone. ``call``: what the stage gave the code generator or the
    assembler, where it is known: a list of arguments, or a command line."""

    stage: Stage
    text: str
    ending: str
    steps: tuple[Step, ...]
    seen: tuple[Diagnosis, Outcome]
    call: Any = None

    def task(self, path: Path) -> ir_tasks.IrTask:
        """What shows the failure, on a text in ``path``."""
        if self.steps:
            return ir_tasks.RunPasses(path, self.steps, self.stage)
        return ir_tasks.RunStage(path, self.stage)


def find(replays: Replays) -> Place:
    """The shortest part of the compile that shows the failure by itself. Raises NoIR."""
    stage = replays.failure.outcome.stage
    if not replays.failure.outcome.imported:
        raise NoIR("it fails while the kernel's file is imported, before the kernel is looked at")
    if stage in (None, Stage.SOURCE):
        raise NoIR("it fails in the front end, before there is IR")
    if stage is Stage.LOAD:
        raise NoIR("it compiles: what it asks for is over a limit of the target, which no pass looks at")
    if stage is Stage.LAUNCH:
        raise NoIR("it compiles, and fails when it is launched")
    assert stage is not None
    found = _stepped(replays, stage) or _whole(replays, stage)
    if found is None:
        raise NoIR(f"no pass or stage shows it alone, on what it is given at {stage.value}")
    return found


def _journal(replays: Replays, step: bool) -> tuple[Path, list[dict[str, Any]]]:
    folder = replays.folder / ("stepped" if step else "whole")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    replays.run(ir_tasks.RecordPasses(folder, step))
    journal = folder / ir_tasks.JOURNAL
    if not journal.is_file():
        return folder, []
    records = []
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue  # A kill cut it short.
    return folder, records


def _try(
    replays: Replays, folder: Path, record: Mapping[str, Any], steps: Sequence[Step], stage: Stage
) -> Place | None:
    """The place that begins with a record, where the failure shows there."""
    name = record["file"]
    if name is None or not (folder / name).is_file():
        return None
    ending = ".mlir" if name.endswith(".mlir") else _ENDINGS.get(stage, ".txt")
    path = replays.folder / f"place{ending}"
    text = reparsable((folder / name).read_text(encoding="utf-8", errors="replace"))
    # Places in the kernel's file name its folder, which is nobody else's.
    home = str(replays.case.folder.resolve())
    path.write_text(text.replace(f"{home}/", "").replace(home, "."), encoding="utf-8")
    task: ir_tasks.IrTask = ir_tasks.RunPasses(path, tuple(steps), stage) if steps else ir_tasks.RunStage(path, stage)
    seen = replays.shows(task)
    if seen is None:
        return None
    return Place(stage, path.read_text(encoding="utf-8"), ending, tuple(steps), seen)


def _stepped(replays: Replays, stage: Stage) -> Place | None:
    """With each pass in a manager of its own: the pass that failed, or the fewest that fail together, from the last."""
    folder, records = _journal(replays, step=True)
    own = [record for record in records if record["stage"] == stage.value]
    calls = [record["arguments"] for record in own if record["kind"] == "call"]
    own = [record for record in own if record["kind"] != "call"]
    if not own:
        return None
    last = own[-1]
    if last["kind"] != "pass":
        found = _try(replays, folder, last, (), stage)
        return replace(found, call=calls[-1]) if found is not None and calls else found
    steps: list[Step] = []
    for record in reversed([one for one in own if one["pipeline"] == last["pipeline"]]):
        steps.insert(0, record["steps"][0])
        if (found := _try(replays, folder, record, steps, stage)) is not None:
            return found
    return None


def _whole(replays: Replays, stage: Stage) -> Place | None:
    """The pipeline that failed, as the compile runs it, without the passes that it fails without."""
    folder, records = _journal(replays, step=False)
    own = [record for record in records if record["stage"] == stage.value and record["kind"] == "pipeline"]
    found = _try(replays, folder, own[-1], own[-1]["steps"], stage) if own else None
    if found is None:
        return None
    at = len(found.steps) - 1
    while at >= 0 and len(found.steps) > 1:
        fewer = [step for place, step in enumerate(found.steps) if place != at]
        found = _try(replays, folder, own[-1], fewer, stage) or found
        at = min(at, len(found.steps)) - 1
    return found
