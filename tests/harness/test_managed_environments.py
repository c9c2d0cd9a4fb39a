"""Environments that triage makes: once, whole, whatever stops it, and what a user reads when that fails."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from rows import one_in
from toolchain_setups import VERSION, assert_one_line, fake_uv, needs_uv

import triage.harness.toolchains as under_test
from triage.harness.deadline import Deadline
from triage.harness.environment import interpreter_environment
from triage.harness.toolchains import Toolchain, Toolchains, cache_root
from triage.harness.toolchains.installers import find_installer
from triage.harness.toolchains.managed import MARKER
from triage.harness.toolchains.toolchains import find_python
from triage.model.errors import EnvironmentFault, InputError
from triage.model.releases import sort_key

REPOSITORY = Path(under_test.__file__).parents[3]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache for all tests that only need an environment."""
    folder = tmp_path_factory.mktemp("cache")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Path]:
    """An empty cache; removed at once, since an environment may take a gigabyte."""
    yield tmp_path / "fresh"
    shutil.rmtree(tmp_path / "fresh", ignore_errors=True)


@needs_uv
def test_an_environment_is_made_once_and_works(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchains(cache).managed(VERSION)
    assert (made.release, made.managed) == (VERSION, True)
    series = ".".join(made.python_version.split(".")[:2])
    assert made.python == cache / f"toolchains/{VERSION}-py{series}/bin/python"
    source = "import triton, setuptools; print(triton.__version__)"
    environment = interpreter_environment()
    assert subprocess.check_output([made.python, "-c", source], env=environment, text=True).strip() == VERSION

    # Nothing is asked any more: no installer is on PATH, no interpreter is started.
    monkeypatch.setenv("PATH", "")
    for starts in ("probe._run", "toolchains.probe"):
        monkeypatch.setattr(f"triage.harness.toolchains.{starts}", lambda *_: pytest.fail("an interpreter was started"))
    lines: list[str] = []
    start = time.monotonic()
    assert Toolchains(cache, lines.append).managed(VERSION) == made
    assert Toolchains(cache, lines.append).managed("3.2") == made
    assert time.monotonic() - start < 0.5
    assert lines == []


@needs_uv
def test_probing_a_managed_environment_says_the_same(cache: Path) -> None:
    made = Toolchains(cache).managed(VERSION)
    probed = Toolchains(cache).from_python(made.python)
    assert (probed.release, probed.python_version, probed.identity) == (
        made.release,
        made.python_version,
        made.identity,
    )


@needs_uv
def test_what_is_installed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchains(cache).managed(VERSION)
    half = cache / "toolchains/3.0.0-py3.11-half"
    half.mkdir()
    try:
        found = Toolchains(cache).installed()
    finally:
        half.rmdir()
    assert made in found
    assert [sort_key(one.release) for one in found] == sorted(sort_key(one.release) for one in found)
    # The default is among them: here, a triage that runs in that very environment.
    monkeypatch.setattr(sys, "executable", str(made.python))
    beside = [one for one in Toolchains(cache).installed() if not one.managed]
    assert [(one.python, one.release) for one in beside] == [(made.python, VERSION)]


@needs_uv
def test_resolving(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchains(cache).managed(VERSION)
    monkeypatch.setattr(sys, "executable", str(made.python))
    toolchains = Toolchains(cache)
    default = toolchains.default()
    assert not default.managed
    assert toolchains.resolve() == default
    assert toolchains.resolve(VERSION) == default, "no second environment for what is beside triage"
    assert toolchains.resolve("3.2") == default
    with pytest.raises(InputError, match="--triton and --python exclude each other"):
        toolchains.resolve(VERSION, python=str(made.python))


# A triage of its own: prints each progress line and the result as they come.
BUILDER = """
import sys
from pathlib import Path
from triage.harness.toolchains import Toolchains
tell = lambda line: print(line, flush=True)
print("made", Toolchains(Path(sys.argv[1]), tell).managed(sys.argv[2]).python)
"""


def start_builder(cache: Path, version: str = VERSION, path: Path | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *filter(None, sys.path)])}
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    return subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(cache), version], stdout=subprocess.PIPE, text=True, env=environment
    )


def assert_nothing_left(cache: Path) -> None:
    assert folders(cache) == [], "a half-made environment was left"


def folders(cache: Path) -> list[Path]:
    return [path for path in (cache / "toolchains").iterdir() if path.is_dir()]


