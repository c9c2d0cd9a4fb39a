"""``triage matrix`` of CuTe cases: rows are releases of their own compiler."""

from __future__ import annotations

import pytest
from commands import KERNELS, Triage
from cute_environments import CUTE_KERNELS, NEWEST_CUTE, OLDER_CUTE, STORE

TENSOR = ("--arg", "tensor=tensor<f32, (128):(1), align=16>")
BARRIER = (f"{STORE}::barrier", *TENSOR, "--const", "ID=99")


def test_without_an_option_the_rows_are_what_is_installed_of_its_compiler(cute: Triage) -> None:
    done = cute("matrix", *BARRIER, "--json")
    assert done.code == 1
    [cell] = done.document["cells"]
    assert (cell["row"], cell["cute"], cell["verdict"], cell["stage"]) == (NEWEST_CUTE, NEWEST_CUTE, "fails", "cubin")
    assert "triton" not in cell


def test_a_table_names_the_compiler(cute: Triage) -> None:
    printed = cute("matrix", *BARRIER, "--cute", "4.8..4.8")
    assert printed.out.splitlines()[2:4] == ["CuTe DSL  cuda:90", f"{NEWEST_CUTE}     fails A"]
    assert "Triton" not in printed.out
    marked = cute("matrix", *BARRIER, "--cute", NEWEST_CUTE, "--markdown").out
    assert "| CuTe DSL | cuda:90 |" in marked
    assert "Triton" not in marked


@pytest.mark.slow
def test_where_a_failure_ended(cute_releases: Triage) -> None:
    kernel = (f"{CUTE_KERNELS}/prints.py::prints", "--arg", "tensor=tensor<bf16, (128):(1), align=16>")
    done = cute_releases("matrix", *kernel, "--json")
    assert done.code == 1
    [column] = done.document["targets"]
    assert (column["first_bad"], column["fixed_in"]) == (OLDER_CUTE, NEWEST_CUTE)
    assert column["notes"][-1].startswith("the fix may be 4.3.0, 4.3.1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*BARRIER, "--triton", "3.0..3.9"), "--triton 3.0..3.9: barrier is compiled by CuTe DSL; use --cute"),
        ((*BARRIER, "--cute", "3.9"), "--cute 3.9: CuTe DSL 3.x is not supported; 4.0 is the oldest"),
        ((*BARRIER, "--cute", "4.0..4.17"), "--cute 4.0..4.17: 4.17 is not a release that triage knows"),
        ((f"{KERNELS}::add", "--cute", "4.8"), "--cute 4.8: add is compiled by Triton; use --triton"),
    ],
)
def test_bad_releases(cute: Triage, arguments: tuple[str, ...], words: str) -> None:
    done = cute("matrix", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"triage: {words}")
    assert done.err.count("\n") == 1
