"""CuTe cases reduced: source, configuration and class, and the script that shows the failure with the DSL alone."""

from __future__ import annotations

import ast
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cute_environments import OLDER_CUTE

from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain, Toolchains
from triage.minimize import reproducer
from triage.minimize.failure import Identity, OriginalFailure
from triage.minimize.result import MinimizeOptions
from triage.minimize.run import minimize
from triage.minimize.source import arguments, naming
from triage.minimize.source.specimen import Specimen
from triage.minimize.source.view import View, sound
from triage.model.case import Case, frozen
from triage.model.compilers import CUTE
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.source.module import called

KERNELS = Path(__file__).parent / "cute_kernels.py"
VECTOR = "tensor<f32, (128):(1), align=16>"
LIMITS = Limits(timeout_s=60, memory_bytes=4 << 30)
CASES: dict[str, dict[str, Any]] = {
    "barrier": {
        "signature": {"tensor": "tensor<bf16, (128):(1), align=16>", "out": VECTOR, "scale": "f32"},
        "constexprs": {"THREADS": 128},
    },
    "Waiter": {
        "signature": {"tensor": VECTOR, "out": VECTOR, "stream": "stream"},
        "construct": {"threads": 64, "barrier": 99},
    },
    "too_large": {"signature": {"tensor": VECTOR}, "constexprs": {"KIB": 300}},
    "dies": {
        "signature": {
            "tensor": "tensor<f16, (?,64):(64,1), align=16>",
            "pointer": "ptr<f16, gmem, align=16>",
            "numbers": "(i32, i64)",
            "stream": "stream",
        }
    },
}


def case(name: str, folder: Path) -> Case:
    shutil.copy(KERNELS, folder / "kernel.py")
    values = {key: frozen(value) for key, value in CASES[name].items()}
    return Case(folder=folder, file="kernel.py", name=name, language=Language.CUTE, **values)


_SLOW = pytest.mark.slow
GONE = ("unused", "out[", "value", "cute.size", "too_large")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "compiles", "most", "kept", "gone"),
    [
        # Each of these goes long before the end of the reduction.
        ("barrier", 48, 60, "barrier_id", ("scale", "out[", "utils", "Waiter")),
        ("Waiter", 250, 90, "self.barrier", GONE),
    ],
)
def test_what_the_failure_does_not_need_is_gone(
    newest_cute: Toolchain, tmp_path: Path, name: str, compiles: int, most: int, kept: str, gone: tuple[str, ...]
) -> None:
    options = MinimizeOptions(
        tmp_path / "min", python=str(newest_cute.python), limits=LIMITS, jobs=2, compiles=compiles
    )
    result = minimize(case(name, tmp_path), options)
    assert (result.confirmed, result.reproduced, result.no_ir) == (
        True,
        (1, 1),
        "stages of CuTe DSL cannot be run alone",
    )
    text = result.case.text()
    assert kept in text
    assert [part for part in gone if part in text] == []
    assert result.after.tokens <= most, text
    assert f"pip install {CUTE.distribution}=={newest_cute.release}" in result.script.read_text()


def failing(toolchain: Toolchain, original: Case) -> Report:
    with Session(Options(python=str(toolchain.python), suggest=False, limits=LIMITS, cache=False)) as session:
        return session.check(original)


