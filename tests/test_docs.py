"""The README says only what holds: its commands are real, its links lead somewhere, its Python runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from commands import Run, Triage

from triage.cases.locate import locate
from triage.cli.main import cli
from triage.legality import rules

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "knowledge_base/README.md", ROOT / "reproducers/README.md"]
README = PAGES[0].read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    assert [link for link in links if not link.startswith("https://") and not (page.parent / link).exists()] == []


def test_the_report_that_is_shown_is_the_one_that_is_printed(check: Triage, reproduced: Run) -> None:
    """But for what was left out, and for suggestions, which depend on the Triton beside triage."""
    shown = next(block for block in blocks("console") if "triage check" in block).splitlines()
    printed = check("wgmma-tf32-mn-major").out.splitlines()
    said = shown[1 : shown.index("What compiles instead") + 1]
    assert [line for line in said if "…" not in line and line not in printed] == []


def test_the_explanations_that_are_shown_are_those_that_are_printed(cli: Triage) -> None:
    block = next(block for block in blocks("console") if "triage explain" in block)
    for command, *shown in (part.splitlines() for part in block.split("$ ")[1:]):
        printed = cli(*shlex.split(command)[1:]).out.splitlines()
        assert len(printed) > len(shown)
        assert [line for line in shown if "…" not in line and line not in printed] == []


def test_the_case_that_is_made_from_options_is_the_reproducer() -> None:
    command = next(block for block in blocks("sh") if "kernel.py::matmul" in block)
    words = shlex.split(command.replace("\\\n", ""))
    context = cli.make_context("triage", words[1:])
    assert context.invoked_subcommand == "check" or words[1] == "check"
    check = cli.get_command(context, "check")
    assert check is not None
    given = check.make_context("check", words[2:]).params
    case = locate(str(ROOT / given["cases"][0]), given)
    stored = locate("wgmma-tf32-mn-major")
    for name in ("signature", "constexprs", "options", "target"):
        assert getattr(case, name) == getattr(stored, name)
    assert given["triton"] == stored.triton


def test_its_python_runs(
    reproduced: Run, own_cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    for code in blocks("python"):
        compile(code, "README.md", "exec")
    (code,) = [one for one in blocks("python") if "triage.check(" in one]
    exec(compile(code, "README.md", "exec"), {})
    assert "WGMMA type or shape is not supported" in capsys.readouterr().out


def test_what_sets_up_the_tests_is_what_ci_runs() -> None:
    assert ".ci/run\n" in blocks("sh")
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def test_commands_and_options_exist() -> None:
    named = set(re.findall(r"`triage ([a-z]+)", README))
    context = cli.make_context("triage", ["--help"], resilient_parsing=True)
    assert named <= set(cli.list_commands(context))
    commands = [cli.get_command(context, name) for name in ("attach", "check", "matrix", "minimize", "report", "run")]
    known = {flag for command in [*commands, cli] if command for parameter in command.params for flag in parameter.opts}
    known |= {f"--{parameter.name}" for name in rules.names() for parameter in rules.rule(name).parameters}
    known |= set(re.findall(r"--[a-z-]+", (ROOT / "triage/integrations/pytest_plugin.py").read_text())) | {"--junitxml"}
    assert set(re.findall(r"`?(--[a-z][a-z-]*)", README)) <= known
