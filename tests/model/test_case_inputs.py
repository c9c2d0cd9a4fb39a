"""The optional field ``inputs`` of a stored case: kept, checked, and no part of what is compiled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from golden_files import Golden

from triage.cases import reproducers
from triage.frontends import documents
from triage.model.case import Case
from triage.model.errors import InputError

INPUTS = {"sizes": {"n": 1024}, "arguments": {"x_ptr": {"shape": ["n"]}}, "grid": ["cdiv(n, BLOCK)"]}


def stored(folder: Path, **fields: Any) -> Path:
    document = {
        "schema": "triton-triage/case/1",
        "kernel": {"file": "kernel.py", "name": "add"},
        "signature": {"x_ptr": "*fp32", "n": "i32"},
        "constexprs": {"BLOCK": 128},
        "divisible": {"n": 16},
        "target": "cuda:90",
        **fields,
    }
    (folder / "kernel.py").write_text("def add(x_ptr, n, BLOCK): ...\n")
    (folder / "case.json").write_text(json.dumps(document))
    return folder


def test_inputs_are_read_and_written(tmp_path: Path) -> None:
    case = documents.load(stored(tmp_path, inputs=INPUTS))
    assert dict(case.inputs) == INPUTS
    assert case.to_json()["inputs"] == INPUTS
    assert documents.checked(case.to_json(), tmp_path, "again").to_json() == case.to_json()


def test_a_case_without_them_has_no_such_field(tmp_path: Path) -> None:
    case = documents.load(stored(tmp_path))
    assert (dict(case.inputs), "inputs" in case.to_json()) == ({}, False)


def test_they_are_no_part_of_what_is_compiled(tmp_path: Path) -> None:
    without = documents.load(stored(tmp_path)).identity()
    assert documents.load(stored(tmp_path, inputs=INPUTS)).identity() == without


def test_a_neighbour_keeps_them(tmp_path: Path) -> None:
    case = documents.load(stored(tmp_path, inputs=INPUTS))
    assert case.with_changes({"BLOCK": 64, "num_warps": 8, "target": "cuda:80"}).inputs == case.inputs


REFUSED: dict[str, Any] = {
    "nothing": None,
    "empty": {},
    "expression": {**INPUTS, "grid": ["n ** 2"]},
    "divisor": {**INPUTS, "sizes": {"n": 1000}},
}  # fmt: skip


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_the_error_names_file_field_and_fix(tmp_path: Path, golden: Golden, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        documents.load(stored(tmp_path, inputs=value))
    golden(str(caught.value))


def _with_inputs() -> list[Case]:
    folders = (reproducers.folder(name) for name in reproducers.names())
    files = (path for folder in folders if folder for path in (folder / "case.json", folder / "fixed.json"))
    found = (documents.load(path) for path in files if path.is_file())
    return [case for case in found if case.inputs]


def test_a_shipped_reproducer_and_its_repaired_variant_state_them() -> None:
    names = [(case.folder.name, case.file) for case in _with_inputs()]
    assert ("wgmma-mn-major-warp-specialized", "kernel.py") in names
    assert ("wgmma-mn-major-warp-specialized", "fixed.py") in names
