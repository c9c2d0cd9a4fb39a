"""The reproducer that launches, against a stand-in for the GPU's driver: what it asks of Triton and the driver, and
that it never takes one answer for another. Real launches: ``tests/gpu/test_launch_reproducer.py``."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import stub_driver
from commands import start_triage
from conftest import NEWEST
from running import sharing_key

from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.logs.outcomes import diagnose_outcome
from triage.minimize import launch_script, reproducer
from triage.minimize.failure import Identity, OriginalFailure
from triage.minimize.launcher import Launcher
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case, frozen
from triage.model.outcome import BeyondShared, Outcome, Stage, Status, Undecided
from triage.model.target import Target

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, FACTOR: tl.constexpr, n, y_ptr, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * FACTOR * scale, mask=i < n)


@triton.jit
def wide(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.float32)
    for step in range(64):
        total += tl.dot(tl.load(x_ptr + i + step * N * N), tl.load(x_ptr + i + step * N * N + 1))
    tl.store(y_ptr + i, total)


@triton.jit
def copied(x_desc, y_desc):
    y_desc.store([0, 0], x_desc.load([0, 0]))
"""
ADD = {
    "kernel": {"file": "kernel.py", "name": "add"},
    "signature": {"x_ptr": "*fp32", "n": "i32", "y_ptr": "*fp32", "scale": "fp32"},
    "constexprs": {"FACTOR": 2, "BLOCK": 128},
}
WIDE = {
    "kernel": {"file": "kernel.py", "name": "wide"},
    "signature": {"x_ptr": "*fp32", "y_ptr": "*fp32"},
    "constexprs": {"N": 64},
    # Up to 3.2 only one operand of the dot is pipelined: 9 stages exceed the limit from 3.3 on, 16 in every release.
    "options": {"num_stages": 16},
}
COPIED = {
    "kernel": {"file": "kernel.py", "name": "copied"},
    "signature": {"x_desc": "tensordesc<fp16[64, 64]>", "y_desc": "tensordesc<fp16[64, 64]>"},
}
INPUTS = {
    "sizes": {"n": 1000},
    "arguments": {"x_ptr": {"shape": ["n"]}, "y_ptr": {"shape": ["n"], "fill": "zeros"}, "scale": 0.5},
    "grid": ["cdiv(n, BLOCK)", 2],
    "outputs": ["y_ptr"],
}
WILD = "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered\n"
BIG = "OutOfResources: out of resource: shared memory, Required: 262144, Hardware limit: 232448. Reducing block sizes"
RELEASES = ["3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0"]

Run = Callable[..., tuple[int, str]]


def case(folder: Path, **document: Any) -> Case:
    (folder / "kernel.py").write_text(KERNEL)
    whole = {"schema": "triton-triage/case/1", "target": "cuda:90", **document}
    return documents.checked(whole, folder, "case.json")


def failure(log: str = WILD) -> OriginalFailure:
    outcome = Outcome(Status.ERROR, Stage.LAUNCH, log=log, limit_s=60.0)
    diagnosis = diagnose_outcome(outcome)
    assert diagnosis is not None
    return OriginalFailure(diagnosis, outcome, Identity.of(diagnosis), Identity.of(diagnosis), 1.0)


@pytest.fixture(scope="module")
def driver(shared_folder: Path) -> Path:
    """A folder with the stand-in, by both of the names under which Triton links it."""
    return stub_driver.built(shared_folder)


