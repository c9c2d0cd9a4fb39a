"""Which entries a diagnosis is, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from triage import knowledge, logs
from triage.cases.locate import locate
from triage.knowledge.entry import Advice, Entry, Symptoms
from triage.knowledge.matching import match
from triage.model.diagnosis import Diagnosis, Kind

WGMMA = Diagnosis(
    kind=Kind.ASSERTION,
    headline="Assertion failed in WGMMAOpPattern::getPtxAsm: WGMMA type or shape is not supported",
    message='Assertion `supported && "WGMMA type or shape is not supported"\' failed.',
    function="WGMMAOpPattern::getPtxAsm",
    file="NVGPUToLLVMPass.cpp",
    pass_name="convert-nv-gpu-to-llvm",
    stage="llir",
)
CASE = locate("wgmma-tf32-mn-major")
GENERAL, PLAIN_LOOP = "wgmma-operand-not-k-major", "wgmma-tf32-mn-major-plain-loop"

# Of the entries that ship: a diagnosis, the case's changes, the release, and the entries that must be found.
KNOWN: dict[str, tuple[Diagnosis, dict[str, Any], str, set[str]]] = {
    "3.2.0": (WGMMA, {}, "3.2.0", {GENERAL, PLAIN_LOOP}),
    "3.0.0": (WGMMA, {}, "3.0.0", {GENERAL, PLAIN_LOOP}),
    "after the fix": (WGMMA, {}, "3.3.0", {GENERAL}),
    "3.9.0": (WGMMA, {}, "3.9.0", {GENERAL}),
    "another tile": (WGMMA, {"BLOCK_N": 128}, "3.2.0", {GENERAL, PLAIN_LOOP}),
    "another target": (WGMMA, {"target": "cuda:80"}, "3.2.0", set()),
    "another message": (replace(WGMMA, headline="x", message="y"), {}, "3.2.0", set()),
    "another kind": (replace(WGMMA, kind=Kind.SEGFAULT), {}, "3.2.0", set()),
}


@pytest.mark.parametrize(("diagnosis", "changes", "triton", "expected"), KNOWN.values(), ids=KNOWN.keys())
def test_what_ships(diagnosis: Diagnosis, changes: dict[str, Any], triton: str, expected: set[str]) -> None:
    found = match(diagnosis, knowledge.load_all(), CASE.with_changes(changes), triton)
    assert {one.id for one in found} & {GENERAL, PLAIN_LOOP} == expected


def entry(**symptoms: Any) -> Entry:
    return Entry("x", "title", "cause", "rule", Symptoms(**symptoms), "log")


HOLDS: dict[str, tuple[dict[str, Any], bool]] = {
    "kind": ({"kind": ("assertion",)}, True),
    "one of several kinds": ({"kind": ("segfault", "assertion")}, True),
    "part of the function": ({"function": ("getPtxAsm",)}, True),
    "part of the message": ({"message": ("shape is not supported",)}, True),
    "a text of the headline": ({"message": ("Assertion failed in WGMMA",)}, True),
    "file": ({"file": ("NVGPUToLLVMPass.cpp",)}, True),
    "part of a file": ({"file": ("Pass.cpp",)}, False),
    "pass": ({"pass_name": ("convert-nv-gpu-to-llvm",)}, True),
    "stage": ({"stage": ("ttir", "llir")}, True),
    "an exception that there is not": ({"exception": ("CompilationError",)}, False),
    "all but one": ({"kind": ("assertion",), "function": ("getPtxAsm",), "stage": ("ptx",)}, False),
    "target": ({"kind": ("assertion",), "targets": ("cuda:9",)}, True),
    "another target": ({"kind": ("assertion",), "targets": ("hip:",)}, False),
    "release": ({"kind": ("assertion",), "triton": ">=3.0,<3.3"}, True),
    "another release": ({"kind": ("assertion",), "triton": ">=3.3"}, False),
    "option": ({"kind": ("assertion",), "options": {"num_warps": 4}}, True),
    "option in words": ({"kind": ("assertion",), "options": {"num_warps": ">2"}}, True),
    "an option's default": ({"kind": ("assertion",), "options": {"num_ctas": ">1"}}, False),
}


@pytest.mark.parametrize(("symptoms", "holds"), HOLDS.values(), ids=HOLDS.keys())
def test_every_symptom_that_is_given_must_hold(symptoms: dict[str, Any], holds: bool) -> None:
    assert bool(match(WGMMA, [entry(**symptoms)], CASE, "3.2.0")) is holds


def test_more_telling_symptoms_come_first() -> None:
    entries = [
        replace(entry(kind=("assertion",)), id="kind"),
        replace(entry(kind=("assertion",), function=("getPtxAsm",), message=("shape",)), id="all"),
        replace(entry(function=("getPtxAsm",)), id="function"),
        replace(entry(message=("shape",)), id="message"),
    ]
    found = match(WGMMA, entries, CASE, "3.2.0")
    assert [one.id for one in found] == ["all", "message", "function", "kind"]
    assert all(0 < one.confidence <= 1 for one in found)


def test_a_bare_log_leaves_conditions_on_the_case_open() -> None:
    conditional = [entry(function=("getPtxAsm",), targets=("cuda:9",), triton="<3.3", options={"num_warps": 4})]
    known = match(WGMMA, conditional, CASE, "3.2.0")
    open_ = match(WGMMA, conditional, None)
    assert known[0].confidence > open_[0].confidence > 0


def test_a_match_tells_what_was_tried() -> None:
    known = replace(
        entry(kind=("assertion",)),
        evidence="run",
        reproducers=("a-reproducer",),
        helps=(Advice("num_warps=8", "compiles", "3.2.0"),),
        does_not_help=(Advice("a larger tile", "the same", "3.2.0"),),
    )
    found = match(WGMMA, [known], CASE, "3.2.0")[0]
    assert found.cause == "cause (rule)"
    assert found.evidence == ("a-reproducer",)
    assert found.helps == ("num_warps=8: compiles (3.2.0)",)
    assert found.does_not_help == ("a larger tile: the same (3.2.0)",)
    assert match(WGMMA, [entry(kind=("assertion",))], CASE)[0].evidence == ("log",)


def test_a_kind_with_an_open_condition_is_a_guess_and_no_match() -> None:
    """An entry that rests on the kind and on an option matches a case with that option, and no bare log."""
    found = logs.diagnose_text(
        "OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376."
    )
    assert found is not None
    assert [known.id for known in match(found, knowledge.load_all(), None)] == ["shared-memory-over-limit"]
