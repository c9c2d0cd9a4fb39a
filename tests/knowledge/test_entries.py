"""The entries that ship with triage, and the errors of invalid files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden_files import Golden
from rows import each_row

from triage import knowledge
from triage.cases import reproducers
from triage.filesystem.shipped import data_folder
from triage.knowledge.entry import Entry
from triage.knowledge.load import load
from triage.model.errors import InputError
from triage.suggest.rewrites.catalogue import RECIPES

GOOD = """\
id = "an-entry"
title = "A title"
cause = "Because."
rule = "A document, a section"
evidence = "log"
fixed_in = "3.3.0"
upstream = ["https://example.org/1"]

[match]
kind = "assertion"
function = ["f", "g"]
message = "is not supported"
targets = ["cuda:9"]
triton = ">=3.0,<3.3"
options = { num_ctas = ">1" }

[[helps]]
change = "num_warps=8"
observed = "compiles"
ran = "Triton 3.2.0, cuda:90"
"""
FILES = sorted(data_folder("knowledge_base").glob("*.toml"))


@each_row(FILES, lambda path: path.stem)
def test_every_entry_that_ships_is_fit_to_use(path: Path) -> None:
    entry = load(path)
    assert all(url.startswith("https://") for url in entry.upstream)
    assert [name for name in entry.reproducers if reproducers.folder(name) is None] == []


def test_all_of_them_are_loaded() -> None:
    entries = knowledge.load_all()
    assert knowledge.problems() == ()
    assert [entry.id for entry in entries] == [path.stem for path in FILES]


def test_two_entries_do_not_claim_the_same() -> None:
    """Equal symptoms would name two causes for one failure."""
    symptoms = [repr(entry.symptoms) for entry in knowledge.load_all()]
    assert len(set(symptoms)) == len(symptoms)


def written(folder: Path, text: str) -> Path:
    path = folder / "an-entry.toml"
    path.write_text(text)
    return path


def test_every_field_is_read(tmp_path: Path) -> None:
    entry = load(written(tmp_path, GOOD))
    symptoms = entry.symptoms
    assert (entry.id, entry.title, entry.cause, entry.rule) == (
        "an-entry", "A title", "Because.", "A document, a section",
    )  # fmt: skip
    assert (entry.evidence, entry.fixed_in, entry.upstream) == ("log", "3.3.0", ("https://example.org/1",))
    assert (symptoms.kind, symptoms.function, symptoms.message) == (("assertion",), ("f", "g"), ("is not supported",))
    assert (symptoms.targets, symptoms.triton, dict(symptoms.options)) == (
        ("cuda:9",),
        ">=3.0,<3.3",
        {"num_ctas": ">1"},
    )
    assert entry.helps[0].change == "num_warps=8"


@pytest.mark.parametrize(
    ("fields", "compilers"),
    [
        ('reproducers = ["cute-launch-grid"]', ("cute",)),
        ('reproducers = ["wgmma-tf32-mn-major"]', ()),
        ("reproducers = []", ()),
    ],
)
def test_an_entry_is_for_the_compiler_of_its_reproducers(
    tmp_path: Path, fields: str, compilers: tuple[str, ...]
) -> None:
    entry = load(written(tmp_path, GOOD.replace('evidence = "log"', f'evidence = "log"\n{fields}')))
    assert entry.symptoms.compiler == compilers
    stated = GOOD.replace('kind = "assertion"', 'kind = "assertion"\ncompiler = "triton"')
    entry = load(written(tmp_path, stated.replace('evidence = "log"', f'evidence = "log"\n{fields}')))
    assert entry.symptoms.compiler == ("triton",)


# A line of GOOD, and its replacement.
BAD: dict[str, tuple[str, str]] = {
    "id": ('id = "an-entry"', 'id = "other"'),
    "title": ('title = "A title"', "title = 1"),
    "empty cause": ('cause = "Because."', 'cause = "  "'),
    "draft": ('title = "A title"', 'title = "WRITE: the failure"'),
    "draft advice": ('ran = "Triton 3.2.0', 'ran = "WRITE: Triton 3.2.0'),
    "rewrite": ('evidence = "log"', 'evidence = "log"\nrewrites = ["no-such"]'),
    "no rule": ('rule = "A document, a section"', ""),
    "evidence": ('evidence = "log"', 'evidence = "hearsay"'),
    "no reproducer": ('evidence = "log"', 'evidence = "run"'),
    "fixed_in": ('fixed_in = "3.3.0"', "fixed_in = 3.3"),
    "fixed_in words": ('"3.3.0"', '"soon"'),
    "upstream": ('upstream = ["https://example.org/1"]', "upstream = [1]"),
    "unknown": ('fixed_in = "3.3.0"', 'fixed = "3.3.0"'),
    "unknown symptom": ('kind = "assertion"', 'kinds = ["x"]'),
    "kind": ('kind = "assertion"', 'kind = "explosion"'),
    "generic": ('evidence = "log"', 'evidence = "log"\ngeneric = "yes"'),
    "system": ('kind = "assertion"', 'kind = "assertion"\nsystem = "amiga"'),
    "alternatives": ('options = { num_ctas = ">1" }', 'or = "x"'),
    "alternative": ('options = { num_ctas = ">1" }', 'or = [{ kinds = "x" }]'),
    "range": ('">=3.0,<3.3"', '"before 3.3"'),
    "options": ('{ num_ctas = ">1" }', "[1]"),
    "advice": ('observed = "compiles"', ""),
    "advice text": ('observed = "compiles"', "observed = 1"),
    "not TOML": ("[match]", "[match"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), BAD.values(), ids=BAD.keys())
def test_a_wrong_field_is_named_with_file_line_and_fix(tmp_path: Path, golden: Golden, old: str, new: str) -> None:
    assert GOOD.count(old) == 1
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        load(path)
    golden(str(caught.value).replace(", ".join(sorted(RECIPES)), "RECIPES"))
    assert str(caught.value).startswith(f"{path}:")


def test_an_entry_that_would_match_everything(tmp_path: Path) -> None:
    text = re.sub(r"\[match\].*?\n\n", '[match]\ntargets = ["cuda:9"]\n\n', GOOD, flags=re.DOTALL)
    with pytest.raises(InputError, match="match: would match everything; give one of kind, function"):
        load(written(tmp_path, text))


def test_a_broken_file_of_a_user_does_not_hide_the_others(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    (tmp_path / "broken.toml").write_text("id = ")
    entries, problems = knowledge.load_all((tmp_path,)), knowledge.problems((tmp_path,))
    assert "an-entry" in {entry.id for entry in entries}
    assert len(entries) == len(FILES) + 1
    assert [line.partition(":")[0] for line in problems] == [str(tmp_path / "broken.toml")]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert knowledge.problems((tmp_path / "no",)) == (f"{tmp_path / 'no'}: no such folder of knowledge-base entries",)


def test_a_user_s_entry_replaces_the_one_that_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = FILES[0].stem
    (tmp_path / f"{name}.toml").write_text(GOOD.replace("an-entry", name))
    monkeypatch.setenv("TRITON_TRIAGE_KB", str(tmp_path))
    found: dict[str, Entry] = {entry.id: entry for entry in knowledge.load_all()}
    assert found[name].title == "A title"
