"""Golden files: the expected text of help pages, error lines and rendered messages (a plugin of conftest.py).

`tests/golden/PART/test_module.txt` has one section for each text that tests/PART/test_module.py compares. After a
change of wording, `pytest --update-golden` runs the tests and writes what they print; read the difference with
`git diff tests/golden` before you commit it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
_HEADER = re.compile(r"^=== (.+) ===\n", re.MULTILINE)
_PARSER = re.compile(r"\b(not (?:JSON|TOML)|SyntaxError|not a file name): .*")

Golden = Callable[..., None]


class GoldenFiles:
    """The golden files of a session. With ``update`` they are written at its end instead of compared."""

    def __init__(self, update: bool) -> None:
        self.update = update
        self._files: dict[Path, dict[str, str]] = {}
        self._updated: dict[Path, set[str]] = {}

    def sections(self, path: Path) -> dict[str, str]:
        """The texts of a file by their section's name: the test's, and `/ label` where it has several."""
        if path not in self._files:
            parts = _HEADER.split(path.read_text()) if path.exists() else [""]
            texts = [text.rstrip("\n") + "\n" for text in parts[2::2]]
            self._files[path] = dict(zip(parts[1::2], texts, strict=True))
        return self._files[path]

    def compare(self, path: Path, name: str, text: str) -> None:
        """Assert that a text is the one in the file; with ``update``, replace the one in the file."""
        sections = self.sections(path)
        text = text.rstrip("\n") + "\n"
        if self.update:
            sections[name] = text
            self._updated.setdefault(path, set()).add(name)
            return
        hint = f"{path}, {name}: run pytest --update-golden and read the difference"
        assert name in sections, f"no section in {hint}"
        assert text == sections[name], hint

    def write(self, collected: Callable[[Path], set[str] | None]) -> None:
        """Write the files that were updated, without the sections that no test uses any more.

        ``collected``: the tests of a file's module; None where only some of them were asked for.
        """
        for path, updated in self._updated.items():
            tests, ran = collected(path), {_test(name) for name in updated}
            sections = {
                name: text
                for name, text in self._files[path].items()
                if name in updated or tests is None or (_test(name) in tests and _test(name) not in ran)
            }
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(f"=== {name} ===\n{sections[name]}" for name in sorted(sections)))


def _test(section: str) -> str:
    return section.partition(" / ")[0]


def _golden(module: Path) -> Path:
    return (GOLDEN / module.relative_to(TESTS)).with_suffix(".txt")


_FILES = pytest.StashKey[GoldenFiles]()
_COLLECTED = pytest.StashKey[dict[Path, set[str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write tests/golden in place of comparing with it.")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Golden files are written by one process."""
    if config.getoption("update_golden") and config.pluginmanager.hasplugin("xdist"):
        config.option.numprocesses = 0


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_FILES] = GoldenFiles(config.getoption("update_golden"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remember the names of all tests, before a marker or -k deselects some."""
    names = config.stash[_COLLECTED] = {}
    for path, own in groupby(items, lambda item: item.path):
        if path.is_relative_to(TESTS):
            names.setdefault(_golden(path), set()).update(item.name for item in own)


def pytest_sessionfinish(session: pytest.Session) -> None:
    some = any("::" in argument for argument in session.config.args)
    names = session.config.stash.get(_COLLECTED, {})
    session.config.stash[_FILES].write(lambda path: None if some else names.get(path))


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Golden:
    """``golden(text)`` compares a text with this test's section; a second text of the test needs a ``label``.

    The test's temporary folder is written TMP, the folder of the repository ROOT, and what Python's own parsers
    say, which differs from release to release, REASON.
    """
    files = request.config.stash[_FILES]

    def compare(text: str, label: str = "") -> None:
        for folder, name in ((tmp_path, "TMP"), (TESTS.parent, "ROOT")):
            text = text.replace(str(folder), name)
        text = _PARSER.sub(r"\1: REASON", text)
        files.compare(_golden(request.node.path), f"{request.node.name} / {label}".removesuffix(" / "), text)

    return compare
