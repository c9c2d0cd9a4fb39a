"""Servers that outlive their engine: the next engine of this process takes them over (a plugin of conftest.py). What
compilers are beside triage is asked once.

To import Triton and to compile the first kernel for a target takes half a second of processor time. A command pays that
once; hundreds of tests that run commands in this process would pay it each. What an engine knows of its requests is
forgotten with it, and so are the servers of kernels' modules. An engine whose test looks for what is left behind
(``traces``), or that has other environment variables, has servers of its own. All run in the folder of the tests.
"""

from __future__ import annotations

import functools
import os
import selectors
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triage.harness import engine
from triage.harness.remote import Level, ServerState, unregister
from triage.harness.servers import Listener, ServerTree
from triage.harness.toolchains import Toolchain, cache_root, toolchains
from triage.harness.toolchains.probe import Probe, probe
from triage.model.compilers import Compiler

MOST_KEPT = 2
"""Trees of different environments: each holds some hundred megabytes."""
_DECIDES_NOTHING = {"PYTEST_CURRENT_TEST", "TRITON_TRIAGE_CACHE", "TRITON_CACHE_DIR", "COLUMNS"}
"""Variables that servers never read."""

_FOLDER = Path(__file__).parent

Environment = tuple[tuple[str, str], ...]

_kept: dict[Environment, KeptTree] = {}


class KeptTree(ServerTree):
    """A tree that waits for its next engine instead of ending with one."""

    def __init__(
        self,
        environment: Environment,
        selector: selectors.BaseSelector,
        listener: Listener,
        spare: Callable[[], list[Toolchain]],
    ) -> None:
        super().__init__(selector, listener, spare)
        self._environment = environment
        self._is_whole = True

    def adopt(
        self, selector: selectors.BaseSelector, listener: Listener, spare: Callable[[], list[Toolchain]]
    ) -> KeptTree:
        """Serve another engine."""
        root, remotes, number = self._root, self._remotes, self._number
        super().__init__(selector, listener, spare)
        self._root, self._remotes, self._number = root, remotes, number
        assert root is not None
        for remote in (root.nanny, *remotes.values()):
            selector.register(remote.sock, selectors.EVENT_READ, lambda remote=remote: self._receive(remote))
            if remote.log >= 0:
                selector.register(remote.log, selectors.EVENT_READ, lambda remote=remote: self._read_log(remote))
        return self

    def _start_root(self) -> Any:
        # Not in the folder of a test, which is removed.
        before = Path.cwd()
        os.chdir(_FOLDER)
        try:
            return super()._start_root()
        finally:
            os.chdir(before)

    def _lose_nanny(self) -> None:
        self._is_whole = False
        super()._lose_nanny()

    def close(self) -> None:
        if self._root is None or not self._is_whole:
            self.end()
            return
        for remote in list(self._remotes.values()):
            _, _, isolation, _, backend, *_ = remote.key
            # The environment of servers for AMD names the engine's linker.
            is_reusable = remote.level in (Level.TOOLCHAIN, Level.TARGET) and not isolation and backend != "hip"
            if not is_reusable or remote.state is not ServerState.READY or remote.attempts or remote.unfit:
                self._forget(remote)
        for remote in (self._root.nanny, *self._remotes.values()):
            for end in (remote.sock, remote.log):
                unregister(self._selector, end)
        if (other := _kept.pop(self._environment, None)) is not None:
            other.end()
        _kept[self._environment] = self
        while len(_kept) > MOST_KEPT:
            _kept.pop(next(iter(_kept))).end()

    def end(self) -> None:
        """End all of its processes."""
        super().close()


def _tree(selector: selectors.BaseSelector, listener: Listener, spare: Callable[[], list[Toolchain]]) -> ServerTree:
    # Servers die with the thread that started them (prctl(2), PR_SET_PDEATHSIG): those of a pool's are not kept.
    if "TRIAGE_TEST_MARK" in os.environ or threading.current_thread() is not threading.main_thread():
        return ServerTree(selector, listener, spare)
    environment = tuple(sorted(item for item in os.environ.items() if item[0] not in _DECIDES_NOTHING))
    kept = _kept.pop(environment, None)
    return kept.adopt(selector, listener, spare) if kept else KeptTree(environment, selector, listener, spare)


_OWN_PYTHON = Path(sys.executable)
_USERS = (cache_root() / "toolchains").resolve()
"""The user's environments, which no test changes."""


@functools.cache
def _once(python: Path, compiler: Compiler) -> Probe:
    return probe(python, compiler)


def _probe(python: Path, compiler: Compiler) -> Probe:
    """It takes two processes, and hundreds of commands begin with it."""
    stays = python == _OWN_PYTHON or python.parent.parent.resolve().parent == _USERS
    return (_once if stays else probe)(python, compiler)


def pytest_configure() -> None:
    engine.ServerTree = _tree  # type: ignore[assignment,misc]
    toolchains.probe = _probe


def pytest_unconfigure() -> None:
    engine.ServerTree = ServerTree  # type: ignore[misc]
    toolchains.probe = probe
    for tree in _kept.values():
        tree.end()
    _kept.clear()
