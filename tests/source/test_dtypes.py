"""What a cast may lose, with its numbers."""

import pytest

from triage.source.dtypes import loss


@pytest.mark.parametrize(
    ("before", "after"),
    [("fp8e4nv", "fp16"), ("fp8e5", "bf16"), ("bf16", "fp32"), ("fp16", "fp32"), ("i8", "i32"), ("u8", "i16"),
     ("i8", "fp16"), ("i16", "fp32"), ("fp32", "fp64"), ("fp16", "fp16"), ("fp32", "an unknown type")],
)  # fmt: skip
def test_nothing_is_lost(before: str, after: str) -> None:
    assert loss(before, after) == ""


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("bf16", "fp16", "overflows past 65504, loses precision below 6.1e-05"),
        ("fp16", "bf16", "keeps 8 of 11 significant bits"),
        ("fp32", "bf16", "overflows past 3.39e+38, keeps 8 of 24 significant bits"),
        ("fp64", "fp32", "overflows past 3.4e+38, keeps 24 of 53 significant bits, loses precision below 1.18e-38"),
        ("i64", "i32", "overflows past 2147483647, holds nothing below -2147483648"),
        ("i32", "fp32", "keeps 24 of 31 significant bits"),
        ("fp32", "i32", "overflows past 2147483647, fractions are cut off"),
        ("fp8e4nv", "fp8e5", "keeps 3 of 4 significant bits"),
    ],
)
def test_the_loss_is_named(before: str, after: str, lost: str) -> None:
    assert loss(before, after) == lost
