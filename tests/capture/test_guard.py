"""Under the guard a program outlives what kills the compiler, and finds in its cache what it would have put there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil
import pytest
from commands import Run, new_cache, start_triage
from running import PROGRAMS, Bench, triton_reproducers

from triage.capture.captured import RunFolder
from triage.capture.document import document
from triage.capture.findings import untriaged
from triage.capture.program.service import VARIABLE as SERVICE
from triage.capture.run import environment, run

WORKER = Path(__file__).parents[2] / "triage/harness/worker"

BenchOf = Callable[[str], Bench]
RELEASES = ["newest", *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.0.0", "3.2.0", "3.5.1"))]
STRIKING = [RELEASES[0], *RELEASES[2:]]
"""On 3.0.0 a kernel cannot call what strikes down its compiler."""
WAYS = {
    "abort": "kills the compiler (SIGABRT)",
    "segfault": "kills the compiler (SIGSEGV)",
    "exit": "kills the compiler: ",
    "hang": "does not end",
}


FAST = "abort + segfault threads 64 128 256 512 + abort cross 128"
HANG = "abort + hang"
REST = "segfault + exit + segfault fork 64 128 256 512 + segfault spawn 64 128 256 512"


@pytest.mark.parametrize("version", STRIKING)
@pytest.mark.parametrize(
    ("arguments", "refused", "repeated"),
    [(FAST, 3, 2), *(pytest.param(*row, marks=pytest.mark.slow) for row in [(HANG, 2, 2), (REST, 3, 4)])],
)
def test_a_program_outlives_compiles_that_would_end_it(
    bench_of: BenchOf, version: str, arguments: str, refused: int, repeated: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own thread, in others, and in workers of a pool; what failed once is not compiled again."""
    bench, ran = bench_of(version), []
    monkeypatch.setattr("triage.cli.run.run", lambda *given: ran.append(run(*given)) or ran[-1])
    done = bench.run("guarded.py", *arguments.split(), options=("--guard", "--timeout", "4"))
    assert done.code == 0, done.err
    printed = iter(done.out.splitlines())
    failed = set()
    for way, *pool in map(str.split, arguments.split(" + ")):
        failed.add((way, 128))
        refusal = f"128 CompileFailed triage: kernel [HOW={way} BLOCK=128 "
        match pool:
            case []:
                compiled, first, other, again = (next(printed) for _ in range(4))
                assert (compiled, other) == ("64 compiled", "256 compiled")
                assert first == again
                assert first.startswith(refusal) and WAYS[way] in first
            case ["cross", block]:
                # The exception of a worker, in its parent.
                assert next(printed).startswith(f"CompileFailed True triage: kernel [HOW={way} BLOCK={block} ")
            case [_, *blocks]:
                for block in blocks:
                    line = next(printed)
                    assert line.startswith(refusal) if block == "128" else line == f"{block} compiled", done.err
    assert list(printed) == []
    counts = f"the guard kept {refused} configurations from ending the program; {repeated} compiles not repeated"
    assert counts in done.err
    # Workers of a pool, and their parent, each have a case of their own.
    assert {(case.constexprs["HOW"], case.constexprs["BLOCK"]) for case in bench.cases()} == failed
    assert re.fullmatch(r"triage: \d+ kernels compiled, \d failed", done.err.splitlines()[-1])
    assert f", {len(failed)} failed" in done.err.splitlines()[-1]

    # What --json writes of the same run.
    path = document(ran[0], untriaged(ran[0].capture.compiles), ("guarded.py",), bench.captured, None)
    assert json.loads(path.read_text())["guard"] == {"refused": refused, "not_repeated": repeated, "unguarded": 0}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("version", ["3.0.0", "3.2.0", "3.5.1", "newest"])
def test_no_known_failure_ends_a_guarded_process(bench_of: BenchOf, version: str) -> None:
    """What dies without the guard raises with it; what raises raises the same."""
    bench = bench_of(version)
    folders = [str(folder) for folder in triton_reproducers()]
    other = str(bench.folder / "other")
    plain = ended(bench.plain("compile_cases.py", str(WORKER), *folders, TRITON_CACHE_DIR=other, ALARM="20"))
    variables = guarded_environment(bench, dict(os.environ), timeout_s=20.0)
    done = bench.plain("compile_cases.py", str(WORKER), *folders, **variables, ALARM="300")
    guarded = ended(done)
    assert len(plain) == len(guarded) == len(folders)
    assert "died" not in guarded.values()
    differ = {folder: (how, guarded[folder]) for folder, how in plain.items() if how != guarded[folder]}
    # What prints an error and gives a binary all the same is refused as well.
    allowed = {("died", "refused"), ("compiled", "refused")}
    assert {folder: pair for folder, pair in differ.items() if pair not in allowed} == {}


def ended(done: Run) -> dict[str, str]:
    """How the process of each case ended: compiled, raised, was refused by the guard, or died, which ``exit(1)`` of
    LLVM's is as well."""
    found, said = {}, ""
    for line in done.out.splitlines():
        if not line.startswith("case "):
            said = "refused" if line.startswith("CompileFailed ") else said or "raised"
            continue
        _, folder, _, status = line.split()
        found[folder] = "compiled" if status == "0" else said if status == "256" and said else "died"
        said = ""
    return found


