"""Slices of kernels in triage's cache, by content: what is compiled of a file that the user named."""

import hashlib
import json
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from triage.filesystem.cache import cache_folder, cache_root
from triage.filesystem.files import remove_tree, writing
from triage.harness.worker.slices import FILE, SCHEMA
from triage.model.case import Case
from triage.source.slicing import Slice, slice_kernel

_MOST = 4000
"""Slices; that of a kernel of a large package has about 100 kB."""
_UNUSED_S = 7 * 86400.0
"""Age of slices that go where there are too many."""
_LOOKED = "0"
"""First digits of names whose slice, when it is new, has the others counted: one in 16."""


def sliced(case: Case) -> Case:
    """The case with its kernel cut out of its file and package: what is compiled imports nothing else of them. Raises
    InputError; Unsliceable; EnvironmentFault where the cache cannot be written."""
    cut = slice_kernel(case.path, case.name)
    top = _stored(cut)
    return replace(case, slice=top / cut.file, boundary=top)


def _stored(cut: Slice) -> Path:
    """The folder of a slice: the same for the same content of the same files."""
    sources = {path.as_posix(): str(source) for path, source in cut.sources.items()}
    texts = {path.as_posix(): text for path, text in cut.texts.items()}
    document = json.dumps({"schema": SCHEMA, "sources": sources}, indent=1, sort_keys=True).encode()
    digest = hashlib.sha256(document)
    for name in sorted(texts):
        digest.update(json.dumps([name, len(texts[name])]).encode() + texts[name])
    with writing(cache_root()):
        slices = cache_folder("slices")
        folder = slices / digest.hexdigest()[:32]
        if folder.is_dir():
            os.utime(folder)  # It is in use.
            return folder
        work = Path(tempfile.mkdtemp(prefix=".", dir=slices))
        try:
            for name, text in {**texts, FILE: document}.items():
                (work / name).parent.mkdir(parents=True, exist_ok=True)
                (work / name).write_bytes(text)
            with suppress(OSError):  # Another process was faster.
                work.rename(folder)
        finally:
            remove_tree(work)
        if folder.name.startswith(_LOOKED):
            _prune(slices)
        return folder


def _prune(slices: Path) -> None:
    """Where there are too many, remove those that were not used for a week."""
    folders = list(slices.iterdir())
    limit = time.time() - _UNUSED_S
    for folder in folders if len(folders) > _MOST else []:
        with suppress(OSError):
            if folder.stat().st_mtime < limit:
                remove_tree(folder)
