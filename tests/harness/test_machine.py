"""The facts behind doctor: found where they are, and never in the way where they are not."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from triage._version import __version__
from triage.harness.linker import find_lld, linkers
from triage.harness.machine import gpus, system
from triage.harness.machine.caches import measure, measure_triton, triton_cache_folder
from triage.harness.machine.clock import Clock
from triage.harness.machine.facts import compile_variables, examine
from triage.harness.machine.system import features


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on it: no programs, no caches, no home."""
    for name in ("TRITON_CACHE_DIR", "TRITON_HOME", "TRITON_HIP_LLD_PATH", "ROCM_PATH", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# --- everything -----------------------------------------------------------------------------------------------


def test_looking_at_this_machine() -> None:
    start = time.monotonic()
    machine = examine()
    assert time.monotonic() - start < 10
    assert (machine.triage, machine.python_path) == (__version__, sys.executable)
    assert machine.limits.cores == len(os.sched_getaffinity(0))
    assert [feature.name for feature in machine.features if not feature.works] == []


def test_a_machine_with_nothing_on_it(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", nowhere / "env"], check=True)
    monkeypatch.setattr(sys, "executable", str(nowhere / "env/bin/python"))
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    machine = examine()
    assert machine.toolchains == ()
    assert machine.default_fault is not None and "has no Triton" in machine.default_fault
    assert (machine.cache.exists, machine.cache.size_bytes) == (False, 0)
    assert (machine.triton_cache.exists, machine.triton_cache.entries) == (False, 0)
    assert machine.limits.cache_free_bytes, "told for the disk on which the cache would be made"


def test_the_document_is_plain_json(nowhere: Path) -> None:
    machine = examine()
    document = json.loads(json.dumps(machine.to_json()))
    assert document["triage"] == __version__
    assert document["cache"]["path"] == str(nowhere / "cache")
    assert {feature["name"] for feature in document["features"]} >= {"pidfd_open", "child_subreaper"}


def test_the_assemblers_of_a_toolchain_are_asked(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = nowhere / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    package = next(environment.glob("lib/python*/site-packages")) / "triton"
    (package / "_C").mkdir(parents=True)
    (package / "_C/libtriton.so").write_bytes(b"")
    (package / "__init__.py").write_text("__version__ = '3.6.0'\nraise SystemExit('triton was imported')\n")
    binaries = package / "backends/nvidia/bin"
    program(binaries / "ptxas", "echo 'Cuda compilation tools, release 12.8, V12.8.93'")
    program(binaries / "ptxas-blackwell", "kill -SEGV $$")
    monkeypatch.setattr(sys, "executable", str(environment / "bin/python"))
    (found,) = examine().toolchains
    assert found.toolchain.release == "3.6.0"
    assert [(one.path.name, one.version) for one in found.ptxas] == [("ptxas", "12.8"), ("ptxas-blackwell", None)]


# --- the clock ------------------------------------------------------------------------------------------------


def own_children() -> list[Path]:
    """The ``stat`` files of this process's children, zombies among them."""
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [Path(f"/proc/{pid}/stat") for pid in pids]


def test_a_program_that_hangs_does_not_hang_doctor(tmp_path: Path) -> None:
    # A child of the program keeps the pipe open after the program itself was killed.
    hanging = program(tmp_path / "hangs", "sleep 5 & sleep 5")
    start = time.monotonic()
    assert Clock(0.3).ask([str(hanging)]) is None
    assert time.monotonic() - start < 2
    assert "(hangs)" not in "".join(path.read_text() for path in own_children())


@pytest.mark.parametrize("text", ["exit 1", "kill -9 $$"])
def test_a_program_that_fails_says_nothing(tmp_path: Path, text: str) -> None:
    assert Clock().ask([str(program(tmp_path / "fails", f"echo 1; {text}"))]) is None
    assert Clock().ask([str(tmp_path / "missing")]) is None


# --- ld.lld ---------------------------------------------------------------------------------------------------


def test_the_linker_that_triton_would_take_comes_first(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = program(nowhere / "empty/ld.lld", "echo 'LLD 17.0.6 (compatible with GNU linkers)'")
    found = {linker.path: linker.version for linker in linkers(Clock())}
    assert found[on_path] == "17.0.6"

    chosen = program(nowhere / "chosen/ld.lld", "echo 'AMD LLD 19.0.0git (https://…)'")
    monkeypatch.setenv("TRITON_HIP_LLD_PATH", str(chosen))
    assert find_lld() == chosen
    assert linkers(Clock())[0].version == "19.0.0git"

    monkeypatch.setenv("TRITON_HIP_LLD_PATH", str(nowhere / "missing"))
    assert find_lld() not in (None, nowhere / "missing")


def test_one_linker_with_two_names_is_one(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = program(nowhere / "empty/ld.lld", "exit 1")
    (nowhere / "link").symlink_to(real)
    monkeypatch.setenv("TRITON_HIP_LLD_PATH", str(nowhere / "link"))
    ours = [linker for linker in linkers(Clock()) if str(linker.path).startswith(str(nowhere))]
    assert [(linker.path, linker.version) for linker in ours] == [(nowhere / "link", None)]


def test_what_cannot_be_run_is_no_linker(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (nowhere / "ld.lld").write_text("")
    monkeypatch.setenv("TRITON_HIP_LLD_PATH", str(nowhere / "ld.lld"))
    assert find_lld() != nowhere / "ld.lld"


# --- GPUs -----------------------------------------------------------------------------------------------------


def test_nvidia_gpus(nowhere: Path) -> None:
    program(nowhere / "empty/nvidia-smi", "echo 'NVIDIA H200, 9.0, 143771, 550.54'; echo 'Old, [N/A], [N/A], 1'")
    first, second = gpus.gpus(Clock())[:2]
    assert first == gpus.Gpu("NVIDIA H200", "cuda:90", 143771 << 20, "550.54")
    assert second == gpus.Gpu("Old", None, None, "1")


@pytest.mark.parametrize(
    ("version", "target"),
    [("90402", "hip:gfx942"), ("90010", "hip:gfx90a"), ("110001", "hip:gfx1101"), ("120000", "hip:gfx1200")],
)
def test_amd_gpus(tmp_path: Path, version: str, target: str) -> None:
    for node, number in (("0", "0"), ("1", version)):
        (tmp_path / node).mkdir()
        (tmp_path / node / "properties").write_text(f"simd_count 304\ngfx_target_version {number}\ncpu_cores 0\n")
    (found,) = gpus._amd(tmp_path)
    assert found.target == target


@pytest.mark.parametrize(
    ("target", "caveat"),
    [
        (None, None),
        ("cuda:90", None),
        ("cuda:130", "cuda:130 is newer than every architecture"),
        ("cuda:61", "target 'cuda:61': not a GPU architecture"),
    ],
)
def test_a_gpu_that_is_not_in_the_table_has_a_caveat(target: str | None, caveat: str | None) -> None:
    line = gpus.Gpu("some GPU", target).caveat
    assert line == caveat or (line is not None and caveat is not None and line.startswith(caveat))


# --- limits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/a/b\n", {"a/memory.max": "1000", "a/b/memory.max": "max", "a/b/cpu.max": "150000 100000"}, (1000, 1.5)),
        ("0::/a/b\n", {"a/memory.max": "1000", "a/b/memory.max": "2000", "a/b/cpu.max": "max 100000"}, (1000, None)),
        (
            "4:memory:/x\n1:cpu,cpuacct:/x\n0::/\n",
            {
                "memory/x/memory.limit_in_bytes": "3000",
                "memory/memory.limit_in_bytes": "9223372036854771712",
                "cpu/x/cpu.cfs_quota_us": "50000",
                "cpu/x/cpu.cfs_period_us": "100000",
                "cpu/cpu.cfs_quota_us": "-1",
            },
            (3000, 0.5),
        ),
        ("0::/\n", {}, (None, None)),
    ],
)
def test_limits_of_control_groups(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    groups: str,
    files: dict[str, str],
    expected: tuple[int | None, float | None],
) -> None:
    root = tmp_path / "cgroup"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    own = tmp_path / "own"
    own.write_text(groups)
    monkeypatch.setattr(system, "_CGROUPS", root)
    monkeypatch.setattr(system, "_OWN_GROUPS", own)
    found = system.limits(tmp_path)
    assert (found.memory_cgroup_bytes, found.core_quota) == expected


def test_limits_are_those_of_this_process() -> None:
    code = (
        "import os, resource; from pathlib import Path; from triage.harness.machine.system import limits\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))\n"
        "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
        "found = limits(Path('/nonexistent/cache')); print(found.open_files, found.cores, found.cache_free_bytes > 0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(_repository()), *sys.path]))}
    told = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert told.split() == ["100", "1", "True"]


def _repository() -> Path:
    return Path(system.__file__).parents[3]


# --- caches ---------------------------------------------------------------------------------------------------


def test_compiles_that_died_are_counted(tmp_path: Path) -> None:
    for name in (
        "finished/k.ttir",
        "finished/k.ptx",
        "finished/k.json",
        "finished/__grp__k.json",
        "died/k.source",
        "died/k.ttir",
        "died-too/k.ttgir",
        "launcher/__triton_launcher.so",
        "utilities/cuda_utils.so",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    (tmp_path / "died/dangling.tmp").symlink_to("/nonexistent")
    found = measure_triton(tmp_path, Clock())
    assert (found.exists, found.entries, found.died, found.complete) == (True, 3, 2, True)
    assert found.size_bytes == 9 * 5 + len("/nonexistent")


def test_a_large_cache_is_not_counted_to_its_end(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "k.ttir").write_bytes(b"1")
    over = Clock(0)
    assert not measure(tmp_path, over).complete
    assert not measure_triton(tmp_path, over).complete
    assert measure(tmp_path, Clock()).size_bytes == 5


def test_where_tritons_cache_is(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert triton_cache_folder() == nowhere / "home/.triton/cache"
    monkeypatch.setenv("TRITON_HOME", "/data")
    assert triton_cache_folder() == Path("/data/.triton/cache")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/fast/cache")
    assert triton_cache_folder() == Path("/fast/cache")


# --- variables and features -----------------------------------------------------------------------------------


def test_variables_that_change_compiles() -> None:
    assert compile_variables(
        {
            "TRITON_PTXAS_PATH": "/x/ptxas",
            "DISABLE_LLVM_OPT": "1",
            "MLIR_ENABLE_DUMP": "1",
            "LLVM_IR_ENABLE_DUMP": "1",
            "AMDGCN_USE_BUFFER_OPS": "0",
            "USE_IR_LOC": "ttir",
            "TRITON_TRIAGE_CACHE": "/cache",
            "GITHUB_TOKEN": "secret",
            "HOME": "/home/me",
        }
    ) == {
        "AMDGCN_USE_BUFFER_OPS": "0",
        "DISABLE_LLVM_OPT": "1",
        "LLVM_IR_ENABLE_DUMP": "1",
        "MLIR_ENABLE_DUMP": "1",
        "TRITON_PTXAS_PATH": "/x/ptxas",
        "USE_IR_LOC": "ttir",
    }


def test_a_feature_that_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(1, "seccomp")

    monkeypatch.setattr(os, "pidfd_open", refused)
    works = {feature.name: feature.works for feature in features()}
    assert works["pidfd_open"] is False
    assert works["unix_sockets"] is True


def test_trying_the_features_leaves_this_process_as_it_was() -> None:
    gc.collect()  # What earlier tests have left open is closed now, and not in between.
    before = _open_files()
    status = _subreaper()
    features()
    assert _subreaper() == status
    assert _open_files() == before


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _subreaper() -> int:
    import ctypes

    value = ctypes.c_int(-1)
    assert ctypes.CDLL(None).prctl(37, ctypes.byref(value), 0, 0, 0) == 0  # PR_GET_CHILD_SUBREAPER
    return value.value
