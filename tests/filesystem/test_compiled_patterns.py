"""Compiled patterns are kept, and are those that Python would compile."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest

import triage.logs
from triage.filesystem import compiled_patterns
from triage.filesystem.compiled_patterns import CompiledPatterns

PATTERN = r"(?i:fatal) (?P<word>[\w\u5931]{2,9})(?<!no)(?:: (?P<rest>.*))?$"
TEXT = "FATAL error: the end"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path))
    return tmp_path / "knowledge"


def kept(*texts: str) -> None:
    patterns = CompiledPatterns()
    for text in texts:
        patterns.compile(text)
    patterns.keep()


def test_a_kept_pattern_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept(PATTERN)
    expected = re.compile(PATTERN)
    monkeypatch.setattr(compiled_patterns.re, "compile", None)
    found = CompiledPatterns().compile(PATTERN)
    assert (found.pattern, found.flags, found.groups) == (expected.pattern, expected.flags, expected.groups)
    assert found.groupindex == expected.groupindex
    match, same = found.search(TEXT), expected.search(TEXT)
    assert match is not None and same is not None
    assert (match.groupdict(), match.span(), match.lastgroup) == (same.groupdict(), same.span(), same.lastgroup)
    assert found.search("fatal no") is None


def test_flags_tell_patterns_apart() -> None:
    patterns = CompiledPatterns()
    assert patterns.compile("a.b", re.DOTALL | re.IGNORECASE).match("A\nB") is not None
    patterns.keep()
    again = CompiledPatterns()
    assert again.compile("a.b", re.DOTALL | re.IGNORECASE).match("A\nB") is not None
    assert again.compile("a.b").match("A\nB") is None


def test_what_is_compiled_later_is_added(folder: Path) -> None:
    kept("a")
    kept("b")
    (stored,) = folder.iterdir()
    assert len(json.loads(stored.read_text())["patterns"]) == 2


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"interpreter": 1, "patterns": {}}', "\0"])
def test_a_damaged_store_is_replaced(folder: Path, content: str) -> None:
    kept(PATTERN)
    (stored,) = folder.iterdir()
    whole = stored.read_text()
    stored.write_text(content)
    kept(PATTERN)
    assert stored.read_text() == whole


@pytest.mark.parametrize("row", [None, [], [0, "", 0, {}, []], [0, "eJw=", 1, {}, [None]], ["x", 1, 2, 3, 4]])
def test_code_that_is_none_is_not_used(folder: Path, row: object) -> None:
    kept(PATTERN)
    (stored,) = folder.iterdir()
    document = json.loads(stored.read_text())
    document["patterns"] = dict.fromkeys(document["patterns"], row)
    stored.write_text(json.dumps(document))
    assert CompiledPatterns().compile(PATTERN).search(TEXT) is not None


def test_code_of_another_interpreter_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(PATTERN)
    monkeypatch.setattr(compiled_patterns.sys, "version", "3.0")
    kept("a")
    (stored,) = folder.iterdir()
    assert list(json.loads(stored.read_text())["patterns"]) == ["0 a"]


def test_a_cache_that_cannot_be_written_costs_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", "/proc/no-such")
    patterns = CompiledPatterns()
    assert patterns.compile(PATTERN).search(TEXT) is not None
    patterns.keep()


def test_an_error_in_a_pattern_is_raised() -> None:
    with pytest.raises(re.error):
        CompiledPatterns().compile("(")


def test_the_patterns_of_logs_are_the_same_when_kept() -> None:
    modules = [
        importlib.import_module(found.name) for found in pkgutil.walk_packages(triage.logs.__path__, "triage.logs.")
    ]
    lazy = {
        value._uncompiled
        for module in modules
        for value in vars(module).values()
        if type(value).__name__ == "_UncompiledPattern"
    }
    assert len(lazy) > 300
    first = CompiledPatterns()
    expected = {pattern: first.compile(*pattern) for pattern in lazy}
    first.keep()
    again = CompiledPatterns()
    for pattern, compiled in expected.items():
        found = again.compile(*pattern)
        assert (found, found.groupindex) == (compiled, compiled.groupindex)
