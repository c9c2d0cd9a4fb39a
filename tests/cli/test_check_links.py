"""``triage check`` where links, pipes and other odd files lie among a case's files, and where it writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import DATA, Triage
from golden_files import Golden

KERNEL = """import triton
import triton.language as tl

from helper import store
import sub.below


@triton.jit
def fill(p, N: tl.constexpr):
    store(p, sub.below.VALUE, N)
"""
HELPER = """import triton
import triton.language as tl


@triton.jit
def store(p, value, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), value)
"""
BELOW = "import triton.language as tl\n\nVALUE = tl.constexpr(7)\n"
FILL = ("--arg", "p=*i32", "--const", "N=64", "--no-suggest", "--json")

pytestmark = pytest.mark.timeout(60)


def linked_tree(root: Path) -> Path:
    """Sources as Bazel arranges them for a program: each file is a link, to another folder each."""
    texts = {"kernel.py": KERNEL, "helper.py": HELPER, "sub/below.py": BELOW}
    for name, text in texts.items():
        source = root / "real" / name.replace(".py", "") / "source.py"
        source.parent.mkdir(parents=True)
        source.write_text(text)
        link = root / "runfiles" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)
    return root / "runfiles" / "kernel.py"


def test_linked_sources_of_the_user_s_own_compile_and_are_kept_by_content(check: Triage, tmp_path: Path) -> None:
    done = check(f"{linked_tree(tmp_path)}::fill", *FILL, "-o", tmp_path / "out")
    assert (done.code, done.document["outcome"]["status"]) == (0, "ok")
    case = tmp_path / "out" / "case"
    assert (case / "helper.py").read_text() == HELPER
    assert (case / "sub" / "below.py").read_text() == BELOW
    assert not any(path.is_symlink() for path in case.rglob("*"))
    assert check(case, "--no-suggest", "--json").document["outcome"]["status"] == "ok"


def a_case(folder: Path) -> Path:
    folder.mkdir()
    (folder / "kernel.py").write_text(KERNEL.replace("import sub.below\n", "").replace("sub.below.VALUE", "7"))
    (folder / "helper.py").write_text(HELPER)
    document = json.loads((DATA / "ok.json").read_text())
    document |= {"kernel": {"file": "kernel.py", "name": "fill"}, "signature": {"p": "*i32"}, "constexprs": {"N": 64}}
    (folder / "case.json").write_text(json.dumps({**document, "divisible": {}}))
    return folder


def replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return plant


def linked(path: Path) -> None:
    path.symlink_to(path.parent.parent / "outside.py")


PLANTED = {
    "case.json a link": replaced("case.json", linked),
    "case.json a pipe": replaced("case.json", os.mkfifo),
    "case.json a folder": replaced("case.json", Path.mkdir),
    "case.json a device": replaced("case.json", lambda path: path.symlink_to("/dev/zero")),
    "case.json in UTF-32": replaced("case.json", lambda path: path.write_text("{}", "utf-32")),
    "the kernel a link": replaced("kernel.py", linked),
    "the kernel a pipe": replaced("kernel.py", os.mkfifo),
    "the kernel in UTF-16": replaced("kernel.py", lambda path: path.write_text(KERNEL, "utf-16")),
    "the kernel null bytes": replaced("kernel.py", lambda path: path.write_bytes(b"\0" * 999)),
    "the kernel huge": replaced("kernel.py", lambda path: (path.touch(), os.truncate(path, 1 << 40))),
    "an imported file a link": replaced("helper.py", linked),
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_a_case_folder_with_what_is_no_file_of_its_own(
    cli: Triage, golden: Golden, tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    (tmp_path / "outside.py").write_text(HELPER)
    plant(a_case(tmp_path / "case"))
    done = cli("check", tmp_path / "case")
    assert (done.code, done.out) == (2, "")
    golden(done.err.replace(str(tmp_path), "TMP"))


def test_a_case_folder_may_be_a_link_itself(check: Triage, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(a_case(tmp_path / "case"))
    (tmp_path / "case" / "inside.py").write_text(HELPER)
    (tmp_path / "case" / "helper.py").unlink()
    (tmp_path / "case" / "helper.py").symlink_to("inside.py")
    assert check(tmp_path / "named", "--no-suggest").code == 0


def test_o_writes_through_no_link(check: Triage, golden: Golden, tmp_path: Path) -> None:
    out, own, others = tmp_path / "out", tmp_path / "own", tmp_path / "others"
    out.mkdir()
    others.mkdir()
    own.write_text("alias ls=ls\n")
    for name in ("log.txt", "report.json"):
        (out / name).symlink_to(own)
    (out / "case").symlink_to(others)
    done = check(DATA / "undefined-name.json", "--no-suggest", "-o", out)
    assert done.code == 3
    golden(done.err.replace(str(tmp_path), "TMP"))
    (out / "case").unlink()
    (out / "case").mkdir()
    (out / "case" / "case.json").symlink_to(own)
    assert check(DATA / "undefined-name.json", "--no-suggest", "-o", out).code == 1
    (tmp_path / "several").mkdir()
    (tmp_path / "several" / "001-undefined-BLOCK=128").symlink_to(others)
    done = check(DATA / "undefined-name.json", DATA / "ok.json", "--no-suggest", "-o", tmp_path / "several")
    assert done.code == 3
    assert own.read_text() == "alias ls=ls\n"
    assert list(others.iterdir()) == []


@pytest.mark.parametrize("entry", ["a pipe", "a link to a pipe", "UTF-16", "a folder"])
def test_a_knowledge_base_of_odd_files(cli: Triage, golden: Golden, tmp_path: Path, entry: str) -> None:
    path = tmp_path / "kb" / "entry.toml"
    path.parent.mkdir()
    match entry:
        case "a pipe":
            os.mkfifo(path)
        case "a link to a pipe":
            os.mkfifo(tmp_path / "pipe")
            path.symlink_to(tmp_path / "pipe")
        case "UTF-16":
            path.write_text("id = 'entry'", "utf-16")
        case _:
            path.mkdir()
    done = cli("kb", "list", "--json", "--kb", path.parent)
    assert done.code == 2
    golden(done.err.replace(str(tmp_path), "TMP"))


def test_a_knowledge_base_that_is_a_pipe(cli: Triage, golden: Golden, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = cli("kb", "list", "--json", "--kb", tmp_path / "pipe")
    assert done.code == 2
    golden(done.err.replace(str(tmp_path), "TMP"))
