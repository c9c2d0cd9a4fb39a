"""The knowledge base: every entry loads, names reproducers that exist, and matches its own failures only.

``known_failures.toml`` has failures, each with the entry that must match it first, and lines that none may match.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rows import each_row

from triage.cases import reproducers
from triage.filesystem.shipped import data_folder
from triage.frontends import documents
from triage.knowledge import Entry, load_all, match, observed
from triage.knowledge.load import load
from triage.knowledge.observed import Behaviour
from triage.logs import diagnose_text
from triage.model import case as cases
from triage.model.case import Case
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.language import Language
from triage.model.target import Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILES = sorted(data_folder("knowledge_base").glob("*.toml"))
ENTRIES = load_all()
KNOWN = tomllib.loads((Path(__file__).parent / "known_failures.toml").read_text())
CUTE_FAILURES = tomllib.loads((Path(__file__).parent / "cute_failures.toml").read_text())["seen"]

LEAST_ENTRIES, LEAST_REPRODUCERS, LEAST_TARGETS = 60, 25, 5
LEAST_OF_CUTE = 45
"""Entries for CuTe DSL that reproducers prove."""
CUTE_RELEASES = ("4.0.0", "4.1.0", "4.2.1", "4.3.5", "4.4.2", "4.5.3", "4.6.3", "4.7.1", "4.8.1")
"""The newest release of each series of CuTe DSL, and the oldest one."""


@each_row(FILES, lambda path: path.stem)
def test_an_entry_loads_and_says_something(path: Path) -> None:
    entry = load(path)
    assert entry.title.strip() == entry.title
    assert not entry.title.endswith(".")
    assert len(entry.cause) > len("too short to explain anything"), "the cause explains itself"
    assert all(url.startswith("https://github.com/") for url in entry.upstream)
    assert len(set(entry.reproducers)) == len(entry.reproducers)


def test_ids_are_unique_and_enough() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert len(set(ids)) == len(ids)
    assert len(ids) >= LEAST_ENTRIES


def test_every_reproducer_that_is_named_exists_and_every_one_is_named() -> None:
    named = {name for entry in ENTRIES for name in entry.reproducers}
    assert named == set(reproducers.names())


def test_the_reproducers_are_many_and_for_many_targets() -> None:
    targets = [documents.load(data_folder("reproducers") / name / "case.json").target for name in reproducers.names()]
    assert len(targets) >= LEAST_REPRODUCERS
    assert len(set(map(str, targets))) >= LEAST_TARGETS
    assert any(target.backend == "hip" for target in targets)


@each_row(reproducers.names())
def test_a_reproducer_is_small_and_says_what_it_shows(name: str) -> None:
    folder = data_folder("reproducers") / name
    case = documents.load(folder / "case.json")
    assert case.release
    assert case.origin.get("title")
    assert (folder / case.file).read_text().startswith('"""')
    if fixed := reproducers.fixed(name):
        variant, change = fixed
        assert change
        assert variant.target == case.target


def compiler_of(name: str) -> str:
    return documents.load(data_folder("reproducers") / name / "case.json").compiler.name


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.reproducers], ids=lambda entry: entry.id)
def test_an_entry_matches_failures_of_the_compiler_of_its_reproducers(entry: Entry) -> None:
    for symptoms in (entry.symptoms, *entry.alternatives):
        assert {compiler_of(name) for name in entry.reproducers} <= set(symptoms.compiler or (entry.compiler.name,))


def test_the_entries_of_cute_are_proved_on_a_release_of_every_series() -> None:
    proved = [entry for entry in ENTRIES if entry.compiler == CUTE and entry.reproducers]
    assert len(proved) >= LEAST_OF_CUTE
    for entry in proved:
        for name in entry.reproducers:
            recorded = observed.read(data_folder("reproducers") / name)["case"]
            case = documents.load(data_folder("reproducers") / name / "case.json")
            own = recorded[case.release or ""]
            assert own.behaviour is Behaviour.FAILS, name
            # A compile that does not end takes a minute on each release.
            assert set(CUTE_RELEASES) <= set(recorded) or own.kind == Kind.TIMEOUT.value, name


