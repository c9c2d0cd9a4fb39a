"""What is installed: code, knowledge base and reproducers in one wheel, and a Triton that stays where it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import triage

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the build back-end alone: no network, no environment of its own."""
    pytest.importorskip("hatchling", reason="the dev extra brings it")
    folder = tmp_path_factory.mktemp("wheel")
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return folder / done.stdout.splitlines()[-1]


def contents(wheel: Path, pattern: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if re.fullmatch(pattern, name))
        return archive.read(name).decode()


def test_data_travels_with_the_code(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for folder in ("knowledge_base", "reproducers"):
        there = {
            str(path.relative_to(ROOT))
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert there
        assert {f"triage/_data/{name}" for name in there} <= names
    assert {"triage/py.typed", "triage/cli/main.py", "triage/harness/worker/__main__.py"} <= names
    # What a program is started with, what the report is made with, and what Python reads when it starts.
    assert {"triage/capture/inject/sitecustomize.py", "triage/publish/formats/html/style.css"} <= names
    assert "triage/publish/privacy/credentials.toml" in names
    assert "triton_triage_guard.pth" in names
    # What `triage help` prints.
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "triage").rglob("README.md")} <= names
    assert [name for name in names if name.startswith("tests") or "__pycache__" in name] == []


def test_commands(wheel: Path) -> None:
    scripts = contents(wheel, r".*\.dist-info/entry_points\.txt")
    assert "triage = triage.__main__:main" in scripts.splitlines()
    assert "triton-triage = triage.__main__:main" in scripts.splitlines()
    assert "triage = triage.integrations.pytest_plugin" in scripts.splitlines()


def test_triton_is_required_but_never_pinned(wheel: Path) -> None:
    metadata = Parser().parsestr(contents(wheel, r".*\.dist-info/METADATA"))
    assert (metadata["Name"], metadata["Requires-Python"]) == ("triton-triage", ">=3.10")
    required = [line for line in metadata.get_all("Requires-Dist", []) if line.startswith("triton")]
    assert [line.replace('"', "'") for line in required] == ["triton>=3.0; sys_platform == 'linux'"]


def test_the_version_is_the_same_in_both_places() -> None:
    assert f'version = "{triage.__version__}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_installing_beside_a_pinned_triton_does_not_move_it(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / "bin/python"
    for wanted in ("triton==3.2.0", str(ROOT)):
        subprocess.run([python, "-m", "pip", "install", "--quiet", wanted], check=True, cwd=tmp_path)
    shown = "import importlib.metadata as m; print(m.version('triton'))"
    assert subprocess.check_output([python, "-c", shown], text=True) == "3.2.0\n"
    done = subprocess.run(
        [tmp_path / "bin/triage", "check", "wgmma-tf32-mn-major", "--no-suggest"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("Assertion failed in WGMMAOpPattern::getPtxAsm")
    program = ROOT / "tests/capture/programs/guarded.py"
    done = subprocess.run(
        [python, program, "segfault", "single", "64", "128"],
        env={**os.environ, "TRITON_TRIAGE_GUARD": "1", "TRITON_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.startswith("64 compiled\n128 CompileFailed triage: kernel ["), done.stderr
    assert "triage: the guard skipped 1 configuration" in done.stderr
