"""What a module reads as it is imported, and when an outcome that rests on it holds no more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import kernel_cases
import pytest
from conftest import Traces

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.reads import ModuleReads, holds
from triage.harness.request import Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.harness.worker import reads
from triage.model.outcome import Outcome, Status

_WORKER = """
import importlib.util, json, pathlib, runpy, sys
spec = importlib.util.spec_from_file_location("reads", sys.argv[1])
reads = sys.modules["reads"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reads)
folder = pathlib.Path(sys.argv[2])
sys.path[:0] = [str(folder), str(folder / "site-packages")]
sys.dont_write_bytecode = True
recorded = reads.Reads()
recorded.begin()
runpy.run_path(str(folder / "kernel.py"))
print(json.dumps(recorded.end(folder / "kernel.py")))
"""
_METADATA = "Metadata-Version: 2.1\nName: installed\nVersion: {}\n"
_TICK_S = 0.01
"""The clock of files ticks every 4 ms."""


def imported(folder: Path, text: str, **variables: str) -> ModuleReads:
    """What a module of this text in ``folder`` reads."""
    (folder / "kernel.py").write_text(text)
    time.sleep(_TICK_S)
    command = [sys.executable, "-c", _WORKER, reads.__file__, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, **variables}, cwd=folder)
    read = ModuleReads.parse(json.loads(done.stdout))
    assert read is not None
    return read


def write(name: str, text: str) -> Callable[[Path], object]:
    """A change of a file below a folder."""
    return lambda folder: (folder / name).write_text(text)


def write_unnoticed(name: str, text: str) -> Callable[[Path], object]:
    """A change of a file to a text of the same length, at the same time."""

    def change(folder: Path) -> None:
        facts = (folder / name).stat()
        (folder / name).write_text(text)
        os.utime(folder / name, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    return change


CHANGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "the kernel's file": ("pass", write("kernel.py", "pass #")),
    "a sibling": ("import helper", write("helper.py", "N = 2")),
    "a sibling, of the same size and time": ("import helper", write_unnoticed("helper.py", "N = 2")),
    "a module of a package": ("import package.part", write("package/part.py", "N = 2")),
    "an installed package": ("import installed", write("site-packages/installed/__init__.py", "N = 22")),
    "data": ("open(__file__[:-9] + 'data.json').read()", write("data.json", "22")),
    "data, through pathlib": (
        "import pathlib; pathlib.Path(__file__).with_name('data.json').read_bytes()",
        write("data.json", "22"),
    ),
    "a relative path": ("open('data.json').read()", write("data.json", "22")),
    "an absent file": ("try: open(__file__[:-9] + 'absent')\nexcept OSError: pass", write("absent", "")),
    "an absent module": ("try: import absent\nexcept ImportError: pass", write("absent.py", "N = 2")),
    "an absent package": (
        "try: import absent\nexcept ImportError: pass",
        lambda folder: (folder / "site-packages" / "absent").mkdir(),
    ),
    "an absent submodule": (
        "try: from package import absent\nexcept ImportError: pass",
        write("package/absent.py", "N = 2"),
    ),
    "an installed version": (
        "import importlib.metadata as m; m.version('installed')",
        write("site-packages/installed-1.0.dist-info/METADATA", _METADATA.format("2.0.0")),
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a sibling, a package, an installed package and data."""
    for name, text in {
        "helper.py": "N = 1",
        "data.json": "1",
        "package/__init__.py": "",
        "package/part.py": "N = 1",
        "site-packages/installed/__init__.py": "N = 1",
        "site-packages/installed-1.0.dist-info/METADATA": _METADATA.format("1.0"),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_read_counts(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    text, change = CHANGES[name]
    read = imported(folder, text)
    stored = json.loads(read.stored())
    (folder / "unrelated.py").write_text("")
    assert read.is_unchanged
    assert holds(stored)
    change(folder)
    assert not read.is_unchanged
    assert not holds(stored)


def test_a_new_checkout_of_the_same_files_holds(folder: Path) -> None:
    stored = json.loads(imported(folder, "import helper").stored())
    for name in ("helper.py", "kernel.py"):
        text = (folder / name).read_text()
        (folder / name).unlink()
        (folder / name).write_text(text)
    assert holds(stored)


@pytest.mark.parametrize("text", ["os.environ.get('FLAG')", "os.getenv('FLAG')", "'FLAG' in os.environ"])
@pytest.mark.parametrize("variables", [{}, {"FLAG": "1"}])
def test_variables_that_were_read_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    read = imported(folder, f"import os; {text}", **variables)
    stored = json.loads(read.stored())
    monkeypatch.setenv("OTHER", "2")
    assert read.is_unchanged
    assert holds(stored)
    assert stored["variables"]["FLAG"] not in variables.values(), "a value may be a secret"
    monkeypatch.setenv("FLAG", "2")
    assert not read.is_unchanged
    assert not holds(stored)


@pytest.mark.parametrize("text", ["os.environ.setdefault('FLAG', '1')", "os.environ['FLAG'] = '1'; os.getenv('FLAG')"])
def test_variables_that_the_module_sets_do_not_count_as_changed(folder: Path, text: str) -> None:
    read = imported(folder, f"import os; {text}; os.environ['FLAG']")
    assert read.is_unchanged
    assert holds(json.loads(read.stored()))


def test_the_working_folder_counts_for_relative_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    stored = json.loads(imported(folder, "open('data.json').read()").stored())
    assert holds(stored)
    monkeypatch.chdir("/")
    assert not holds(stored)


def test_a_file_that_changed_while_it_was_imported_is_not_trusted(folder: Path) -> None:
    read = imported(folder, "import helper, time; time.sleep(0.02); open(helper.__file__, 'a').write('#')")
    assert not read.is_unchanged


def test_python_and_what_the_machine_says_do_not_count(folder: Path) -> None:
    read = imported(folder, "import json, sqlite3, email; open('/proc/self/stat').read(); open('/dev/null')")
    # Python loads some installed packages as it starts: setuptools asks for that.
    own = {path for path, facts in read.files.items() if facts and "site-packages" not in path}
    assert own == {str(folder / "kernel.py")}


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"files": 1}, {"began": 1, "folder": None, "files": {"/x": [1]}, "variables": {}}],
)
def test_a_malformed_report_is_none(document: object) -> None:
    assert ModuleReads.parse(document) is None