def entries(cache: Path) -> dict[tuple[str, str], bytes]:
    """What Triton's cache holds, by key and file; the groups of files name the cache's own place."""
    return {
        (path.parent.name, path.name): path.read_bytes().replace(os.fsencode(cache), b"")
        for path in sorted(cache.glob("*/*"))
    }


def located(text: bytes) -> list[str]:
    """Files and lines that an IR names. Columns are not the program's: a captured kernel stands at the margin, and
    calls ``lib.helper`` by its own name."""
    return sorted(set(re.findall(r'loc\("[^"]*"(?::\d+)?', text.decode())))


@pytest.mark.parametrize("version", RELEASES)
def test_a_healthy_program_is_the_same(bench_of: BenchOf, version: str) -> None:
    """What it prints, in a compile as well, and what Triton's cache holds; a compile from IR is tried too."""
    bench = bench_of(version)
    programs = ("sources.py", "prints.py", "from_ir.py")
    plain = bench.plain("several.py", *programs, TRITON_CACHE_DIR=str(bench.folder / "other"))
    done = bench.run("several.py", *programs, options=("--guard", "--keep-all"))
    assert (done.code, done.out) == (plain.code, plain.out) == (0, "ends\nat compile time: 64\nends\ncompiled\n")
    assert done.err.splitlines()[:-1] == plain.err.splitlines()
    assert [case.file for case in bench.cases()][-2:] == ["kernel.py", "kernel.ttir"]
    without, within = entries(bench.folder / "other"), entries(bench.folder / "triton")
    assert list(within) == list(without)
    for key, data in without.items():
        match Path(key[1]).suffix:
            case ".cubin":
                assert within[key] == data, key
            case ".json":
                ours, theirs = json.loads(within[key]), json.loads(data)
                # Up to 3.1 ``debug`` may be None for False.
                assert {**ours, "debug": bool(ours.get("debug"))} == {**theirs, "debug": bool(theirs.get("debug"))}
            case ".ttir" | ".ttgir":
                assert located(within[key]) == located(data), key
    again = bench.run("several.py", *programs, options=("--guard",))
    assert again.err.splitlines()[-1].startswith("triage: no kernels compiled, ")


@pytest.mark.slow
@pytest.mark.parametrize("version", STRIKING)
def test_an_autotuner_passes_over_what_fails(bench_of: BenchOf, version: str) -> None:
    """What kills it, and what raises: without a guard an exception that is not one of its own ends the tuning. Where no
    configuration is left, the error names what compiles."""
    bench = bench_of(version)
    plain = bench.plain("autotunes.py", "raise", TRITON_CACHE_DIR=str(bench.folder / "other"))
    assert "raised ['CompilationError'" in plain.out
    # One of the neighbours of what the last is left with hangs.
    jobs = "abort + raise + segfault 128 256"
    done = bench.run("autotunes.py", *jobs.split(), options=("--guard", "--timeout", "5"))
    *tuned, first, failures, nearest, _ = done.out.splitlines()
    assert tuned == ["best {'BLOCK': 64} {64: 1.0, 128: inf, 256: inf}"] * 4, done.err
    assert first.endswith("triage: kernel: all 2 configurations fail to compile")
    assert failures.startswith("  [") and "] and 1 more: The compiler crashed" in failures
    assert nearest.startswith("  nearest configuration that compiles: BLOCK=64.")
    assert "the guard kept 10 configurations from ending the program" in done.err
    assert done.err.splitlines()[-1] == "triage: 4 kernels compiled, none failed, 10 passed over"


def test_a_service_that_is_killed_is_started_anew(bench: Bench) -> None:
    """And nothing of it is left when the program has died."""
    done = bench.run("kills_service.py", options=("--guard",))
    assert done.code == 128 + signal.SIGKILL
    assert done.out.splitlines() == ["64 compiled", "killed 1", "256 compiled"], done.err
    assert "could not be tried" not in done.err
    assert eventually(lambda: not services(bench))


@pytest.mark.slow
def test_a_program_that_closes_and_changes_all_is_guarded(bench: Bench) -> None:
    plain = bench.plain("looks_after_itself.py", TRITON_CACHE_DIR=str(bench.folder / "other"))
    done = bench.run("looks_after_itself.py", options=("--guard",))
    assert (done.code, done.out) == (plain.code, plain.out), done.err
    assert "could not be tried" not in done.err


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_costs_the_memory_of_failures_only(bench: Bench) -> None:
    file = bench.folder / "file"
    file.touch()
    done = bench.run("guarded.py", "abort", "single", "64", "128", options=("--guard",), TRITON_TRIAGE_CACHE=str(file))
    assert [line.split()[:2] for line in done.out.splitlines()] == [["64", "compiled"], ["128", "CompileFailed"]]
    assert f"triage: failures are not remembered: {file} cannot be written: " in done.err
    assert "could not be tried" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize("kib", [60, 100])
