"""Finding what the commands left, and refusing what is none."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from golden_files import Golden
from samples import FINISHED, copied

from triage.model.errors import InputError
from triage.publish.finished import is_finished, read
from triage.publish.obtain import nameless


def test_all_parts_beneath_a_folder_are_one(tmp_path: Path) -> None:
    found = read(FINISHED)
    assert found.signature == 'v2|assertion|NVGPUToLLVMPass.cpp|supported && "WGMMA type or shape is not supported"'
    assert set(found.texts) == {"log", "ttgir", "python_stack"}
    assert found.reduction is not None
    assert found.reduction.script_name == "reproducer.py"
    assert found.matrix is not None
    assert found.matrix.targets == ("cuda:90",)
    assert found.left_out == ()


@pytest.mark.parametrize("part", ["check", "minimized", "matrix"])
def test_a_part_alone_is_one_too(tmp_path: Path, part: str) -> None:
    folder = shutil.copytree(FINISHED / part, tmp_path / part)
    assert is_finished(folder)
    assert bool(read(folder).report) == (part == "check")
    assert bool(read(folder).reduction) == (part == "minimized")
    assert bool(read(folder).matrix) == (part == "matrix")


def test_a_case_is_no_finished_triage(tmp_path: Path) -> None:
    shutil.copy(FINISHED / "minimized" / "case.json", tmp_path)
    shutil.copy(FINISHED / "minimized" / "kernel.py", tmp_path)
    assert not is_finished(tmp_path)
    with pytest.raises(InputError, match="holds no finished triage"):
        read(tmp_path)


def _changed(path: Path, **changes: object) -> None:
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | changes))


def test_what_is_of_another_failure_is_left_out_and_said(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    _changed(folder / "minimized" / "minimized.json", signature="v2|another")
    _changed(folder / "matrix" / "matrix.json", failures=[], cells=[])
    found = read(folder)
    assert (found.reduction, found.matrix) == (None, None)
    assert [Path(path).name for path in found.left_out] == ["minimized.json", "matrix.json"]


def test_several_failures_are_no_report(tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(FINISHED / "check", tmp_path / name)
    assert read(tmp_path).report
    document = json.loads((tmp_path / "b" / "report.json").read_text())
    document["diagnosis"]["signature"] = "v2|another"
    (tmp_path / "b" / "report.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"holds 2 different failures; give one of them: .*a, .*b"):
        read(tmp_path)


def test_a_document_cannot_name_a_file_elsewhere(tmp_path: Path) -> None:
    """Who gets a folder from somebody does not send his keys to the next."""
    (tmp_path / "id_rsa").write_text("mine")
    folder = copied(tmp_path)
    report = folder / "check" / "report.json"
    _changed(report, artifacts={"log": str(tmp_path / "id_rsa"), "ir": "../../id_rsa", "ttir": "/etc/passwd"})
    assert read(folder).texts == {}
    minimized = folder / "minimized" / "minimized.json"
    document = json.loads(minimized.read_text())
    document["ir"]["file"] = "../../../id_rsa"
    minimized.write_text(json.dumps(document))
    assert read(folder).reduction is not None
    assert read(folder).reduction.ir is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        "{}",
        "[" * 100_000,
        '{"schema": "triton-triage/report/1", "n": NaN}',
        '{"schema": "triton-triage/report/1", "n": ' + "[" * 100 + "]" * 100 + "}",
        '{"schema": "triton-triage/report/1", "diagnosis": 3}',
        '{"schema": "triton-triage/report/1", "artifacts": []}',
    ],
    ids=lambda text: text[:60],
)
def test_the_error_of_another_document_is_one_line(tmp_path: Path, golden: Golden, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(InputError) as error:
        read(tmp_path)
    golden(str(error.value))
    assert "\n" not in str(error.value)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "out").symlink_to(FINISHED)
    assert not is_finished(tmp_path / "in")


def test_an_anonymous_table_has_nothing_of_other_failures() -> None:
    report, table = read(FINISHED / "check").report, read(FINISHED / "matrix").matrix
    assert report is not None and report.diagnosis is not None and table is not None
    signature = report.diagnosis.signature
    assert set(nameless(table, report).failures()) == {signature}
    other = replace(report, diagnosis=replace(report.diagnosis, signature="v2|another"))
    hidden = nameless(table, other)
    assert [(one.signature, one.headline) for one in hidden.failures().values()] == [
        ("not shown (A)", "another failure")
    ]
    assert signature not in json.dumps(hidden.to_json())
    assert {cell.reason for cell in hidden.cells.values()} == {None}
