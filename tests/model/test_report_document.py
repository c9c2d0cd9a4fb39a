"""The report document: its shape for every way to end, and what it says of the kernel that kills Triton 3.2.0."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from commands import DATA, Run, Triage
from report_schema import problems

from triage.api import check as api_check
from triage.cases.reproducers import folder
from triage.frontends.documents import checked
from triage.model.diagnosis import Kind
from triage.model.outcome import Stage, Status
from triage.pipeline import Options

# The closed sets of the documented schema.
STATUSES = {"ok", "suspect", "error", "crash", "timeout", "out-of-memory"}
STAGES = {
    "source",
    "trace",
    "verify",
    "passes",
    "ttir",
    "ttgir",
    "llir",
    "ptx",
    "cubin",
    "amdgcn",
    "hsaco",
    "load",
    "launch",
}
KINDS = {
    "assertion", "unreachable", "llvm-fatal", "llvm-diagnostic", "segfault", "abort", "mlir-diagnostic",
    "frontend-error", "python-exception", "ptxas", "assembler", "out-of-resources", "timeout", "out-of-memory",
    "killed", "launch-error", "environment", "other", "unknown",
}  # fmt: skip


def test_the_enums_are_the_documented_sets() -> None:
    assert {one.value for one in Status} == STATUSES
    assert {one.value for one in Stage} == STAGES
    assert {one.value for one in Kind} == KINDS


# Cases of data/, and how their documents must say that they ended.
ENDINGS: dict[str, dict[str, Any]] = {
    "ok": {"status": "ok", "stage": None, "exit_code": 0, "signal": None, "kind": None},
    "undefined-name": {"status": "error", "stage": "source", "exit_code": 1, "signal": None, "kind": "frontend-error"},
    "too-much-shared-memory": {"status": "error", "stage": "load", "signal": None, "kind": "out-of-resources"},
    "endless": {"status": "timeout", "stage": "source", "kind": "timeout"},
    "hog": {"status": "out-of-memory", "stage": "source", "kind": "out-of-memory"},
    # LLVM prints an error about a constraint; 3.8 and 3.9 go on and return a bad binary, earlier ones exit(1).
    "printed-error": {"kind": "llvm-diagnostic", "signal": None},
}


@pytest.fixture(scope="module")
def endings(check: Triage) -> Run:
    """All of them in one command: one document a line, in the order of the cases."""
    cases = [DATA / f"{name}.json" for name in ENDINGS]
    return check(*cases, "--json", "--no-suggest", "--timeout", "5", "--memory", "512M")


@pytest.mark.parametrize("name", ENDINGS)
def test_every_way_to_end_gives_a_valid_document(endings: Run, name: str) -> None:
    document = endings.documents[list(ENDINGS).index(name)]
    assert problems(document) == []
    assert seen(document, ENDINGS[name]) == ENDINGS[name]


def test_several_cases_give_one_line_each_and_the_worst_exit_code(endings: Run) -> None:
    files = [document["case"]["kernel"]["file"] for document in endings.documents]
    assert files == [*["kernels.py"] * 3, "endless.py", "hog.py", "kernels.py"]
    assert endings.code == 1


def test_an_error_that_is_only_printed_is_suspect_and_names_the_bad_binary(endings: Run) -> None:
    document = endings.documents[list(ENDINGS).index("printed-error")]
    if not document["environment"]["triton"].startswith(("3.8.", "3.9.")):
        pytest.skip("other releases end the process")
    assert document["outcome"]["status"] == "suspect"
    assert "poisoned cache entry" in " ".join(document["outcome"]["notes"])


def seen(document: Any, fields: Iterable[str]) -> dict[str, Any]:
    """What the document says about ``fields`` of outcome and diagnosis."""
    flat = {**document["outcome"], **(document["diagnosis"] or {"kind": None})}
    return {name: flat[name] for name in fields}


# ---- the reproducer that kills Triton 3.2.0


def test_the_crash_of_3_2_0(reproduced: Run) -> None:
    document = reproduced.document
    expected = {
        "status": "crash",
        "signal": "SIGABRT",
        "exit_code": None,
        "stage": "llir",
        "stages_completed": ["ttir", "ttgir"],
        "kind": "assertion",
        "function": "WGMMAOpPattern::getPtxAsm",
        "file": "NVGPUToLLVMPass.cpp",
        "line": 528,
        "pass": "convert-nv-gpu-to-llvm",
    }
    assert problems(document) == []
    assert seen(document, expected) == expected
    assert document["environment"]["triton"] == "3.2.0"
    assert document["environment"]["ptxas"] == "12.4"
    assert reproduced.code == 1


def test_standard_output_is_json_and_nothing_else(reproduced: Run) -> None:
    assert reproduced.out == json.dumps(reproduced.document, indent=2) + "\n"


def test_the_cause_is_known_and_where_it_was_fixed(reproduced: Run) -> None:
    matches = {match["id"]: match for match in reproduced.document["matches"]}
    assert matches["wgmma-tf32-mn-major-plain-loop"]["fixed_in"] == "3.3.0"
    assert "K-major" in matches["wgmma-operand-not-k-major"]["cause"]


def test_what_is_suggested_is_worth_taking(reproduced: Run) -> None:
    suggestions = reproduced.document["suggestions"]
    assert all(suggestion["verified"] and suggestion["resources"] for suggestion in suggestions)
    changes = [suggestion["changes"] for suggestion in suggestions]
    assert len(suggestions) >= 2
    assert not [one for one in changes if set(one) <= {"BLOCK_N", "BLOCK_K"}], "a tile does not help: it was tried"
    kinds = {suggestion["kind"] for suggestion in suggestions}
    assert kinds == {"config", "source", "toolchain"}
    released = [one["triton"] for one in changes if "triton" in one]
    assert released
    assert all(tuple(map(int, version.split(".")[:2])) >= (3, 3) for version in released)


def test_what_keeps_the_fast_path_comes_first(reproduced: Run) -> None:
    """num_warps=2 compiles as well, as mma.sync: that comes after everything that keeps wgmma, and says so. A smaller
    tile with four warps is mma.sync too, and comes where its expected time puts it, as measured on an H100."""
    suggestions = reproduced.document["suggestions"]
    classes = [suggestion["resources"]["tensor_core"] for suggestion in suggestions]
    assert classes[0] == "wgmma"
    few = [suggestion["resources"]["threads"] < 128 for suggestion in suggestions]
    assert few == sorted(few)
    assert "mma.sync" not in {kind for kind, one in zip(classes, suggestions, strict=True) if one["kind"] != "config"}
    best = suggestions[0]
    assert (best["kind"], best["verified"], best["resources"]["spill_bytes"]) == ("source", True, 0)
    assert "+        b = load_tile(b_desc, column, k, BLOCK_N, BLOCK_K).T" in best["diff"]
    assert "b_ptr must hold the transposed matrix" in best["caller"]
    two_warps = next(one for one in suggestions if one["changes"] == {"num_warps": 2})
    assert "drops from wgmma to mma.sync" in two_warps["note"]


def compiles_alone(suggestion: dict[str, Any], document: dict[str, Any], place: Path) -> bool:
    """In a session, so in a process, of its own, with nothing remembered; a change of source as ``patch`` makes it."""
    found = folder("wgmma-tf32-mn-major")
    assert found is not None
    changes = dict(suggestion["changes"])
    if suggestion["kind"] == "source":
        del changes["source"]
        found = Path(shutil.copytree(found, place / "patched"))
        subprocess.run(["patch", "-p1"], input=suggestion["diff"], cwd=found, text=True, check=True)
    case = checked(document["case"], found, "the report's case").with_changes(changes)
    report = api_check(case, Options(cache=False, suggest=False))
    assert report.outcome.resources is not None, suggestion
    return report.outcome.resources.to_json() == suggestion["resources"]


def test_the_best_suggestion_of_each_kind_compiles_again_alone(
    reproduced: Run, own_cache: Path, tmp_path: Path
) -> None:
    document = reproduced.document
    best = {suggestion["kind"]: suggestion for suggestion in reversed(document["suggestions"])}
    assert [kind for kind, suggestion in best.items() if not compiles_alone(suggestion, document, tmp_path)] == []


@pytest.mark.slow
def test_every_suggestion_compiles_again_alone(reproduced: Run, own_cache: Path, tmp_path: Path) -> None:
    document = reproduced.document
    assert [one for one in document["suggestions"] if not compiles_alone(one, document, tmp_path)] == []


def test_artifacts_are_where_the_document_says(reproduced: Run) -> None:
    artifacts = {name: Path(path) for name, path in reproduced.document["artifacts"].items()}
    assert {"log", "ir", "ttir", "ttgir"} <= set(artifacts)
    assert "WGMMA type or shape is not supported" in artifacts["log"].read_text()
    assert re.search(r"^module ", artifacts["ir"].read_text(), re.MULTILINE)
