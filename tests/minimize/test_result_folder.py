"""Whenever a reduction is killed, what lies in its folder is a whole case."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.frontends import documents
from triage.minimize import result_folder
from triage.minimize.problem import Verdict
from triage.minimize.result_folder import Earlier, ResultFolder
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case, frozen
from triage.model.errors import EnvironmentFault, InputError

TEXT = "import triton\n\n\n@triton.jit\ndef kernel(a):\n    pass  # {}\n"


def specimen(number: int) -> Specimen:
    return Specimen(TEXT.format(number), Case(Path(), "x.py", "kernel", frozen({"a": "i32"}), frozen({"N": number})))


@pytest.mark.parametrize("survives", range(3))
def test_killed_at_any_write(tmp_path: Path, survives: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text and the case that are read back belong together, whichever write was the last."""
    folder = ResultFolder(tmp_path, "one")
    folder.begin()
    folder.save(specimen(1))
    left = [survives]
    plain = result_folder.replace_file

    def replace(path: Path, text: str) -> None:
        if not left[0]:
            raise OSError(0, "killed")
        left[0] -= 1
        plain(path, text)

    monkeypatch.setattr(result_folder, "replace_file", replace)
    if survives < 2:
        with pytest.raises(EnvironmentFault):
            folder.save(specimen(2))
    else:
        folder.save(specimen(2))
    found = documents.load(tmp_path)
    number = found.constexprs["N"]
    assert number == (2 if survives == 2 else 1)
    assert found.path.read_text() == TEXT.format(number)


def test_the_last_is_called_kernel(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path, "one")
    folder.begin()
    folder.save(specimen(1))
    folder.save(specimen(2), last=True)
    assert {path.name for path in tmp_path.iterdir()} == {"kernel.py", "case.json", "state.json", "tried.jsonl"}


def test_an_earlier_run_is_taken_up(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path, "one")
    assert folder.begin() is None
    folder.save(specimen(3))
    folder.record("abc", Verdict.COMPILES)
    folder.close()
    with (tmp_path / "tried.jsonl").open("a") as log:
        log.write("def sa")  # a kill cut it short
    found = ResultFolder(tmp_path, "one").begin()
    assert isinstance(found, Earlier)
    assert found.case.constexprs["N"] == 3
    assert (found.text, found.verdicts) == (TEXT.format(3), {"abc": Verdict.COMPILES})


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("")
    with pytest.raises(InputError, match="holds other files"):
        ResultFolder(tmp_path, "one").begin()


def test_the_reduction_of_another_case_is_left_alone(tmp_path: Path) -> None:
    ResultFolder(tmp_path, "one").begin()
    with pytest.raises(InputError, match="another case"):
        ResultFolder(tmp_path, "two").begin()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    own, folder = tmp_path / "own", tmp_path / "result"
    own.write_text("alias ls=ls\n")
    ResultFolder(folder, "one").begin()
    (folder / "tried.jsonl").unlink()
    for name in ("kernel.py", "case.json"):
        (folder / name).symlink_to(own)
    result = ResultFolder(folder, "one")
    result.begin()
    result.save(specimen(1), last=True)
    result.close()
    (folder / "tried.jsonl").unlink()
    (folder / "tried.jsonl").symlink_to(own)
    with pytest.raises(EnvironmentFault, match="cannot be written"):
        ResultFolder(folder, "one").begin()
    assert own.read_text() == "alias ls=ls\n"
