"""Types of a CuTe case's arguments: what is read, how it is written again, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.harness.worker.cute import grammar
from triage.harness.worker.cute.grammar import BadType, Dynamic, Group, Pointer, Scalar, Stream, Tensor

READ = {
    "tensor<bf16, (128,64):(64,1), align=16>": Tensor("bf16", (128, 64), (64, 1), "gmem", 16),
    "tensor<f32,(128):(1)>": Tensor("f32", (128,), (1,)),
    "tensor<f32, 128:1>": Tensor("f32", (128,), (1,)),
    "tensor<f16, (?,?{8}):(?{8},1), smem, align=128>": Tensor(
        "f16", (Dynamic(), Dynamic(8)), (Dynamic(8), 1), "smem", 128
    ),
    "tensor<f8e4m3fn, ((8,4),2):((1,64),8)>": Tensor("f8e4m3", ((8, 4), 2), ((1, 64), 8)),
    "tensor<i32, (4):(1), align=4, generic>": Tensor("i32", (4,), (1,), "generic", 4),
    "ptr<f16, gmem, align=16>": Pointer("f16", "gmem", 16),
    "ptr<f32>": Pointer("f32"),
    "i32": Scalar("i32"),
    "F32": Scalar("f32"),
    "stream": Stream(),
    "(i32, ptr<f16>, (f32,))": Group((Scalar("i32"), Pointer("f16"), Group((Scalar("f32"),)))),
    "()": Group(()),
}
REFUSED = {
    "": "is not a type",
    "*fp16": "unexpected '*'",
    "tensor<bf16>": "expected ','",
    "tensor<bf16, (128,64)>": "expected ':'",
    "tensor<bf16, (128,64):(64)>": "not nested alike",
    "tensor<bf16, ((1,2),3):(1,2)>": "not nested alike",
    "tensor<bf16, ():()>": "an empty layout",
    "tensor<bf16, (128):(1), align=12>": "not a power of two",
    "tensor<bf16, (128):(1), texture>": "expected gmem",
    "tensor<bf17, (128):(1)>": "is not a type",
    "tensor<bf16, (?{0}):(1)>": "divisor 0",
    "i32 i32": "after its end",
    "(" * 20: "nested deeper",
    "tensor<f32, " + "(" * 20: "nested deeper",
}


@pytest.mark.parametrize("text", READ)
def test_reads(text: str) -> None:
    argument = grammar.parse(text)
    assert argument == READ[text]
    assert grammar.parse(str(argument)) == argument


@pytest.mark.parametrize("text", REFUSED)
def test_refuses(text: str) -> None:
    with pytest.raises(BadType, match=REFUSED[text].replace("*", r"\*")):
        grammar.parse(text)


@given(st.text(alphabet="tensorp<>(){}:,=?12 align_i3f", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        argument = grammar.parse(text)
    except BadType:
        return
    assert grammar.parse(str(argument)) == argument


@pytest.mark.parametrize(
    ("dtype", "bits"), [("bf16", 16), ("tf32", 32), ("f8e4m3", 8), ("f4e2m1", 4), ("i1", 8), ("u64", 64)]
)
def test_widths(dtype: str, bits: int) -> None:
    assert grammar.width(dtype) == bits
