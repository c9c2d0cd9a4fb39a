"""Golden files are compared, updated in place, and rid of what no test uses; every section has its test."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_files import GOLDEN, TESTS, GoldenFiles


def test_an_update_is_what_is_compared_with_next(tmp_path: Path) -> None:
    path = tmp_path / "module.txt"
    with pytest.raises(AssertionError, match="no section in"):
        GoldenFiles(update=False).compare(path, "test", "a text")
    for names in (("gone", "test / err", "test / out", "unselected"), ("test / out",)):
        files = GoldenFiles(update=True)
        for name in names:
            files.compare(path, name, f"text of\n\n{name}\n")
        files.write(lambda path: {"test", "unselected"})
    written = GoldenFiles(update=False)
    assert list(written.sections(path)) == ["test / out", "unselected"]
    written.compare(path, "test / out", "text of\n\ntest / out")
    with pytest.raises(AssertionError, match="--update-golden"):
        written.compare(path, "test / out", "another text")


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.txt")), ids=lambda path: path.stem)
def test_every_golden_file_has_its_test_module(path: Path) -> None:
    module = (TESTS / path.relative_to(GOLDEN)).with_suffix(".py").read_text()
    for name in GoldenFiles(update=False).sections(path):
        assert f"def {name.partition('[')[0].partition(' / ')[0]}(" in module
