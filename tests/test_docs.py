"""Every README is true: its commands and options exist, its links lead somewhere, its Python runs."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import pytest
from commands import MAIN_BUDGET, MAIN_JOB, Run, Triage

import triage
from triage.cases.locate import locate
from triage.cli.help import topics
from triage.cli.main import cli as triage_command
from triage.filesystem.shipped import documentation_files
from triage.pipeline import Options
from triage.suggest.budget import Budget

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *documentation_files()]
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
TEXTS = {page: page.read_text() for page in PAGES}
OTHER_OPTIONS = {"--help", "--junitxml", "--update-golden"}
"""Options that the pages name and no command declares."""


def blocks(language: str, page: Path) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXTS[page], re.MULTILINE | re.DOTALL)


def all_blocks(language: str) -> list[str]:
    return [block for page in PAGES for block in blocks(language, page)]


def anchors(page: Path) -> set[str]:
    """The fragments that GitHub gives the page's headings."""
    headings = re.findall(r"^#+ (.+)$", TEXTS.get(page) or page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", TEXTS[page]):
        path, _, fragment = link.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not link.startswith("https://") and not (file.exists() and (not fragment or fragment in anchors(file))):
            broken.append(link)
    assert broken == []


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    assert len(TEXTS[README].splitlines()) <= 150
    missing = [name for name, page in topics().items() if f"{page.file.relative_to(ROOT)}#{name}-" not in TEXTS[README]]
    assert missing == ["entries"], "each help topic is in the index, but for the format that the page kb introduces"


def test_the_report_that_is_shown_is_the_one_that_is_printed(check: Triage, reproduced: Run) -> None:
    """Except for the lines that are left out, and for suggestions, which depend on the Triton beside triage."""
    shown = next(block for block in blocks("console", README) if "triage check" in block).splitlines()
    printed = check(*MAIN_JOB).out.splitlines()
    facts = shown[1 : shown.index("What compiles instead") + 1]
    assert [line for line in facts if "…" not in line and line not in printed] == []


def test_the_explanations_that_are_shown_are_those_that_are_printed(cli: Triage) -> None:
    block = next(block for block in all_blocks("console") if "triage explain" in block)
    for command, *shown in (part.splitlines() for part in block.split("$ ")[1:]):
        printed = cli(*shlex.split(command)[1:]).out.splitlines()
        assert len(printed) > len(shown)
        assert [line for line in shown if "…" not in line and line not in printed] == []


def test_the_case_that_is_made_from_options_is_the_reproducer() -> None:
    command = next(block for block in all_blocks("sh") if "kernel.py::matmul" in block)
    words = shlex.split(command.replace("\\\n", ""))
    assert words[:2] == ["triage", "check"]
    options = subcommand(triage_command, "check").make_context("check", words[2:]).params
    case = locate(str(ROOT / options["cases"][0]), options)
    stored = locate("wgmma-tf32-mn-major")
    for name in ("signature", "constexprs", "options", "target"):
        assert getattr(case, name) == getattr(stored, name)
    assert options["triton"] == stored.triton


def test_the_python_runs(
    reproduced: Run, own_cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    options = Options(budget=Budget(compiles=MAIN_BUDGET))
    monkeypatch.setattr(triage, "check", partial(triage.check, options=options))
    for code in all_blocks("python"):
        compile(code, "README.md", "exec")
    (code,) = [code for code in all_blocks("python") if "triage.check(" in code]
    exec(compile(code, "README.md", "exec"), {})
    assert "WGMMA type or shape is not supported" in capsys.readouterr().out


def test_what_sets_up_the_tests_is_what_ci_runs() -> None:
    assert ".ci/run\n" in blocks("sh", README)
    assert os.access(ROOT / ".ci/run", os.X_OK)


def subcommand(group: click.Command, name: str) -> click.Command:
    """One command of a group."""
    assert isinstance(group, click.Group)
    command = group.get_command(click.Context(group), name)
    assert command is not None, f"no command {name}"
    return command


def flags(command: click.Command) -> Iterator[str]:
    """The options of a command and of its subcommands."""
    for parameter in command.params:
        yield from parameter.opts
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from flags(subcommand(command, name))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_exist(page: Path) -> None:
    named = re.findall(r"(?:^(?:- run: |\$ )?|`)triage ([a-z][a-z-]*)(?: ([a-z-]+))?", TEXTS[page], re.MULTILINE)
    for name, second in named:
        command = subcommand(triage_command, name)
        if isinstance(command, click.Group) and second:
            subcommand(command, second)
        if name == "help" and second:
            assert second in topics()


@pytest.fixture(scope="module")
def known_options() -> set[str]:
    plugin = (ROOT / "triage/integrations/pytest_plugin.py").read_text()
    return {*flags(triage_command), *re.findall(r"--[a-z-]+", plugin), *OTHER_OPTIONS}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_options_exist(page: Path, known_options: set[str]) -> None:
    assert set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", TEXTS[page])) <= known_options
