"""Case folders made from other tools' files. They are stored in the cache folder, by content."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triage.filesystem.cache import cache_folder, cache_root
from triage.filesystem.files import replace_file, writing
from triage.model.case import SCHEMA


def keep(files: Mapping[str, str], document: Mapping[str, Any]) -> Path:
    """A folder with these files and ``case.json``; equal content gives the same folder. Raises EnvironmentFault."""
    texts = {**files, "case.json": json.dumps({"schema": SCHEMA, **document}, indent=1) + "\n"}
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    with writing(cache_root()):
        folder = cache_folder("cases") / digest
        for name, text in texts.items():
            replace_file(folder / name, text)
    return folder
