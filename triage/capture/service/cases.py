"""The cases that the service compiles: captured ones under stable paths, so that outcomes are remembered, and a case
that warms up a worker."""

import hashlib
import json
import os
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from triage.filesystem.cache import cache_folder, cache_root
from triage.filesystem.files import replace_file
from triage.harness.machine.clock import Clock
from triage.harness.machine.gpus import gpus
from triage.model.case import Case, frozen
from triage.model.target import Target

_MOST = 2000
_RETENTION_S = 30 * 86400.0
_GPU_QUERY_S = 5.0
_WARM_UP_KERNEL = """import triton


@triton.jit
def warm():
    pass
"""


def stable(case: Case, temporary: Path) -> tuple[Case, str]:
    """The same case, with its source in triage's cache, in a folder named by its content; where the cache cannot be
    written, below ``temporary``, and a line that reports it. Raises OSError.

    All configurations of a kernel share the folder, and with it a server that has imported the module, and the
    confirmation of a crash."""
    text = case.read()
    identity = [case.file, case.name, case.origin.get("functions")]
    digest = hashlib.sha256(text + json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:32]
    try:
        return replace(case, folder=_with_source(cache_folder("guarded") / digest, case.file, text)), ""
    except OSError as error:
        notice = f"failures are not remembered: {cache_root()} cannot be written: {error.strerror}"
        return replace(case, folder=_with_source(temporary / digest, case.file, text)), notice


def _with_source(folder: Path, file: str, text: bytes) -> Path:
    path = folder / file
    # Compared, because what is compiled goes into the program's cache.
    if path.exists() and path.read_bytes() == text:
        with suppress(OSError):
            os.utime(folder)  # it is in use
    else:
        replace_file(path, text)
        _prune(folder.parent)
    return folder


def _prune(root: Path) -> None:
    """Where there are too many, remove those older than a month."""
    folders = list(root.iterdir())
    if len(folders) < _MOST:
        return
    limit = time.time() - _RETENTION_S
    for folder in folders:
        with suppress(OSError):
            if folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)


def warm_up(folder: Path) -> Case | None:
    """A kernel that does nothing, in ``folder``, for the first GPU of this machine; None without a GPU."""
    target = next((gpu.target for gpu in gpus(Clock(_GPU_QUERY_S)) if gpu.target is not None), None)
    if target is None:
        return None
    (folder / "warm.py").write_text(_WARM_UP_KERNEL)
    return Case(folder=folder, file="warm.py", name="warm", signature=frozen(), target=Target.parse(target))
