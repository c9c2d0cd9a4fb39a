"""The ``triage`` command: its subcommands are imported when they are used, so that ``--help`` starts at once.

This is the only place where an error becomes a line and an exit code.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from triage._version import __version__
from triage.model.errors import TriageError
from triage.publish.visible import one_line

_COMMANDS = {
    "attach": ("triage.cli.attach", "Post the report to GitHub: comment on an issue, or open one."),
    "check": ("triage.cli.check", "Compile a case in isolation, diagnose it, name what compiles instead."),
    "doctor": ("triage.cli.doctor", "Show what was found on this machine."),
    "explain": ("triage.cli.explain", "Say what a hardware or language rule allows, and why."),
    "help": ("triage.cli.help", "Print the documentation of a topic, or list the topics."),
    "kb": ("triage.cli.kb", "Read, validate, re-verify and extend the knowledge base."),
    "log": ("triage.cli.log", "Diagnose text that somebody else captured. Compiles nothing."),
    "matrix": ("triage.cli.matrix", "Say with which Triton releases a case fails, and since when."),
    "minimize": ("triage.cli.minimize", "Shrink a failing case while it fails the same way; write a reproducer."),
    "report": ("triage.cli.report", "Render a finished triage as Markdown, HTML, JSON or text; nothing private in it."),
    "run": ("triage.cli.run", "Run a program unchanged; triage what fails to compile in it."),
}


class _LazyGroup(click.Group):
    """Knows its commands by name and one line of help; imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(_COMMANDS[cmd_name][0]).command
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

    Exit codes: 0 compiles, 1 a failure was found, 2 bad input, 3 triage could not work.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    given = sys.argv[1:] if arguments is None else arguments
    own, others = _own(given)
    debug = "--debug" in own
    # --debug may stand anywhere: it belongs to no single command.
    given = (["--debug"] if debug else []) + [word for word in own if word != "--debug"] + others
    sys.exit(_run(given, debug))


def _own(given: list[str]) -> tuple[list[str], list[str]]:
    """What is triage's of a command line, and what is the program's that ``triage run`` is to run."""
    if "--" in given:
        end = given.index("--")
    else:
        end = given.index("run") if given[:1] == ["run"] or given[:2] == ["--debug", "run"] else len(given)
    return given[:end], given[end:]


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
        return _say(f"{command}: {error.format_message()} (see {command} --help)", 2)
    except click.ClickException as error:
        return _say(f"triage: {error.format_message()}", 2)
    except (click.Abort, KeyboardInterrupt):
        return _say("triage: interrupted", 130)
    except BrokenPipeError:
        # The reader went away (`triage … | head`); Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except TriageError as error:
        if debug:
            raise
        return _say(f"triage: {error}", error.exit_code)
    except Exception as error:
        if debug:
            raise
        return _say(f"triage: internal error: {type(error).__name__}: {error}; run again with --debug", 3)


def _say(line: str, code: int) -> int:
    click.echo(one_line(line), err=True)
    return code
