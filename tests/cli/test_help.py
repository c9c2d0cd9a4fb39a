"""What ``--help`` says, that it says it at once, and that nothing heavy is imported for what needs nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from commands import Triage

import triage

HELP = """\
    Usage: triage [OPTIONS] COMMAND [ARGS]...

      Crash triage for Triton compile failures.

      Exit codes: 0 compiles, 1 a failure was found, 2 bad input, 3 triage could
      not work.

    Options:
      --version   Show the version and exit.
      --debug     Show tracebacks of triage's own errors.
      -h, --help  Show this message and exit.

    Commands:
      attach    Post the report to GitHub: comment on an issue, or open one.
      check     Compile a case in isolation, diagnose it, name what compiles
                instead.
      doctor    Show what was found on this machine.
      explain   Say what a hardware or language rule allows, and why.
      kb        Read, validate, re-verify and extend the knowledge base.
      log       Diagnose text that somebody else captured. Compiles nothing.
      matrix    Say with which Triton releases a case fails, and since when.
      minimize  Shrink a failing case while it fails the same way; write a
                reproducer.
      report    Render a finished triage as Markdown, HTML, JSON or text; nothing
                private in it.
      run       Run a program unchanged; triage what fails to compile in it.
    """
CHECK_HELP = """\
    Usage: triage check [OPTIONS] CASE...

      Compile each CASE in isolation; if it fails, diagnose it and name what
      compiles instead.

      CASE is kernel.py::function (with --arg and --const), a case folder, its
      case.json, a reproducer's name, or what another tool left: IR
      (kernel.ttgir), a folder of Triton's cache or dump, an MLIR reproducer.

    Options:
      --arg NAME=TYPE              An argument's Triton type: *fp16, i32, …
      --const NAME=VALUE           A constexpr: a literal or a dtype.
      --divisible NAME=16          Known divisor; pointers are 16 unless =1.
      --num-warps INTEGER
      --num-stages INTEGER
      --num-ctas INTEGER
      --option NAME=VALUE          Any other backend option.
      --target cuda:90|hip:gfx942  Compile for this target. [cuda:90]
      --triton VERSION             Compile with this release (an environment made
                                   once).
      --python PATH                Compile with somebody's own environment.
      --timeout SECONDS            Per compile. [120]  [x>=0.1]
      --memory SIZE                Per compile: 512M, 8GiB. [8GiB, or half the
                                   machine]
      --jobs N                     Compiles at a time. [cores]  [x>=1]
      --no-cache                   Compile again what is remembered.
      --no-suggest                 Do not search for neighbours that compile.
      --budget N|SECONDSs          Compile at most N neighbours, or for that long:
                                   20, 30s. [48, 90s]
      --bench                      Time the suggestions on this machine's GPU; the
                                   fastest comes first.
      --kb DIR                     Entries of your own.
      --json                       Print report documents, and nothing else, on
                                   standard output.
      -o DIR                       Keep all artifacts there.
      --full                       Reduce what fails, and try it with other
                                   releases, too: the whole report.
      --github                     Write annotations and a job summary for GitHub
                                   Actions.
      --junit FILE                 Write JUnit XML, for GitLab and Jenkins.
      --sarif FILE                 Write SARIF 2.1.0, for code scanning.
      -h, --help                   Show this message and exit.
    """


@pytest.mark.parametrize(("arguments", "text"), [(("--help",), HELP), (("-h",), HELP), (("check", "-h"), CHECK_HELP)])
def test_help(light: Triage, arguments: tuple[str, ...], text: str) -> None:
    done = light(*arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out == dedent(text)


def test_no_command_is_a_mistake_that_is_answered_with_the_help(light: Triage) -> None:
    done = light()
    assert (done.code, done.out) == (2, "")
    assert done.err == dedent(HELP)


def test_version(light: Triage) -> None:
    assert light("--version").out == f"triage, version {triage.__version__}\n"


# What must not be imported: Triton aborts processes; the rest costs more than the command's own work.
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


@pytest.mark.parametrize(("code", "unwanted"), IMPORTS.values(), ids=IMPORTS.keys())
def test_nothing_heavy_is_imported(code: str, unwanted: tuple[str, ...]) -> None:
    end = "import atexit, sys; atexit.register(lambda: print('|', *sys.modules))\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(triage.__file__).parent.parent)}
    command = [sys.executable, "-c", end + code]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, env=environment)
    imported = set(done.stdout.rpartition("|")[2].split())
    assert "triage" in imported
    assert imported & set(unwanted) == set()
