"""The published schema of the report document, for tests of what prints one."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from triage.publish.render import schema

SCHEMA = json.loads(schema())
_VALIDATOR = Draft202012Validator(SCHEMA)


def problems(document: Any) -> list[str]:
    """What in a report document the schema refuses."""
    return [f"{error.json_path}: {error.message}" for error in _VALIDATOR.iter_errors(document)]
