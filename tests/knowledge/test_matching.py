"""Which entries a diagnosis is, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from triage import knowledge, logs
from triage.cases.locate import locate
from triage.knowledge.entry import Advice, Entry, Symptoms
from triage.knowledge.history import Span, contradictions, span, united
from triage.knowledge.matching import match, near_misses
from triage.knowledge.observed import Behaviour, Observation
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.setting import Setting

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


# What the text tells of the machine, the conditions of an entry, and whether it is confirmed, open or refuted.
SETTINGS: dict[str, tuple[Setting, dict[str, Any], str]] = {
    "release": (Setting(triton="3.2.0"), {"triton": "<3.3"}, "confirmed"),
    "another release": (Setting(triton="3.4.0"), {"triton": "<3.3"}, "refuted"),
    "no release": (Setting(), {"triton": "<3.3"}, "open"),
    "torch": (Setting(torch="2.6.0"), {"torch": ">=2.6"}, "confirmed"),
    "another torch": (Setting(torch="2.5.1"), {"torch": ">=2.6"}, "refuted"),
    "GPU": (Setting(targets=("cuda:90",)), {"targets": ("cuda:9",)}, "confirmed"),
    "another GPU": (Setting(targets=("cuda:86",)), {"targets": ("cuda:9",)}, "refuted"),
    "several GPUs": (Setting(targets=("cuda:86", "cuda:80")), {"targets": ("cuda:9",)}, "open"),
    "system": (Setting(system="windows"), {"system": "windows"}, "confirmed"),
    "another system": (Setting(system="linux"), {"system": "windows"}, "refuted"),
}


@pytest.mark.parametrize(("setting", "conditions", "expected"), SETTINGS.values(), ids=SETTINGS.keys())
def test_the_text_itself_confirms_a_condition(setting: Setting, conditions: dict[str, Any], expected: str) -> None:
    sure = match(WGMMA, [entry(function=("getPtxAsm",))], None)[0].confidence
    found = match(replace(WGMMA, setting=setting), [entry(function=("getPtxAsm",), **conditions)], None)
    match expected:
        case "confirmed":
            assert found[0].confidence == sure
        case "open":
            assert 0 < found[0].confidence < sure
        case "refuted":
            assert found == []


def test_a_family_of_causes_is_never_as_sure_as_a_cause() -> None:
    symptoms = {"kind": ("assertion",), "function": ("getPtxAsm",), "message": ("WGMMA type or shape",)}
    family = replace(entry(**symptoms), id="family", generic=True, next_steps=("run it again",))
    found = match(WGMMA, [family, entry(**symptoms)], CASE)
    assert [one.id for one in found] == ["x", "family"]
    assert (found[1].generic, found[1].next_steps) == (True, ("run it again",))
    assert found[1].confidence <= 0.65


def test_one_of_several_ways_to_match_is_enough() -> None:
    known = replace(entry(file=("Other.cpp",)), alternatives=(Symptoms(function=("getPtxAsm",)), Symptoms(kind=("x",))))
    sure = match(WGMMA, [entry(function=("getPtxAsm",))], CASE)[0].confidence
    assert [one.confidence for one in match(WGMMA, [known], CASE)] == [sure]


def test_what_another_tool_printed_gets_no_sure_match() -> None:
    elsewhere = replace(WGMMA, kind=Kind.OTHER)
    assert all(one.confidence < 0.5 for one in match(elsewhere, [entry(function=("getPtxAsm",))], None))


def test_a_chained_failure_is_matched_with_less_confidence() -> None:
    outer = Diagnosis(Kind.PYTHON_EXCEPTION, "KeyError", "KeyError", related=(WGMMA,))
    known = entry(function=("getPtxAsm",))
    found = match(outer, [known], None)
    assert 0 < found[0].confidence < match(WGMMA, [known], None)[0].confidence
    assert match(outer, [replace(known, generic=True)], None) == [], "a family says what this text lacks"


def test_an_ellipsis_stands_for_text_of_the_same_line() -> None:
    assert match(WGMMA, [entry(message=("WGMMA … is not supported",))], None)
    assert not match(WGMMA, [entry(message=("is not supported … WGMMA type",))], None)
    assert not match(replace(WGMMA, headline="x", message="a\nb"), [entry(message=("a…b",))], None)


def test_a_dialect_is_known_by_its_old_name_too() -> None:
    old = replace(WGMMA, headline="x", message="'triton_gpu.local_load' op operand #0 is bad")
    assert match(old, [entry(message=("'ttg.local_load' op",))], None)
    assert match(old, [entry(message=("'triton_gpu.local_load' op",))], None)


def test_other_quotation_marks_count_as_python_s() -> None:
    quoted = replace(WGMMA, headline="x", message="`CudaDriver` object has no attribute \u2018active\u2019")
    assert match(quoted, [entry(message=("'CudaDriver' object has no attribute 'active'",))], None)


def test_a_near_miss_names_what_it_lacks() -> None:
    entries = [
        replace(entry(function=("getPtxAsm",), kind=("segfault",)), id="kind"),
        replace(entry(function=("getPtxAsm",), stage=("ptx",), triton="<3.0"), id="two"),
        replace(entry(message=("WGMMA type or shape is not offered",)), id="words"),
        replace(entry(function=("getPtxAsm",)), id="matches"),
        replace(entry(kind=("assertion",), message=("nothing alike",)), id="far"),
    ]
    near = {miss.entry.id: miss.differences for miss in near_misses(WGMMA, entries, CASE, "3.2.0")}
    assert near == {
        "kind": ("kind: assertion, not segfault",),
        "words": ("message: does not contain 'WGMMA type or shape is not offered'",),
        "two": ("stage: llir, not ptx", "triton: 3.2.0, not <3.0"),
    }


F, C, N = (Observation(behaviour) for behaviour in (Behaviour.FAILS, Behaviour.COMPILES, Behaviour.NOT_APPLICABLE))
SPANS: dict[str, tuple[dict[str, Observation], Span]] = {
    "fixed": ({"3.0.0": F, "3.2.0": F, "3.3.0": C}, Span(None, "3.2.0", "3.3.0")),
    "fixed, somewhere": ({"3.0.0": F, "3.2.0": F, "3.6.0": C}, Span(None, "3.2.0", None)),
    "not fixed": ({"3.1.0": C, "3.2.0": F, "3.10.0": F}, Span("3.2.0", "3.10.0", None)),
    "began, somewhere": ({"3.0.0": C, "3.2.0": F}, Span(None, "3.2.0", None)),
    "came back": ({"3.0.0": F, "3.2.0": C, "3.3.1": F, "3.4.0": C}, Span(None, "3.3.1", "3.4.0")),
    "an API that came later": ({"3.0.0": N, "3.2.0": F}, Span(None, "3.2.0", None)),
    "never": ({"3.0.0": C}, Span()),
}


@pytest.mark.parametrize(("table", "expected"), SPANS.values(), ids=SPANS.keys())
def test_the_releases_of_a_reproducer(table: dict[str, Observation], expected: Span) -> None:
    assert span(table) == expected


@pytest.mark.parametrize(("fixed_on", "first_good"), [("4.6.0", "4.6.0"), ("4.6.3", None)])
def test_the_releases_between_are_those_of_the_reproducer_s_compiler(fixed_on: str, first_good: str | None) -> None:
    assert span({"4.5.2": F, "4.5.3": F, fixed_on: C}, CUTE) == Span(None, "4.5.3", first_good)


def test_an_entry_is_fixed_when_the_last_of_its_reproducers_is() -> None:
    assert united([SPANS["fixed"][1], Span("3.2.0", "3.4.0", "3.6.0"), Span()]) == Span(None, "3.4.0", "3.6.0")
    assert united([SPANS["fixed"][1], SPANS["not fixed"][1]]) == Span(None, "3.10.0", None)


def test_a_match_names_the_releases_of_its_reproducers() -> None:
    found = {one.id: one for one in knowledge.match(WGMMA, knowledge.load_all(), CASE, "3.2.0")}
    assert (found[PLAIN_LOOP].fixed_in, found[PLAIN_LOOP].last_bad) == ("3.3.0", "3.2.0")
    assert (found[GENERAL].fixed_in, found[GENERAL].last_bad) == (None, "3.9.0")


def test_the_releases_of_one_member_are_not_those_of_its_family() -> None:
    legalized = Diagnosis(Kind.MLIR_DIAGNOSTIC, "failed to legalize operation 'arith.mului_extended'", "")
    found = {one.id: one for one in knowledge.match(legalized, knowledge.load_all(), None)}
    family = found["operation-not-legalized"]
    assert (family.generic, family.fixed_in, family.last_bad) == (True, None, None)


def test_a_fix_that_was_not_observed_is_named() -> None:
    known = {one.id: one for one in knowledge.load_all()}
    fixed = known["cluster-scan"]
    assert contradictions([fixed]) == []
    wrong = replace(fixed, fixed_in="3.4.0")
    assert contradictions([wrong]) == ["cluster-scan: fixed_in: says 3.4.0; its reproducers compile from 3.9.0 on"]


def test_an_exception_of_the_front_end_without_its_own_around_it() -> None:
    known = entry(kind=("frontend-error",), message=("is not a text",))
    raised = Diagnosis(
        kind=Kind.PYTHON_EXCEPTION, headline="AssertionError: x is not a text", message="x is not a text"
    )
    assert [found.id for found in match(replace(raised, stage="source"), [known], None)] == [known.id]
    assert match(raised, [known], None) == []


def test_a_message_that_was_cut_off_is_that_of_the_only_entry_that_begins_so() -> None:
    cut = Diagnosis(kind=Kind.ASSERTION, headline="shape is not supp", message="WGMMA type or shape is not supp")
    one = entry(kind=("assertion",), message=("shape is not supported",))
    like = replace(one, id="y", symptoms=replace(one.symptoms, message=("shape is not suppressed",)))
    whole = match(replace(cut, message="shape is not supported"), [one], None)[0]
    assert match(cut, [one], None)[0].confidence < whole.confidence
    assert match(cut, [one, like], None) == []
    long = replace(one, symptoms=replace(one.symptoms, message=("is not supported by this instruction",)))
    half = replace(cut, headline="", message="its shape is not supported")
    assert match(half, [long], None) == []  # ends as any sentence may
    assert match(replace(half, message=f"{half.message} by"), [long], None) != []
    assert match(cut, [one], CASE) == []  # what triage compiles is whole
    assert match(replace(cut, headline="", message="the shape"), [one], None) == []


def test_the_pass_that_a_text_names_outvotes_words_alone() -> None:
    words = entry(kind=("assertion",), message=("shape is not supported",))
    in_pass = replace(words, id="y", symptoms=replace(words.symptoms, pass_name=("convert-nv-gpu-to-llvm",)))
    assert [found.id for found in match(WGMMA, [words, in_pass], None)] == ["y", "x"]
