"""However a compile takes its process down, in whatever process: its case is there, and its report is the right one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from running import REPRODUCERS, Bench, signatures, triton_reproducers

from triage.capture.captured import CaptureState
from triage.capture.program import labels
from triage.frontends import documents
from triage.harness.toolchains import Toolchain

WORKER = Path(__file__).parents[2] / "triage/harness/worker"
CODE = {"abort": 134, "segfault": 139, "exit": 3, "hang": 124}
BenchOf = Callable[[str], Bench]


def slow(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("version", "how", "pool"),
    [
        ("newest", "exit", "fork"),
        ("newest", "hang", "single"),
        *(
            slow(version, how, pool)
            for version in ("3.2.0", "3.5.1", "newest")
            for how in ("abort", "segfault", "exit", "hang")
            for pool in ("single", "threads", "fork", "spawn", "executor")
        ),
    ],
)
def test_the_case_that_died_is_captured_and_reported(bench_of: BenchOf, version: str, how: str, pool: str) -> None:
    bench = bench_of(version)
    options = ("--timeout", "1") if how == "hang" else ()
    document = bench.document("deaths.py", how, pool, options=options)
    found = [one for one in document["findings"] if one["signature"]]
    assert len(found) == 1, document
    (finding,) = found
    report = finding["report"]
    assert finding["reproduced"] is True
    assert report["case"]["constexprs"] == {"HOW": how, "BLOCK": 128}
    assert report["case"]["options"]["num_warps"] == 2
    assert [one["state"] for one in finding["captured"]] == ["hung" if how == "hang" else "died"]
    outcome = report["outcome"]
    assert outcome["stage"] == "source"
    signal = {"abort": "SIGABRT", "segfault": "SIGSEGV"}.get(how)
    assert (outcome["status"], outcome["signal"]) == ("timeout" if how == "hang" else "crash", signal)
    assert outcome["exit_code"] == 3 if how == "exit" else True
    # What else the program was compiling is not blamed; in a pool that breaks, it may not have begun.
    assert len(document["findings"]) == 1
    if pool in ("single", "threads") or how == "hang":
        assert document["exit_code"] == CODE[how]
    if pool == "single":
        assert document["compiled"] == 1


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("3.0.0", ["wgmma-tf32-mn-major", "asm-constraint-letter", "float-pointer-offset", "static-assert"]),
        ("3.2.0", ["wgmma-tf32-mn-major", "asm-constraint-letter", "float-pointer-offset", "cluster-sort"]),
        ("3.5.1", ["gluon-mfma-shape", "asm-constraint-letter", "float-pointer-offset", "fp8-sort"]),
        ("newest", None),
    ],
)
def test_what_is_captured_of_a_known_failure_fails_alike(
    bench_of: BenchOf, release: Callable[[str], Toolchain], version: str, names: list[str] | None
) -> None:
    """Known failures, compiled by a program, each in a process of its own, from a module with all its neighbours."""
    bench, toolchain = bench_of(version), release(version)
    folders = [REPRODUCERS / name for name in names] if names else triton_reproducers()
    done = bench.run("compile_cases.py", str(WORKER), *map(str, folders), options=("--json",))
    lines = [line.split() for line in done.out.splitlines() if line.startswith("case ")]
    failed = {int(pid): Path(folder) for _, folder, pid, status in lines if status != "0"}
    captured = {pid: case for case in bench.cases() for pid, _ in [labels.numbers(case.folder.name) or (0, 0)]}
    assert failed
    assert sorted(captured) == sorted(failed)
    expected = signatures([documents.load(folder) for folder in failed.values()], toolchain)
    found = signatures([captured[pid] for pid in failed], toolchain)
    assert dict(zip(failed.values(), found, strict=True)) == dict(zip(failed.values(), expected, strict=True))


@pytest.mark.parametrize("version", ["newest", *(slow(one) for one in ("3.0.0", "3.2.0", "3.5.1"))])
def test_what_dies_of_the_program_alone_is_said_to_compile(bench_of: BenchOf, version: str) -> None:
    bench = bench_of(version)
    done = bench.run("own_ways.py")
    assert done.code == 134
    (case,) = bench.cases()
    assert case.constexprs == {"BLOCK": 128}
    assert "its process died compiling it; captured, but compiles alone" in done.err
    assert f"triage check {case.folder} --python {bench.python}" in done.err
    assert done.err.splitlines()[-1] == "triage: 1 kernel compiled, 1 failed"


def test_what_an_autotuner_passes_over_is_a_line(bench: Bench) -> None:
    done = bench.run("tuned.py")
    said = done.err.splitlines()
    assert done.code == 0
    assert said[-2].startswith("triage: the autotuner passed over 1 configuration of kernel, first OutOfResources: ")
    assert said[-1] == "triage: 1 kernel compiled, none failed, 1 passed over"
    assert [case.constexprs for case in bench.cases()] == [{"BLOCK": 128}]


@pytest.mark.slow
def test_a_failure_to_load_is_captured_with_the_programs_error(bench: Bench) -> None:
    document = bench.document("load.py")
    errors = [one["error"] for finding in document["findings"] for one in finding["captured"]]
    assert [error.partition(":")[0] for error in errors] == ["OutOfResources", "RuntimeError"]
    assert errors[1] == "RuntimeError: Triton Error [CUDA]: device kernel image is invalid"
    assert [case.name for case in bench.cases()] == ["kernel", "kernel"]
    assert document["exit_code"] == 0
    assert CaptureState.RAISED.value in {
        one["state"] for finding in document["findings"] for one in finding["captured"]
    }
