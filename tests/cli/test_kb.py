"""``triage kb``: the knowledge base read, validated, run again and extended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import DATA, Triage, call_triage
from golden_files import Golden

from triage import knowledge
from triage.cases import reproducers


def test_list_names_every_entry(cli: Triage) -> None:
    done = cli("kb", "list")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == [entry.id for entry in knowledge.load_all()]


def test_show_tells_what_was_observed_in_words(cli: Triage) -> None:
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
    golden(done.err.replace(", ".join(reproducers.names()), "REPRODUCERS"))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_broken_entry_is_named_and_the_others_are_listed(cli: Triage, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("id = 1\n")
    done = cli("kb", "list", "--kb", tmp_path)
    assert done.err == f"triage: {tmp_path}/broken.toml:1: id: must be the file's name, 'broken'\n"
    assert (done.code, len(done.out.splitlines())) == (2, len(knowledge.load_all()))


def test_check_runs_a_reproducer_on_its_own_release(cache: Path) -> None:
    done = call_triage(cache, "kb", "check", "wgmma-tf32-mn-major")
    assert (done.code, done.out) == (0, "1 reproducers, 0 claims no longer hold, 0 not recorded yet\n")


def test_new_drafts_an_entry_that_only_needs_words(cli: Triage, tmp_path: Path) -> None:
    log = tmp_path / "ci.log"
    log.write_text('python: /x/Pass.cpp:5: void A::f(): Assertion `ok && "no such shape"\' failed.\n')
    path = tmp_path / "draft.toml"
    done = cli("kb", "new", log, "-o", path)
    assert done.code == 0
    text = path.read_text()
    assert 'message = "no such shape"' in text
    assert text.count("WRITE: ") == 3
    again = cli("kb", "new", log, "-o", path)
    assert (again.code, again.err) == (2, f"triage: -o {path}: exists already; name another file\n")


def test_new_from_a_case_states_its_target(cache: Path) -> None:
    done = call_triage(cache, "kb", "new", DATA / "undefined-name.json")
    assert (done.code, json.dumps("cuda:90") in done.out) == (0, True)
