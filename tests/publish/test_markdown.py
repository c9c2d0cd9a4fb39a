"""The Markdown, read as GitHub reads it (with a parser of CommonMark and its tables): nothing leaves its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from golden_files import Golden
from hostile import HOSTILE
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from samples import document

from triage.model.visible import visible
from triage.publish.document import (
    Bullets,
    Code,
    Document,
    Heading,
    Listing,
    Paragraph,
    ReportCell,
    ReportTable,
    Section,
    Strong,
    WebLink,
    Weight,
)
from triage.publish.formats import markdown

OWN_HTML = re.compile(r"<details><summary>[^<>]*</summary>\s*|</details>\s*|</?sub>|<br>")
PINGS = re.compile(
    r"@[A-Za-z0-9]|(?:^|[^&\w])#\d|\b(?i:GH)-\d|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b|(?i:https?://|www\.)\S|:[a-z0-9_+-]+:"
)


def tokens(text: str) -> Iterator[Token]:
    """All of them, those in a line included."""
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text):
        yield token
        yield from token.children or ()


def outside_code(text: str) -> str:
    """Words that GitHub looks for mentions and references in. An entity stands for its character there."""
    return "\n".join(token.content for token in tokens(text) if token.type == "text")


def holding(text: str) -> Document:
    """A document with the text in each place that a foreign text may have."""
    shown = visible(text)
    line = (shown, Code(shown), Strong(shown))
    cell = ReportCell(line)
    blocks = (
        Paragraph(line),
        Bullets((line, (shown,))),
        Heading((shown,)),
        Listing(" ".join(shown.split()), shown, folded=False, marked=frozenset({0}), why=shown),
        Listing(" ".join(shown.split()), shown, "python"),
        ReportTable(shown, ("a", shown), ((cell, cell),)),
    )
    return Document("title", " ".join(shown.split()), None, (Section("x", "Section", blocks),), "made", {shown: 1})


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_leaves_its_place(name: str) -> None:
    text = visible(HOSTILE[name])
    made = markdown.render(holding(HOSTILE[name]))
    found = list(tokens(made))
    html = [token.content for token in found if token.type in ("html_block", "html_inline")]
    assert [one for one in html if not OWN_HTML.fullmatch(one)] == []
    assert [token.type for token in found if token.type in ("link_open", "image")] == []
    assert [token for token in found if token.type == "fence" and token.content.rstrip("\n") == text.rstrip("\n")], (
        "whole"
    )
    assert [token.markup for token in found if token.type == "heading_open"] == ["###", "####"]
    assert len([token for token in found if token.type == "tr_open"]) == 2
    assert len([token for token in found if token.type in ("th_open", "td_open")]) == 4
    assert len([token for token in found if token.type == "bullet_list_open"]) == 1
    assert not [
        token
        for token in found
        if token.type in ("ordered_list_open", "blockquote_open", "code_block", "em_open", "s_open")
    ]
    assert PINGS.findall(outside_code(made)) == []


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([*"`*_[]()<>|~\\@#:&!-+=.\n \t1", "```", "<b>", "](", "GH-1", "a"]), st.text(max_size=3)
        ),
        max_size=14,
    ).map("".join)
)
def test_any_text_stays_in_its_place(text: str) -> None:
    made = markdown.render(holding(text))
    found = list(tokens(made))
    html = [token.content for token in found if token.type in ("html_block", "html_inline")]
    assert [one for one in html if not OWN_HTML.fullmatch(one)] == []
    assert not [
        token.type
        for token in found
        if token.type in ("link_open", "image", "ordered_list_open", "blockquote_open", "em_open")
    ]
    assert [token.markup for token in found if token.type == "heading_open"][:1] == ["###"]
    assert PINGS.findall(outside_code(made)) == []


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="ab`|\\ \n~<", max_size=30))
def test_code_is_what_it_was(text: str) -> None:
    found = [token for token in tokens(f"x {markdown.code(text)} y") if token.type == "code_inline"]
    assert [" ".join(token.content.split()) for token in found] == ([" ".join(text.split())] if text.split() else [])
    fences = [token for token in tokens(markdown.fenced(text)) if token.type == "fence"]
    assert [token.content for token in fences] == [f"{text}\n"]


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="ab `*_[]()<>|~\\@#&$1.-", max_size=30))
def test_words_read_as_they_were(text: str) -> None:
    words = " ".join(text.split())
    read = "".join(
        token.content for token in tokens(f"x{markdown.escaped(words)}x") if token.type in ("text", "text_special")
    )
    assert read.replace("\u200b", "") == f"x{words}x"


def test_a_link_is_only_what_was_made_one() -> None:
    links = [
        token.attrGet("href")
        for token in tokens(markdown.line((WebLink("https://a.example/x?y=1", "o/r#1"), " [b](c)")))
        if token.type == "link_open"
    ]
    assert links == ["https://a.example/x?y=1"]


# ---- the whole report


def test_the_whole_report(golden: Golden) -> None:
    golden(markdown.render(document()))


def test_nobody_s_folder_is_in_it() -> None:
    made = markdown.render(document())
    assert "jdoe" not in made
    assert "/home" not in made


def test_it_fits_and_says_what_does_not() -> None:
    module = "\n".join(f"%{number} = arith.addi %a, %b : i32 loc(#loc)" for number in range(20_000))
    log = "\n".join(f"line {number} of the log" for number in range(20_000))
    whole = document()
    extra = (
        Section("ir", "IR", (Listing("the module", module, "mlir", weight=Weight.IR),)),
        Section("log", "Log", (Listing("the log", log, weight=Weight.LOG),)),
        Section("more", "More", (Listing("the stack", log, weight=Weight.STACK),)),
    )
    made = markdown.render(replace(whole, sections=(*whole.sections, *extra)))
    assert len(made) <= 64_000
    assert "Left out to stay below GitHub's 65536 characters: " in made
    assert "the stack (" in made.rpartition("Left out")[2]
    # The reproducer outlives everything that says less, and of the module its beginning and end are kept.
    assert "_compile(matmul)" in made
    assert "%0 = arith.addi" in made
    assert "%19999 = arith.addi" in made


@pytest.mark.parametrize("most", [64_000, 20_000, 8_000])
def test_whatever_is_too_long_it_fits(most: int) -> None:
    long = "a_word " * 30_000
    whole = document()
    blocks = (
        Paragraph((long,)),
        Bullets(((long,),)),
        Listing("kernel", long.replace(" ", "\n"), weight=Weight.ESSENTIAL),
    )
    made = markdown.render(replace(whole, sections=(*whole.sections, Section("x", "X", blocks))), most)
    assert len(made) <= most
