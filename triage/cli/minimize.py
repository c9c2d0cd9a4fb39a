"""``triage minimize``."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import case_options, compile_options
from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes, parse_size
from triage.minimize.launch import FILE
from triage.minimize.run import MOST_COMPILES, MOST_SECONDS, Minimized, Options, minimize
from triage.model.errors import InputError
from triage.publish.formats.terminal import console
from triage.publish.visible import visible

_MOST_FINDINGS = 5


@click.command("minimize")
@click.argument("case", metavar="CASE")
@case_options
@compile_options
@click.option("--repeat", type=click.IntRange(min=1), metavar="N", help="Compiles a candidate. [found out: 1 if sure]")
@click.option(
    "--budget",
    metavar="N|SECONDSs",
    help=f"Compile at most N candidates, or for that long: 500, 60s. [{MOST_COMPILES}, {MOST_SECONDS:g}s]",
)
@click.option("--anonymize", is_flag=True, help="Rename kernel, arguments and helpers; strip comments and strings.")
@click.option(
    "--launch",
    is_flag=True,
    help="Write reproducer_launch.py too, and run it here. A CASE that compiles is launched, if there is a GPU for it.",
)
@click.option("--no-ir", is_flag=True, help="Leave out the failing pass and the module before it.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as a document on standard output.")
@click.option("-o", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Where it goes. [./KERNEL-min]")
def command(case: str, as_json: bool, folder: Path | None, **given: Any) -> int:
    """Shrink CASE while it fails the same way, and write a reproducer.

    Ctrl-C ends it and keeps the best so far; the same command goes on from there.
    """
    found = locate(case, given)
    compiles, seconds = _budget(given["budget"])
    options = Options(
        folder=folder or Path(f"{found.name}-min"),
        triton=given["triton"],
        python=given["python"],
        limits=Limits(
            given["timeout"] or DEFAULT_TIMEOUT_S,
            parse_size(given["memory"]) if given["memory"] else default_memory_bytes(),
        ),
        jobs=given["jobs"],
        repeat=given["repeat"],
        compiles=compiles,
        seconds=seconds,
        anonymize=given["anonymize"],
        resume=not given["no_cache"],
        launch=given["launch"],
        ir=not given["no_ir"],
    )
    with console.progress() as progress, _terminable():
        done = minimize(found, options, progress)
    if as_json:
        click.echo(json.dumps(done.to_json(), indent=2))
    else:
        _print(done)
    return 0 if done.holds else 3


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the search as Ctrl-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _budget(text: str | None) -> tuple[int, float]:
    if text is None:
        return MOST_COMPILES, MOST_SECONDS
    found = re.fullmatch(r"(\d{1,6})(s?)", text.strip())
    if found is None or int(found[1]) == 0:
        raise InputError(f"--budget {text!r}: give compiles (500) or seconds (60s)")
    number = int(found[1])
    # Who gives the one wants it used.
    return (1_000_000, float(number)) if found[2] else (number, float("inf"))


def _print(done: Minimized) -> None:
    before, after = done.before, done.after
    share = 100 * after.tokens / max(before.tokens, 1)
    lines = [
        done.headline,
        f"{before.tokens} tokens, {before.lines} lines of kernel body -> {after.tokens} tokens ({share:.0f} %), "
        f"{after.lines} lines; {done.compiles} compiles, {done.seconds:.0f} s",
        f"signature: {done.signature}",
        f"fails in {done.rate:.0%} of the compiles of the original; {done.repeat} a candidate",
        "",
        (done.case.path).read_text(encoding="utf-8").strip("\n"),
        "",
        f"{done.folder}: kernel.py, case.json, {done.script.name}",
        _said(done),
        *_launched(done),
        *_ir(done),
    ]
    if done.ended != "complete":
        lines.append(f"ended before nothing more could be taken out ({done.ended}); the same command goes on from here")
    if done.anonymous is False:
        lines.append("not anonymous: renamed, it does not fail the same way")
    if done.findings:
        lines.append(f"other failures met on the way ({len(done.findings)}), none of them taken for this one:")
        lines += [f"  {text}" for text in list(done.findings.values())[:_MOST_FINDINGS]]
    click.echo("\n".join(visible(part) for line in lines for part in line.split("\n")))


def _said(done: Minimized) -> str:
    case = "the case on disk fails with the same signature" if done.confirmed else "THE CASE ON DISK FAILS OTHERWISE"
    codes = " and ".join(str(code) for code in done.reproduced)
    script = f"{done.script.name} ended with {codes} in two fresh processes (1: the failure is there)"
    return f"{case}; {script}"


def _launched(done: Minimized) -> list[str]:
    if done.launched is None:
        return [done.not_launched] if done.not_launched else []
    codes = " and ".join(str(code) for code in done.launched)
    return [f"{FILE} ended with {codes} in two fresh processes on this machine's GPU (1: the failure is there)"]


def _ir(done: Minimized) -> list[str]:
    if done.ir is None:
        return [f"no IR: {done.no_ir}"]
    found = done.ir
    where = f"pass {found.pass_name or found.adder}" if found.adder else f"stage {found.stage}"
    codes = " and ".join(str(code) for code in found.reproduced)
    size = f"{found.before.operations} -> {found.after.operations} operations, {found.after.bytes} bytes"
    ended = "" if found.ended == "complete" else f"; ended before nothing more could be taken out ({found.ended})"
    return [
        f"{found.file.parent.name}/{found.file.name}: what {where} was given, {size}{ended}",
        f"{found.file.parent.name}/{found.script.name} ended with {codes} in two fresh processes; {found.command}",
    ]