@needs_uv
def test_two_that_start_at_once_make_one_environment(fresh: Path) -> None:
    builders = [start_builder(fresh) for _ in range(2)]
    outputs = [builder.communicate(timeout=240)[0] for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0]
    assert len({output.splitlines()[-1] for output in outputs}) == 1
    assert sum(output.count("making an environment") for output in outputs) == 1


@needs_uv
def test_a_builder_that_was_killed(fresh: Path, tmp_path: Path) -> None:
    """Its installer is still writing when the next one comes; that one waits for it, then repairs."""
    started, ended = tmp_path / "started", tmp_path / "ended"
    slow = fake_uv(tmp_path / "bin", f"touch {started}; sleep 1; touch {ended}; exit 1")
    first = start_builder(fresh, path=slow)
    wait_for(started)
    first.kill()
    first.communicate(timeout=60)
    (half,) = folders(fresh)
    assert (half / "bin/python").exists()
    assert Toolchains(fresh).installed() == [one for one in Toolchains(fresh).installed() if not one.managed]

    lines: list[str] = []
    made = Toolchains(fresh, lines.append).managed(VERSION)
    assert ended.exists(), "the orphan was still at work"
    assert [line.split()[0] for line in lines] == ["waiting", "making"]
    subprocess.run([made.python, "-c", "import triton"], check=True, env=interpreter_environment())


@needs_uv
def test_an_interrupt_leaves_neither_an_environment_nor_an_installer(fresh: Path, tmp_path: Path) -> None:
    pid, started = tmp_path / "pid", tmp_path / "started"
    slow = fake_uv(tmp_path / "bin", f"echo $$ >{pid}; mv {pid} {started}; sleep 120; exit 1")
    builder = start_builder(fresh, path=slow)
    wait_for(started)
    builder.send_signal(signal.SIGINT)
    builder.communicate(timeout=60)
    assert builder.returncode != 0
    assert_nothing_left(fresh)
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(started.read_text())).wait(timeout=10)


@pytest.mark.slow
@needs_uv
def test_an_installation_is_given_up_at_the_deadline(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, alive = tmp_path / "started", tmp_path / "alive"
    text = f"touch {started}; sleep 2; touch {alive}; exit 1"
    monkeypatch.setenv("PATH", str(fake_uv(tmp_path / "bin", text)), prepend=os.pathsep)
    deadline = Deadline()

    def pass_when_started() -> None:
        wait_for(started)
        deadline.stop()

    thread = threading.Thread(target=pass_when_started)
    thread.start()
    with pytest.raises(EnvironmentFault, match="the installation of Triton was given up: the time of this call is"):
        Toolchains(fresh, deadline=deadline).managed(VERSION)
    thread.join()
    assert_nothing_left(fresh)
    time.sleep(2.2)
    assert not alive.exists()


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)


HARMS: dict[str, Callable[[Toolchain], object]] = {
    "library": lambda made: (made.package / "_C/libtriton.so").unlink(),
    "interpreter": lambda made: made.python.unlink(),
    "marker": lambda made: (made.python.parents[1] / MARKER).write_text('{"schema": "trit'),
}


@needs_uv
@pytest.mark.parametrize("harm", one_in(3, HARMS))
def test_an_environment_that_was_harmed_is_made_anew(fresh: Path, tmp_path: Path, harm: str) -> None:
    """Also through a link to the cache."""
    fresh.mkdir()
    (tmp_path / "link").symlink_to(fresh)
    made = Toolchains(tmp_path / "link").managed(VERSION)
    assert Toolchains(tmp_path / "link").managed(VERSION) == made
    assert Toolchains(fresh).managed(VERSION).identity == made.identity
    HARMS[harm](made)
    assert made not in Toolchains(tmp_path / "link").installed()
    again = Toolchains(tmp_path / "link").managed(VERSION)
    assert again.python == made.python
    assert again in Toolchains(tmp_path / "link").installed()


