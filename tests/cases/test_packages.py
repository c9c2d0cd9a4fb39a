"""Packages are found as an import finds them, and nothing is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.cases.packages import find_package

RAISING = "raise RuntimeError('imported')"


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    files = (
        "first/regular/__init__.py",
        "first/regular/ops/__init__.py",
        "first/regular/ops/norm.py",
        "second/regular/__init__.py",
        "first/spread/one/__init__.py",
        "second/spread/two.py",
        "second/single.py",
        "first/shadowed/data.txt",
        "second/shadowed/__init__.py",
    )
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RAISING)
    return [str(tmp_path / "nowhere"), "", str(tmp_path / "first"), str(tmp_path / "second")]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("regular", "first/regular"),
        ("regular.ops", "first/regular/ops"),
        ("regular.ops.norm", "first/regular/ops/norm.py"),
        ("single", "second/single.py"),
        ("spread", "first/spread"),  # a namespace package: its first folder
        ("spread.one", "first/spread/one"),
        ("spread.two", "second/spread/two.py"),
        ("shadowed", "second/shadowed"),  # a folder without __init__.py gives way to a package after it
        ("regular.missing", None),
        ("missing", None),
        ("not a name", None),
        ("../first", None),
    ],
)
def test_where_a_name_is(tmp_path: Path, folders: list[str], name: str, where: str | None) -> None:
    assert find_package(name, folders) == (tmp_path / where if where else None)
