"""The ``triage`` command. Subcommands are imported when they are used, so that ``--help`` starts at once.

Only this module turns errors into a line and an exit code.
"""

from __future__ import annotations

import difflib
import gc
import importlib
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from triage._version import __version__
from triage.cli import signals
from triage.model.errors import EnvironmentFault, fault
from triage.model.visible import one_line

if TYPE_CHECKING:
    from typing_extensions import Buffer

_COMMANDS = {
    "attach": ("triage.cli.attach", "Post the report to GitHub: comment on an issue, or open one."),
    "bench-model": ("triage.cli.bench_model", "Compare the static model of cost with times on a GPU."),
    "check": ("triage.cli.check", "Compile a case in isolation, diagnose it, suggest what compiles instead."),
    "clean": ("triage.cli.clean", "Remove what triage keeps: outcomes, cases, scratch, toolchains."),
    "doctor": ("triage.cli.doctor", "List the releases, tools, GPUs and caches of this machine."),
    "draft": ("triage.cli.draft", "Make cases of the kernels in a file, a folder or a package."),
    "explain": ("triage.cli.explain", "Explain what a hardware or language rule allows, and why."),
    "help": ("triage.cli.help", "Print the documentation of a topic, or list the topics."),
    "kb": ("triage.cli.kb", "Read, validate, re-verify and extend the knowledge base."),
    "log": ("triage.cli.log", "Diagnose a log. Compiles nothing."),
    "matrix": ("triage.cli.matrix", "Find the releases with which a case fails, and since when."),
    "minimize": ("triage.cli.minimize", "Reduce a failing case while it fails the same way; write a reproducer."),
    "report": ("triage.cli.report", "Render a finished triage as Markdown, HTML, JSON or text, without private data."),
    "sweep": ("triage.cli.sweep", "Compile a space of configurations; tell which are legal, and why not."),
    "run": ("triage.cli.run", "Run a program unchanged; triage what fails to compile in it."),
}


class _LazyGroup(click.Group):
    """A group that has the names and help lines of its commands, and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            near = difflib.get_close_matches(cmd_name, _COMMANDS, n=1)
            if near:
                raise click.UsageError(f"No such command {cmd_name!r}; did you mean {near[0]}?", ctx)
            return None
        command = importlib.import_module(_COMMANDS[cmd_name][0]).command
        gc.freeze()
        gc.enable()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="triage")
@click.option("--debug", is_flag=True, help="Show tracebacks of triage's own errors.")
def cli(debug: bool) -> None:
    """Crash triage for Triton compile failures.

    Exit codes: 0 compiles, 1 a failure was found, 2 wrong input, 3 triage itself failed. `triage help` has more.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    own, program = _split(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in own
    # --debug is accepted anywhere, although it is an option of the group.
    words = (["--debug"] if debug else []) + [word for word in own if word != "--debug"] + program
    _open_streams()
    with signals.handled() as ending:
        code = _written(_run(words, debug))
    if ending.number is not None:
        # A command that keeps what it has finished ends as usual.
        code = signals.EXIT_CODE if code == signals.EXIT_CODE else _fail(signals.LINE, signals.EXIT_CODE)
        signals.end_by(ending.number)
    sys.exit(code)


class _Output(io.FileIO):
    """Standard output. What cannot be written is, once, an error that names it, and goes nowhere from then on."""

    _broken = False

    def write(self, data: Buffer) -> int:
        if self._broken:
            return len(memoryview(data))
        try:
            return super().write(data)
        except OSError as error:
            self._broken = True
            if isinstance(error, BrokenPipeError):
                raise
            raise EnvironmentFault(f"standard output cannot be written: {error.strerror}") from None


def _open_streams() -> None:
    """Open the standard streams that the caller has closed: a file opened later would get the number of one, and with
    it what is printed. To read or to write a document there stays an error."""
    for descriptor, name, mode in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            os.open(os.devnull, mode)  # The lowest number that is free: this one.
            setattr(sys, name, open(descriptor, "w" if descriptor else "r", closefd=False))  # noqa: SIM115
    before = sys.stdout
    # Another one is a caller's, in this process.
    if isinstance(before, io.TextIOWrapper) and sys.__stdout__ in (None, before):
        raw = io.BufferedWriter(_Output(1, "w", closefd=False))
        sys.stdout = io.TextIOWrapper(raw, before.encoding, before.errors, line_buffering=before.line_buffering)


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """The words for triage, and those of the program that ``triage run`` starts."""
    if "--" in words:
        end = words.index("--")
    else:
        end = words.index("run") if words[:1] == ["run"] or words[:2] == ["--debug", "run"] else len(words)
    return words[:end], words[end:]


def _run(arguments: list[str], debug: bool) -> int:
    try:
        result: Any = cli.main(arguments, prog_name="triage", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        if debug:
            raise
        command = error.ctx.command_path if error.ctx else "triage"
        return _fail(f"{command}: {error.format_message()} (see {command} --help)", 2)
    except click.ClickException as error:
        return _fail(f"triage: {error.format_message()}", 2)
    except (click.Abort, KeyboardInterrupt):
        return _fail(signals.LINE, signals.EXIT_CODE)
    except (SystemExit, BrokenPipeError):
        # The reader has exited (`triage ... | head`); click and rich exit then.
        return 0
    except Exception as error:
        if debug:
            raise
        return _fail(f"triage: {fault(error)}", fault(error).exit_code)


def _written(code: int) -> int:
    """Write out what was printed. Python would do so later, with a traceback and an exit code of its own."""
    try:
        with suppress(BrokenPipeError):
            sys.stdout.flush()
    except EnvironmentFault as error:
        code = _fail(f"triage: {error}", 3)
    try:
        sys.stderr.flush()
    except OSError:
        sys.stderr = None
    return code


def _fail(line: str, code: int) -> int:
    with suppress(OSError):
        click.echo(one_line(line), err=True)
    return code
