"""``--github``, ``--junit`` and ``--sarif``: outputs of ``check`` and ``log`` for continuous integration."""

import functools
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from triage.cli.options import FILE, note
from triage.model.errors import EnvironmentFault

_OPTIONS = [
    click.option("--github", is_flag=True, help="Write annotations and a job summary for GitHub Actions."),
    click.option("--junit", type=FILE, metavar="FILE", help="Write JUnit XML, for GitLab and Jenkins."),
    click.option("--sarif", type=FILE, metavar="FILE", help="Write SARIF 2.1.0, for code scanning."),
]


def with_outputs(command: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add the three options to a command, which gets ``record`` instead: where it adds its results, None without them.

    The record is written when the command ends, even with an error. With ``--github``, GitHub is asked not to interpret
    lines as workflow commands in the meantime, because reports quote logs. Workflow commands go to standard output, or
    with ``--json`` to standard error, which GitHub reads as well.
    """

    def decorated(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def run(*arguments: Any, github: bool, junit: Path | None, sarif: Path | None, **values: Any) -> int:
            if not (github or junit or sarif):
                return function(*arguments, record=None, **values)
            # Imported here because it loads the report formats, which other runs do not need.
            from triage.publish.ci.record import CiRecord

            record = CiRecord(command, github, junit, sarif, os.environ)
            pause = secrets.token_hex(16)

            def print_command(line: str) -> None:
                if github:
                    click.echo(line, err=values["as_json"])

            def end() -> list[EnvironmentFault]:
                print_command(f"::{pause}::")
                for line in record.annotations():
                    print_command(line)
                return record.write()

            print_command(f"::stop-commands::{pause}")
            try:
                code = function(*arguments, record=record, **values)
            except BaseException as error:
                record.error(f"triage {command}", str(error) or type(error).__name__)
                for problem in end():
                    note(problem)
                raise
            problems = end()
            for problem in problems[:-1]:
                note(problem)
            if problems:
                # The exit code is that of the last problem.
                raise problems[-1]
            return code

        for option in reversed(_OPTIONS):
            option(run)
        return run

    return decorated
