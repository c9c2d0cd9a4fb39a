"""Annotations, summaries, JUnit and SARIF: each holds any text, and is what its reader expects.

The published schemas are looked for in the folder that ``TRITON_TRIAGE_TEST_SCHEMAS`` names:
``sarif-schema-2.1.0.json`` from docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas, and ``junit-10.xsd`` of
Jenkins' xUnit plugin, which is in pytest's source distribution on PyPI (testing/example_scripts).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.model.errors import EnvironmentFault
from triage.model.match import Match
from triage.publish.ci.actions import commands, summary
from triage.publish.ci.checked import Checked, CheckedFailure, CheckVerdict, of_error, of_log
from triage.publish.ci.junit import junit
from triage.publish.ci.positions import Checkout, FilePosition
from triage.publish.ci.sarif import sarif

CHECKOUT = Checkout(Path("/checkout"))
HOSTILE = [
    "::error::not from here",
    "%0A::set-env name=x::y",
    "a\r\n::add-mask::b",
    "##[error]x",
    "::stop-commands::x",
    "<script>alert(1)</script> & ]]> -->",
    "@everyone #1 ```` ` ~~~ </details> </summary>",
    "\x00\x1b[31mred\x1b]0;t\x07\u202e\ufffe\ud800",
    "| a | b |\n# title\n\n- x",
    "x" * 20_000,
    "",
    "a, b: c=d",
]


def failing(text: str, **changes: Any) -> Checked:
    """A log whose diagnosis consists of one text."""
    diagnosis = Diagnosis(
        kind=Kind.ASSERTION,
        headline=text,
        message=text,
        pass_name=text or None,
        source=SourceLocation(text or "kernel.py", 3, 4),
        signature=f"v2|{text}",
        stage="llir",
        **changes,
    )
    match = Match(id="known-bug", title=text, cause=text, confidence=1.0, upstream=("https://example.org/1",))
    return of_log(text or "ci.log", [(diagnosis, 7)], [match], lambda one: one, CHECKOUT)


def unknown(text: str) -> Checked:
    return of_error(text or "a case", EnvironmentFault(text), lambda one: one)


MIXED = [
    Checked("good", CheckVerdict.PASSED, "matmul for cuda:90", seconds=1.25),
    failing("it fails"),
    unknown("no Triton here"),
    *(failing(text) for text in HOSTILE),
    *(unknown(text) for text in HOSTILE),
]
ANY = st.text(st.characters(), max_size=60) | st.sampled_from(HOSTILE)


def understood(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it (its ActionCommand): name, properties, data."""
    match = re.fullmatch(r"::([a-z-]+)(?: ([^\r\n]*?))?::([^\r\n]*)", line)
    assert match is not None, line
    name, listed, data = match.groups()
    properties = dict(one.split("=", 1) for one in (listed or "").split(",") if one)
    undo = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}

    def plain(text: str) -> str:
        return re.sub("|".join(undo), lambda found: undo[found[0]], text)

    return name, {key: plain(value) for key, value in properties.items()}, plain(data)


class TestAnnotations:
    def test_a_failure_is_an_error_at_its_line(self) -> None:
        place = FilePosition("src/kernel.py", 12, 5, inside=True)
        failure = CheckedFailure("assertion", "it: fails, 100%", "text", "v2|x", "f", (place,), "llir", "some-pass")
        known = Match(id="known-bug", title="The bug", cause="why", confidence=1.0)
        one = Checked("case", CheckVerdict.FAILED, "k", (replace(failure, known=known, instead=("num_warps=8: ok",)),))
        assert list(commands([one])) == [
            "::error file=src/kernel.py,line=12,col=5,title=it%3A fails%2C 100%25::it: fails, 100%25"
            "%0Acase | k | llir in some-pass%0ACause: The bug (known-bug)%0ACompiles instead: num_warps=8: ok"
        ]

    def test_what_could_not_be_told_is_a_warning(self) -> None:
        assert list(commands([unknown("no disk")])) == ["::warning title=triage could not tell%3A no disk::no disk"]

    def test_what_passed_is_not_annotated(self) -> None:
        assert list(commands([Checked("good", CheckVerdict.PASSED)])) == []

    def test_a_place_outside_of_the_checkout_is_none(self) -> None:
        (line,) = commands([failing("x")])
        assert set(understood(line)[1]) == {"title"}

    @given(ANY)
    def test_no_text_ends_a_command_or_begins_one(self, text: str) -> None:
        for one, name in ((failing(text), "error"), (unknown(text), "warning")):
            (line,) = commands([one])
            assert not set(line) & set("\r\n\x00\x1b\u2028")
            assert understood(line)[0] == name
            assert set(understood(line)[1]) <= {"title", "file", "line", "col"}


