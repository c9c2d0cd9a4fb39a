"""The registry: names, the entries that name them, and the ways in which a source may be beyond reach."""

from __future__ import annotations

from pathlib import Path

import pytest
from rewriting import write

from triage import knowledge
from triage.filesystem.shipped import data_folder
from triage.frontends.documents import load
from triage.model.diagnosis import Diagnosis, Kind
from triage.suggest.rewrites.catalogue import CATALOGUE, CUTE_CATALOGUE
from triage.suggest.rewrites.registry import recipe, rewrites
from triage.suggest.scene import Scene


def test_names_agree() -> None:
    named = {name for entry in knowledge.load_all() for name in entry.rewrites}
    assert named - set(CUTE_CATALOGUE) == set(CATALOGUE)
    assert all(callable(recipe(name)) for name in CATALOGUE)


def made(folder: Path, text: str, *named: str) -> int:
    case = write(folder, text, {"x_ptr": "*fp8e5"}, {})
    diagnosis = Diagnosis(Kind.LLVM_FATAL, "", "", stage="llir")
    return len(list(rewrites(case, Scene.of(case, text, diagnosis, ""), named)))


def test_what_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    whole = "import triton.language as tl\ndef kernel(x_ptr):\n    y = tl.load(x_ptr) + 1\n"
    assert made(tmp_path, whole, "loads-in-fp32") == 1, "each text once, though it is made twice"
    assert made(tmp_path, whole) == 0, "no entry names a recipe, and the failure speaks for none"
    assert made(tmp_path, whole + "def (", "loads-in-fp32") == 0
    assert made(tmp_path, whole.replace("kernel", "other"), "loads-in-fp32") == 0


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_nothing_raises_on_the_sources_of_the_reproducers(step: int) -> None:
    for path in sorted(data_folder("reproducers").glob("*/kernel.py"))[::step]:
        text = path.read_text(encoding="utf-8")
        # The failure is at no line in particular, so that every recipe finds something.
        lines = range(5, text.count("\n") + 1, 3)
        log = "\n".join(f'"{path.name}":{line}:5' for line in lines)
        scene = Scene.of(load(path.parent), text, Diagnosis(Kind.MLIR_DIAGNOSTIC, "", "", stage="ttgir"), log)
        for rewritten in rewrites(scene.case, scene, CATALOGUE):
            compile(rewritten.text, str(path), "exec")
