"""``triage clean``."""

import re

import click

from triage.cli.options import print_json
from triage.harness.cleaning import Cleaning, Part, clean
from triage.model.errors import EnvironmentFault, InputError

_DEFAULT = (Part.OUTCOMES, Part.CASES, Part.SCRATCH)
"""Made again in seconds; an environment with a compiler is a download."""
_AGE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MIB = 1 << 20


@click.command("clean")
@click.argument("parts", nargs=-1, type=click.Choice([part.value for part in Part]), metavar="[PART]...")
@click.option("--older-than", metavar="30d", help="Only what has not been used for so long: 12h, 30d, 8w.")
@click.option("--dry-run", is_flag=True, help="Print what would be removed, and remove nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
def command(parts: tuple[str, ...], older_than: str | None, dry_run: bool, as_json: bool) -> int:
    """Remove what triage keeps on this machine: outcomes, cases, scratch, toolchains.

    Without PART, everything but toolchains, which take a download to make again. What a running triage uses stays.
    """
    cleaning = clean([Part(part) for part in parts] or _DEFAULT, _age_s(older_than), dry_run)
    if as_json:
        print_json(cleaning.to_json())
    else:
        for line in _lines(cleaning):
            click.echo(line)
        if not parts:
            click.echo("toolchains are kept; `triage clean toolchains` removes them")
    if cleaning.failed:
        raise EnvironmentFault(f"{cleaning.failed[0]}: cannot be removed ({len(cleaning.failed)} such)")
    return 0


def _lines(cleaning: Cleaning) -> list[str]:
    lines = ["would be removed:" if cleaning.dry_run else "removed:"]
    for part in cleaning.parts:
        in_use = f", {part.in_use} in use" if part.in_use else ""
        size = f"{part.size_bytes / _MIB:.1f} MiB"
        lines.append(f"  {part.part.value:<10} {part.removed:>6} {size:>12}  {part.path}{in_use}")
    return lines


def _age_s(text: str | None) -> float:
    if text is None:
        return 0.0
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"--older-than {text!r}: write a number and a unit, such as 12h, 30d or 8w")
    return float(match.group(1)) * _SECONDS[match.group(2)]