class TestSummary:
    def test_it_counts_lists_and_tells(self) -> None:
        text = summary(MIXED[:3], "check", 0, {})
        assert text.startswith("## triage check: 1 passed, 1 failed, 1 could not tell\n")
        assert "| ✅ passed | good | matmul for cuda:90 |" in text
        assert "| ❌ failed | it fails | **it fails** |" in text
        assert "| ❔ could not tell | no Triton here | no Triton here |" in text
        assert text.count("<details>") == 1

    def test_a_report_is_shown_whole(self) -> None:
        assert "\n\nthe report\n\n" in summary([failing("x")], "check", 0, {0: "the report"})

    @pytest.mark.parametrize("used", [0, 1_000_000, (1 << 20) - 100, 2 << 20])
    def test_a_step_has_one_mebibyte(self, used: int) -> None:
        text = summary(
            [failing(f"failure {number}") for number in range(50)], "log", used, dict.fromkeys(range(50), "é" * 60_000)
        )
        assert len(text.encode()) + used <= max(1 << 20, used)
        assert "reports are left out: GitHub takes 1 MiB a step" in text or used > 1_040_000

    @given(ANY)
    def test_no_text_leaves_its_place(self, text: str) -> None:
        """It is read as GitHub's Markdown: two blocks of HTML, which are triage's own, and a code block."""
        made = summary([failing(text), unknown(text)], "log", 0, {})
        tokens = MarkdownIt("commonmark").enable("table").parse(made)
        html = [token.content for token in tokens if token.type == "html_block"]
        assert [one.startswith(("<details><summary>", "</details>")) for one in html] == [True, True]
        assert sum(token.type == "fence" for token in tokens) == 1
        assert sum(token.type == "heading_open" for token in tokens) == 1
        inline = [child for token in tokens for child in token.children or ()]
        assert {child.type for child in inline} <= {"text", "strong_open", "strong_close", "code_inline", "softbreak"}


class TestJunit:
    def test_each_case_is_a_test_case(self) -> None:
        root = Xml.fromstring(junit(MIXED[:3], "triage check").encode())
        (suite,) = root
        assert {key: suite.get(key) for key in ("tests", "failures", "errors", "time")} == {
            "tests": "3",
            "failures": "1",
            "errors": "1",
            "time": "1.250",
        }
        assert [(case.get("name"), [child.tag for child in case]) for case in suite] == [
            ("good", ["system-out"]),
            ("it fails", ["failure"]),
            ("no Triton here", ["error"]),
        ]
        assert suite[1][0].get("type") == "assertion"
        assert "signature: v2|it fails" in str(suite[1][0].text)

    @given(ANY)
    def test_it_can_be_parsed_whatever_the_text(self, text: str) -> None:
        root = Xml.fromstring(junit([failing(text), unknown(text)], "triage log").encode())
        assert [child.tag for child in root.iter()] == [
            "testsuites",
            "testsuite",
            "testcase",
            "failure",
            "testcase",
            "error",
        ]

    def test_it_is_valid(self) -> None:
        xmlschema = pytest.importorskip("xmlschema")
        xmlschema.XMLSchema(str(published("junit-10.xsd"))).validate(junit(MIXED, "triage check"))


