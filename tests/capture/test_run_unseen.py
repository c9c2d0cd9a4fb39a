"""A program under ``triage run`` sees, prints and returns what it does without."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Triage, run_program, start_triage
from running import PROGRAMS, Bench, signatures

import triage
from triage.capture.run import environment
from triage.harness.toolchains import Toolchain

BenchOf = Callable[[str], Bench]
RELEASES = ["newest", *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.0.0", "3.2.0", "3.5.1"))]


@pytest.mark.parametrize("version", RELEASES)
def test_a_healthy_program_is_the_same_with_and_without(
    bench_of: BenchOf, release: Callable[[str], Toolchain], version: str
) -> None:
    """And what it compiled, captured, compiles from its folder alone."""
    bench = bench_of(version)
    gluon = ["gluon"] if version == "newest" else []
    plain = bench.plain("sources.py", *gluon, TRITON_CACHE_DIR=str(bench.folder / "other"))
    done = bench.run("sources.py", *gluon, options=("--keep-all",))
    said, cases = done.err.splitlines(), bench.cases()
    assert (done.code, done.out, said[:-1]) == (plain.code, plain.out, plain.err.splitlines())
    assert said[-1] == f"triage: {len(cases)} kernels compiled, none failed"
    again = bench.run("sources.py", *gluon)
    assert again.err.splitlines()[-1].startswith("triage: no kernels compiled, ")
    assert again.err.splitlines()[-1].endswith(" taken from Triton's cache, none failed")

    names = ["in_a_cell", "clashes", "closure", "with_functions", "in_gluon"]
    assert [case.name for case in cases] == names[: 5 if gluon else 4 if version >= "3.4" else 2]
    assert [case.origin.get("notes") for case in cases] == [None] * len(cases)
    assert signatures(cases, release(version)) == ["compiles"] * len(cases)
    texts = "".join(case.path.read_text() for case in cases)
    assert "toolbox" not in texts and "# Two helpers called scaled" in texts


@pytest.mark.parametrize("version", RELEASES)
def test_a_failing_program_prints_the_same_traceback(bench_of: BenchOf, version: str) -> None:
    bench = bench_of(version)
    plain = bench.plain("raises.py")
    done = bench.run("raises.py")
    assert plain.code == done.code == 1
    own = done.err.index("triage: ")
    assert done.err[:own] == plain.err
    assert "compiler.py" in plain.err
    assert "1 failed" in done.err.splitlines()[-1]


def python(bench: Bench, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The interpreter as a program that triage runs."""
    capture = bench.folder / "capture"
    capture.mkdir(exist_ok=True)
    return subprocess.run(
        [bench.python, *arguments],
        env=environment(capture, {**os.environ, **bench.variables(**variables)}),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_path_is_the_same(bench: Bench) -> None:
    code = "import sys; print(sys.path, [name for name in sys.modules if 'custom' in name])"
    before = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    plain = subprocess.run([bench.python, "-c", code], capture_output=True, text=True, check=True, env=before)
    capture = bench.folder / "capture"
    capture.mkdir()
    with_it = environment(capture, before)
    done = subprocess.run([bench.python, "-c", code], capture_output=True, text=True, check=True, env=with_it)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


@pytest.mark.parametrize("text", ["print('mine')", "raise ImportError('no', name='elsewhere')", "1 / 0"])
def test_another_sitecustomize_runs_as_it_would(bench: Bench, text: str) -> None:
    folder = bench.folder / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"import sys\nprint(__name__, __file__, sys.path[1:2])\n{text}\n")
    code = "import sys; print(sys.modules.get('sitecustomize'))"
    plain = subprocess.run(
        [bench.python, "-c", code],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    done = python(bench, "-c", code, PYTHONPATH=str(folder))
    assert "sitecustomize.py" in plain.stdout
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_nothing_is_imported_for_a_program_without_triton(bench: Bench) -> None:
    code = "import sys; print(sorted(sys.modules))"
    plain = subprocess.run([bench.python, "-c", code], capture_output=True, text=True, check=True)
    assert python(bench, "-c", code).stdout == plain.stdout


def test_inductors_compile_workers_are_watched_too(bench: Bench) -> None:
    """A package in the place of torch that starts a process as Inductor does."""
    package = bench.folder / "torch/_inductor/compile_worker"
    package.mkdir(parents=True)
    for folder in (package, *list(package.parents)[:2]):
        (folder / "__init__.py").touch()
    (package / "subproc_pool.py").write_text(
        "import os, subprocess, sys\n"
        "def start(code):\n"
        "    path = os.environ.get('TORCH_CUSTOM_PYTHONPATH', os.pathsep.join(sys.path))\n"
        "    subprocess.run([sys.executable, '-c', code], env={**os.environ, 'PYTHONPATH': path})\n"
    )
    worker = "import sys; print([type(one).__module__ for one in sys.meta_path][0], 'inject' in str(sys.path))"
    code = f"from torch._inductor.compile_worker import subproc_pool; subproc_pool.start({worker!r})"
    done = python(bench, "-c", code, PYTHONPATH=str(bench.folder))
    assert (done.stdout, done.stderr) == ("_triton_triage_awaiting False\n", "")


def test_a_triton_that_cannot_be_imported_fails_the_same(bench: Bench) -> None:
    """A package in the place of Triton, whose compiler fails the first time."""
    package = bench.folder / "triton/compiler"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("from .compiler import compile\n")
    (package / "__init__.py").write_text("from .compiler import compile\n")
    (package / "compiler.py").write_text(
        "import sys\nsys.tries = getattr(sys, 'tries', 0) + 1\n"
        "if sys.tries == 1:\n    raise ImportError('no library')\n"
        "def compile():\n    raise ValueError\nclass CompiledKernel:\n    def _init_handles(self):\n        pass\n"
    )
    code = (
        "import traceback\n"
        "for _ in range(2):\n"
        "    try:\n        import triton\n        import triton.compiler.compiler as c\n"
        "        print(type(c.__spec__), c.__loader__.__class__, vars(c.__loader__).keys())\n        triton.compile()\n"
        "    except Exception:\n        traceback.print_exc()\n"
    )
    before = {**os.environ, "PYTHONPATH": str(bench.folder)}
    plain = subprocess.run([bench.python, "-c", code], capture_output=True, text=True, check=False, env=before)
    done = python(bench, "-c", code, PYTHONPATH=str(bench.folder))
    assert "no library" in plain.stderr and "ValueError" in plain.stderr
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


def test_a_fault_of_triages_own_is_a_note(bench: Bench) -> None:
    """Here the folder of the run is gone when the kernel compiles."""
    code = (
        "import shutil, os, runpy, sys; shutil.rmtree(os.environ['TRITON_TRIAGE_CAPTURE']); sys.argv = sys.argv[1:]; "
    )
    code += "sys.path.insert(0, os.path.dirname(sys.argv[0])); runpy.run_path(sys.argv[0], run_name='__main__')"
    done = python(bench, "-c", code, str(Path(__file__).parent / "programs/deaths.py"), "none", "single", "64")
    assert (done.returncode, done.stdout, done.stderr) == (5, "begins\nends [64]\n", "said\n")


EXITS = [("import sys; sys.exit(7)", 7), ("print('--debug')", 0)]


@pytest.mark.parametrize(("code", "expected"), EXITS)
def test_the_exit_code_is_the_programs(empty_cache: Path, code: str, expected: int) -> None:
    done = start_triage(empty_cache, "run", "--", sys.executable, "-c", code, "--debug")
    assert (done.code, done.err) == (expected, "triage: no kernels compiled, none failed\n")
    assert done.out == ("--debug\n" if expected == 0 else "")


MODES = [(), ("--guard",), ("--timeout", "60"), ("--compile-only", "--target", "cuda:90")]


@pytest.mark.parametrize("options", MODES, ids=lambda options: options[0] if options else "plain")
def test_the_death_of_the_program_is_told(empty_cache: Path, options: tuple[str, ...]) -> None:
    done = run_program(empty_cache, *options, "--", "sh", "-c", "kill -KILL $$")
    lines = [line for line in done.err.splitlines() if "reached" not in line]
    assert (done.code, lines) == (
        137,
        [
            "triage: sh -c 'kill -KILL $$' died of SIGKILL (exit code 137)",
            "triage: no kernels compiled, none failed",
        ],
    )


@pytest.mark.parametrize(
    ("script", "code", "ending"),
    [
        ("exit 139", 139, "ended with exit code 139, which a shell gives for SIGSEGV"),
        ("kill -40 $$", 168, "died of signal 40 (exit code 168)"),
    ],
)
def test_what_a_shell_passes_on_is_told_too(empty_cache: Path, script: str, code: int, ending: str) -> None:
    done = run_program(empty_cache, "--", "sh", "-c", script)
    assert (done.code, done.err.splitlines()[0]) == (code, f"triage: sh -c '{script}' {ending}")


def test_a_command_that_is_none(cli: Triage) -> None:
    done = cli("run", "--", "no-such-command")
    assert (done.code, done.err) == (2, "triage: no-such-command: cannot be started: No such file or directory\n")
    assert cli("run").code == 2


def own_variables(cache: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(triage.__file__).parents[1]), "TRITON_TRIAGE_CACHE": str(cache)}


