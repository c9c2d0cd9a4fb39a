"""``triage draft``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from triage.cases.locate import no_sources, source_file
from triage.cli.drafts import config_option, named_sources, stated_for, stated_targets, which
from triage.cli.options import (
    DIRECTORY,
    compile_options,
    kernel_options,
    note,
    note_error,
    pipeline_options,
    print_json,
    targets_option,
)
from triage.drafts import plans, words
from triage.drafts.drafting import ALL, FIRST, Settled, in_order
from triage.filesystem.files import usable_folder
from triage.harness.request import PartialCompile
from triage.model.outcome import Stage
from triage.model.words import count
from triage.pipeline import Session
from triage.pipeline.reporting import unanswered
from triage.publish.formats.terminal import console
from triage.publish.keep import CaseFolders


@click.command("draft")
@click.argument("name", metavar="FILE.py[::NAME]|FOLDER|PACKAGE")
@kernel_options
@targets_option
@config_option
@compile_options
@click.option("--json", "as_json", is_flag=True, help="Print each case as a document on a line of standard output.")
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Write a case folder for each case into this folder.")
def command(name: str, as_json: bool, folder: Path | None, **values: Any) -> int:
    """Make cases of the jitted kernels in a file, a folder or an installed package, without running any of it.

    Each value is listed with what it rests on: a launch, an annotation, how the kernel uses it, its name. Triton's
    front end is asked whether it takes them; what it refuses is corrected, or reported.

    Exit codes: 0 if cases were made, 3 if no kernel could be drafted.
    """
    file, separator, kernel = name.rpartition("::")
    path = source_file(file) if separator else named_sources(name, values)
    if path is None:
        raise no_sources(name)
    if folder is not None:
        usable_folder("-o", folder)
    writer = CaseFolders(folder) if folder is not None else None
    drafted = refused = 0
    options = pipeline_options(values)
    with console.progress() as progress, Session(options, progress) as session:
        progress.step(f"reading the kernels of {name}")
        project = plans.read(path, name if not separator else file)
        functions = project.chosen(kernel if separator else None)
        if (unread := project.unread()) is not None:
            note(f"{name}: {unread}")
        stated = stated_for(functions, values)
        plans.check_names(stated, functions)
        settings = plans.SurveySettings(
            stated=stated,
            targets=stated_targets(values),
            toolchains=session.toolchains(functions),
            limits=options.limits,
            action=PartialCompile(Stage.TTIR),
            which=which(values, ALL if separator else FIRST),
        )
        for group in in_order(session.settle(functions, settings)):
            for settled in group:
                if settled.draft is None:
                    refused += 1
                    note_error(unanswered(settled))
                    continue
                drafted += 1
                where = writer.write(settled.case) if writer is not None else None
                if as_json:
                    print_json(settled.case.to_json(), indented=False)
                else:
                    _print(project, settled, where)
    summary = f"{count(drafted, 'case')} of {count(len(functions), 'kernel')}, {refused} could not be drafted"
    note(f"{name}: {summary}; {count(len(project.devices), 'function')} that only kernels call")
    return 0 if drafted else 3


def _print(project: plans.ProjectKernels, settled: Settled, where: Path | None) -> None:
    function, output = settled.plan.function, console.output()
    console.line(output, f"{project.file(function)}:{function.line}: {settled.label} for {settled.case.target}", "bold")
    if settled.draft is not None:
        for line in words.lines(settled.draft):
            console.paragraph(output, line, hanging=2)
    if settled.unclear is not None:
        console.paragraph(output, settled.unclear, style="yellow", hanging=2)
    elif settled.attempt is not None and settled.attempt.diagnosis is not None:
        console.paragraph(output, f"fails: {settled.attempt.diagnosis.headline}", style="red", hanging=2)
    if where is not None:
        console.line(output, f"  {where}", style="dim")