class TestSarif:
    def test_a_failure_is_a_result_of_its_rule(self) -> None:
        (run,) = json.loads(sarif(MIXED[:3]))["runs"]
        (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
        assert (rule["id"], rule["helpUri"], result["ruleId"]) == ("known-bug", "https://example.org/1", "known-bug")
        assert len(result["partialFingerprints"]["tritonTriageSignature/v1"]) == 16
        (location,) = result["locations"]
        assert location["logicalLocations"] == [{"name": "it fails", "fullyQualifiedName": "llir/it fails"}]
        assert location["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 4}
        assert run["invocations"] == [
            {
                "executionSuccessful": False,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": "no Triton here: no Triton here"}}
                ],
            }
        ]

    def test_without_an_entry_the_signature_is_the_rule(self) -> None:
        one = failing("x")
        plain = replace(one, failures=(replace(one.failures[0], known=None),))
        (run,) = json.loads(sarif([plain, plain]))["runs"]
        (rule,) = run["tool"]["driver"]["rules"]
        assert rule["id"] == f"signature/{one.failures[0].fingerprint}"
        assert [result["ruleIndex"] for result in run["results"]] == [0, 0]

    def test_it_is_valid(self) -> None:
        schema = json.loads(published("sarif-schema-2.1.0.json").read_text())
        jsonschema = pytest.importorskip("jsonschema")
        validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
        for checked in (MIXED, MIXED[:1], []):
            assert [error.message for error in validator.iter_errors(json.loads(sarif(checked)))] == []

    @given(ANY)
    def test_addresses_are_addresses(self, text: str) -> None:
        (run,) = json.loads(sarif([failing(text)]))["runs"]
        result = run["results"][0]
        for one in result.get("locations", []) + result.get("relatedLocations", []):
            assert re.fullmatch(
                r"(file:///|[A-Za-z0-9._~%-])[A-Za-z0-9._~/%-]*", one["physicalLocation"]["artifactLocation"]["uri"]
            )


def published(name: str) -> Path:
    folder = os.environ.get("TRITON_TRIAGE_TEST_SCHEMAS")
    if not folder or not (Path(folder) / name).is_file():
        pytest.skip(f"TRITON_TRIAGE_TEST_SCHEMAS names no folder with {name}")
    return Path(folder) / name


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "kernel.py").touch()
    (tmp_path / "a b.py").touch()
    (tmp_path.parent / "k.py").touch()
    monkeypatch.chdir(tmp_path / "src")
    yield tmp_path


def test_positions_are_relative_to_the_root_of_the_checkout(checkout: Path) -> None:
    current = Checkout.here({})
    assert current.root == checkout
    assert current.position(Path("kernel.py"), 3) == FilePosition("src/kernel.py", 3, None, inside=True)
    assert current.position(checkout / "a b.py", 0, 0) == FilePosition("a b.py", 1, None, inside=True)
    assert not current.position(Path("/elsewhere/k.py"), 3).inside
    assert current.position(Path("not_here.py"), 3) == FilePosition("not_here.py", 3, None, inside=False)
    assert not current.position(Path("../../k.py"), 3).inside


def test_the_job_s_own_root_counts_where_one_is_in_it(checkout: Path) -> None:
    assert Checkout.here({"GITHUB_WORKSPACE": str(checkout.parent)}).root == checkout.parent
    assert Checkout.here({"GITHUB_WORKSPACE": "/elsewhere"}).root == checkout


def test_scrubbed_before_anything_else() -> None:
    secret = "hunter2-hunter2"

    def scrub(text: str) -> str:
        return text.replace(secret, "<gone>")

    hidden = f"{secret[:5]}\u200b{secret[5:]}"
    for text in (secret, hidden, f"/home/x/{secret}/k.py"):
        diagnosis = Diagnosis(
            Kind.ABORT, text, text, pass_name=text, source=SourceLocation(text, 1), signature=text, stage="llir"
        )
        match = Match(id="known", title=text, cause=text, confidence=1)
        one = of_log(text, [(diagnosis, 1)], [match], scrub, CHECKOUT)
        other = of_error(text, EnvironmentFault(text), scrub)
        made = (
            "\n".join(commands([one, other]))
            + junit([one, other], "x")
            + sarif([one, other])
            + summary([one, other], "x", 0, {})
        )
        assert secret not in made