@pytest.fixture
def run(driver: Path, release: Callable[[str], Toolchain], tmp_path: Path) -> Run:
    """The whole script's exit code, and everything that it and its child printed."""

    def run(case: Case, *, seen: str = WILD, version: str = NEWEST, **variables: str) -> tuple[int, str]:
        toolchain = release(version)
        specimen = Specimen(case.path.read_text(), case)
        made = launch_script.arguments(case, case.inputs)
        script = tmp_path / launch_script.FILE
        # The child prints what it does only where nothing is recognised; here it is wanted always.
        text = launch_script.reproducer(specimen, made, failure(seen), toolchain.release)
        text = text.replace("    ended_by = ", "    print(printed)\n    ended_by = ")
        script.write_text(sharing_key(text))
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | variables
        environment = stub_driver.variables(driver) | environment
        done = subprocess.run([toolchain.python, script], capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_launch_that_goes_well_is_the_end_of_the_bug(run: Run, tmp_path: Path) -> None:
    code, said = run(case(tmp_path, **ADD, inputs=INPUTS))
    assert (code, "launched 8 2 1" in said) == (0, True), said
    assert said.splitlines()[-1].startswith("it is gone: this compiles and runs. It was: ")


FAILING = {
    "on the device": ({"STUB_FINISH": "700"}, WILD, 1, "it is there: "),
    "at the launch": ({"STUB_LAUNCH": "700"}, WILD, 1, "it is there: "),
    "otherwise": ({"STUB_FINISH": "716"}, WILD, 125, "cannot tell: it neither compiles and runs nor fails with: "),
    "no driver": ({"LD_LIBRARY_PATH": ""}, WILD, 125, "cannot tell, not launched: no GPU that can be used here: lib"),
    "no GPU": ({"STUB_DEVICES": "0"}, WILD, 125, "cannot tell, not launched: no GPU that can be used here: CUDA error"),
    "another GPU": (
        {"STUB_CAPABILITY": "80"},
        WILD,
        125,
        "cannot tell, not launched: the GPU here is cuda:80, this is for cuda:90",
    ),
}


IN_OTHER_TESTS = ("at the launch", "no GPU")
"""A launch that fails later, and the launcher without a GPU, are in the fast set."""


@pytest.mark.parametrize(
    ("variables", "seen", "code", "last"),
    [
        pytest.param(*row, id=how, marks=pytest.mark.slow if how in IN_OTHER_TESTS else ())
        for how, row in FAILING.items()
    ],
)
def test_answers(run: Run, tmp_path: Path, variables: dict[str, str], seen: str, code: int, last: str) -> None:
    found, said = run(case(tmp_path, **ADD), seen=seen, **variables)
    assert (found, said.splitlines()[-1][: len(last)]) == (code, last), said


@pytest.mark.slow
def test_amd_without_a_gpu(run: Run, tmp_path: Path) -> None:
    code, said = run(case(tmp_path, **{**ADD, "target": "hip:gfx942"}))
    assert (code, "cannot tell, not launched: no GPU that can be used here: " in said) == (125, True), said


def test_no_compiler_is_no_failure(run: Run, tmp_path: Path) -> None:
    code, said = run(case(tmp_path, **ADD), PATH=str(tmp_path), CC=str(tmp_path / "cc"))
    assert (code, "cannot tell, not launched: Triton's part of the driver" in said) == (125, True), said


def test_tensor_descriptors(run: Run, tmp_path: Path) -> None:
    code, said = run(case(tmp_path, **COPIED))
    assert (code, said.count("descriptor of 64 elements a row")) == (0, 2), said


def test_out_of_resources_is_what_triton_says(run: Run, tmp_path: Path) -> None:
    code, said = run(case(tmp_path, **WIDE), seen=BIG)
    assert (code, "launched" in said) == (1, False), said


@pytest.mark.slow
@pytest.mark.parametrize("version", RELEASES)
def test_every_release(run: Run, tmp_path: Path, version: str) -> None:
    with_inputs, wide = case(tmp_path, **ADD, inputs=INPUTS), case(tmp_path, **WIDE)
    assert run(with_inputs, version=version)[0] == 0
    assert run(with_inputs, version=version, STUB_FINISH="700")[0] == 1
    assert run(wide, version=version, seen=BIG)[0] == 1
    code, said = run(case(tmp_path, **COPIED), version=version)
    # 3.4 is the first with descriptors made outside the kernel.
    assert code == (0 if tuple(map(int, version.split("."))) >= (3, 4) else 125), said


REFUSED = [
    # What an H200 said with Triton 3.6.0.
    ("cluster blocks: 32 > 16", "a kernel launch error has occurred due to cluster misconfiguration", True),
    ("threads: 2048 > 1024", "invalid argument", True),
    ("threads: 2048 > 1024", "an illegal memory access was encountered", False),
    ("shared memory: 262144 > 232448", "invalid argument", False),
]


@pytest.mark.parametrize(("over", "words", "there"), REFUSED)
def test_limits_that_only_the_driver_knows(over: str, words: str, there: bool) -> None:
    outcome = Outcome(Status.ERROR, Stage.LOAD, over_limit=over)
    diagnosis = diagnose_outcome(outcome)
    assert diagnosis is not None
    pattern = launch_script.expected(
        OriginalFailure(diagnosis, outcome, Identity.of(diagnosis), Identity.of(diagnosis), 1.0)
    ).pattern
    assert pattern is not None
    assert bool(re.search(pattern, f"RuntimeError: Triton Error [CUDA]: {words}\n")) is there
    assert re.search(pattern, f"OutOfResources: out of resource: {over.partition(':')[0]}, Required: 2048")


def test_arguments_without_inputs(tmp_path: Path) -> None:
    found = launch_script.arguments(case(tmp_path, **ADD, divisible={"n": 16}))
    buffer = ("fp32", [1 << 24], "zeros", 0, 1)
    assert found == launch_script.LaunchArguments({"x_ptr": buffer, "n": 16, "y_ptr": buffer, "scale": 1.0}, (1, 1, 1))


def test_arguments_of_the_original_serve_what_is_left_of_it(tmp_path: Path) -> None:
    whole = case(tmp_path, **ADD, inputs={**INPUTS, "grid": [3]})
    left = {"x_ptr": "*fp32", "scale": "fp32"}
    smaller = replace(whole, signature=frozen(left), inputs=frozen())
    found = launch_script.arguments(smaller, frozen(), whole.inputs)
    assert found == launch_script.LaunchArguments({"x_ptr": ("fp32", [1000], "normal", 0, 1), "scale": 0.5}, (3, 1, 1))


def test_what_cannot_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(launch_script.UnsupportedArgument, match="x_ptr: values of type 'nvTmaDesc' cannot be made"):
        launch_script.arguments(case(tmp_path, **{**ADD, "signature": {**ADD["signature"], "x_ptr": "nvTmaDesc"}}))


LIMITS = Limits(60.0)


@pytest.fixture
def launcher(driver: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launcher]:
    for name, value in stub_driver.variables(driver).items():
        monkeypatch.setenv(name, value)
    with Engine(2) as engine:
        yield Launcher(engine)


def asked(launcher: Launcher, case: Case, toolchain: Toolchain, limits: Limits = LIMITS) -> Outcome | Undecided:
    (attempt,) = launcher.run([Request(case, toolchain, limits, FullCompile(use_cache=False))])
    return attempt.result


def test_what_compiles_is_launched(
    launcher: Launcher, release: Callable[[str], Toolchain], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, here = case(tmp_path, **ADD), release(NEWEST)
    monkeypatch.setenv("STUB_FINISH", "700")
    original = asked(launcher, whole, here)
    assert isinstance(original, Outcome)
    assert (original.status, original.stage, launch_script.needed(original)) == (Status.ERROR, Stage.LAUNCH, True)
    diagnosis = diagnose_outcome(original)
    assert diagnosis is not None
    assert diagnosis.signature == "v2|launch-error|an illegal memory access was encountered"
    # Nobody's candidate: another GPU than the original's, and inputs that its constexprs no longer fit.
    for other in (
        replace(whole, target=Target("cuda", "80")),
        replace(whole, inputs=frozen({**INPUTS, "grid": ["n // FACTOR // 0"]})),
    ):
        assert asked(launcher, other, here).__class__ is Undecided
    monkeypatch.delenv("STUB_FINISH")
    healthy = asked(launcher, whole, here)
    assert isinstance(healthy, Outcome)
    assert not healthy.failed
    monkeypatch.setenv("STUB_DEVICES", "0")
    lost = asked(launcher, whole, here)
    assert lost == Undecided("no GPU that can be used here: CUDA error: no CUDA-capable device is detected")


def test_what_does_not_compile_is_not_launched(
    launcher: Launcher, release: Callable[[str], Toolchain], tmp_path: Path
) -> None:
    broken = case(tmp_path, **{**ADD, "constexprs": {"FACTOR": 2, "BLOCK": 100}})
    first = asked(launcher, broken, release(NEWEST))
    assert isinstance(first, Outcome)
    assert (first.stage, launch_script.needed(first), launcher.needed) == (Stage.SOURCE, False, False)


@pytest.mark.slow
def test_a_launch_that_does_not_end_is_a_timeout(
    launcher: Launcher, release: Callable[[str], Toolchain], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_SECONDS", "300")
    found = asked(launcher, case(tmp_path, **ADD), release(NEWEST), Limits(8.0))
    assert isinstance(found, Outcome)
    assert (found.status, found.stage, found.limit_s) == (Status.TIMEOUT, Stage.LAUNCH, 8.0)


@pytest.mark.slow
def test_a_whole_reduction_by_launching(driver: Path, empty_cache: Path, tmp_path: Path) -> None:
    """Every launch fails here, so everything can go, but not into a compile that fails."""
    (tmp_path / "case.json").write_text(json.dumps(case(tmp_path, **ADD, inputs=INPUTS).to_json()))
    paths = stub_driver.variables(driver)
    arguments = ("minimize", tmp_path, "--launch", "--json", "-o", tmp_path / "min")
    done = start_triage(empty_cache, *arguments, STUB_FINISH="700", **paths)
    document = done.document
    assert (done.code, document["launched"], document["reproduced"]) == (0, [1, 1], [1, 1]), done.err
    assert document["reproducer"] == str(tmp_path / "min" / launch_script.FILE)
    assert not (tmp_path / "min" / "reproducer.py").exists()
    assert document["after"]["body_lines"] == 1
    lost = start_triage(empty_cache, *arguments[:-1], tmp_path / "other", STUB_DEVICES="0", **paths)
    assert (lost.code, lost.out) == (3, "")
    assert "could not tell: no GPU that can be used here" in lost.err


@pytest.mark.slow
def test_without_a_gpu_the_file_is_written_and_nothing_claimed(empty_cache: Path, tmp_path: Path) -> None:
    broken = case(tmp_path, **{**ADD, "constexprs": {"FACTOR": 2, "BLOCK": 100}}, inputs=INPUTS)
    (tmp_path / "case.json").write_text(json.dumps(broken.to_json()))
    done = start_triage(
        empty_cache, "minimize", tmp_path, "--launch", "--json", "--no-ir", "-o", tmp_path / "min", LD_LIBRARY_PATH=""
    )
    document = done.document
    assert (done.code, document["launched"], document["reproduced"]) == (0, None, [1, 1]), done.err
    assert document["not_launched"].startswith(
        f"{launch_script.FILE} was not launched here: no GPU that can be used here: "
    )
    assert (tmp_path / "min" / launch_script.FILE).is_file()


def test_only_a_launch_shows_a_wrong_binary() -> None:
    beyond = BeyondShared(Stage.CUBIN, "STS.128", address=31504, bytes=16, size=9216, thread=47, accesses=128)
    outcome = Outcome(Status.SUSPECT, Stage.CUBIN, beyond_shared=beyond, limit_s=60.0)
    assert launch_script.needed(outcome)
    assert not launch_script.was_launched(outcome)
    diagnosis = diagnose_outcome(outcome)
    assert diagnosis is not None
    shown = reproducer.expected(diagnosis, outcome).pattern
    assert shown is not None
    assert re.search(shown, "RuntimeError: CUDA error: an illegal memory access was encountered")
