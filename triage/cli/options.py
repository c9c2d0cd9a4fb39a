"""Options that several commands share, and the values made of them."""

from __future__ import annotations

import json
import math
import shlex
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from triage.model.errors import InputError, TriageError
from triage.model.visible import one_line
from triage.suggest.budget import Budget

if TYPE_CHECKING:
    # Imported in the functions: `triage run` starts its program without them.
    from triage.harness.limits import Limits
    from triage.pipeline import Options

F = TypeVar("F", bound=Callable[..., Any])


class _NamedPath(click.Path):
    """A path; an empty one, as of a variable that is not set, would be the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the path is empty; name one", param, ctx)
        return super().convert(value, param, ctx)


FILE = DIRECTORY = _NamedPath(path_type=Path)
_TARGET = "cuda:90|hip:gfx942"


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    """A decorator that adds options, listed in ``--help`` in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


kernel_options: Callable[[F], F] = _all(
    click.option("--arg", multiple=True, metavar="NAME=TYPE", help="Type of an argument: *fp16, i32, …"),
    click.option("--const", multiple=True, metavar="NAME=VALUE", help="A constexpr: a Python literal or a dtype."),
    click.option("--divisible", multiple=True, metavar="NAME=16", help="Divisor of an argument. [16 for pointers]"),
    click.option("--num-warps", type=int),
    click.option("--num-stages", type=int),
    click.option("--num-ctas", type=int),
    click.option("--option", multiple=True, metavar="NAME=VALUE", help="Any other option of the back-end."),
)
"""Options that describe a case from ``kernel.py::function``, or change a stored one, except for the target."""

case_options: Callable[[F], F] = _all(
    kernel_options, click.option("--target", metavar=_TARGET, help="Compile for this target. [cuda:90]")
)
"""``kernel_options`` and one target."""

targets_option: Callable[[F], F] = click.option(
    "--target", metavar="TARGET,...", help="Compile for these targets: cuda:90,hip:gfx942. [cuda:90]"
)
"""One or several targets."""


def _finite(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise InputError(f"--timeout {value}: not a limit; give a number of seconds")
    return value


def timeout_option(text: str) -> Callable[[F], F]:
    """``--timeout`` with this help text."""
    return click.option("--timeout", type=click.FloatRange(min=0.1), callback=_finite, metavar="SECONDS", help=text)


machine_options: Callable[[F], F] = _all(
    click.option("--memory", metavar="SIZE", help="Per compile: 512M, 8GiB. [8GiB, or half of the machine's]"),
    click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Compiles at a time. [cores]"),
    click.option("--no-cache", is_flag=True, help="Repeat compiles whose results are stored."),
)
"""Options for the resources of the machine that compiles may use."""

limit_options: Callable[[F], F] = _all(timeout_option("Per compile. [120]"), machine_options)
"""``--timeout`` and ``machine_options``."""

compile_options: Callable[[F], F] = _all(
    click.option("--triton", metavar="VERSION", help="Compile with this release, which is installed on first use."),
    click.option("--cute", metavar="VERSION", help="The same for CuTe DSL."),
    click.option("--python", metavar="PATH", help="Compile with the Triton or CuTe DSL of this interpreter."),
    limit_options,
)
"""The toolchain of a single release, and limits."""

kb_option: Callable[[F], F] = click.option(
    "--kb", multiple=True, type=DIRECTORY, metavar="DIR", help="Use your own knowledge-base entries too."
)

budget_option: Callable[[F], F] = click.option(
    "--budget",
    metavar="N|SECONDSs",
    help=f"Limit the search for neighbours: 20 (compiles), 30s. [{Budget().compiles}, {Budget().seconds:g}s]",
)


def note(line: object) -> None:
    """Print one line of triage's own on standard error."""
    click.echo(one_line(f"triage: {line}"), err=True)


def note_error(error: TriageError) -> None:
    """Print the line of an error that does not end the command; with ``--debug`` also where it was raised."""
    note(error)
    if click.get_current_context().find_root().params.get("debug"):
        traceback.print_exception(error)


def print_json(document: Any, indented: bool = True) -> None:
    """Print a document on standard output, indented or on one line."""
    click.echo(json.dumps(document, indent=2 if indented else None))


def limits(values: Mapping[str, Any]) -> Limits:
    """The limits of ``--timeout`` and ``--memory``. Raises InputError."""
    from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes

    return Limits(values["timeout"] or DEFAULT_TIMEOUT_S, memory_bytes(values) or default_memory_bytes())


def memory_bytes(values: Mapping[str, Any]) -> int | None:
    """The size of ``--memory``; None without it. Raises InputError."""
    if not values["memory"]:
        return None
    from triage.harness.limits import parse_size

    return parse_size(values["memory"])


def budget(values: Mapping[str, Any]) -> Budget:
    """The budget of ``--budget``. Raises InputError."""
    return Budget.parse(values["budget"]) if values.get("budget") else Budget()


def pipeline_options(values: Mapping[str, Any]) -> Options:
    """The options of a triage; those that a command does not have keep their defaults. Raises InputError."""
    from triage.pipeline import Options

    return Options(
        triton=values.get("triton"),
        cute=values.get("cute"),
        python=values.get("python"),
        limits=limits(values),
        jobs=values["jobs"],
        cache=not values["no_cache"],
        suggest=not values.get("no_suggest"),
        budget=budget(values),
        bench=bool(values.get("bench")),
        sanitize=bool(values.get("sanitize")),
        knowledge=values.get("kb", ()),
    )


def repeating(command: str, case: str, values: Mapping[str, Any]) -> str:
    """The command line that repeats a command on one case, with the options as click parsed them."""
    words = ["triage", command, case]
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, tuple):
            words += [word for item in value for word in (flag, str(item))]
        elif value is True:
            words.append(flag)
        elif value not in (None, False):
            words += [flag, str(value)]
    return shlex.join(words)
