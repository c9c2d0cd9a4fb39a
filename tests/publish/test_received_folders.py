"""A finished triage from somebody else, made to publish files of the user who reports on it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Triage
from golden_files import Golden
from samples import FINISHED, copied

from triage.model.errors import InputError
from triage.publish.finished import read

SECRET = "correct-horse-battery-staple"
KERNEL = (FINISHED / "minimized" / "kernel.py").read_text()

pytestmark = pytest.mark.timeout(30)


def linked(name: str, target: str = "secret.py") -> Callable[[Path], None]:
    """A link in place of one of the files, to one beside the folder."""

    def plant(folder: Path) -> None:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(folder.parent.absolute() / target)

    return plant


def linked_twice(folder: Path) -> None:
    (folder / "minimized" / "away").symlink_to("../../secret.py")
    linked("check/log.txt", "finished/minimized/away")(folder)


def artifacts(value: str) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        for path in (folder / "check" / "report.json", folder / "matrix" / "matrix.json"):
            text = json.loads(path.read_text())
            text["artifacts"] = {"log": value.replace("UP", str(folder.parent)), "ir": value}
            path.write_text(json.dumps(text))

    return plant


def kernel_file(value: str, case: str = "minimized/case.json") -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        document = json.loads((folder / case).read_text())
        document["kernel"]["file"] = value.replace("UP", str(folder.parent))
        (folder / case).write_text(json.dumps(document))

    return plant


def imports(text: str, case: str = "check/case", *, package: bool = False) -> Callable[[Path], None]:
    """The kernel imports a module, which the folder links to or which lies above it."""

    def plant(folder: Path) -> None:
        own_case(folder)
        shutil.rmtree(folder / "minimized")
        (folder / case / "kernel.py").write_text(f"{text}\n{KERNEL}")
        (folder / case / "helper.py").symlink_to("../../../secret.py")
        (folder / case / "linked").symlink_to("../../..")
        if package:
            for name in ("check/case", "check", "."):
                (folder / name / "__init__.py").touch()

    return plant


def own_case(folder: Path) -> None:
    """The case below the report, as ``check -o`` leaves it."""
    (folder / "check" / "case").mkdir()
    for name in ("case.json", "kernel.py"):
        shutil.copy(FINISHED / "minimized" / name, folder / "check" / "case")


def linked_case(name: str, target: str) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        own_case(folder)
        linked(f"check/case/{name}".rstrip("/"), target)(folder)

    return plant


def case_above(folder: Path) -> None:
    """A report beside which no case lies, in a folder of the user's that holds one."""
    for name in ("case.json", "kernel.py"):
        shutil.copy(FINISHED / "minimized" / name, folder.parent)
    (folder.parent / "kernel.py").write_text(f"{KERNEL}# {SECRET}\n")
    shutil.copytree(folder / "check", folder, dirs_exist_ok=True)
    for name in ("check", "matrix", "minimized"):
        shutil.rmtree(folder / name)


def reduced_ir(value: str) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        path = folder / "minimized" / "minimized.json"
        document = json.loads(path.read_text())
        document["ir"]["file"] = value
        path.write_text(json.dumps(document))

    return plant


PLANTED: dict[str, Callable[[Path], None]] = {
    "an artifact": linked("check/log.txt"),
    "an artifact through two links": linked_twice,
    "an artifact through a linked folder": linked("check", "check-of-another"),
    "a document": linked("check/report.json", "another.json"),
    "the matrix": linked("matrix/matrix.json", "another.json"),
    "the reduction": linked("minimized/minimized.json", "another.json"),
    "the reduced kernel": linked("minimized/kernel.py"),
    "the reduced case": linked("minimized/case.json", "case-of-another/case.json"),
    "the reproducer": linked("minimized/reproducer.py"),
    "the reduced IR": linked("minimized/ir/before.mlir"),
    "the folder of the reduced IR": linked("minimized/ir", "ir-of-another"),
    "a script": linked("minimized/ir/rerun.py"),
    "the folder of the case": linked_case("", "case-of-another"),
    "the document of the case": linked_case("case.json", "case-of-another/case.json"),
    "the kernel": linked_case("kernel.py", "secret.py"),
    "an imported file": imports("import helper"),
    "an imported file, by name": imports("from helper import *"),
    "an imported file in a linked folder": imports("from linked import secret"),
    "a file above the folder": imports("import secret", package=True),
    "a file above the folder, relatively": imports("from ... import secret", package=True),
    "a file above the folder, more so": imports("from .... import secret"),
    "an artifact by an absolute name": artifacts("UP/secret.py"),
    "an artifact by a name with dots": artifacts("../../secret.py"),
    "a kernel by an absolute name": kernel_file("UP/secret.py"),
    "a kernel by a name with dots": kernel_file("../../secret.py"),
    "IR by a name with dots": reduced_ir("../../../secret.py"),
    "a case above the folder": case_above,
    "a report that is a link to itself": linked("check/report.json", "finished/check/report.json"),
    "a log that is a link to itself": linked("check/log.txt", "finished/check/log.txt"),
    "another file that is a link to itself": linked("check/other", "finished/check/other"),
}