def script(toolchain: Toolchain, original: Case, folder: Path) -> Path:
    report = failing(toolchain, original)
    assert report.diagnosis is not None
    identity = Identity.of(report.diagnosis)
    failure = OriginalFailure(report.diagnosis, report.outcome, identity, identity, 1.0)
    path = folder / "reproducer.py"
    path.write_text(reproducer.reproducer(Specimen(original.text(), original), failure, toolchain.release))
    return path


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "dies" else _SLOW) for name in CASES])
def test_a_reproducer_needs_the_dsl_alone(newest_cute: Toolchain, tmp_path: Path, name: str) -> None:
    original = case(name, tmp_path)
    path = script(newest_cute, original, tmp_path)
    done = subprocess.run([newest_cute.python, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:12]) == (1, "it is there:"), done.stdout + done.stderr
    # What is mended is not taken for the failure.
    mended = path.read_text().replace("WAIT_AT = 99", "WAIT_AT = 9").replace("barrier=99", "barrier=9")
    mended = mended.replace("'KIB': 300", "'KIB': 3").replace("os.abort()", "raise ValueError(numbers)")
    path.write_text(mended)
    done = subprocess.run([newest_cute.python, path], capture_output=True, text=True, check=False)
    assert done.returncode == (125 if name == "dies" else 0), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_reproducer_of_a_release_without_fake_tensors(toolchains: Toolchains, tmp_path: Path, name: str) -> None:
    older = toolchains.managed(OLDER_CUTE, CUTE)
    path = script(older, case(name, tmp_path), tmp_path)
    done = subprocess.run([older.python, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:12]) == (1, "it is there:"), done.stdout + done.stderr


def test_the_arguments_of_a_class_are_those_of_its_call(tmp_path: Path) -> None:
    original = case("Waiter", tmp_path)
    specimen = Specimen(original.text(), original)
    view = View.of(specimen)
    assert view is not None
    assert [argument.arg for argument in view.arguments] == ["tensor", "out", "stream"]
    assert sound(specimen)
    assert not sound(replace(specimen, case=original.replaced({"other": VECTOR}, {}, {}, {}, original.target)))


def test_arguments_of_the_constructor_become_constants(tmp_path: Path) -> None:
    original = case("Waiter", tmp_path)
    view = View.of(Specimen(original.text(), original))
    assert view is not None
    threads, barrier = (view.apply([patch]) for patch in arguments.constructed(view))
    assert threads is not None
    assert barrier is not None
    assert (dict(threads.case.construct), dict(barrier.case.construct)) == ({"barrier": 99}, {"threads": 64})
    assert "def __init__(self, barrier: int = 0):" in threads.text
    assert "self.unused = 64 * 2" in threads.text
    assert "self.barrier = 99" in barrier.text


def test_a_launch_is_kept(tmp_path: Path) -> None:
    original = case("barrier", tmp_path)
    view = View.of(Specimen(original.text(), original))
    assert view is not None
    assert view.unlaunched == frozenset()
    (launch,) = (node for node in ast.walk(view.kernel or view.module.tree) if called(node) == "launch")
    assert isinstance(launch, ast.Call)
    assert isinstance(launch.func, ast.Attribute)
    kernel = view.module.segment(launch.func.value)
    assert view.apply([view.replacing(launch, kernel)]) is None
    assert view.apply([view.replacing(launch, "pass")]) is not None


def test_nothing_is_launched(newest_cute: Toolchain, tmp_path: Path) -> None:
    options = MinimizeOptions(tmp_path / "min", python=str(newest_cute.python), launch=True)
    with pytest.raises(InputError, match="--launch: kernels of CuTe DSL are compiled only"):
        minimize(case("barrier", tmp_path), options)


def test_a_class_gets_neutral_names(tmp_path: Path) -> None:
    """The class, its methods, attributes and arguments; names of the DSL and of Python stay."""
    specimen = Specimen(KERNELS.read_text(), case("Waiter", tmp_path))
    changed = naming.renamed(specimen)
    assert changed.case.name == "Kernel"
    assert changed.case.construct == {"a0": 64, "a1": 99}
    assert list(changed.case.signature) == ["a0", "a1", "a2"]
    (definition,) = [node for node in ast.parse(changed.text).body if isinstance(node, ast.ClassDef)]
    text = ast.unparse(definition)
    assert "self.m0(a0, a1).launch(grid=(1, 1, 1), block=(self.m1, 1, 1), stream=a2)" in text
    assert "def __init__(self, a0: int, a1: int=0)" in text
    assert "cute.arch.barrier(barrier_id=self.m2, number_of_threads=32)" in text
    assert not {"Waiter", "tensor", "threads", "out"} & {
        node.id for node in ast.walk(definition) if isinstance(node, ast.Name)
    }
    assert View.of(changed) is not None and sound(changed)