@needs_uv
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo 'cause: dns error' >&2; exit 2", "no package index answers (dns error); check the network"),
        ("echo 'write failed: No space left on device (os error 28)'; exit 2", "no space left for"),
        ("echo 'error: something new'; exit 1", "something new; `triage doctor`"),
        ("exit 0", "the installer brought no Triton instead"),
        ("kill -9 $$", "the installer printed nothing"),
    ],
)
def test_an_installer_that_fails(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setenv("PATH", str(fake_uv(tmp_path / "bin", text)), prepend=os.pathsep)
    with pytest.raises(EnvironmentFault) as told:
        Toolchains(fresh).managed(VERSION)
    assert_one_line(told.value, f"Triton {VERSION} could not be installed", says)
    assert_nothing_left(fresh)
    (log,) = (fresh / "toolchains").glob("*.log")
    assert "pip install" in log.read_text()


@needs_uv
def test_a_release_that_does_not_exist(fresh: Path) -> None:
    with pytest.raises(InputError) as told:
        Toolchains(fresh).managed("3.99.0")
    assert_one_line(told.value, "--triton 3.99.0: there is no such release of Triton; the nearest are", "3.9.0")
    assert_nothing_left(fresh)


@needs_uv
def test_an_index_that_cannot_be_reached(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Port 9 (discard) refuses; uv's own retries would take ten seconds.
    for name, value in (
        ("UV_INDEX_URL", "http://127.0.0.1:9/simple"),
        ("UV_NO_CACHE", "1"),
        ("UV_HTTP_RETRIES", "0"),
        ("UV_OFFLINE", "0"),
    ):
        monkeypatch.setenv(name, value)
    with pytest.raises(EnvironmentFault) as told:
        Toolchains(fresh).managed(VERSION)
    assert_one_line(told.value, "no package index answers", "check the network")
    assert_nothing_left(fresh)


@needs_uv
def test_pins_and_targets_of_the_users_project_do_not_matter(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "constraints.txt").write_text("triton==3.0.0\n")
    for name, value in (
        ("UV_CONSTRAINT", str(tmp_path / "constraints.txt")),
        ("PIP_CONSTRAINT", str(tmp_path / "constraints.txt")),
        ("PYTHONPATH", "/nonexistent"),
        ("PYTHONHOME", "/nonexistent"),
        ("VIRTUAL_ENV", "/nonexistent"),
    ):
        monkeypatch.setenv(name, value)
    assert Toolchains(fresh).managed(VERSION).release == VERSION


@pytest.mark.parametrize("place", ["below a file", "where nobody may write"])
def test_a_cache_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    cache = tmp_path / "file/cache" if place == "below a file" else Path("/proc/1/triage")
    with pytest.raises(EnvironmentFault) as told:
        Toolchains(cache).managed(VERSION)
    assert_one_line(told.value, "is not writable", "set TRITON_TRIAGE_CACHE")


def test_garbage_makes_nothing(fresh: Path) -> None:
    for text in ("../x", "latest", "2.1"):
        with pytest.raises(InputError):
            Toolchains(fresh).managed(text)
    assert not fresh.exists()


# A uv that knows no wheel for triage's own Python, and says which have one.
NO_WHEEL_HERE = """
case "$*" in *-py{own}/*) echo 'triton==3.2.0 has no wheels with a matching Python ABI tag'
echo 'hint: we only found wheels for `triton` (v3.2.0) with the following Python ABI tags: `cp3{other}`'; exit 1;; esac
"""


@needs_uv
def test_another_python_where_the_own_has_no_wheel(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [minor for minor in (10, 11, 12, 13) if minor != sys.version_info.minor and find_python(f"3.{minor}")]
    if not others:
        pytest.skip("no second Python on this machine")
    fake = fake_uv(tmp_path / "bin", NO_WHEEL_HERE.format(own=f"3.{sys.version_info.minor}", other=others[0]))
    monkeypatch.setenv("PATH", str(fake), prepend=os.pathsep)
    made = Toolchains(fresh).managed(VERSION)
    assert made.python_version.startswith(f"3.{others[0]}.")
    # It is remembered, and serves this Python from now on without asking again.
    monkeypatch.setenv("PATH", "")
    assert Toolchains(fresh).managed(VERSION) == made


@pytest.mark.slow
def test_without_uv(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.harness.toolchains.toolchains.find_installer", lambda: type(find_installer())(()))
    assert Toolchains(fresh).managed(VERSION).release == VERSION
    with pytest.raises(InputError, match="there is no such release of Triton; the nearest are"):
        Toolchains(fresh).managed("3.99.0")


def test_environments_that_others_may_have_made_are_not_used(tmp_path: Path, toolchains: Toolchains) -> None:
    environment = toolchains.managed("3.2.0").python.parent.parent
    (tmp_path / "toolchains").mkdir()
    (tmp_path / "toolchains" / environment.name).symlink_to(environment)
    assert "3.2.0" in [toolchain.release for toolchain in Toolchains(tmp_path).installed()]
    (tmp_path / "toolchains").chmod(0o777)
    assert "3.2.0" not in [toolchain.release for toolchain in Toolchains(tmp_path).installed()]
    with pytest.raises(EnvironmentFault, match="others may write to it"):
        Toolchains(tmp_path).managed("3.2.0")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", "relative")
    assert cache_root().is_absolute()
    monkeypatch.delenv("TRITON_TRIAGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "triton-triage"