def test_standard_input_and_open_files_are_the_programs(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    code = f"import os, sys; os.write({writer}, sys.stdin.read().encode())"
    command = [sys.executable, "-m", "triage", "run", "--", sys.executable, "-c", code]
    variables = {
        **os.environ,
        "PYTHONPATH": str(Path(triage.__file__).parents[1]),
        "TRITON_TRIAGE_CACHE": str(tmp_path),
    }
    subprocess.run(command, input=b"given", check=True, env=variables, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert stream.read() == "given"


def test_a_signal_to_triage_is_passed_on(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(15, lambda *_: exit(9)); print('ready', flush=True); time.sleep(60)"
    command = [sys.executable, "-m", "triage", "run", "--", sys.executable, "-c", code]
    variables = {
        **os.environ,
        "PYTHONPATH": str(Path(triage.__file__).parents[1]),
        "TRITON_TRIAGE_CACHE": str(tmp_path),
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=variables) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 9


def test_a_program_that_is_interrupted_leaves_its_cases(bench: Bench) -> None:
    """Ctrl-C, which reaches all processes of the terminal. The captured compile is not repeated."""
    code = f"import sys, time; sys.path.insert(0, {str(PROGRAMS)!r})\n"
    # After the exception is gone: Python drops an interrupt that meets one of the objects it frees.
    code += "try:\n    import raises\nexcept Exception:\n    pass\nprint('ready', flush=True)\ntime.sleep(60)"
    command = [sys.executable, "-m", "triage", "run", "-o", str(bench.captured), "--", str(bench.python), "-c", code]
    variables = {
        **os.environ,
        **bench.variables(TRITON_TRIAGE_CACHE=str(bench.folder)),
        "PYTHONPATH": str(Path(triage.__file__).parents[1]),
    }
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - began < 3
    assert process.returncode == 130
    assert "interrupted before it was compiled alone" in errors
    assert [case.name for case in bench.cases()] == ["wrong_shapes"]


def test_nothing_is_left_of_a_run_without_failures(tmp_path: Path) -> None:
    assert start_triage(tmp_path, "run", "--", sys.executable, "-c", "pass", TMPDIR=str(tmp_path)).code == 0
    assert list(tmp_path.iterdir()) == []


def test_a_program_does_not_wait_for_what_only_a_report_needs() -> None:
    unwanted = {
        "psutil",
        "rich",
        "triton",
        "triage.pipeline",
        "triage.model.case",
        "triage.harness",
        "triage.knowledge",
    }
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); from triage.cli.main import main; "
    code += "main(['run', '--', sys.executable, '-c', 'pass'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & unwanted == set()
