"""``triage kb``: the knowledge base read, validated, run again and extended."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from commands import DATA, Triage, call_triage
from golden_files import Golden

from triage import knowledge
from triage.cases.locate import locate
from triage.filesystem.shipped import data_folder
from triage.knowledge import observed
from triage.knowledge.entry import PLACEHOLDER
from triage.knowledge.verify import Failure, contradictions, is_recorded
from triage.model.diagnosis import Diagnosis, Kind


def test_list_names_every_entry(cli: Triage) -> None:
    done = cli("kb", "list")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == [entry.id for entry in knowledge.load_all()]


def test_show_names_the_releases_of_each_behaviour_in_words(cli: Triage) -> None:
    """Not by colour alone: this is a pipe."""
    done = cli("kb", "show", "wgmma-operand-not-k-major")
    assert done.code == 0
    assert "Rule: PTX ISA, wgmma.mma_async" in done.out
    assert "  wgmma-tf32-mn-major: fails " in done.out
    assert "  wgmma-tf32-mn-major (fixed): compiles " in done.out


def test_json(cli: Triage) -> None:
    assert cli("kb", "show", "wgmma-operand-not-k-major", "--json").document["id"] == "wgmma-operand-not-k-major"
    assert len(cli("kb", "list", "--json").document) == len(knowledge.load_all())


@pytest.mark.parametrize(
    "arguments",
    [("show", "wgmma-operand-not"), ("show", "zzz"), ("check", "zzz"), ("new", "zzz")],
    ids=" ".join,
)
def test_a_mistake_is_one_line(cli: Triage, golden: Golden, arguments: tuple[str, ...]) -> None:
    done = cli("kb", *arguments)
    golden(done.err)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_broken_entry_is_named_and_the_others_are_listed(cli: Triage, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("id = 1\n")
    done = cli("kb", "list", "--kb", tmp_path)
    assert done.err == f"triage: {tmp_path}/broken.toml:1: id: must be the file's name, 'broken'\n"
    assert (done.code, len(done.out.splitlines())) == (2, len(knowledge.load_all()))


def test_check_runs_a_reproducer_on_its_own_release(cache: Path) -> None:
    done = call_triage(cache, "kb", "check", "wgmma-tf32-mn-major")
    assert (done.code, done.out) == (0, "1 reproducer, 0 claims no longer hold, 0 not recorded yet\n")


@pytest.mark.slow
def test_a_reproducer_of_cute_runs_on_releases_of_its_own_compiler(cache: Path) -> None:
    done = call_triage(cache, "kb", "check", "cute-barrier-id", "wgmma-tf32-mn-major", "--cute", "4.8.1")
    assert (done.code, done.out) == (0, "2 reproducers, 0 claims no longer hold, 0 not recorded yet\n")


def test_releases_of_another_compiler_than_any_reproducer_s_are_a_mistake(cli: Triage, golden: Golden) -> None:
    done = cli("kb", "check", "wgmma-tf32-mn-major", "--cute", "4.8.1")
    assert (done.code, done.out) == (2, "")
    golden(done.err)


def test_missing_runs_what_is_not_recorded(cli: Triage, tmp_path: Path) -> None:
    done = cli("kb", "check", "wgmma-tf32-mn-major", "--missing")
    assert (done.code, done.out) == (0, "1 reproducer, 0 claims no longer hold, 0 not recorded yet\n")
    folder = tmp_path / "wgmma-tf32-mn-major"
    shutil.copytree(data_folder("reproducers") / folder.name, folder)
    recorded = observed.read(folder)
    assert all(is_recorded(folder, release) for release in recorded["case"])
    observed.write(folder, {"case": recorded["case"], "fixed": {}})
    assert not any(is_recorded(folder, release) for release in recorded["case"])


LOG = 'python: /x/Pass.cpp:5: void A::f(): Assertion `ok && "no such shape"\' failed.\n'


def test_a_draft_takes_its_id_from_the_file_and_needs_only_words(cli: Triage, golden: Golden, tmp_path: Path) -> None:
    log = tmp_path / "ci.log"
    log.write_text(LOG)
    path = tmp_path / "no-such-shape.toml"
    done = cli("kb", "new", log, "-o", path)
    assert (done.code, done.out) == (0, "")
    golden(path.read_text(), "draft")
    golden(done.err, "note")
    unfinished = cli("kb", "check", "no-such-shape", "--kb", tmp_path)
    assert unfinished.code == 2
    golden(unfinished.err, "unfinished")
    finished_folder = tmp_path / "finished"
    finished_folder.mkdir()
    (finished_folder / path.name).write_text(path.read_text().replace(PLACEHOLDER, ""))
    finished = cli("kb", "check", "no-such-shape", "--kb", finished_folder)
    assert (finished.code, finished.err) == (0, "")


@pytest.mark.parametrize("name", ["draft.toml", "draft.txt"])
def test_a_file_that_no_draft_may_be_written_to(cli: Triage, golden: Golden, tmp_path: Path, name: str) -> None:
    log = tmp_path / "ci.log"
    log.write_text(LOG)
    (tmp_path / "draft.toml").write_text("")
    done = cli("kb", "new", log, "-o", tmp_path / name)
    assert (done.code, done.out) == (2, "")
    golden(done.err)


def test_a_known_failure_is_named_with_its_entry(cli: Triage, golden: Golden, tmp_path: Path) -> None:
    log = tmp_path / "ci.log"
    log.write_text("ValueError: arange's range must be a power of 2\n")
    done = cli("kb", "new", log)
    assert (done.code, done.out.splitlines()[0]) == (0, 'id = "valueerror-arange-s-range-must-be-a"')
    golden(done.err)


def test_new_from_a_case_names_its_target(cache: Path) -> None:
    done = call_triage(cache, "kb", "new", DATA / "undefined-name.json")
    assert (done.code, json.dumps("cuda:90") in done.out) == (0, True)


ENTRY = """\
id = "{name}"
title = "A title"
cause = "Because."
rule = "A document, a section"
evidence = "run"
reproducers = ["wgmma-tf32-mn-major"]

[match]
kind = "{kind}"
message = "WGMMA type or shape is not supported"
pass = "convert-nv-gpu-to-llvm"
function = "getPtxAsm"
"""


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("assertion", 2),
        ("unreachable", 0),  # neither matches; an entry that ships also names the reproducer, and matches it
    ],
)
def test_entries_that_claim_one_failure_with_equal_confidence(
    cache: Path, golden: Golden, tmp_path: Path, kind: str, code: int
) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.toml").write_text(ENTRY.format(name=name, kind=kind))
    done = call_triage(cache, "kb", "check", "first", "--kb", tmp_path)
    assert done.code == code
    golden(done.err)


def test_an_entry_that_does_not_match_its_own_reproducer() -> None:
    case = locate("wgmma-tf32-mn-major")
    diagnosis = Diagnosis(Kind.SEGFAULT, "died of SIGSEGV", "Segmentation fault")
    failure = Failure("wgmma-tf32-mn-major", case, "3.2.0", diagnosis, is_own_release=True)
    (line,) = contradictions([failure], knowledge.load_all())
    assert line.endswith("match: does not match wgmma-tf32-mn-major on Triton 3.2.0: died of SIGSEGV")
    assert contradictions([replace(failure, is_own_release=False)], knowledge.load_all()) == []
