"""Names of case folders: what they tell, which characters they have, and how long they get."""

from __future__ import annotations

import os
from typing import Any

import pytest

from triage.capture.program import labels

OPTIONS = {"num_warps": 4, "num_stages": 3}
LABELS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("matmul", {"BLOCK_M": 128, "EVEN_K": True}, OPTIONS, "matmul-BLOCK_M=128-EVEN_K=True-num_warps=4-num_stages=3"),
    (
        "cast",
        {"OUT": "tl.float8e5", "ACT": "leaky relu/2", "EPS": -1e-6},
        {},
        "cast-OUT=float8e5-ACT=leaky_relu_2-EPS=-1e-06",
    ),
    ("none", {"BIAS": None, "SHAPE": [64, 64]}, {}, "none"),
    ("both", {"num_warps": 8}, {"num_warps": 8}, "both-num_warps=8"),
    ("../etc", {}, {}, "_etc"),
    ("_ядро", {"Ширина": 4}, {}, "__-_=4"),
    ("-.-", {}, {}, "kernel"),
    ("", {}, {}, "kernel"),
]


@pytest.mark.parametrize(("kernel", "constexprs", "options", "expected"), LABELS)
def test_a_label_tells_kernel_and_configuration(
    kernel: str, constexprs: dict[str, Any], options: dict[str, Any], expected: str
) -> None:
    assert labels.label(kernel, constexprs, options) == expected


def test_of_many_values_the_launch_options_and_numbers_are_shown() -> None:
    flags = {f"HAS_SOMETHING_{number}": bool(number % 2) for number in range(20)}
    name = labels.label("k" * 300, {**flags, "stride": 1, "BLOCK_SIZE": 128}, OPTIONS)
    assert name == "k" * 60 + "-stride=1-BLOCK_SIZE=128-num_warps=4-num_stages=3"
    assert len(labels.label("k" * 300, {f"BLOCK_{number}": number for number in range(99)}, OPTIONS)) <= 120


def test_process_and_number_are_read_from_the_name() -> None:
    assert labels.numbers(labels.numbered("add-N=-1", 12)) == (os.getpid(), 12)


@pytest.mark.parametrize("name", ["add-3596-1-kept", "001-add", "add-EPS=-1e-6", "helion", ".add-3596-1"])
def test_other_names_have_no_process(name: str) -> None:
    assert labels.numbers(name) is None