def assert_first(diagnosis: Diagnosis | None, entry: str, case: Case | None = None, triton: str | None = None) -> None:
    """The entry matches a diagnosis with more confidence than any other."""
    assert diagnosis is not None
    matches = match(diagnosis, ENTRIES, case, triton)
    assert [known.id for known in matches][:1] == [entry]
    assert len(matches) == 1 or matches[0].confidence > matches[1].confidence


@each_row(KNOWN["seen"], lambda seen: f"{seen['entry']}@{seen['triton']}")
def test_a_failure_seen_on_a_release(seen: dict[str, Any]) -> None:
    fields = dict(seen["diagnosis"])
    diagnosis = Diagnosis(Kind(fields.pop("kind")), fields["message"], **fields)
    target, options = Target.parse(seen["target"]), cases.frozen(seen.get("options", {}))
    case = Case(Path(), "kernel.py", "kernel", cases.frozen(), target=target, options=options)
    assert_first(diagnosis, seen["entry"], case, seen["triton"])


@each_row(KNOWN["lines"], lambda line: str(line["text"]))
def test_a_line_of_a_log(line: dict[str, str]) -> None:
    assert_first(diagnose_text(line["text"]), line["entry"])


@each_row(KNOWN["assertions"], lambda seen: f"{seen['entry']}: {seen['function']}")
def test_an_assertion(seen: dict[str, str]) -> None:
    where = f"/b/lib/{seen['file']}:12: void mlir::{seen['function']}(int)"
    line = f"python: {where}: Assertion `{seen['expression']}' failed."
    assert_first(diagnose_text(line), seen["entry"])


@each_row(KNOWN["unknown"])
def test_what_no_entry_describes(text: str) -> None:
    diagnosis = diagnose_text(text)
    assert diagnosis is None or match(diagnosis, ENTRIES, None) == []


@pytest.mark.parametrize("seen", CUTE_FAILURES, ids=lambda seen: f"{seen['entry']}@{seen['release']}")
def test_a_failure_of_cute_is_that_of_its_entry_and_of_no_entry_for_triton(seen: dict[str, Any]) -> None:
    fields = dict(seen["diagnosis"])
    diagnosis = Diagnosis(Kind(fields.pop("kind")), **fields, compiler=CUTE)
    case = Case(
        Path(), "kernel.py", "host", cases.frozen(), target=Target.parse(seen["target"]), language=Language.CUTE
    )
    assert_first(diagnosis, seen["entry"], case, seen["release"])
    of_triton = replace(case, language=Language.TRITON)
    for_cute_alone = {entry.id for entry in ENTRIES if entry.symptoms.compiler == (CUTE.name,)}
    assert {known.id for known in match(diagnosis, ENTRIES, of_triton)} & for_cute_alone == set()
    both = {entry.id for entry in ENTRIES if CUTE.name in entry.symptoms.compiler}
    assert {known.id for known in match(diagnosis, ENTRIES, case)} <= both


TCGEN05 = "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.tcgen05.wait.st\n"
# What stands beside the failure, and the entry that it decides for.
BESIDE = {
    "nothing": ("", "tcgen05-needs-sm100"),
    "a GPU without tensor memory": ("GPU: RTX PRO 6000 (sm_120)\n", "tcgen05-needs-sm100"),
    "GB300": ("GB300, triton==3.5.0\n", "tcgen05-not-known-for-sm103"),
    "GB300, another release": ("GB300, triton==3.9.0\n", "instruction-not-on-target"),
}


@pytest.mark.parametrize(("beside", "entry"), BESIDE.values(), ids=BESIDE.keys())
def test_what_the_text_tells_of_the_machine_decides(beside: str, entry: str) -> None:
    assert_first(diagnose_text(beside + TCGEN05), entry)


@each_row(ENTRIES, lambda entry: entry.id)
def test_a_family_tells_how_its_members_are_told_apart(entry: Entry) -> None:
    assert not entry.generic or entry.next_steps
