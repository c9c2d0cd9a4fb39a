"""Removes the folders of ended runs: in batches, by a child of the nanny, so that the engine's loop never waits for a
disk. Removing the dozen files of a small compile takes as long as one of its stages."""

from __future__ import annotations

import time
from pathlib import Path

from triage.harness.servers import ServerTree
from triage.harness.worker import wire

_BATCH_S = 1.0
"""How long the first of a batch waits: few starts of processes, and few megabytes."""


class FolderRemoval:
    """Folders that are to be removed. What is never removed here goes with the folder of all runs."""

    def __init__(self, tree: ServerTree) -> None:
        self._tree = tree
        self._folders: list[str] = []
        self._since = 0.0

    def add(self, folder: Path, is_large: bool = False) -> None:
        """Remove a folder soon; at once where it may hold a large dump."""
        self._since = self._since if self._folders else time.monotonic()
        self._folders.append(str(folder))
        if is_large:
            self.flush()

    def watch(self, now: float) -> None:
        """Remove a batch that has waited long enough. ``now``: monotonic seconds."""
        if self._folders and now - self._since >= _BATCH_S:
            self.flush()

    def flush(self) -> None:
        """Remove all of them."""
        folders, self._folders = self._folders, []
        if folders and (nanny := self._tree.running_nanny) is not None:
            try:
                nanny.ask({"op": "remove", "id": self._tree.new_identity(), "folders": folders})
            except wire.Unsendable:
                return  # They go with the nanny.
