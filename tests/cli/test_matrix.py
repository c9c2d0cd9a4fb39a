"""``triage matrix`` as a user runs it: the judged tables, the three forms of output, exit codes, bad input."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from commands import DATA, KERNELS, Run, Triage, call_triage
from golden_files import Golden

from triage.harness.toolchains import cache_root

TF32, SPECIALIZED = "wgmma-tf32-mn-major", "wgmma-mn-major-warp-specialized"


@pytest.fixture(scope="session")
def matrix(cache: Path) -> Triage:
    """``triage matrix …`` with 3.2.0 and the Triton beside the tests installed."""
    return lambda *arguments, **named: call_triage(cache, "matrix", *arguments, **named)


@pytest.fixture(scope="session")
def tf32(matrix: Triage) -> Run:
    return matrix(TF32, "--triton", "installed", "--json")


def test_the_table_on_what_is_installed(tf32: Run, matrix: Triage) -> None:
    assert tf32.code == 1
    document = tf32.document
    assert document["schema"] == "triton-triage/matrix/1"
    newest = document["rows"][-1]["name"]
    cells = {cell["row"]: (cell["verdict"], cell["label"]) for cell in document["cells"]}
    assert cells == {"3.2.0": ("fails", "A"), newest: ("compiles", None)}
    [failure] = document["failures"]
    assert failure["signature"].startswith("v2|assertion|NVGPUToLLVMPass.cpp|")
    [column] = document["targets"]
    assert (column["target"], column["first_bad"], column["last_good"], column["last_bad"], column["fixed_in"]) == (
        "cuda:90",
        "3.2.0",
        None,
        "3.2.0",
        newest,
    )
    assert document["bisected"] is None
    # Without --triton it is the same table.
    assert matrix(TF32, "--json").document["targets"] == document["targets"]


def test_an_api_that_a_release_lacks_is_not_applicable(matrix: Triage) -> None:
    done = matrix(SPECIALIZED, "--json")
    assert done.code == 1
    document = done.document
    assert [cell["verdict"] for cell in document["cells"]] == ["not applicable", "fails"]
    assert "make_tensor_descriptor" in document["cells"][0]["reason"]
    assert document["targets"][0]["first_bad"] == document["rows"][-1]["name"]
    assert document["targets"][0]["fixed_in"] is None


def test_the_terminal_and_markdown_say_the_same(matrix: Triage, tf32: Run) -> None:
    newest = tf32.document["rows"][-1]["name"]
    spoken = matrix(TF32).out
    assert spoken.splitlines()[2:5] == ["Triton  cuda:90", "3.2.0   fails A", f"{newest}   compiles"]
    assert f"first bad: 3.2.0; last good before it: none; fixed in: {newest}" in spoken
    assert "Again: triage matrix wgmma-tf32-mn-major" in spoken
    marked = matrix(TF32, "--markdown").out
    assert "| Triton | cuda:90 |\n| --- | --- |\n| 3.2.0 | fails A |\n" in marked
    assert f"- first bad: 3.2.0; last good before it: none; fixed in: {newest}" in marked
    assert "\x1b" not in marked


def test_all_that_compiles_is_exit_code_0_over_several_targets(matrix: Triage) -> None:
    done = matrix(DATA / "ok.json", "--target", "cuda:80,cuda:90", "--target", "cuda:80", "--json")
    assert done.code == 0
    document = done.document
    assert [(cell["target"], cell["verdict"]) for cell in document["cells"]] == [
        ("cuda:80", "compiles"),
        ("cuda:90", "compiles"),
    ] * len(document["rows"])
    assert [column["first_bad"] for column in document["targets"]] == [None, None]


def test_a_bisection_stays_within_its_budget(matrix: Triage) -> None:
    done = matrix(TF32, "--triton", "installed", "--bisect", "--json")
    document = done.document
    assert document["bisected"] == {"releases": 2, "budget": 2, "compiles": {"cuda:90": 2}}
    assert document["targets"][0]["last_bad"] == "3.2.0"


def test_builds_join_the_table(matrix: Triage, cache: Path) -> None:
    python = next((cache / "toolchains").glob("3.2.0-*")) / "bin/python"
    done = matrix(DATA / "ok.json", "--python", f"main={python}", "--python", python, "--json")
    assert [(row["name"], row["kind"]) for row in done.document["rows"]] == [("main", "build"), (str(python), "build")]
    assert [cell["triton"] for cell in done.document["cells"]] == ["3.2.0", "3.2.0"]


def test_what_is_kept(matrix: Triage, tmp_path: Path) -> None:
    done = matrix(TF32, "--triton", "3.2.0", "-o", tmp_path / "kept")
    assert done.code == 1
    assert json.loads((tmp_path / "kept/matrix.json").read_text())["schema"] == "triton-triage/matrix/1"
    assert (tmp_path / "kept/matrix.md").read_text().startswith("`matmul: ")
    assert "Assertion" in (tmp_path / "kept/3.2.0-cuda-90/log.txt").read_text()


BAD = {
    "no case": (),
    "unknown case": ("wgmma-tf32-mn-majr",),
    "backwards": (TF32, "--triton", "3.9..3.0"),
    "no version": (TF32, "--triton", "3.2,new"),
    "unknown end": (TF32, "--triton", "3.0..9.9"),
    "target": (TF32, "--target", "cuda:90,gpu"),
    "build": (TF32, "--python", "main=/nowhere"),
    "two builds": (TF32, "--python", "a=/x", "--python", "a=/y"),
    "two forms": (TF32, "--json", "--markdown"),
    "two cases": (TF32, TF32),
    "no type": (f"{KERNELS}::add", "--arg", "x_ptr=*fp32", "--triton", "3.2.0"),
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD.keys())
def test_bad_input(matrix: Triage, golden: Golden, arguments: tuple[str, ...]) -> None:
    done = matrix(*arguments)
    golden(done.err)
    assert (done.code, done.out) == (2, "")
    assert arguments == BAD["no type"] or done.err.count("\n") == 1


HISTORIES = {
    (TF32, False): ("3.0.0", None, "3.2.0", "3.3.0"),
    (TF32, True): ("3.0.0", None, "3.2.0", "3.3.0"),
    (SPECIALIZED, False): ("3.4.0", None, "3.9.0", None),
    (SPECIALIZED, True): ("3.4.0", None, "3.9.0", None),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bisect"), HISTORIES)
def test_every_release(name: str, bisect: bool) -> None:
    """With the user's own cache: environments that are not there yet are made."""
    flags = ["--bisect", "--no-cache"] if bisect else []
    done = call_triage(cache_root(), "matrix", name, "--triton", "3.0..3.9", "--json", *flags)
    assert done.code == 1
    [column] = done.document["targets"]
    found = tuple(column[key] for key in ("first_bad", "last_good", "last_bad", "fixed_in"))
    assert found == HISTORIES[name, bisect]
    assert len(done.document["failures"]) == 1
    if bisect:
        assert done.document["bisected"]["compiles"]["cuda:90"] <= 6


@pytest.mark.slow
def test_the_table_that_the_readme_shows_is_printed() -> None:
    text = (Path(__file__).parents[2] / "triage/matrix/README.md").read_text()
    (block,) = re.findall(r"^```console\n\$ (triage matrix .*?)^```$", text, re.MULTILINE | re.DOTALL)
    command, *shown = block.splitlines()
    printed = call_triage(cache_root(), *shlex.split(command)[1:]).out.splitlines()
    assert [line for line in shown if "…" not in line and line not in printed] == []
