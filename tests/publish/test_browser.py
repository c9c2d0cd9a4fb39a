"""The page in a real browser: no error, no request, nothing that moves sideways on a phone, no violation of WCAG."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE
from samples import copied, document

from triage.publish.formats import html

playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    with playwright.sync_playwright() as started:
        try:
            # A sandbox of its own needs rights that containers do not have; the page is ours.
            opened = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("no Chromium: apt-get install chromium, or playwright install chromium")
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core, from npm's folder for everybody or this one's."""
    folders = [Path("node_modules")]
    if npm := shutil.which("npm"):
        told = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(Path(told.stdout.strip()))
    found = next((path for one in folders if (path := one / "axe-core" / "axe.min.js").is_file()), None)
    if found is None:
        pytest.skip("no axe-core: npm install -g axe-core")
    return found.read_text(encoding="utf-8")


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
    browser: Any, pages: dict[str, Path], axe: str, tmp_path: Path, name: str, scheme: str, width: int
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
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []
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
