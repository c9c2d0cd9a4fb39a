"""Fixtures that run the ``triage`` command with CuTe DSL in its cache, and nothing else (a plugin of conftest.py)."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
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


@pytest.fixture(scope="session")
def cute_interpreter(tmp_path_factory: pytest.TempPathFactory, newest_cute: Toolchain) -> Path:
    """An interpreter with the newest CuTe DSL, pytest, and what triage needs: an environment that borrows them."""
    folder = tmp_path_factory.mktemp("environment") / "cute"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (theirs,) = newest_cute.python.parent.parent.glob("lib/python*/site-packages")
    borrowed = [sysconfig.get_paths()["purelib"], str(theirs)]
    (packages / "borrowed.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in borrowed))
    return folder / "bin/python"
