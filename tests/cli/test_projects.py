"""``triage draft`` and ``triage check`` of files, folders and packages whose kernels nobody describes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import Triage
from golden_files import Golden

import triage

INIT = "raise RuntimeError('a package is not imported')\n"
NORM = '''
"""A kernel with a launch, and one that only it calls."""

import torch
import triton
import triton.language as tl

from .shared import scaled


@triton.jit
def scale(x_ptr, out_ptr, row_stride, column_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + columns * column_stride, mask=columns < n)
    tl.store(out_ptr + row * n + columns, scaled(x), mask=columns < n)


def run(x):
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    scale[(x.shape[0],)](x, out, x.stride(0), x.stride(1), x.shape[1], BLOCK=64, num_warps=2)
    return out
'''
SHARED = """
import triton
import triton.language as tl


@triton.jit
def scaled(x):
    return x.to(tl.float32) * 2.0
"""
TUNED = """
import triton
import triton.language as tl

FACTOR = 3.0


@triton.autotune([triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.heuristics({"EVEN": lambda arguments: arguments["BLOCK"] > 32})
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets) if EVEN else tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x + 1.0, mask=offsets < n)


@triton.jit
def broken(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * FACTOR)
"""
HOST = "def run():\n    return 1\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the package ``project``, which is the current folder."""
    files = {"__init__.py": INIT, "norm.py": NORM, "shared.py": SHARED, "tuned.py": TUNED, "host.py": HOST}
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_folder_is_a_table(check: Triage, project: Path, golden: Golden) -> None:
    done = check("project", "--target", "cuda:90,hip:gfx942")
    golden(done.out)
    assert done.code == 1


def test_a_second_run_answers_from_the_store(check: Triage, project: Path) -> None:
    first = check("project/norm.py", "--json").documents
    assert check("project/norm.py", "--json").documents == first


