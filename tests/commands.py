"""Fixtures that run the ``triage`` command with a cache of their own (a plugin of conftest.py).

``call_triage`` runs it in this process, for tests of what it prints and writes: starting Python and importing triage
costs more than most commands. ``start_triage`` runs it as a user does, for tests of processes, signals and memory.

The cache holds Triton 3.2.0 and no other managed Triton, whatever this machine has, so that commands find the same
releases everywhere. The environment itself is the user's: making one takes a download of 200 MB.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import triage
from triage.cli.main import main
from triage.harness.toolchains import Toolchain, Toolchains, cache_root
from triage.publish.formats.terminal import heartbeat

DATA = Path(__file__).parent / "data"
KERNELS = DATA / "kernels.py"


@dataclass(frozen=True)
class Run:
    """How one ``triage …`` ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def documents(self) -> list[Any]:
        """One document a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Triage = Callable[..., Run]


MAIN_BUDGET = 14
"""Compiles of neighbours: enough for each kind of suggestion, and for the tiles that do not help. The default of 48 has
two more ways to use one warp, for twice the time."""
MAIN_JOB = ("wgmma-tf32-mn-major", "--budget", str(MAIN_BUDGET))
"""What ``triage check`` is asked for by all tests of a whole report: what one compiled, the others remember."""

_computed: dict[str, Path] = {}
"""Folders of a cache that all caches of a test session share, by name."""


def new_cache(folder: Path) -> Path:
    """A cache folder that has the session's hashes of Triton's files, and the knowledge base as it was parsed: each
    takes a quarter of a second to compute."""
    for name, computed in _computed.items():
        link = folder / name
        if not link.exists():
            for path in (folder, computed):
                path.mkdir(parents=True, exist_ok=True)
            link.symlink_to(computed)
    return folder


def _variables(cache: Path) -> dict[str, str]:
    return {"TRITON_TRIAGE_CACHE": str(cache), "COLUMNS": "80"}


def set_limits(limits: Mapping[int, int]) -> None:
    """Set soft and hard limits of this process (``resource``'s)."""
    for which, value in limits.items():
        resource.setrlimit(which, (value, value))


def start_triage(
    cache: Path, *arguments: str | Path, stdin: str = "", limits: Mapping[int, int] | None = None, **variables: str
) -> Run:
    """``triage ARGUMENTS`` in a process of its own, at 80 columns and without colour, under hard ``limits``."""
    path = {"PYTHONPATH": str(Path(triage.__file__).parent.parent)}
    environment = {**os.environ, **path, **_variables(cache), **variables}
    command = [sys.executable, "-m", "triage", *map(str, arguments)]
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        preexec_fn=partial(set_limits, limits or {}),
    )
    return Run(done.returncode, done.stdout, done.stderr)


def call_triage(cache: Path, *arguments: str | Path, stdin: str = "", **variables: str) -> Run:
    """``triage ARGUMENTS`` in this process, at 80 columns and without colour."""
    streams = [io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8") for text in (stdin, "", "")]
    code = _called(arguments, streams, {**_variables(cache), **variables})
    out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])  # type: ignore[attr-defined]
    return Run(code, out, err)


def run_program(cache: Path, *arguments: str | Path, **variables: str) -> Run:
    """``triage run … -- PROGRAM`` in this process, where the program's standard streams are triage's as well."""
    kept = [os.dup(number) for number in range(3)]
    try:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open() as nothing:
            for number, file in enumerate((nothing, out, err)):
                os.dup2(file.fileno(), number)
            streams = [
                io.TextIOWrapper(io.FileIO(number, mode, closefd=False), encoding="utf-8", write_through=True)
                for number, mode in enumerate(("r", "w", "w"))
            ]
            code = _called(("run", *arguments), streams, {**_variables(cache), **variables})
            out.seek(0)
            err.seek(0)
            return Run(code, out.read().decode(), err.read().decode())
    finally:
        for number, copy in enumerate(kept):
            os.dup2(copy, number)
            os.close(copy)


def _called(arguments: Iterable[str | Path], streams: list[io.TextIOWrapper], variables: Mapping[str, str]) -> int:
    """The exit code of ``triage ARGUMENTS`` in this process, with these standard streams."""
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        for name, value in variables.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        for stream in streams[1:]:
            stream.flush()
    return int(ended.value.code or 0)


@pytest.fixture(scope="session")
def triton_320(toolchains: Toolchains) -> Toolchain:
    """The kept environment with Triton 3.2.0; made on first use."""
    return toolchains.managed("3.2.0")


@pytest.fixture(scope="session")
def empty_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache without environments and outcomes."""
    return new_cache(tmp_path_factory.mktemp("empty-cache"))


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all of xdist's workers share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_store(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache of tests that name none, one for each of xdist's workers. Of the user's it has the environments."""
    environments = cache_root() / "toolchains"
    environments.mkdir(mode=0o700, parents=True, exist_ok=True)
    _computed.update({name: shared_folder / "computed" / name for name in ("library-keys", "knowledge")})
    store = new_cache(tmp_path_factory.getbasetemp() / "store")
    (store / "toolchains").symlink_to(environments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_TRIAGE_CACHE", str(store))
        yield store


@pytest.fixture(scope="session", autouse=True)
def no_heartbeat() -> Iterator[None]:
    """What commands print in this process does not depend on how long they take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heartbeat, "_FIRST_S", threading.TIMEOUT_MAX)
        yield


@pytest.fixture(scope="session", autouse=True)
def triton_keys(shared_folder: Path) -> None:
    """Where the programs of ``capture/programs`` share Triton's hash of its own files."""
    folder = shared_folder / "triton-keys"
    folder.mkdir(exist_ok=True)
    os.environ["TEST_TRITON_KEYS"] = str(folder)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one process at a time works in a folder."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def cache(shared_folder: Path, triton_320: Toolchain) -> Path:
    """A cache with one kept Triton and the outcomes of the tests before, those of other processes too."""
    environment, root = triton_320.python.parent.parent, shared_folder / "cache"
    with locked(shared_folder):
        if not root.exists():
            (new_cache(root) / "toolchains").mkdir()
            (root / "toolchains" / environment.name).symlink_to(environment)
    return root


@pytest.fixture
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same cache for what runs in this process."""
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    yield cache


@pytest.fixture(scope="session")
def cli(empty_cache: Path) -> Triage:
    """``triage …`` in this process, for commands that compile nothing or only with the default Triton."""
    return partial(call_triage, empty_cache)


@pytest.fixture(scope="session")
def check(cache: Path) -> Triage:
    """``triage check …`` in this process; compiles with the default Triton or 3.2.0."""
    return partial(call_triage, cache, "check")


@pytest.fixture(scope="session")
def reproduced(check: Triage, shared_folder: Path) -> Run:
    """The main job's ``--json``, run once for all tests that look at it."""
    path = shared_folder / "reproduced.json"
    with locked(shared_folder):
        if not path.exists():
            path.write_text(json.dumps(asdict(check(*MAIN_JOB, "--json"))))
    return Run(**json.loads(path.read_text()))