def test_a_full_disk_refuses_no_configuration(bench: Bench, kib: int) -> None:
    """The assembler does not tell why it cannot write, and an autotuner would pass over what it could not."""
    disk = bench.folder / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size={kib}k tiny {disk} 2>/dev/null") != 0:
        pytest.skip("may not mount a file system here")
    try:
        done = bench.run("autotunes.py", "no", options=("--guard",), TMPDIR=str(disk))
        assert not list(disk.glob("*/run-*"))
    finally:
        os.system(f"umount -l {disk}")
    assert "inf" not in done.out and done.code == 0, done.err
    assert "could not be tried in isolation" in done.err
    assert "none failed" in done.err


def test_a_service_that_cannot_start_leaves_the_program_alone(bench: Bench) -> None:
    """Neither slow nor in silence."""
    variables = guarded_environment(bench, {})
    folder = RunFolder(bench.captured)
    description = json.loads(variables[SERVICE])
    description["command"][0] = "/no/such/python"
    done = bench.plain("guarded.py", "no", **{**variables, SERVICE: json.dumps(description)})
    assert done.out.splitlines() == ["64 compiled", "128 compiled", "256 compiled", "128 compiled"], done.err
    (line,) = folder.read().lost()
    assert line.startswith("3 compiles could not be tried in isolation: the guard's service does not start: ")
    assert "/no/such/python" in line


def test_a_program_without_triton_leaves_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(bench.folder))
    done = start_triage(bench.folder / "cache", "run", "--guard", "--", "true")
    assert (done.code, done.out, done.err) == (0, "", "triage: no kernels compiled, none failed\n")
    assert not list(bench.folder.glob("triage-g-*"))
    assert start_triage(bench.folder / "cache", "run", "--guard", "--", "no-such-command").code == 2
    assert not list(bench.folder.glob("triage-g-*"))


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it comes true within half a minute."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.1)
    return False


def services(bench: Bench) -> list[int]:
    """Processes that serve the guards of a bench's programs."""
    pids = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            own = process.environ().get("TRITON_CACHE_DIR") == bench.variables()["TRITON_CACHE_DIR"]
            if own and "triage.capture.service.main" in " ".join(process.cmdline()):
                pids.append(process.pid)
    return pids


@pytest.mark.slow
def test_a_program_that_is_killed_leaves_no_service(bench: Bench) -> None:
    environment = {**os.environ, **bench.variables()}
    process = subprocess.Popen(
        [bench.python, "-c", "import time; import triton.compiler; print('there', flush=True); time.sleep(100)"],
        env=guarded_environment(bench, environment),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdout.readline() == b"there\n"
    assert eventually(lambda: bool(services(bench)))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert eventually(lambda: not services(bench))


@pytest.mark.slow
def test_compiles_that_nobody_waits_for_are_ended(bench: Bench) -> None:
    """Also those that would not end for two minutes, and those that wait for them."""
    environment = {**os.environ, **bench.variables()}
    process = subprocess.Popen(
        [bench.python, PROGRAMS / "guarded.py", "hang", "threads", *["128"] * 4],
        env=guarded_environment(bench, environment),
    )
    assert eventually(lambda: len(list(bench.captured.glob("*/case.json"))) == 4)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert eventually(lambda: not services(bench))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(6))
def test_signals_to_triages_processes_do_not_reach_the_program(bench: Bench, seed: int) -> None:
    """Killed, stopped and interrupted at random, in the service and below it."""
    random = Random(seed)
    blocks = ["64", "128", "256", "512"]
    mark = f"TRITON_CACHE_DIR={bench.folder / 'triton'}".encode()
    new_cache(bench.folder / "cache")
    with ThreadPoolExecutor(1) as executor:
        run = executor.submit(bench.start, "guarded.py", "no", "threads", *blocks, options=("--guard",))
        began = time.monotonic()
        while not run.done():
            time.sleep(random.random())
            targets = triages_processes(mark, "capture.service" if seed % 2 else "")
            if targets:
                number = random.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT])
                with suppress(ProcessLookupError):
                    os.kill(random.choice(targets), number)
        took = time.monotonic() - began
    done = run.result()
    assert done.out.splitlines() == [f"{block} compiled" for block in blocks], done.err
    assert "none failed" in done.err
    assert took < 90
    assert eventually(lambda: not triages_processes(mark))


def triages_processes(mark: bytes, among: str = "") -> list[int]:
    """The service and what is below it, by a variable of their environment."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_text()
            ours = "capture.service" in command or "harness/worker" in command
            if ours and among in command and mark in (folder / "environ").read_bytes():
                pids.append(int(folder.name))
    return sorted(pids)


def guarded_environment(bench: Bench, base: dict[str, str], timeout_s: float = 120.0) -> dict[str, str]:
    """What ``triage run --guard`` starts a program with."""
    from triage.capture.service.start import Settings, variable

    for folder in (bench.captured, bench.folder / "g"):
        folder.mkdir(exist_ok=True)
    service = variable(bench.folder / "g", Settings(timeout_s=timeout_s))
    return environment(bench.captured, base, service=service)
