"""Help texts, and that light commands import nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Triage, start_triage
from golden_files import Golden
from rows import one_in

import triage
from triage.cli import main

COMMANDS = main.cli.list_commands(main.cli.make_context("triage", ["--help"], resilient_parsing=True))
KB = ("list", "show", "check", "new")


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("-h",), *((name, "--help") for name in COMMANDS), *(("kb", name, "--help") for name in KB)],
    ids=" ".join,
)
def test_help(cli: Triage, golden: Golden, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments)
    assert (done.code, done.err) == (0, "")
    golden(done.out)


def test_no_command_is_answered_with_the_help(cli: Triage) -> None:
    done = cli()
    assert (done.code, done.out) == (2, "")
    assert done.err == cli("--help").out


@pytest.mark.parametrize("arguments", [["chekc"], pytest.param(["check", "--help"], marks=pytest.mark.slow)], ids=str)
def test_the_command_in_a_process_of_its_own(cli: Triage, empty_cache: Path, arguments: list[str]) -> None:
    """All other tests of help texts and error lines run the command in pytest's process."""
    assert start_triage(empty_cache, *arguments) == cli(*arguments)


def test_version(cli: Triage) -> None:
    assert cli("--version").out == f"triage, version {triage.__version__}\n"


# Code, and modules that it must not import: Triton aborts processes; the others cost more than the command's work.
IMPORTS = {
    "import triage": ("import triage", ("click", "rich", "psutil", "triton", "triage.pipeline", "sqlite3")),
    "triage --help": (
        "from triage.cli.main import main; main(['--help'])",
        (
            *("rich", "psutil", "platformdirs", "triton", "torch", "sqlite3", "asyncio"),
            *("triage.pipeline", "triage.harness"),
        ),
    ),
    "triage log": (
        "from triage.cli.main import main; main(['log'])",
        ("psutil", "triton", "torch", "sqlite3", "triage.harness.engine", "triage.harness.store"),
    ),
    "triage explain": (
        "from triage.cli.main import main; main(['explain', 'launch', '--num-warps', '8'])",
        ("psutil", "triton", "torch", "sqlite3", "triage.pipeline", "triage.harness"),
    ),
    "triage matrix": (
        "from triage.cli.main import main; main(['matrix', 'nothing'])",
        ("triton", "torch"),
    ),
    "triage check": (
        "from triage.cli.main import main; main(['check', 'nothing'])",
        ("triton", "torch"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", one_in(2, IMPORTS))
def test_nothing_heavy_is_imported(case: str) -> None:
    code, unwanted = IMPORTS[case]
    end = "import atexit, sys; atexit.register(lambda: print('|', *sys.modules))\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(triage.__file__).parent.parent)}
    command = [sys.executable, "-c", end + code]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, env=environment)
    imported = set(done.stdout.rpartition("|")[2].split())
    assert "triage" in imported
    assert imported & set(unwanted) == set()


def test_topics_are_listed_and_printed(cli: Triage) -> None:
    done = cli("help")
    assert (done.code, done.err) == (0, "")
    topics = [line.split()[0] for line in done.out.splitlines()]
    assert {"run", "guard", "attach", "ci", "pytest", "exit-codes", "kb"} <= set(topics)
    assert topics == sorted(topics)
    page = cli("help", "exit-codes")
    assert (page.code, page.err) == (0, "")
    assert "2     the command line or an input file is wrong" in page.out
    assert "](" not in cli("help", "case").out, "links to files are printed as their text"


@pytest.mark.parametrize("name", ["exit-code", "zzz"])
def test_an_unknown_topic_is_one_line(cli: Triage, golden: Golden, name: str) -> None:
    done = cli("help", name)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    golden(done.err)
