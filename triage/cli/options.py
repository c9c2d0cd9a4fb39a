"""Options that every compiling command shares."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import click

from triage.model.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def case_options(function: F) -> F:
    """What makes a case from ``kernel.py::function``, or changes a stored one."""
    target = click.option("--target", metavar="cuda:90|hip:gfx942", help="Compile for this target. [cuda:90]")
    return kernel_options(target(function))


def kernel_options(function: F) -> F:
    """The same but for the target, which some commands take several of."""
    for option in reversed(
        [
            click.option("--arg", multiple=True, metavar="NAME=TYPE", help="An argument's Triton type: *fp16, i32, …"),
            click.option("--const", multiple=True, metavar="NAME=VALUE", help="A constexpr: a literal or a dtype."),
            click.option(
                "--divisible", multiple=True, metavar="NAME=16", help="Known divisor; pointers are 16 unless =1."
            ),
            click.option("--num-warps", type=int),
            click.option("--num-stages", type=int),
            click.option("--num-ctas", type=int),
            click.option("--option", multiple=True, metavar="NAME=VALUE", help="Any other backend option."),
        ]
    ):
        function = option(function)
    return function


def _finite(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise InputError(f"--timeout {value}: every compile is bounded; give a number of seconds")
    return value


def compile_options(function: F) -> F:
    """With what, and within which limits, cases are compiled."""
    function = limit_options(function)
    for option in reversed(
        [
            click.option("--triton", metavar="VERSION", help="Compile with this release (an environment made once)."),
            click.option("--python", metavar="PATH", help="Compile with somebody's own environment."),
        ]
    ):
        function = option(function)
    return function


def limit_options(function: F) -> F:
    """Within which limits cases are compiled."""
    return timeout_option("Per compile. [120]")(machine_options(function))


def timeout_option(text: str) -> Callable[[F], F]:
    """``--timeout``, with its help."""
    return click.option("--timeout", type=click.FloatRange(min=0.1), callback=_finite, metavar="SECONDS", help=text)


def machine_options(function: F) -> F:
    """What of the machine compiles may use."""
    for option in reversed(
        [
            click.option("--memory", metavar="SIZE", help="Per compile: 512M, 8GiB. [8GiB, or half the machine]"),
            click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Compiles at a time. [cores]"),
            click.option("--no-cache", is_flag=True, help="Compile again what is remembered."),
        ]
    ):
        function = option(function)
    return function


def repeating(command: str, text: str, given: dict[str, Any]) -> str:
    """The command line that repeats a command on one case, with the options as click gave them."""
    words = ["triage", command, text]
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, tuple):
            words += [word for item in value for word in (flag, str(item))]
        elif value is True:
            words.append(flag)
        elif value not in (None, False):
            words += [flag, str(value)]
    return shlex.join(words)
