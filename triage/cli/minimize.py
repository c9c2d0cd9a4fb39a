"""``triage minimize``."""

import re
from pathlib import Path
from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import DIRECTORY, case_options, compile_options, limits, print_json
from triage.filesystem.files import usable_folder
from triage.minimize.launch_script import FILE
from triage.minimize.result import MOST_COMPILES, MOST_SECONDS, MinimizeOptions, MinimizeResult
from triage.minimize.run import minimize
from triage.model.errors import InputError
from triage.model.visible import visible
from triage.publish.formats.terminal import console
from triage.publish.words import exit_codes

_MOST_FINDINGS = 5
_CONFIRMED = {
    True: "the case on disk fails with the same signature",
    False: "THE CASE ON DISK FAILS DIFFERENTLY",
    None: "the case on disk was not compiled once more",
}


@click.command("minimize")
@click.argument("case", metavar="CASE")
@case_options
@compile_options
@click.option(
    "--repeat", type=click.IntRange(min=1), metavar="N", help="Compiles per candidate. [1 if the original always fails]"
)
@click.option(
    "--budget",
    metavar="N|SECONDSs",
    help=f"Compile at most N candidates, or for that long: 500, 60s. [{MOST_COMPILES}, {MOST_SECONDS:g}s]",
)
@click.option("--anonymize", is_flag=True, help="Rename kernel, arguments and helpers; strip comments and strings.")
@click.option(
    "--launch",
    is_flag=True,
    help="Also write reproducer_launch.py and run it. A CASE that compiles is launched, if there is a GPU for it.",
)
@click.option("--sanitize", is_flag=True, help="With --launch: also run what it writes under compute-sanitizer.")
@click.option("--no-ir", is_flag=True, help="Do not reduce the input of the failing pass.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as a document on standard output.")
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Output folder. [./KERNEL-min]")
def command(case: str, as_json: bool, folder: Path | None, **chosen: Any) -> int:
    """Shrink CASE while it fails the same way, and write a reproducer.

    Ctrl-C ends it and keeps the best result so far; the same command continues from there.
    """
    if chosen["sanitize"] and not chosen["launch"]:
        raise InputError("--sanitize runs the reproducer that launches: give --launch as well")
    located = locate(case, chosen)
    compiles, seconds = _budget(chosen["budget"])
    options = MinimizeOptions(
        folder=folder or Path(f"{located.name}-min"),
        triton=chosen["triton"],
        cute=chosen["cute"],
        python=chosen["python"],
        limits=limits(chosen),
        jobs=chosen["jobs"],
        repeat=chosen["repeat"],
        compiles=compiles,
        seconds=seconds,
        anonymize=chosen["anonymize"],
        resume=not chosen["no_cache"],
        launch=chosen["launch"],
        sanitize=chosen["sanitize"],
        ir=not chosen["no_ir"],
    )
    usable_folder("-o", options.folder)
    with console.progress() as progress:
        result = minimize(located, options, progress)
    if as_json:
        print_json(result.to_json())
    else:
        _print(result)
    return 0 if result.holds else 3


def _budget(text: str | None) -> tuple[int, float]:
    if text is None:
        return MOST_COMPILES, MOST_SECONDS
    number = re.fullmatch(r"(\d{1,6})(s?)", text.strip())
    if number is None or int(number[1]) == 0:
        raise InputError(f"--budget {text!r}: give compiles (500) or seconds (60s)")
    # A bound that the user states replaces the default of the other.
    return (1_000_000, float(number[1])) if number[2] else (int(number[1]), float("inf"))


def _print(result: MinimizeResult) -> None:
    before, after = result.before, result.after
    share = 100 * after.tokens / max(before.tokens, 1)
    lines = [
        result.headline,
        f"{before.tokens} tokens, {before.lines} lines of kernel body -> {after.tokens} tokens ({share:.0f} %), "
        f"{after.lines} lines; {result.compiles} compiles, {result.seconds:.0f} s",
        f"signature: {result.signature}",
        f"fails in {result.rate:.0%} of the compiles of the original; {result.repeat} a candidate",
        "",
        result.case.text().strip("\n"),
        "",
        f"{result.folder}: kernel.py, case.json, {result.script.name}",
        f"{_CONFIRMED[result.confirmed]}; {_runs(result.script.name, result.reproduced)}"
        f"{' (1: the failure occurs)' if result.reproduced else ''}",
        *_launched(result),
        *_sanitized(result),
        *_ir(result),
    ]
    if result.ended != "complete":
        lines.append(f"incomplete ({result.ended}): more may be removable; the same command continues from here")
    if result.anonymous is False:
        why = "with other names it does not fail the same way"
        lines.append(f"not anonymous: {why if result.ended == 'complete' else 'there was no time for it'}")
    if result.findings:
        lines.append(f"other failures seen and not accepted ({len(result.findings)}):")
        lines += [f"  {finding.headline}" for finding in result.findings[:_MOST_FINDINGS]]
    click.echo("\n".join(visible(part) for line in lines for part in line.split("\n")))


def _runs(script: str, codes: tuple[int, int] | None) -> str:
    if codes is None:
        return f"{script} was not run"
    return f"{script} ended with {exit_codes(codes)} in two fresh processes"


def _launched(result: MinimizeResult) -> list[str]:
    if result.launched is None:
        return [result.not_launched] if result.not_launched else []
    return [f"{_runs(FILE, result.launched)} on this machine's GPU (1: the failure occurs)"]


def _sanitized(result: MinimizeResult) -> list[str]:
    if result.memory_check is None:
        return [f"not run under compute-sanitizer: {result.no_memory_check}"] if result.no_memory_check else []
    return [result.memory_check.words()]


def _ir(result: MinimizeResult) -> list[str]:
    if result.ir is None:
        return [f"no IR: {result.no_ir}"]
    reduced, folder = result.ir, result.ir.file.parent.name
    where = f"pass {reduced.pass_name or reduced.adder}" if reduced.adder else f"stage {reduced.stage}"
    size = f"{reduced.before.operations} -> {reduced.after.operations} operations, {reduced.after.bytes} bytes"
    ended = "" if reduced.ended == "complete" else f"; incomplete ({reduced.ended})"
    return [
        f"{folder}/{reduced.file.name}: input of {where}, {size}{ended}",
        f"{_runs(f'{folder}/{reduced.script.name}', reduced.reproduced)}; {reduced.command}",
    ]
