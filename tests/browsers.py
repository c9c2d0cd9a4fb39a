"""A headless browser and axe-core for tests of pages (a plugin of conftest.py); tests that use them skip without."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

Violations = Callable[[Any], list[tuple[str, str]]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    installed = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    with playwright.sync_playwright() as started:
        try:
            # A sandbox of its own needs rights that containers do not have; the page is ours.
            opened = started.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("no Chromium: apt-get install chromium, or playwright install chromium")
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def violations() -> Violations:
    """Answers what axe-core, from npm's folder for everybody or this one's, finds in a page: rule and element."""
    folders = [Path("node_modules")]
    if npm := shutil.which("npm"):
        answer = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(Path(answer.stdout.strip()))
    axe = next((path for folder in folders if (path := folder / "axe-core" / "axe.min.js").is_file()), None)
    if axe is None:
        pytest.skip("no axe-core: npm install -g axe-core")
    text = axe.read_text(encoding="utf-8")

    def run(page: Any) -> list[tuple[str, str]]:
        page.evaluate(text)
        results = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [(each["id"], each["nodes"][0]["html"][:200]) for each in results["violations"]]

    return run
