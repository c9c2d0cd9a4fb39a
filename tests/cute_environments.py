"""Fixtures that run the ``triage`` command with CuTe DSL in its cache, and nothing else (a plugin of conftest.py)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from commands import Triage, call_triage, locked, new_cache

from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.compilers import CUTE

NEWEST_CUTE = "4.8.1"
OLDER_CUTE = "4.2.1"
"""The newest release without fake tensors, coded errors and its own files of PTX."""
CUTE_KERNELS = Path(__file__).parent / "frontends" / "kernels"
STORE = CUTE_KERNELS / "store.py"


def _cache(root: Path, *environments: Toolchain) -> Path:
    with locked(root.parent):
        if not root.exists():
            (new_cache(root) / "toolchains").mkdir()
            for toolchain in environments:
                folder = toolchain.python.parent.parent
                (root / "toolchains" / folder.name).symlink_to(folder)
    return root


@pytest.fixture(scope="session")
def newest_cute(toolchains: Toolchains) -> Toolchain:
    """The kept environment with the newest CuTe DSL; made on first use."""
    return toolchains.managed(NEWEST_CUTE, CUTE)


@pytest.fixture(scope="session")
def cute(shared_folder: Path, newest_cute: Toolchain) -> Triage:
    """``triage …`` in this process, where the newest CuTe DSL is installed."""
    return partial(call_triage, _cache(shared_folder / "cute-cache", newest_cute))


@pytest.fixture(scope="session")
def cute_releases(shared_folder: Path, newest_cute: Toolchain, toolchains: Toolchains) -> Triage:
    """``triage …`` in this process, where an older CuTe DSL is installed as well."""
    older = toolchains.managed(OLDER_CUTE, CUTE)
    return partial(call_triage, _cache(shared_folder / "cute-releases-cache", older, newest_cute))
