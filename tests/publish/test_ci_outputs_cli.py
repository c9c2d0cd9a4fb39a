"""``--github``, ``--junit`` and ``--sarif`` of ``triage check`` and ``triage log``, as a job runs them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from commands import Run, Triage, call_triage

CRASH = (
    "::error::this is a log's own\n"
    "python: /build/NVGPUToLLVM/NVGPUToLLVMPass.cpp:528: "
    "std::string {anonymous}::WGMMAOpPattern::getPtxAsm(mlir::triton::nvgpu::WGMMAOp) const: "
    'Assertion `supported && "WGMMA ::set-env name=a::b type or shape is not supported"\' failed.\n'
)
OTHER = "k.py:3:4: error: 'tt.dot' op bad ##[add-mask]x\nRuntimeError: PassManager::run failed\n"


def commands(text: str) -> list[str]:
    """The lines that GitHub would take for commands, but for what stands between stop and resume."""
    taken, stopped = [], None
    for line in text.splitlines():
        stripped = line.strip()
        if stopped is not None:
            stopped = None if stripped == f"::{stopped}::" else stopped
        elif stripped.startswith("::stop-commands::"):
            stopped = stripped.removeprefix("::stop-commands::")
        elif stripped.startswith("::") or "##[" in line:
            taken.append(stripped)
    assert stopped is None, "commands are taken again"
    return taken


class TestLog:
    @pytest.fixture
    def job(self, tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "crash.log").write_text(CRASH)
        (tmp_path / "other.log").write_text(OTHER)
        (tmp_path / "clean.log").write_text("all 12 tests passed\n")
        return tmp_path

    def test_all_at_once(self, job: Path, cli: Triage) -> None:
        files = ["crash.log", "other.log", "clean.log", "missing.log"]
        outputs = ["--github", "--junit", "j.xml", "--sarif", "s.json"]
        done = cli("log", *files, *outputs, GITHUB_STEP_SUMMARY=str(job / "summary.md"))
        assert done.code == 2, "one could not be read"
        taken = commands(done.out)
        assert [line.partition(" ")[0] for line in taken] == ["::error", "::error", "::warning"]
        assert "file=crash.log,line=2,title=" in taken[0]
        cases = {case.get("name"): [child.tag for child in case] for case in Xml.parse(job / "j.xml").iter("testcase")}
        assert cases == {
            "crash.log": ["failure"],
            "other.log": ["failure"],
            "clean.log": ["system-out"],
            "missing.log": ["error"],
        }
        (run,) = json.loads((job / "s.json").read_text())["runs"]
        assert len(run["results"]) == 2
        assert run["invocations"][0]["executionSuccessful"] is False
        assert "1 passed, 2 failed, 1 could not tell" in (job / "summary.md").read_text()

    def test_the_summary_of_an_earlier_command_stays(self, job: Path, cli: Triage) -> None:
        (job / "summary.md").write_text("# mine\n")
        cli("log", "clean.log", "--github", GITHUB_STEP_SUMMARY=str(job / "summary.md"))
        assert (job / "summary.md").read_text().startswith("# mine\n## triage log: 1 passed")

    def test_with_json_standard_output_holds_documents_alone(self, job: Path, cli: Triage) -> None:
        done = cli("log", "crash.log", "--json", "--github")
        assert done.document["diagnosis"]["kind"] == "assertion"
        assert len(commands(done.err)) == 1

    def test_without_the_option_nothing_is_a_command(self, job: Path, cli: Triage) -> None:
        assert "::stop-commands::" not in cli("log", "crash.log").out

    @pytest.mark.parametrize("option", ["--junit", "--sarif"])
    def test_a_file_that_cannot_be_written(self, job: Path, cli: Triage, option: str) -> None:
        missing = cli("log", "crash.log", option, "nowhere/file")
        assert (missing.code, missing.out) == (2, "")
        assert missing.err == f"triage: {option} nowhere/file: the folder nowhere does not exist; make it first\n"
        folder = cli("log", "crash.log", option, ".")
        assert (folder.code, folder.err) == (2, f"triage: {option} .: is a folder; name a file in it\n")
        full = cli("log", "crash.log", option, "/dev/full")
        assert (full.code, full.err) == (3, f"triage: {option} /dev/full: cannot be written: No space left on device\n")

    def test_a_summary_that_cannot_be_written(self, job: Path, cli: Triage) -> None:
        done = cli("log", "crash.log", "--github", GITHUB_STEP_SUMMARY="/dev/full")
        assert done.code == 3
        assert done.err == "triage: GITHUB_STEP_SUMMARY /dev/full: cannot be written: No space left on device\n"

    def test_one_file_does_not_keep_the_other_from_being_written(self, job: Path, cli: Triage) -> None:
        done = cli("log", "crash.log", "--junit", "/dev/full", "--sarif", "s.json")
        assert done.code == 3
        assert json.loads((job / "s.json").read_text())["version"] == "2.1.0"

    def test_what_is_written_is_scrubbed(self, job: Path, cli: Triage) -> None:
        secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
        (job / "crash.log").write_text(CRASH.replace("WGMMA ::", f"WGMMA {secret} /home/mallory/x ::"))
        outputs = ["--github", "--junit", "j.xml", "--sarif", "s.json"]
        done = cli("log", "crash.log", *outputs, GITHUB_STEP_SUMMARY=str(job / "summary.md"))
        written = "".join((job / name).read_text() for name in ("j.xml", "s.json", "summary.md"))
        written += "".join(commands(done.out))
        assert [text for text in (secret, "mallory") if text in written] == []


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Run, Path]:
    """Two cases in a checkout, one of which fails, and one that cannot be compiled: its toolchain is no Python."""
    folder = tmp_path_factory.mktemp("job")
    (folder / ".git").mkdir()
    (folder / "src").mkdir()
    (folder / "src" / "kernel.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef bad(x_ptr, BLOCK: tl.constexpr):\n"
        "    tl.store(x_ptr, tl.dot(tl.zeros((BLOCK, 16), tl.float32), tl.zeros((32, BLOCK), tl.float32)))\n"
    )
    (folder / "case").mkdir()
    (folder / "case" / "kernel.py").write_text((folder / "src" / "kernel.py").read_text())
    document = {
        "schema": "triton-triage/case/1",
        "kernel": {"file": "kernel.py", "name": "bad"},
        "signature": {"x_ptr": "*fp32"},
        "constexprs": {},
        "target": "cuda:80",
    }
    (folder / "case" / "case.json").write_text(json.dumps(document))
    arguments = ["src/kernel.py::bad", "case", "--const", "BLOCK=16", "--arg", "x_ptr=*fp32", "--no-suggest"]
    outputs = ["--github", "--junit", folder / "j.xml", "--sarif", folder / "s.json"]
    variables = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_WORKSPACE": str(folder)}
    before = Path.cwd()
    os.chdir(folder)
    try:
        return call_triage(cache, "check", *arguments, *outputs, **variables), folder
    finally:
        os.chdir(before)


class TestCheck:
    def test_a_failure_is_annotated_at_its_line(self, checked: tuple[Run, Path]) -> None:
        done, _ = checked
        assert done.code == 1
        taken = commands(done.out)
        assert len(taken) == 2
        assert "file=src/kernel.py,line=7," in taken[0]

    def test_the_summary_holds_the_report(self, checked: tuple[Run, Path]) -> None:
        text = (checked[1] / "summary.md").read_text()
        assert "❌ failed" in text
        assert "### Environment details" in text

    def test_scanners_find_the_line(self, checked: tuple[Run, Path]) -> None:
        (run,) = json.loads((checked[1] / "s.json").read_text())["runs"]
        (first, second) = run["results"]
        physical = first["locations"][0]["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": "src/kernel.py", "uriBaseId": "SRCROOT"}
        assert physical["region"]["startLine"] == 7
        assert first["partialFingerprints"] == second["partialFingerprints"], "the same bug"

    def test_each_case_is_a_test(self, checked: tuple[Run, Path]) -> None:
        cases = [case.get("name") for case in Xml.parse(checked[1] / "j.xml").iter("testcase")]
        assert cases == ["src/kernel.py::bad", "case"]

    def test_they_are_written_when_nothing_could_be_checked(self, cli: Triage, tmp_path: Path) -> None:
        files = ["--junit", tmp_path / "j.xml", "--sarif", tmp_path / "s.json"]
        done = cli("check", "dot-inner-extents", "--python", "/nowhere/python", *files)
        assert done.code in (2, 3)
        (case,) = Xml.parse(tmp_path / "j.xml").iter("testcase")
        assert [child.tag for child in case] == ["error"]
        unknown = cli("check", "no-such-case", *files)
        assert unknown.code == 2
        (case,) = Xml.parse(tmp_path / "j.xml").iter("testcase")
        assert "no such case" in str(case[0].get("message"))
