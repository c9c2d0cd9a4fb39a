"""Case folders made from files that hold a case among other things; kept beside the other caches, by content."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triage.harness.toolchains import cache_root
from triage.model.case import SCHEMA
from triage.model.errors import EnvironmentFault

_FOLDER = "cases"


def keep(files: Mapping[str, str], document: Mapping[str, Any]) -> Path:
    """A folder with these files and ``case.json``, the same one for the same content. Raises EnvironmentFault."""
    written = {**files, "case.json": json.dumps({"schema": SCHEMA, **document}, indent=1) + "\n"}
    digest = hashlib.sha256(json.dumps(written, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    folder = cache_root() / _FOLDER / digest
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            beside = folder / f".{name}.{os.getpid()}"
            beside.write_text(text, encoding="utf-8", errors="replace")
            os.replace(beside, folder / name)  # noqa: PTH105 - the one call that is atomic by name
    except OSError as error:
        raise EnvironmentFault(f"{folder}: cannot be written: {error.strerror}") from None
    return folder
