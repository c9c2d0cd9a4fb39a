"""wgmma tiles as CuTe writes them: every layout is the one that CuTe DSL prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cute_environment import ask, newest
from wgmma_questions import questions

from triage.legality import dtypes
from triage.legality.wgmma import tensors
from triage.legality.wgmma.instruction import instruction
from triage.legality.wgmma.layouts import SharedLayout
from triage.legality.wgmma.tensors import SharedTensor

RECORDED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("wgmma_tensors.json").read_text())
"""Answers of CuTe DSL 4.8.1."""
_SWIZZLES = {"SW128": 128, "SW64": 64, "SW32": 32, "INTER": 0}


def computed(question: dict[str, Any]) -> dict[str, str]:
    """Every layout of a question, as the answer names them."""
    dtype, (m, n, k) = dtypes.parse(question["dtype"]), question["tile"]
    depth, result = 256 // dtype.bits, {}
    for name, rows, step in (("a", m, 64), ("b", n, question["n"])):
        major, _, width = question[f"{name}_atom"].partition("_")
        layout = SharedLayout(major.lower(), _SWIZZLES[width])
        assert tensors.kind(layout) == question[f"{name}_atom"]
        operand = SharedTensor(layout, dtype, rows, k, question["stages"], tuple(question["order"]))  # type: ignore[arg-type]
        result[f"{name}_atom"] = f"{tensors.swizzle(layout)} o 0 o {tensors.layout_atom(layout, dtype)}"
        result[f"{name}_smem"] = str(operand.tensor)
        if name == "a" and question["a_from"] == "registers":
            result["a_fragment"] = str(operand.registers(depth))
        else:
            result[f"{name}_part"] = str(operand.partition(step, depth))
            result[f"{name}_fragment"] = str(operand.descriptors(step, depth))
    result["accumulator"] = tensors.accumulator(m, n, question["n"])
    return result


def differences(question: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    printed = {name: text.replace(", ", ",") for name, text in answer.items()}
    return [
        f"{question}: {text} is {printed.get(name)}"
        for name, text in computed(question).items()
        if printed.get(name) != text
    ]


def test_recorded_layouts() -> None:
    assert len(RECORDED) >= 50
    assert [text for row in RECORDED for text in differences(row["question"], row["answer"])] == []


@pytest.mark.slow
def test_layouts_as_cute_prints_them() -> None:
    asked = list(questions())
    answers = ask(newest(), asked)
    assert [text for row in zip(asked, answers, strict=True) for text in differences(*row)] == []


def test_layouts_as_cutlass_prints_them() -> None:
    f16 = dtypes.parse("f16")
    columns = SharedTensor(SharedLayout("mn", 128), f16, 128, 64, 3)
    assert tensors.static(columns.coalesced) == "((_64,_2),(_8,_8),_3):((_1,_512),(_64,_1024),_8192)"
    assert tensors.static(columns.descriptors(64, 16)) == "(_1,_2,_4,(_1,_3)):(_0,_64,_256,(_0,_1024))"
    rows = SharedTensor(SharedLayout("k", 128), f16, 128, 64, 3)
    assert tensors.static(rows.coalesced) == "(_128,_64,_3):(_64,_1,_8192)"
    assert tensors.accumulator(128, 128, 64) == "((2,2,8),2,2)"


@pytest.mark.parametrize(
    ("types", "a_from", "majors", "name"),
    [
        (("f16", "f16", "f32"), "shared", ("k", "mn"), "SM90_64x64x16_F32F16F16_SS<Major::K, Major::MN>"),
        (("bf16", "bf16", "f32"), "registers", ("k", "k"), "SM90_64x64x16_F32BF16BF16_RS<Major::K, Major::K>"),
        (("tf32", "tf32", "f32"), "shared", ("k", "k"), "SM90_64x64x8_F32TF32TF32_SS_TN"),
        (("e4m3", "e5m2", "f16"), "shared", ("k", "k"), "SM90_64x64x32_F16E4M3E5M2_SS_TN"),
        (("s8", "u8", "s32"), "registers", ("k", "k"), "SM90_64x64x32_S32S8U8_RS_TN"),
        (("b1", "b1", "s32"), "shared", ("k", "k"), ""),
    ],
)
def test_atoms(types: tuple[str, str, str], a_from: str, majors: tuple[str, str], name: str) -> None:
    assert tensors.atom_name(instruction(*types), a_from, *majors) == name