def test_a_table_as_documents(check: Triage, cli: Triage, project: Path, tmp_path: Path) -> None:
    done = check("project", "--json", "-o", "kept", "--junit", "results.xml", "--sarif", "results.sarif")
    documents = {document["case"]["kernel"]["name"]: document for document in done.documents}
    assert {name: document["outcome"]["status"] for name, document in documents.items()} == {
        "scale": "ok", "tuned": "ok", "broken": "error"
    }  # fmt: skip
    drafted = documents["scale"]["case"]
    assert drafted["signature"]["out_ptr"] == "*fp32"
    assert drafted["constexprs"] == {"column_stride": 1, "BLOCK": 64}
    assert drafted["options"] == {"num_warps": 2}
    assert "launch in" in drafted["origin"]["drafted"]["BLOCK"]
    assert drafted["origin"]["source"]["file"].endswith("project/norm.py")
    assert documents["tuned"]["case"]["constexprs"] == {"BLOCK": 32, "EVEN": False}
    suite = ElementTree.parse(tmp_path / "results.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    (result,) = json.loads((tmp_path / "results.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("project/tuned.py")
    assert json.loads((tmp_path / "kept/survey.json").read_text())["schema"] == "triton-triage/survey/1"
    (failed,) = [path for path in (tmp_path / "kept").iterdir() if path.is_dir()]
    assert failed.name.startswith("broken-")
    assert check(failed / "case", "--no-suggest").code == 1
    assert "this is all that it reaches in its file, nothing was taken out" in cli("report", failed).out


def test_an_installed_package_is_found_and_not_imported(
    check: Triage, project: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert check("project.norm").out.splitlines()[-1].startswith("project.norm: 1 kernel: 1 compile")
    (elsewhere / "project").mkdir()
    (elsewhere / "project/other.py").write_text(SHARED.replace("return x.to(tl.float32) * 2.0", "tl.store(x, 1.0)"))
    done = check("project")
    golden(done.err.replace(str(tmp_path), "ROOT"))
    assert "other.py" in done.out


def test_missing_arguments_are_drafted(check: Triage, project: Path, golden: Golden) -> None:
    done = check("project/norm.py::scale", "--arg", "x_ptr=*bf16", "--json")
    golden(done.err)
    assert (done.code, done.document["case"]["signature"]["x_ptr"]) == (0, "*bf16")
    command = done.err.rpartition("to change and repeat: triage check ")[2]
    assert "--arg 'x_ptr=*bf16'" in command


def test_the_command_to_repeat_repeats(check: Triage, project: Path) -> None:
    done = check("project/norm.py::scale", "--json")
    line = done.err.splitlines()[-1].partition("to change and repeat: ")[2]
    script = "import shlex, sys; print('\\0'.join(shlex.split(sys.argv[1])))"
    words = subprocess.run([sys.executable, "-c", script, line], capture_output=True, text=True, check=True).stdout
    again = check(*words.strip("\n").split("\0")[2:], "--json")
    assert again.err == ""
    compiled = ("signature", "constexprs", "divisible", "options", "target")
    assert [again.document["case"][name] for name in compiled] == [done.document["case"][name] for name in compiled]


def test_each_configuration_is_a_case(check: Triage, project: Path) -> None:
    documents = check("project/tuned.py::tuned", "--json").documents
    assert [document["case"]["constexprs"]["BLOCK"] for document in documents] == [32, 64]
    assert documents[1]["case"]["origin"]["configuration"] == "BLOCK=64 EVEN=True num_warps=2"
    second = check("project/tuned.py::tuned", "--config", "2", "--json").document
    assert second["case"]["constexprs"] == {"BLOCK": 64, "EVEN": True}


def test_several_targets_of_one_kernel(check: Triage, project: Path) -> None:
    documents = check("project/norm.py::scale", "--target", "cuda:80,cuda:90", "--json").documents
    assert [document["case"]["target"] for document in documents] == ["cuda:80", "cuda:90"]


@pytest.mark.slow
def test_drafted_folders_stand_alone(check: Triage, cli: Triage, project: Path, tmp_path: Path, golden: Golden) -> None:
    done = cli("draft", "project", "-o", "cases", "--config", "all")
    golden(done.out)
    names = sorted(path.name for path in (tmp_path / "cases").iterdir())
    assert names == ["broken-BLOCK=64", "scale-column_stride=1-BLOCK=64-num_warps=2"] + [
        f"tuned-BLOCK={block}-EVEN={even}-num_warps={warps}-num_stages=3" for block, even, warps in
        ((32, False, 1), (64, True, 2))
    ]  # fmt: skip
    for name in names[1:]:
        assert check(tmp_path / "cases" / name).code == 0
    project.rename(tmp_path / "moved")
    assert [document["outcome"]["status"] for document in check("cases", "--no-suggest", "--json").documents] == [
        "error", "ok", "ok", "ok"
    ]  # fmt: skip


def test_files_that_are_not_python_are_named(cli: Triage, project: Path, golden: Golden) -> None:
    (project / "bad.py").write_text("import triton\n@triton.jit\ndef k(x:\n")
    for name in ("norm.py", "tuned.py", "shared.py"):
        (project / name).unlink()
    nothing = cli("draft", "project").err
    (project / "other.py").write_text(SHARED.replace("return x.to(tl.float32) * 2.0", "tl.store(x, 1.0)"))
    done = cli("draft", "project", "-o", "project/cases")
    golden(nothing + done.err)
    # Cases within a project are not kernels of it.
    assert cli("draft", "project", "-o", "project").err == done.err
    assert cli("draft", "project").err == done.err


def test_each_project_has_its_own_answer(check: Triage, project: Path) -> None:
    done = check("project/host.py", "project/norm.py", "--json")
    reason = "project/host.py: no kernel in it; it defines run"
    assert done.documents[0] == {"case": "project/host.py", "could_not_tell": reason, "exit_code": 2}
    assert (done.code, done.documents[1]["outcome"]["status"]) == (2, "ok")


def test_kernels_of_one_name_are_kept_apart(check: Triage, project: Path, tmp_path: Path) -> None:
    (project / "other.py").write_text((project / "tuned.py").read_text())
    check("project/tuned.py", "project", "-o", "kept")
    folders = sorted(path.relative_to(tmp_path / "kept").as_posix() for path in tmp_path.glob("kept/*/*"))
    name = "broken-BLOCK=64-cuda-90-RELEASE"
    assert [re.sub(r"90-[\d.]+$", "90-RELEASE", folder) for folder in folders] == [
        f"001-tuned/{name}", "001-tuned/survey.json",
        f"002-project/other-{name}", "002-project/survey.json", f"002-project/tuned-{name}",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["::scale", "project::scale", "notebook.ipynb"])
def test_what_is_no_source_is_not_drafted(cli: Triage, project: Path, golden: Golden, name: str) -> None:
    done = cli("draft", name)
    golden(done.err)
    assert done.code == 2


def test_cases_from_python(project: Path, own_cache: Path) -> None:
    cases = triage.draft("project/norm.py::scale")
    assert [case.name for case in cases] == ["scale"]
    assert cases[0].origin["drafted"]["out_ptr"].startswith("*fp32, launch in ")


MISTAKES = {
    "no kernel": ("project/host.py",),
    "only functions that kernels call": ("project/shared.py",),
    "unknown parameter": ("project/norm.py::scale", "--arg", "x_prt=*fp32"),
    "unknown parameter of all": ("project", "--const", "BLOK=32"),
    "no such configuration": ("project/tuned.py::tuned", "--config", "9"),
    "no configuration": ("project/tuned.py::tuned", "--config", "some"),
    "full": ("project", "--full"),
    "several releases": ("project/norm.py::scale", "--triton", "3.2..3.4"),
    "no package": ("no_such_package",),
    "a type for a constexpr": ("project/norm.py::scale", "--arg", "BLOCK=i32"),
    "no target": ("project", "--target", ""),
    "a notebook": ("notebook.ipynb",),
    "a kernel of a notebook": ("notebook.ipynb::scale",),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_one_line(check: Triage, project: Path, golden: Golden, mistake: str) -> None:
    Path("notebook.ipynb").write_text("{}")
    done = check(*MISTAKES[mistake])
    golden(done.err)
    assert (done.out, done.err.count("\n")) == ("", 1)
    assert done.code in (2, 3)


def test_what_is_given_against_its_use(check: Triage, project: Path, golden: Golden) -> None:
    done = check("project/norm.py::scale", "--arg", "x_ptr=i64", "--arg", "column_stride=i32", "--no-suggest")
    golden("\n".join(line for line in done.err.splitlines() if "drafted" not in line and "repeat" not in line))


@pytest.mark.slow
def test_an_interrupt_keeps_the_table_so_far(project: Path, cache: Path) -> None:
    """The second file's kernel is compiled for as long as it takes."""
    (project / "tuned.py").write_text(textwrap.dedent(ENDLESS))
    environment = {**os.environ, "TRITON_TRIAGE_CACHE": str(cache), "PYTHONPATH": str(Path(triage.__file__).parents[1])}
    command = [sys.executable, "-m", "triage", "check", "project", "--jobs", "1", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout is not None
        first = run.stdout.readline()
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=60)
    assert json.loads(first)["outcome"]["status"] == "ok"
    assert run.returncode == 130
    assert [line for line in told.splitlines() if line.startswith("triage: ")] == [
        "triage: project: 1 kernel: 1 compile, 0 fail, 0 could not be told; 1 function that only kernels call",
        "triage: interrupted",
    ]


ENDLESS = """
import triton
import triton.language as tl


@triton.constexpr_function
def forever():
    while True:
        pass


@triton.jit
def endless(x_ptr):
    forever()
    tl.store(x_ptr, 1.0)
"""
