"""Bad input through the whole command: one line on standard error, with what is wrong and the mend; exit code 2."""

from __future__ import annotations

import json
import os
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import DATA, KERNELS, Triage

from triage.cli.main import main

ADD = (f"{KERNELS}::add", "--arg", "x_ptr=*fp32", "--arg", "y_ptr=*fp32", "--arg", "n=i32", "--const", "BLOCK=128")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a few files that are no cases, as the working folder; and a cache that is empty."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.json").touch()
    (tmp_path / "empty.py").touch()
    (tmp_path / "binary.json").write_bytes(Path(sys.executable).read_bytes()[:512])
    (tmp_path / "broken.py").write_text("import triton\ndef add(x:\n")
    (tmp_path / "other.json").write_text('{"schema": "somebody/else/1"}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    yield tmp_path


# The command line, and what its one line says. Files are those of ``here``.
BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "no such command": (("chekc",), "No such command 'chekc'"),
    "no case": (("check",), "Missing argument 'CASE...'"),
    "no such option": (("check", *ADD, "--num-wraps", "4"), "No such option '--num-wraps'"),
    "unknown reproducer": (
        ("check", "wgmma-tf32-mn-majr"),
        "wgmma-tf32-mn-majr: no such case; did you mean the reproducer wgmma-tf32-mn-major?",
    ),
    "missing source": (("check", "nowhere.py::add"), "nowhere.py: no such file"),
    "folder without a case": (("check", "folder"), "folder/case.json: no such file; a case folder holds case.json"),
    "empty file": (("check", "empty.json"), "empty.json: not JSON: "),
    "binary file": (("check", "binary.json"), "binary.json: cannot be read as text: "),
    "wrong schema": (("check", "other.json"), "other.json: schema: expected 'triton-triage/case/1', found 'somebody"),
    "syntax error": (("check", "broken.py::add"), "broken.py:2: not Python: "),
    "no kernel": (("check", "empty.py::add"), "empty.py: defines no function 'add'; it defines no function at all"),
    "num-warps": (("check", *ADD, "--num-warps", "3"), "--num-warps: must be a power of two"),
    "num-warps text": (("check", *ADD, "--num-warps", "x"), "Invalid value for '--num-warps': 'x' is not a valid"),
    "twice": (("check", *ADD, "--const", "BLOCK=64"), "--const BLOCK: given twice"),
    "memory": (("check", *ADD, "--memory", "lots"), "--memory 'lots': write a size such as 512M or 8GiB"),
    "too little memory": (("check", *ADD, "--memory", "1M"), "--memory '1M': at least 64M"),
    "no time": (("check", *ADD, "--timeout", "0"), "Invalid value for '--timeout'"),
    "no limit": (("check", *ADD, "--timeout", "inf"), "--timeout inf: every compile is bounded"),
    "no number": (("check", *ADD, "--timeout", "nan"), "--timeout nan: every compile is bounded"),
    "jobs": (("check", *ADD, "--jobs", "0"), "Invalid value for '--jobs'"),
    "both toolchains": (("check", *ADD, "--triton", "3.2.0", "--python", "x"), "--triton and --python exclude each"),
    "old Triton": (("check", *ADD, "--triton", "2.1"), "--triton 2.1: Triton 2.x is not supported; 3.0 is the oldest"),
    "no version": (("check", *ADD, "--triton", "../x"), "--triton '../x': not a Triton version; write 3.2 or 3.2.0"),
    "no interpreter": (("check", *ADD, "--python", "/nowhere"), "--python /nowhere: no such file; name an interpreter"),
    "no Python": (("check", *ADD, "--python", "/bin/true"), "--python /bin/true: not a Python interpreter that starts"),
    "missing log": (("log", "nowhere.log"), "nowhere.log: cannot be read: No such file or directory; give a log file"),
    "folder as log": (("log", "folder"), "folder: cannot be read: Is a directory"),
}  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """Exit code, standard output and error of a command that runs in this process."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


@pytest.mark.parametrize(("arguments", "told"), BAD.values(), ids=BAD.keys())
def test_one_line_and_exit_code_2(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert told in err
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "internal error" not in err


@pytest.mark.slow
def test_a_release_that_does_not_exist(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only an index can say so: one line tells that it is asked, one what it said (3: that it did not answer)."""
    code, out, err = run(capsys, "check", *ADD, "--triton", "9.9.9")
    assert code in (2, 3)
    assert out == ""
    assert "--triton 9.9.9: there is no such Triton release; the nearest are " in err or code == 3


def test_an_interpreter_without_triton(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    venv.create(here / "bare", symlinks=True, with_pip=False)
    code, out, err = run(capsys, "check", *ADD, "--python", "bare")
    assert (code, out) == (2, "")
    assert "bare/bin/python has no Triton; " in err


# What only shows when the worker has imported the kernel's module: changes of ok.json, and what is said.
MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"signature": {"y_ptr": "*fp32", "n": "i32"}}, "::add: argument x_ptr of add has no type (--arg x_ptr=TYPE)"),
    ({"constexprs": {}}, "::add: argument BLOCK of add has no value (--const BLOCK=VALUE)"),
    ({"constexprs": {"BLOCK": 128, "m": 1}}, "::add: m is not an argument of add(x_ptr, y_ptr, n, BLOCK)"),
    ({"language": "gluon"}, "::add: add is a triton kernel, the case says language 'gluon'"),
]


def test_cases_that_do_not_fit_the_kernel_do_not_keep_others_from_their_reports(check: Triage, tmp_path: Path) -> None:
    document = json.loads((DATA / "ok.json").read_text())
    (tmp_path / "kernels.py").write_text(KERNELS.read_text())
    for number, (changes, _) in enumerate(MISFITS):
        (tmp_path / f"{number}.json").write_text(json.dumps({**document, **changes}))
    done = check(*(tmp_path / f"{number}.json" for number in range(len(MISFITS))), DATA / "ok.json", "--json")
    assert [one["outcome"]["status"] for one in done.documents] == ["ok"]
    assert done.err.splitlines() == [f"triage: {tmp_path}/kernels.py{told}" for _, told in MISFITS]
    assert done.code == 2


def test_a_traceback_only_with_debug(light: Triage) -> None:
    assert "Traceback" not in light("check", "nowhere").err
    done = light("check", "nowhere", "--debug")
    assert "Traceback" in done.err
    assert "InputError: nowhere: no such case" in done.err
    assert done.code != 0


NASTY = "\x1b[31mred\x1b]0;title\x07\u202e"


@pytest.mark.parametrize(
    "arguments",
    [("check", NASTY), ("check", f"{NASTY}.py::f"), ("check", f"{KERNELS}::{NASTY}"), ("log", NASTY), (NASTY,)],
)
def test_what_comes_from_the_command_line_is_printed_escaped(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert not set(err) & {"\x1b", "\x07", "\u202e"}


def test_names_that_are_no_text(light: Triage) -> None:
    done = light("check", os.fsdecode(b"\xff.py::f"))
    assert done.code == 2
    assert "no such file" in done.err
