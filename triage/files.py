"""Writing files: atomic replacement, and the error of what cannot be written."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from triage.model.errors import EnvironmentFault


def replace_file(path: Path, content: str | bytes) -> None:
    """Write ``content`` (text as UTF-8; a lone surrogate as "?") to a temporary file beside ``path`` and rename it.

    So a reader, or a run after a kill, sees the old content or the new, never half of it.

    Missing parent folders are made. Raises OSError; the temporary file is removed.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    # Unique among processes and threads that write the same file; beside it, as a rename needs one file system.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def writing(name: object) -> Iterator[None]:
    """Turn an OSError of the body into an EnvironmentFault: ``name`` cannot be written."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{name}: cannot be written: {error.strerror}") from None
