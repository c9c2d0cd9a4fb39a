"""Parameters that a line depends on, and the constants that they are compared with."""

from __future__ import annotations

from pathlib import Path

from triage.suggest.cute.flow import SourceFlow

KERNELS = Path(__file__).parent / "kernels"


def flow(file: str, entry: str) -> tuple[SourceFlow, list[str]]:
    text = (KERNELS / f"{file}.py").read_text(encoding="utf-8")
    return SourceFlow.of(text, entry), text.splitlines()


def test_through_a_launch() -> None:
    read, lines = flow("barrier", "parameter")
    line = next(number for number, text in enumerate(lines, 1) if "barrier_id=barrier" in text)
    reach = read.reach((line,))
    assert reach.keys() == {"BARRIER"}
    assert not reach["BARRIER"].guards


def test_through_the_attributes_of_a_class() -> None:
    read, lines = flow("loader", "Loader")
    line = next(number for number, text in enumerate(lines, 1) if "allocate_tensor" in text)
    reach = read.reach((line,))
    assert {"stages", "layout"} <= reach.keys()
    assert "threads" not in reach
    assert read.compared["layout"] == ["rows"]


def test_what_is_no_python_has_no_facts() -> None:
    assert SourceFlow.of("def (", "host").reach((1,)) == {}
