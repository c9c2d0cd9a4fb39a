"""The HTML page, read with a parser: nothing but its own elements, whatever the texts hold."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hostile import HOSTILE
from samples import document
from test_markdown import holding

from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.visible import visible
from triage.publish.document import Comparison, Document, Section, Usage
from triage.publish.formats import html

ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "footer", "section", "h1", "h2",
    "h3", "p", "br", "ul", "li", "a", "code", "strong", "figure", "figcaption", "pre", "details", "summary",
    "mark", "span", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "line", "rect",
    "text",
}  # fmt: skip


class Page(HTMLParser):
    """Elements with their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.odd: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    def handle_pi(self, data: str) -> None:
        self.odd.append(data)

    def unknown_decl(self, data: str) -> None:
        self.odd.append(data)


def attributes(page: Page, name: str) -> list[str]:
    return [given[name] for _, given in page.elements if name in given]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_leaves_its_place(name: str) -> None:
    shown = visible(HOSTILE[name])
    usage = Usage("1", shown, Resources(2, 1, None, TensorCore.NONE))
    whole = holding(HOSTILE[name])
    section = Section("y", shown, (Comparison(shown, (usage,)),))
    page = Page(html.render(Document(shown, whole.headline, shown, (*whole.sections, section), shown, {shown: 1})))
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    assert page.odd == []
    assert {attribute for _, given in page.elements for attribute in given if attribute.startswith("on")} == set()
    assert [one for one in attributes(page, "href") if not one.startswith("#")] == []
    assert attributes(page, "src") == []
    assert shown.strip("\n") in "".join(page.texts)
    assert sum(tag == "style" for tag, _ in page.elements) == 1


def test_the_page_may_load_nothing() -> None:
    page = Page(html.render(document()))
    policies = [given["content"] for _, given in page.elements if given.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]
    assert {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "form", "base"} == set()
    assert all(one.startswith(("#", "https://github.com/")) for one in attributes(page, "href"))


def test_names_are_there_once_and_links_within_lead_somewhere() -> None:
    page = Page(html.render(document()))
    names = attributes(page, "id")
    assert len(names) == len(set(names))
    assert {one[1:] for one in attributes(page, "href") if one.startswith("#")} <= set(names)


def test_the_failing_operation_is_marked() -> None:
    text = html.render(document())
    assert '<mark id="line-1">    %0 = nvgpu.wgmma %arg1, %arg1, %arg0' in text
    assert "one line is marked: it failed in WGMMAOpPattern::getPtxAsm" in text


def test_the_matrix_says_in_words_what_its_colours_say() -> None:
    text = html.render(document())
    assert '<td class="bad">\u2717 fails A</td>' in text
    assert '<td class="good">\u2713 compiles</td>' in text


def test_the_picture_has_its_numbers_in_its_text() -> None:
    page = Page(html.render(document()))
    pictures = [given for tag, given in page.elements if tag == "svg"]
    assert [given["role"] for given in pictures] == ["img"] * 3
    assert pictures[0]["aria-label"].startswith("Registers/thread. 1: 64; 2: 72; ")
    assert "9: 312 B" in pictures[1]["aria-label"]
