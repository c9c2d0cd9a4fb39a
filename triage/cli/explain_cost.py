"""``triage explain cost CASE``: the terms of the static model's estimate."""

from __future__ import annotations

from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import case_options, compile_options, limits, note, print_json
from triage.harness.dialogues import converse
from triage.harness.engine import Engine
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError
from triage.performance.estimate.compiled import Estimated, compiled, estimated
from triage.performance.estimate.estimate import machine
from triage.performance.estimate.explained import RULE, explained
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import explanation as render


@click.command(RULE)
@click.argument("name", metavar="CASE")
@case_options
@compile_options
@click.option("--size", "sizes", multiple=True, metavar="NAME=N", help="Value of an integer argument: M=4096.")
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as a document, and nothing else.")
@click.pass_context
def command(context: click.Context, /, name: str, sizes: tuple[str, ...], as_json: bool, **values: Any) -> int:
    """Compile CASE and show what the static model expects of it: blocks, waves, and the time by unit.

    Needs no GPU. Sizes are those of the case's inputs, or typical ones. What does not compile is estimated as if it
    did.

    \b
    Examples:
      triage explain cost wgmma-mn-major-warp-specialized --num-warps 8
      triage explain cost kernel.py::matmul --size M=8192 --size N=8192 --json
    """
    case = locate(name, values)
    if machine(case.target) is None:
        raise InputError(f"{name}: the rates of {case.target} are not known; give --target of a GPU that has them")
    estimate = _estimate(case, _numbers(sizes, case), values)
    if estimate.compiled.unclear:
        raise EnvironmentFault(f"{name}: could not tell: {estimate.reason}")
    if estimate.time is None:
        if not estimate.compiled.front_end:
            raise InputError(f"{name}: no estimate: {estimate.reason}")
        note(f"{name}: no estimate: {estimate.reason}; `triage check {name}` says more")
        return 1
    explanation = explained(estimate)
    if as_json or context.obj:
        print_json(explanation.to_json())
    else:
        render.explanation(console.output(), explanation)
    return 0


def _estimate(case: Case, sizes: dict[str, float], values: dict[str, Any]) -> Estimated:
    with console.progress() as progress:
        toolchains = Toolchains(progress=progress.note)
        triton = values["triton"] or (None if values["python"] else case.triton)
        toolchain = toolchains.resolve(triton, values["python"])
        use_cache = not values["no_cache"]
        store = Store(note=progress.warn) if use_cache else None
        with Engine(1, store, toolchains.installed, keep=True) as engine:
            [done] = converse(engine, [compiled(case, toolchain, limits(values), use_cache)])
    return estimated(done, sizes)


def _numbers(texts: tuple[str, ...], case: Case) -> dict[str, float]:
    """The sizes of ``--size``. Raises InputError."""
    numbers: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        if not equals or not number.strip().isdecimal():
            raise InputError(f"--size {text}: write NAME=N, as in --size M=4096")
        if case.signature and name not in case.signature:
            raise InputError(f"--size {name}: not an argument of {case.name}; it has {', '.join(case.signature)}")
        numbers[name] = int(number)
    return numbers
