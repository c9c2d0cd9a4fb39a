"""Constraints as sets of cells, against Python's own reading of them."""

from __future__ import annotations

import time

import pytest

from triage.model.errors import InputError
from triage.sweeps.constraints import allowed
from triage.sweeps.grid import Grid, SweepAxis, cells_of

GRID = Grid(
    [
        SweepAxis("BM", (32, 64, 128)),
        SweepAxis("dtype", ("fp16", "fp32")),
        SweepAxis("BN", (16, 64, 256)),
        SweepAxis("ws", (True, False)),
        SweepAxis("num_warps", (4, 8)),
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "BM * BN <= 4096",
        "BM * BN <= 4096 and num_warps == 8",
        "not ws or dtype == 'fp16'",
        "16 < BN < 128 or BM in (32, 128)",
        "min(BM, BN) // num_warps % 2 == 0 and max(BM, BN) / 2 > 64 - 32",
        "dtype not in ['fp32'] and -BM < abs(BN - 64)",
        "ws",
        "1 < 2",
        "BM * BN > {'fp16': 4096, 'fp32': 1024}[dtype]",
    ],
)
def test_a_constraint_is_what_python_makes_of_it(text: str) -> None:
    expected = [cell for cell in range(GRID.size) if eval(text, {}, GRID.values(cell))]
    assert list(cells_of(allowed([text], GRID))) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("BM *", "not an expression"),
        ("BK < 3", "BK is not an axis; they are BM, dtype, BN"),
        ("__import__('os').system('true')", "is not allowed"),
        ("BM.bit_length() > 3", "is not allowed"),
        ("BM ** BN > 3", "is not allowed"),
        ("[x for x in (1,)]", "is not an axis"),
        ("dtype * 3 == 'x'", "'fp16' is not a number (dtype=fp16)"),
        ("dtype < 3", "'fp16' and 3 cannot be compared"),
        ("BM in 3", "cannot be compared"),
        ("BM > {'fp16': 1}[dtype]", "'fp32' is not in the table"),
        ("BM % (BN - 64) == 0", "32 % 0 has no value (BM=32, BN=64)"),
        ("cdiv(BM) > 1", "cdiv takes 2 arguments, not 1"),
        ("BM > 1000", "no cell is left"),
        ("9999999999999 * 9999999999999 * BM > 1", "does not fit into 64 bits"),
        ("+".join(["BM"] * 999), "characters"),
        ("-" * 900 + "BM", "nested too deeply"),
        ("'fp16' * 3", "'fp16' is not a number"),
    ],
)
def test_what_is_no_constraint_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        allowed([text], GRID)
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_a_constraint_on_a_million_cells_is_quick() -> None:
    grid = Grid([SweepAxis(name, tuple(range(1, 11))) for name in "abcdef"])
    began = time.process_time()
    cells = allowed(["a * b <= 16 and c + d > 3", "e in (1, 2) or f % 2 == 0"], grid)
    assert time.process_time() - began < 1
    assert cells.bit_count() == sum(a * b <= 16 for a in range(1, 11) for b in range(1, 11)) * 97 * 60
