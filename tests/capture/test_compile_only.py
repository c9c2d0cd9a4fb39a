"""--compile-only: a program's kernels are compiled for a target that is not here, and nothing is launched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Run, call_triage
from running import Bench

from triage.capture.compile_only import CompileOnly, emulated_gpu
from triage.legality.limits import limits
from triage.model.errors import InputError
from triage.model.target import Target

BenchOf = Callable[[str], Bench]
RELEASES = [
    "newest",
    *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1")),
    *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.6.0", "3.7.1", "3.8.0")),
]


def compile_only(bench: Bench, *arguments: str, target: str = "cuda:90", options: tuple[str, ...] = ()) -> Run:
    given = ("--target", target, "--compile-only", *options)
    return bench.run("reaches.py", *arguments, options=given)


def said(done: Run) -> list[str]:
    return [line for line in done.err.splitlines() if line.startswith("triage: ")]


@pytest.mark.parametrize("version", RELEASES)
def test_what_is_reached_is_compiled_and_not_launched(bench_of: BenchOf, version: str) -> None:
    bench = bench_of(version)
    done = compile_only(bench, options=("--keep-all",))
    assert done.code == 0, done.err
    assert "arch=90" in done.out
    assert said(done) == [
        "triage: 1 kernel reached, for cuda:90",
        "triage: plain: 2 configurations",
        "triage: 2 kernels compiled, none failed",
    ]
    assert [(case.name, str(case.target)) for case in bench.cases()] == [("plain", "cuda:90")] * 2
    again = compile_only(bench)
    assert said(again)[1:] == [
        "triage: plain: 2 configurations",
        "triage: no kernels compiled, 2 taken from Triton's cache, none failed",
    ]


# The autotuner of 3.0 and 3.1 imports torch.
@pytest.mark.parametrize("version", [RELEASES[0], *RELEASES[3:]])
def test_an_autotuner_tries_all_and_takes_the_first_that_compiles(bench_of: BenchOf, version: str) -> None:
    bench = bench_of(version)
    done = compile_only(bench, "tuned")
    assert "{'BLOCK': 64}" in done.out, done.err
    assert "triage: tuned: 3 configurations, 1 failed" in said(done)
    assert f"tuned, called from {Path(__file__).parent / 'programs' / 'reaches.py'}:" in done.err
    assert "range must be a power of 2" in done.err
    assert done.code == 1
    assert [case.constexprs for case in bench.cases()] == [{"BLOCK": 8}]


def test_all_lines_count_alike(bench: Bench) -> None:
    document = bench.document("tuned.py", options=("--target", "cuda:90", "--compile-only"))
    counts = {"compiled": 1, "failed": 0, "passed_over": 1}
    assert document["compile_only"]["kernels"] == [{"name": "kernel", **counts}]
    assert {name: document[name] for name in counts} == counts
    assert document["exit_code"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.0.0", "3.2.0", "newest"])
def test_what_the_target_cannot_load_raises_as_it_does_there(bench_of: BenchOf, version: str) -> None:
    bench = bench_of(version)
    done = compile_only(bench, "greedy", target="cuda:86")
    assert "out of resource: shared memory, Required: 131072, Hardware limit: 101376" in done.out, done.err
    assert "triage: greedy: 1 configuration, 1 failed" in said(done)
    assert done.code == 1


@pytest.mark.slow
def test_an_abort_ends_the_program_at_its_kernel(bench: Bench) -> None:
    done = compile_only(bench, "dies")
    assert done.code == 134
    assert "goes on" not in done.out
    assert said(done)[:3] == [
        "triage: 2 kernels reached, for cuda:90",
        "triage: plain: 2 configurations",
        "triage: dying: 1 configuration, 1 failed",
    ]
    assert "dying, called from" in done.err


def test_where_the_program_was_left_is_said(bench: Bench) -> None:
    done = compile_only(bench, "torch")
    place = Path(__file__).parent / "programs" / "reaches.py"
    (line,) = [one for one in said(done) if "was left" in one]
    assert line.startswith(f"triage: the program was left at {place}:")
    assert "ModuleNotFoundError: No module named 'torch_that_is_not_there'" in line
    assert "Traceback" in done.err
    assert done.code == 1


def test_the_document_has_what_was_reached(bench: Bench) -> None:
    document = bench.document("reaches.py", "tuned", options=("--target", "hip:gfx942", "--compile-only"))
    assert document["compile_only"] == {
        "target": "hip:gfx942",
        "kernels": [
            {"name": "plain", "compiled": 2, "failed": 0, "passed_over": 0},
            {"name": "tuned", "compiled": 2, "failed": 1, "passed_over": 0},
        ],
        "left": [],
        "limits": [],
    }
    assert sorted(one.name for one in bench.captured.iterdir() if not one.is_dir()) == ["run.json"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("--compile-only",), "--compile-only and --target go together"),
        (("--target", "cuda:90"), "--compile-only and --target go together"),
        (("--compile-only", "--target", "sm_90"), "target 'sm_90': write cuda:NN"),
        (("--compile-only", "--target", "cuda:55"), "target 'cuda:55': not a GPU architecture that Triton"),
        (("--compile-only", "--target", "cuda:88"), "--target cuda:88: no product of it is known"),
    ],
)
def test_a_target_that_cannot_be_is_said_before_the_program_runs(
    tmp_path: Path, given: tuple[str, ...], expected: str
) -> None:
    done = call_triage(tmp_path, "run", *given, "--", "false")
    assert (done.code, done.out) == (2, "")
    assert expected in done.err
    assert len(done.err.splitlines()) == 1


def test_what_an_earlier_run_reached_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "left").write_text(json.dumps({"at": "x.py:1", "error": "E"}) + "\n")
    CompileOnly.parse("cuda:90", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_part_has_the_limits_of_its_target() -> None:
    target = Target("cuda", "90")
    row = limits(target)
    assert row is not None
    part = emulated_gpu(target)
    assert (part["shared_bytes"], part["arch"], part["multiprocessors"]) == (row.shared_bytes, 90, 132)
    with pytest.raises(InputError):
        emulated_gpu(Target("hip", "gfx000"))
