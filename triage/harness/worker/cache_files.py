"""Writes the files of Triton's cache without a temporary folder for each.

Triton makes a folder, a file in it, renames that and removes the folder, eight times a compile: on ext4 that takes more
time than some stages. The cache of a worker is its own, so a temporary name beside the file is enough.
"""

import builtins
from os import getpid, replace, urandom
from typing import Any


def install() -> None:
    """Replace ``FileCacheManager.put``, if this release has the method that names a file's path."""
    from triton.runtime.cache import FileCacheManager

    if hasattr(FileCacheManager, "_make_path"):
        FileCacheManager.put = _put


def _put(self: Any, data: Any, filename: str, binary: bool = True) -> str:
    """Write a file of the cache entry; returns its path. Text is whatever is not bytes, as in Triton."""
    if not self.cache_dir:
        raise RuntimeError("Could not create or locate cache dir")
    path: str = self._make_path(filename)
    # Threads of the module under test may write the same file.
    temporary = "%s.%d.%s" % (path, getpid(), urandom(4).hex())
    content = data if isinstance(data, bytes) else str(data).encode()
    # That of the module under test, if it has replaced it: Triton would call it as well.
    with builtins.open(temporary, "wb") as file:
        file.write(content)
    replace(temporary, path)
    return path
