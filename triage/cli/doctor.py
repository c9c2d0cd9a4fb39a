"""``triage doctor``."""

import click

from triage.cli.options import print_json
from triage.harness.machine.facts import examine
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import machine as render_machine


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(as_json: bool) -> int:
    """List the releases of Triton and CuTe DSL, assemblers, linkers, GPUs, limits and caches of this machine."""
    facts = examine()
    if as_json:
        print_json(facts.to_json())
    else:
        render_machine.machine(console.output(), facts)
    return 0
