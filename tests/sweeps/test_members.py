"""Lists: the configurations of a project's autotuners, drafted and compiled; one that fails is an error."""

from __future__ import annotations

import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
from commands import Triage, call_triage

SOURCE = """
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}, num_warps=1), triton.Config({"BLOCK": 96}, num_warps=2)], key=["n"]
)
@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)


def run(x, y):
    add[(1,)](x, y, x.numel())
"""


@pytest.fixture(scope="module")
def sweep(cache: Path) -> Triage:
    return lambda *arguments, **named: call_triage(cache, "sweep", *arguments, **named)


@pytest.fixture
def tuned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tuned.py").write_text(SOURCE)
    return tmp_path


def test_a_configuration_that_fails_is_an_error(sweep: Triage, tuned: Path) -> None:
    done = sweep("tuned.py", "--json", "--junit", "tests.xml", "-o", "out")
    assert done.code == 1, done.err
    document = done.document
    names = ["BLOCK=64 num_warps=1", "BLOCK=96 num_warps=2"]
    assert document["axes"] == {"configuration": names}
    assert [(cell["state"], cell["failure"]) for cell in document["cells"]] == [("compiled", None), ("failed", "A")]
    assert document["rules"] == []
    cases = Xml.parse(tuned / "tests.xml").getroot().iter("testcase")
    assert [(case.get("name"), case.find("failure") is not None) for case in cases] == [
        (f"add[{names[0]}]", False),
        (f"add[{names[1]}]", True),
    ]
    again = sweep("--resume", "out", "--fail-on", "never")
    assert again.code == 0
    assert "2 of 2 cells are in the ledger" in again.err
    assert "triage check tuned.py::add --arg 'x_ptr=*fp32'" in again.out


def test_with_an_axis_it_is_a_grid_around_the_first(sweep: Triage, tuned: Path) -> None:
    done = sweep("tuned.py::add", "--set", "BLOCK=64,96", "--json")
    assert (done.code, done.document["axes"]) == (0, {"BLOCK": [64, 96]})
    assert done.document["case"]["options"]["num_warps"] == 1


def test_what_does_not_go_with_a_list_is_one_line(sweep: Triage, tuned: Path) -> None:
    done = sweep("tuned.py", "--set", "BLOCK=64")
    assert (done.code, done.out) == (2, "")
    assert "is a list of configurations, all of which are compiled; name one of its kernels" in done.err
