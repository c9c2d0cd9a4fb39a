"""Outcomes as JSON text and back: what the store keeps. Written out, so that a field's meaning cannot drift."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from triage.harness.judge import python_errors
from triage.model.outcome import Outcome, Resources, Stage, StageTime, Status, TensorCore


def dumps(outcome: Outcome) -> str:
    """The outcome without its artifacts, whose place is the reader's business."""
    return json.dumps(
        {
            "status": outcome.status.value,
            "stage": outcome.stage.value if outcome.stage else None,
            "stages": [[done.stage.value, done.seconds] for done in outcome.stages],
            "exit_code": outcome.exit_code,
            "signal": outcome.signal,
            "duration_s": outcome.duration_s,
            "max_rss_bytes": outcome.max_rss_bytes,
            "resources": outcome.resources.to_json() if outcome.resources else None,
            "errors": [asdict(error) for error in outcome.errors],
            "log": outcome.log,
            "log_stages": [[stage.value, at] for stage, at in outcome.log_stages],
            "log_dropped_bytes": outcome.log_dropped_bytes,
            "pipeline": outcome.pipeline,
            "pass_name": outcome.pass_name,
            "over_limit": outcome.over_limit,
            "cache_key": outcome.cache_key,
            "limit_s": outcome.limit_s,
            "limit_bytes": outcome.limit_bytes,
            "killed_from_outside": outcome.killed_from_outside,
            "imported": outcome.imported,
            "notes": list(outcome.notes),
            "environment": dict(outcome.environment),
        }
    )


def loads(text: str, artifacts: dict[str, Path]) -> Outcome:
    """Raises ValueError, KeyError or TypeError for text that :func:`dumps` did not write."""
    data: dict[str, Any] = json.loads(text)
    used = data["resources"]
    return Outcome(
        status=Status(data["status"]),
        stage=Stage(data["stage"]) if data["stage"] else None,
        stages=tuple(StageTime(Stage(stage), seconds) for stage, seconds in data["stages"]),
        exit_code=data["exit_code"],
        signal=data["signal"],
        duration_s=data["duration_s"],
        max_rss_bytes=data["max_rss_bytes"],
        resources=Resources(**{**used, "tensor_core": TensorCore(used["tensor_core"])}) if used else None,
        errors=python_errors(data["errors"]),
        log=data["log"],
        log_stages=tuple((Stage(stage), at) for stage, at in data["log_stages"]),
        log_dropped_bytes=data["log_dropped_bytes"],
        pipeline=data["pipeline"],
        pass_name=data["pass_name"],
        over_limit=data["over_limit"],
        cache_key=data["cache_key"],
        limit_s=data["limit_s"],
        limit_bytes=data["limit_bytes"],
        killed_from_outside=data["killed_from_outside"],
        imported=data["imported"],
        notes=tuple(data["notes"]),
        artifacts=artifacts,
        environment=data["environment"],
    )