_KERNEL = """import triton
import triton.language as tl
from helper import N

EXPECTED = tl.constexpr(N)


@triton.jit
def add(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == EXPECTED)
    tl.store(x_ptr, 1.0)
"""


@pytest.mark.slow
def test_an_edited_sibling_is_compiled_again_in_the_same_session_and_in_the_next(
    tmp_path: Path, traces: Traces, toolchains: Toolchains
) -> None:
    kernel, helper = tmp_path / "kernel.py", tmp_path / "helper.py"
    kernel.write_text(_KERNEL)
    case = replace(kernel_cases.case(kernel, "add", {"x_ptr": "*fp32"}), constexprs={"BLOCK": 1})
    request = Request(case, toolchains.default(), Limits())

    def run(engine: Engine) -> tuple[Status, bool]:
        (attempt,) = engine.run([request])
        assert isinstance(attempt.result, Outcome), attempt.result
        return attempt.result.status, attempt.cached

    helper.write_text("N = 1")
    time.sleep(_TICK_S)
    with Engine(jobs=1, store=Store(tmp_path / "store")) as engine:
        assert run(engine) == (Status.OK, False)
        assert run(engine) == (Status.OK, True)
        helper.write_text("N = 2")
        time.sleep(_TICK_S)
        assert run(engine) == (Status.ERROR, False)
    with Engine(jobs=1, store=Store(tmp_path / "store")) as engine:
        assert run(engine) == (Status.ERROR, True)
        helper.write_text("N = 1")
        time.sleep(_TICK_S)
        assert run(engine) == (Status.OK, False)
