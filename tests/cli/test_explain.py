"""``triage explain``: every rule's table and examples, for people and as documents, and the errors of bad input."""

from __future__ import annotations

import pkgutil
import shlex
from importlib import import_module

import pytest
from commands import Triage
from golden_files import Golden

from triage import legality
from triage.legality import rules

EXAMPLES = [(name, example) for name in rules.names() for example in ("", *rules.rule(name).examples)]


def test_every_rule_is_registered() -> None:
    modules = [import_module(module.name) for module in pkgutil.walk_packages(legality.__path__, "triage.legality.")]
    assert {module.RULE.name for module in modules if hasattr(module, "RULE")} == set(rules.names())


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name} {example}" for name, example in EXAMPLES])
def test_a_rule_answers_people_and_programs_alike(cli: Triage, name: str, example: str) -> None:
    spoken = cli("explain", name, *shlex.split(example))
    assert (spoken.code, spoken.err) == (0, "")
    assert [line for line in spoken.out.splitlines() if len(line) > 100] == []
    document = cli("explain", name, *shlex.split(example), "--json").document
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


def test_without_a_rule_the_rules_are_listed(cli: Triage) -> None:
    done = cli("explain")
    assert done.code == 0
    for name in rules.names():
        assert f"{name} " in done.out
    listed = cli("explain", "--json").document["rules"]
    assert [rule["name"] for rule in listed] == list(rules.names())


@pytest.mark.parametrize(
    "arguments",
    [
        ("lunch",),
        ("launch", "--num-warps", "many"),
        ("launch", "--num-warps", "-4"),
        ("launch", "--target", "gpu"),
        ("launch", "--warps", "4"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line(cli: Triage, golden: Golden, arguments: tuple[str, ...]) -> None:
    done = cli("explain", *arguments)
    golden(done.err.replace(", ".join(rules.names()), "RULES"))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
