"""The page in a real browser: no error, no request, nothing that moves sideways on a phone, no violation of WCAG."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browsers import Violations
from hostile import HOSTILE
from samples import copied, document

from triage.publish.formats import html


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A real report, and one in which every text is hostile."""
    folder = tmp_path_factory.mktemp("pages")
    hostile = copied(folder)
    path = hostile / "check" / "report.json"
    whole = json.loads(path.read_text())
    everything = "\n".join(HOSTILE.values()).encode("utf-8", "replace").decode()
    whole["diagnosis"] |= {"headline": everything, "message": everything, "notes": list(HOSTILE.values())[:20]}
    whole["suggestions"][0] |= {"note": everything, "why": everything, "diff": everything}
    path.write_text(json.dumps(whole))
    (hostile / "check" / "log.txt").write_text(everything)
    made = {"real": html.render(document()), "hostile": html.render(document(hostile))}
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


_QUICK = {("real", "light", 390), ("real", "dark", 1280)}
_SHOWN = [
    pytest.param(name, scheme, width, marks=() if (name, scheme, width) in _QUICK else pytest.mark.slow)
    for name in ("real", "hostile")
    for scheme in ("light", "dark")
    for width in (390, 1280)
]


@pytest.mark.parametrize(("name", "scheme", "width"), _SHOWN)
def test_the_page_opens_and_asks_for_nothing(
    browser: Any, pages: dict[str, Path], violations: Violations, tmp_path: Path, name: str, scheme: str, width: int
) -> None:
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        page = context.new_page()
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(pages[name].as_uri())
        page.screenshot(path=tmp_path / f"{name}-{scheme}-{width}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert violations(page) == []
        assert (said, asked) == ([], [pages[name].as_uri()])


def test_it_reads_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(pages["real"].as_uri())
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
        page.focus("details summary")
        page.keyboard.press("Enter")
        assert page.evaluate("document.querySelector('details').open") is True
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "PRE"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_colours_follow_the_reader(browser: Any, pages: dict[str, Path]) -> None:
    shown = []
    for scheme_ in ("light", "dark"):
        with browser.new_context(color_scheme=scheme_) as context:
            page = context.new_page()
            page.goto(pages["real"].as_uri())
            shown.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert shown == ["rgb(255, 255, 255)", "rgb(20, 23, 27)"]