def planted(tmp_path: Path, plant: Callable[[Path], None]) -> Path:
    """The sample with what was planted in it, among files of the user's that hold the secret."""
    folder = copied(tmp_path)
    (tmp_path / "secret.py").write_text(f"{KERNEL}# {SECRET}\nsecret = {SECRET!r}\n")
    for name in ("case", "check", "ir"):
        (tmp_path / f"{name}-of-another").mkdir()
        for file in ("kernel.py", "log.txt", "before.mlir", "rerun.py"):
            (tmp_path / f"{name}-of-another" / file).write_text(f"{KERNEL}# {SECRET}\n")
        shutil.copy(FINISHED / "minimized" / "case.json", tmp_path / f"{name}-of-another")
    shutil.copy(FINISHED / "check" / "report.json", tmp_path / "check-of-another")
    (tmp_path / "another.json").write_text(json.dumps({"schema": SECRET}))
    plant(folder)
    return folder


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_nothing_outside_of_the_folder_is_read(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    folder = planted(tmp_path, plant)
    try:
        texts = repr(read(folder))
    except InputError as error:
        texts = str(error)
        assert str(folder) in texts
        assert "\n" not in texts
    assert SECRET not in texts


@pytest.mark.parametrize(
    "command",
    [
        ("report", "--keep-private"),
        ("report", "--keep-private", "--format", "json"),
        ("attach", "--repo", "a/b", "--gist", "--dry-run"),
    ],
    ids=str,
)
def test_a_link_is_refused_with_a_line(tmp_path: Path, cli: Triage, golden: Golden, command: tuple[str, ...]) -> None:
    folder = planted(tmp_path, PLANTED["an artifact"])
    done = cli(*command, folder)
    assert (done.code, done.out) == (2, "")
    golden(done.err.replace(str(tmp_path), "TMP"))


def test_a_report_is_written_through_no_link_of_the_folder(tmp_path: Path, cli: Triage) -> None:
    folder = copied(tmp_path)
    own, chosen = tmp_path / "own", tmp_path / "chosen"
    for path, link in ((own, folder / "report.md"), (chosen, tmp_path / "report.md")):
        path.write_text("alias ls=ls\n")
        link.symlink_to(path)
        assert cli("report", folder, "-o", link).code == 0
    assert own.read_text() == "alias ls=ls\n"
    assert (folder / "report.md").read_text() == chosen.read_text()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


INSTEAD: dict[str, Callable[[Path], object]] = {
    "a pipe": pipe,
    "a folder": Path.mkdir,
    "a huge file": sparse,
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe\xfd"),
    "UTF-16": lambda path: path.write_text("import os\n" * 9, "utf-16"),
    "UTF-32": lambda path: path.write_text("import os\n" * 9, "utf-32"),
    "null bytes": lambda path: path.write_bytes(b"\0" * 999),
    "nothing": lambda _: None,
}
FILES = ("check/report.json", "check/log.txt", "minimized/case.json", "minimized/kernel.py", "minimized/ir/before.mlir")


@pytest.mark.parametrize("make", INSTEAD.values(), ids=INSTEAD)
def test_what_is_no_text_is_shown_as_such_or_refused(tmp_path: Path, make: Callable[[Path], object]) -> None:
    for number, name in enumerate(FILES):
        (tmp_path / str(number)).mkdir()
        folder = copied(tmp_path / str(number))
        (folder / name).unlink()
        make(folder / name)
        try:
            read(folder)
        except InputError as error:
            assert str(folder / name) in str(error) or name == "minimized/kernel.py"
            assert "\n" not in str(error)
