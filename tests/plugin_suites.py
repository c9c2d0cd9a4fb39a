"""Suites that pytest runs in a process of its own, with triage's plugin: a plugin of conftest.py."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import new_cache

import triage
from triage.harness.toolchains.installers import find_installer

PROGRAMS = Path(__file__).parent / "capture" / "programs"
ROOT = Path(triage.__file__).parent.parent
PLUGIN = "triage.integrations.pytest_plugin"


@dataclass(frozen=True)
class Session:
    """How one session of pytest ended. ``tests``: by name, each with its outcome and the text of its failure;
    ``diagnoses``: what triage's section said of it."""

    code: int
    out: str
    tests: dict[str, tuple[str, str]]
    diagnoses: dict[str, str]

    def count(self) -> dict[str, int]:
        """How many tests ended how."""
        outcomes = [outcome for outcome, _ in self.tests.values()]
        return {one: outcomes.count(one) for one in sorted(set(outcomes))}


@dataclass(frozen=True)
class Suite:
    """A folder with test modules, and the interpreter that runs them."""

    folder: Path
    python: Path

    def start(self, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """pytest in a process of its own, with no plugins but those that are named."""
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TRITON_TRIAGE_"))},
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(PROGRAMS)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TRITON_TRIAGE_CACHE": str(new_cache(self.folder / "cache")),
            "TRITON_DEFAULT_FP_FUSION": "1",
            "WORKER": str(ROOT / "triage/harness/worker"),
            **variables,
        }
        command = [self.python, "-m", "pytest", "-p", PLUGIN, "--color=no", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder, env=environment)

    def run(self, *options: str, **variables: str) -> Session:
        """The same, and what it wrote for machines."""
        results = self.folder / "results.xml"
        done = self.start(f"--junitxml={results}", *options, **variables)
        tests, diagnoses = {}, {}
        for one in ElementTree.parse(results).getroot().iter("testcase"):
            name = one.attrib["name"]
            tests[name] = _outcome(one)
            for found in one.iter("property"):
                diagnoses[name] = found.attrib["value"]
        return Session(done.returncode, done.stdout + done.stderr, tests, diagnoses)


def _outcome(test: ElementTree.Element) -> tuple[str, str]:
    for kind in ("failure", "error", "skipped"):
        found = test.find(kind)
        if found is not None:
            return kind, found.attrib.get("message", "") + (found.text or "")
    return "passed", ""


def suite(folder: Path, program: str, python: Path, configuration: str = "") -> Suite:
    """The folder with a program as its test module."""
    shutil.copy(PROGRAMS / program, folder / f"test_{program}")
    (folder / "pytest.ini").write_text(f"[pytest]\n{configuration}")
    return Suite(folder, python)


SuiteOf = Callable[..., Suite]


@pytest.fixture
def suite_of(tmp_path: Path, request: pytest.FixtureRequest) -> SuiteOf:
    """A suite of a program, for a release that has pytest beside it."""

    def made(program: str, version: str = "newest") -> Suite:
        python = Path(sys.executable) if version == "newest" else request.getfixturevalue("interpreter_320")
        return suite(tmp_path, program, python)

    return made


@pytest.fixture(scope="session")
def interpreter_320(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with Triton 3.2.0, pytest, and what triage needs."""
    folder = tmp_path_factory.mktemp("environment") / "3.2.0"
    needed = ["triton==3.2.0", "setuptools", "pytest", "pytest-xdist", "click", "rich", "psutil", "platformdirs"]
    uv = find_installer().uv
    if not uv:
        pytest.skip("uv makes this environment, and is not here")
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    subprocess.run([*uv, "pip", "install", "--quiet", "--python", folder, *needed], check=True)
    return folder / "bin/python"
