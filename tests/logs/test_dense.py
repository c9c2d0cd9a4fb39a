"""Texts that consist of failures alone: how much of them is read is bounded, and the flood hides no other failure."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from rows import one_in

from triage.ir.locations import resolved
from triage.ir.operations import Operations
from triage.logs import diagnose_text, excerpts, findings, scan
from triage.logs.clean import Cleaner
from triage.logs.finding import Specificity
from triage.logs.recognisers import ORDER, RECOGNISERS
from triage.logs.window import LINES_AFTER, LINES_BEFORE, Window
from triage.model.diagnosis import Kind

CAUSE = "python: /b/lib/Cause.cpp:7: int Cause::f(int): Assertion `the_cause' failed.\n"
COUNT = 1_500
FIRST_LINES, URGENT_LINES = 200, 100
"""In place of the real numbers, so that short texts are beyond them."""
FATAL = [name for name, recogniser in zip(ORDER, RECOGNISERS, strict=True) if recogniser.most is Specificity.FATAL]


def varied(example: str, number: int) -> str:
    """The example with other numbers, as many digits as before."""
    return re.sub(r"\d+", lambda digits: str(number * 7 + int(digits[0][:9]) * 3)[-len(digits[0]) :], example)


FLOODS: dict[str, Callable[[int], str]] = {
    f"{name}-{kind}": build
    for name, recogniser in zip(ORDER, RECOGNISERS, strict=True)
    for example in [next(iter(recogniser.examples))]
    for kind, build in (
        ("same", lambda number, example=example: example),
        ("varied", lambda number, example=example: varied(example, number)),
        ("distinct", lambda number, example=example: f"{example} {number}"),
        ("anchors", lambda number, anchors=recogniser.anchors: f"{' '.join(anchors)}{number}"),
    )
} | {
    "tracebacks": lambda n: f'Traceback (most recent call last):\n  File "/x/k{n}.py", line {n}, in f\nValueError: {n}',
    "pytest": lambda n: f"_____ test_{n} _____\nE   ValueError: {n}",
    "headers": lambda n: f"// -----// IR Dump Before A{n} (a{n}) ('builtin.module' operation) //----- //",
    "failed-pipelines": lambda n: f"k.py:1:2: note: Pipeline failed while executing [`A{n}` on 'builtin.module']",
}


@pytest.mark.parametrize("flood", one_in(7, sorted(FLOODS)))
def test_a_flood_is_not_read_as_a_whole_and_hides_nothing_worse(flood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    class Counting(Cleaner):
        def __call__(self, raw: bytes) -> str:
            nonlocal read
            read += 1
            return super().__call__(raw)

    monkeypatch.setattr(excerpts, "Cleaner", Counting)
    monkeypatch.setattr(excerpts, "FIRST_LINES", FIRST_LINES)
    monkeypatch.setattr(excerpts, "URGENT_LINES", URGENT_LINES)
    monkeypatch.setattr(scan, "MAX_FINDINGS", 50)
    text = "".join(f"{FLOODS[flood](number)}\n" for number in range(COUNT))
    # The cause is not among the last hits of the text.
    text += CAUSE + "".join(f"{FLOODS[flood](number)}\n" for number in range(2 * excerpts.LAST_HITS))
    diagnosed = findings(text)
    excerpt = LINES_BEFORE + LINES_AFTER + 1
    beyond = excerpts.URGENT_LINES + excerpts.LAST_HITS + 3 * excerpt
    assert read <= FIRST_LINES + len(text) // excerpts.BYTES_A_LINE + beyond
    assert len(diagnosed) <= scan.MAX_FINDINGS + len(Specificity)
    if flood.partition("-")[0] not in FATAL:
        assert "the_cause" in str(diagnosed)


def test_repetition_does_not_hide_another_failure() -> None:
    text = "k.py:1:2: error: the same again\n" * (3 * scan.MAX_FINDINGS) + "k.py:9:1: error: another\n"
    headlines = [finding.diagnosis.headline for finding in findings(text)]
    assert headlines.count("the same again") == scan.MAX_REPEATS
    assert headlines[-1] == "another"


def test_long_messages_are_kept_up_to_a_size() -> None:
    text = "".join(f"k.py:{number}:2: error: {number} {'x' * 4000}\n" for number in range(400))
    diagnosed = findings(text)
    assert sum(len(finding.diagnosis.message) for finding in diagnosed) <= scan.MAX_MESSAGES + 4096


def test_the_last_failure_of_a_flood_is_read() -> None:
    noise = "".join(f"returned -{number} Error Exit SIG\n" for number in range(30_000))
    diagnosis = diagnose_text(f"{noise}k.py:9:1: error: at the end\n")
    assert diagnosis is not None
    assert diagnosis.headline == "at the end"


def test_recognisers_are_no_more_specific_than_they_say() -> None:
    for recogniser in RECOGNISERS:
        for example in recogniser.examples:
            window = Window(0, example.split("\n")[0], [], example.split("\n")[1:], (recogniser,))
            finding = recogniser.read(window)
            assert finding is None or finding.specificity <= recogniser.most


def test_aliases_that_multiply_are_not_followed_to_their_ends() -> None:
    known = {f"#loc{depth}": f"#loc{depth + 1}, " * 300 for depth in range(40)}
    assert resolved("#loc0", known) == []


def test_regions_that_are_never_closed_are_not_searched_again_and_again() -> None:
    count = 20_000
    operations = Operations('  "scf.for"() {\n' * count)
    assert len(operations.occurrences) == count
    assert {operations.users_location(offset) for _, offset in operations.occurrences} == {None}


def test_kinds_of_a_dense_text_are_those_of_its_lines() -> None:
    text = "".join(f"ptxas fatal   : Value 'sm_{number}' is not defined\n" for number in range(20_000))
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    assert diagnosis.kind is Kind.PTXAS
