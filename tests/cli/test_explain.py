"""``triage explain``: every rule's table and examples, for people and as documents, and what bad input gets."""

from __future__ import annotations

import json
import shlex

import pytest
from commands import Triage

from triage.legality import rules

EXAMPLES = [(name, example) for name in rules.names() for example in ("", *rules.rule(name).examples)]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name} {example}" for name, example in EXAMPLES])
def test_a_rule_answers_people_and_programs_alike(light: Triage, name: str, example: str) -> None:
    spoken = light("explain", name, *shlex.split(example))
    assert (spoken.code, spoken.err) == (0, "")
    document = json.loads(light("explain", name, *shlex.split(example), "--json").out)
    assert document["schema"] == "triton-triage/explanation/1"
    assert document["rule"] == name
    # Lines are wrapped for the terminal, so words are compared.
    assert " ".join(document["headline"].split()) in " ".join(spoken.out.split())
    assert (document["legal"] is None) == (example == "")
    assert document["legal"] is None or document["legal"] == (document["violations"] == [])
    assert document["sources"]
    if example == "":
        assert document["tables"]
    for violation in document["violations"]:
        assert violation["source"] and violation["message"]
        assert violation["rule"].startswith(f"{name}.")
        assert set(map(str, violation["nearest"])) <= set(map(str, violation["allowed"]))


@pytest.mark.parametrize("name", rules.names())
def test_pictures_fit_a_terminal(light: Triage, name: str) -> None:
    for example in ("", *rules.rule(name).examples):
        for line in light("explain", name, *shlex.split(example)).out.splitlines():
            assert len(line) <= 100, line


def test_without_a_rule_the_rules_are_listed(light: Triage) -> None:
    done = light("explain")
    assert done.code == 0
    for name in rules.names():
        assert f"{name} " in done.out
    listed = json.loads(light("explain", "--json").out)["rules"]
    assert [one["name"] for one in listed] == list(rules.names())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lunch",), "did you mean launch?"),
        (("launch", "--num-warps", "many"), "--num-warps: 'many' is no whole number"),
        (("launch", "--num-warps", "-4"), "give 0 or more"),
        (("launch", "--target", "gpu"), "--target: target 'gpu': write cuda:NN"),
        (("launch", "--warps", "4"), "--warps"),
    ],
)
def test_bad_input_is_one_line(light: Triage, arguments: tuple[str, ...], said: str) -> None:
    done = light("explain", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
