"""Bad input through the whole command: one line on standard error, with the error and the fix; exit code 2."""

from __future__ import annotations

import json
import os
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import DATA, KERNELS, Triage, call_triage, start_triage
from golden_files import Golden

from triage.model.gpus import newest

ADD = (f"{KERNELS}::add", "--arg", "x_ptr=*fp32", "--arg", "y_ptr=*fp32", "--arg", "n=i32", "--const", "BLOCK=128")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a few files that are no cases, as the working folder; and a cache that is empty."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "k.py").write_text("import triton\n\n\n@triton.jit\ndef k():\n    pass\n")
    (tmp_path / "odd" / "case.json").write_text(
        '{"schema": "triton-triage/case/1", "language": "triton", "kernel": {"file": "k.py", "name": "k"},'
        ' "signature": {}, "target": "hip:gfx943"}'
    )
    (tmp_path / "empty.json").touch()
    (tmp_path / "empty.py").touch()
    (tmp_path / "binary.json").write_bytes(b"\x7fELF\xff")
    (tmp_path / "broken.py").write_text("import triton\ndef add(x:\n")
    (tmp_path / "no-python").write_text("#!/bin/sh\necho something else\n")
    (tmp_path / "no-python").chmod(0o755)
    (tmp_path / "other.json").write_text('{"schema": "somebody/else/1"}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    yield tmp_path


# Command lines; files are those of ``here``.
BAD: dict[str, tuple[str, ...]] = {
    "no such command": ("chekc",),
    "no case": ("check",),
    "no such option": ("check", *ADD, "--num-wraps", "4"),
    "unknown reproducer": ("check", "wgmma-tf32-mn-majr"),
    "missing source": ("check", "nowhere.py::add"),
    "folder without a case": ("check", "folder"),
    "empty file": ("check", "empty.json"),
    "binary file": ("check", "binary.json"),
    "wrong schema": ("check", "other.json"),
    "syntax error": ("check", "broken.py::add"),
    "no kernel": ("check", "empty.py::add"),
    "num-warps": ("check", *ADD, "--num-warps", "3"),
    "num-warps text": ("check", *ADD, "--num-warps", "x"),
    "twice": ("check", *ADD, "--const", "BLOCK=64"),
    "memory": ("check", *ADD, "--memory", "lots"),
    "too little memory": ("check", *ADD, "--memory", "1M"),
    "no time": ("check", *ADD, "--timeout", "0"),
    "no limit": ("check", *ADD, "--timeout", "inf"),
    "no number": ("check", *ADD, "--timeout", "nan"),
    "jobs": ("check", *ADD, "--jobs", "0"),
    "both toolchains": ("check", *ADD, "--triton", "3.2.0", "--python", "x"),
    "old Triton": ("check", *ADD, "--triton", "2.1"),
    "no version": ("check", *ADD, "--triton", "../x"),
    "no interpreter": ("check", *ADD, "--python", "/nowhere"),
    "no Python": ("check", *ADD, "--python", "no-python"),
    "no architecture": ("check", *ADD, "--target", "cuda:91"),
    "an old architecture": ("check", *ADD, "--target", "cuda:61"),
    "no chip": ("check", *ADD, "--target", "hip:gfx9999"),
    "no architecture among several": ("matrix", *ADD, "--target", "cuda:90,cuda:85"),
    "no architecture of a rule": ("explain", "launch", "--target", "cuda:91"),
    "no architecture of a folder": ("check", "odd"),
    "sanitize without bench": ("check", *ADD, "--sanitize"),
    "sanitize without launch": ("minimize", *ADD, "--sanitize"),
    "missing log": ("log", "nowhere.log"),
    "folder as log": ("log", "folder"),
}


def _without_newest(text: str) -> str:
    """The text without the last rows of the architecture table, which a new row moves."""
    return text.replace(str(newest("cuda")), "cuda:NEWEST").replace(str(newest("hip")), "hip:NEWEST")


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD.keys())
def test_one_line_and_exit_code_2(here: Path, cli: Triage, golden: Golden, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments)
    golden(_without_newest(done.err))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_newer_architecture_is_compiled_for_after_a_warning(check: Triage, golden: Golden) -> None:
    done = check(*ADD, "--target", "cuda:160", "--no-suggest")
    golden(_without_newest(done.err))
    assert (done.code, done.err.count("\n")) == (1, 1)


@pytest.mark.slow
def test_a_release_that_does_not_exist(here: Path, cli: Triage) -> None:
    """Only the package index knows the releases; it may not answer (3)."""
    done = cli("check", *ADD, "--triton", "9.9.9")
    assert done.code in (2, 3)
    assert done.out == ""
    assert "--triton 9.9.9: " in done.err


def test_an_interpreter_without_triton(here: Path, cli: Triage, golden: Golden) -> None:
    venv.create(here / "bare", symlinks=True, with_pip=False)
    done = cli("check", *ADD, "--python", "bare")
    assert (done.code, done.out) == (2, "")
    golden(done.err)


# Changes of ok.json that do not fit the kernel, which shows only when a worker has imported the kernel's module.
MISFITS: list[dict[str, Any]] = [
    {"signature": {"y_ptr": "*fp32", "n": "i32"}},
    {"constexprs": {}},
    {"constexprs": {"BLOCK": 128, "m": 1}},
    {"language": "gluon"},
]


def test_cases_that_do_not_fit_the_kernel_do_not_keep_others_from_their_reports(
    check: Triage, tmp_path: Path, golden: Golden
) -> None:
    document = json.loads((DATA / "ok.json").read_text())
    (tmp_path / "kernels.py").write_text(KERNELS.read_text())
    for number, changes in enumerate(MISFITS):
        (tmp_path / f"{number}.json").write_text(json.dumps({**document, **changes}))
    done = check(*(tmp_path / f"{number}.json" for number in range(len(MISFITS))), DATA / "ok.json", "--json")
    *misfits, fits = done.documents
    assert [one["exit_code"] for one in misfits] == [2] * len(MISFITS)
    assert fits["outcome"]["status"] == "ok"
    golden(done.err)
    assert done.err.count("\n") == len(MISFITS)
    assert done.code == 2


def test_a_traceback_only_with_debug(empty_cache: Path) -> None:
    assert "Traceback" not in call_triage(empty_cache, "check", "nowhere").err
    done = call_triage(empty_cache, "check", "nowhere", "--debug")
    assert "Traceback" in done.err
    assert "InputError: nowhere: " in done.err
    assert done.code != 0


NASTY = "\x1b[31mred\x1b]0;title\x07\u202e"


@pytest.mark.parametrize(
    "arguments",
    [("check", NASTY), ("check", f"{NASTY}.py::f"), ("check", f"{KERNELS}::{NASTY}"), ("log", NASTY), (NASTY,)],
)
def test_what_comes_from_the_command_line_is_printed_escaped(
    here: Path, cli: Triage, arguments: tuple[str, ...]
) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert not set(done.err) & {"\x1b", "\x07", "\u202e"}


def test_names_that_are_not_utf_8(empty_cache: Path, golden: Golden) -> None:
    done = start_triage(empty_cache, "check", os.fsdecode(b"\xff.py::f"))
    assert done.code == 2
    golden(done.err)
