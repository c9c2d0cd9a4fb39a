"""``triage explain wgmma``: verdicts, facts for programs, what is shown instead, the table."""

from __future__ import annotations

from typing import Any

import pytest

from triage.legality.wgmma import RULE
from triage.model.errors import InputError


def answer(**texts: str | bool) -> dict[str, Any]:
    return RULE.answer(texts).to_json()


def test_an_n_major_tf32_operand() -> None:
    """The failure of public threads: a 128x32x32 tile of TF32 with a row-major B."""
    found = answer(a="tf32", m="128", n="32", k="32", b_major="mn")
    assert found["legal"] is False
    assert "TF32 is K-major only" in found["headline"]
    assert [one["rule"] for one in found["violations"]] == ["wgmma.b-major"]
    first = found["instead"][0]
    assert first["legal"] is True
    facts = first["facts"]
    assert facts["instruction"] == "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32"
    assert (facts["instruction_shape"], facts["tiles"], facts["k_bytes"]) == ([64, 32, 8], [2, 1, 4], 32)
    assert (facts["layout_atom"], facts["swizzle"]) == ([8, 32], 128)
    assert (facts["leading_byte_offset"], facts["stride_byte_offset"]) == (16, 1024)
    assert facts["b_operand"]["descriptor"] == "0x4000004000010000"
    assert first["drawings"]
    assert [one["change"] for one in found["instead"][1:]] == [
        "f16 operands, which may be MN-major",
        "bf16 operands, which may be MN-major",
    ]
    assert found["instead"][1]["facts"]["b_operand"]["major"] == "mn"


def test_the_corrected_tile_is_legal_whatever_was_wrong() -> None:
    for texts in (
        {"a": "f32", "n": "40", "k": "20", "b_major": "n"},
        {"a": "f64"},
        {"a": "s8", "n": "40", "d": "f32"},
        {"a": "f16", "b": "bf16", "n": "264"},
        {"a": "b1", "sparse": True},
        {"a": "f16", "a_major": "m", "a_from": "registers"},
        {"a": "e4m3", "m": "32", "num_warps": "2"},
        {"a": "f16", "target": "cuda:100"},
        {"a": "f16", "k": "16", "swizzle": "128"},
    ):
        found = answer(**texts)
        assert found["legal"] is False, texts
        assert found["instead"][0]["legal"] is True, texts
        assert found["instead"][0]["violations"] == []


@pytest.mark.parametrize(
    ("texts", "tiles", "shape"),
    [
        ({"a": "f16", "m": "128", "n": "256", "k": "64"}, [2, 1, 4], [64, 256, 16]),
        ({"a": "f16", "m": "64", "n": "512", "k": "16"}, [1, 2, 1], [64, 256, 16]),
        ({"a": "f16", "m": "64", "n": "64", "k": "16", "num_warps": "8"}, [1, 2, 1], [64, 32, 16]),
        ({"a": "s8", "n": "256"}, [1, 2, 1], [64, 128, 32]),
        ({"a": "u8", "n": "256"}, [1, 1, 1], [64, 256, 32]),
        ({"a": "f16", "n": "40"}, [1, 1, 1], [64, 40, 16]),
        ({"a": "b1", "n": "8"}, [1, 1, 1], [64, 8, 256]),
        ({"a": "e4m3", "b": "e5m2", "sparse": True}, [1, 1, 1], [64, 64, 64]),
        ({"a": "tf32", "a_from": "registers", "m": "192"}, [3, 1, 1], [64, 64, 8]),
    ],
    ids=str,
)
def test_tiles_and_instructions(texts: dict[str, str | bool], tiles: list[int], shape: list[int]) -> None:
    found = answer(**texts)
    assert found["legal"] is True
    assert (found["facts"]["tiles"], found["facts"]["instruction_shape"]) == (tiles, shape)
    assert ("a_operand" in found["facts"]) == (texts.get("a_from") != "registers")


def test_a_swizzle_that_is_asked_for() -> None:
    found = answer(a="f16", n="64", k="64", b_major="mn", swizzle="32")
    assert found["facts"]["b_operand"]["layout_atom"] == [16, 8]
    assert found["facts"]["leading_byte_offset"] == 64 * 32
    [violation] = answer(a="f16", k="16", swizzle="64")["violations"][:1]
    assert (violation["rule"], violation["allowed"]) == ("wgmma.swizzle", [32, 0])


def test_what_triton_does_instead_is_said() -> None:
    [note] = answer(a="f16", m="32", n="64", k="64")["notes"]
    assert "mma.sync" in note and "M a multiple of 64" in note
    [note] = answer(a="f16", m="64", n="64", k="64", num_warps="2")["notes"]
    assert "num_warps 4" in note
    [note] = answer(a="tf32", b_major="mn")["notes"]
    assert "transposes" in note
    assert "N=16" in answer(a="f16", n="8", triton="3.6.0")["notes"][0]
    with pytest.raises(InputError, match="write a release"):
        answer(a="f16", triton="newest")


def test_the_table_has_types_layouts_and_waits() -> None:
    tables = {table["title"].split()[0]: table["rows"] for table in answer()["tables"]}
    assert [(row["A"], row["shape"]) for row in tables["Types"]][:3] == [
        ("f16", "m64nNk16"),
        ("bf16", "m64nNk16"),
        ("tf32", "m64nNk8"),
    ]
    assert len(tables["Shared-memory"]) == len(tables["Byte"]) == 8
    assert any("wait_group" in row["instruction"] for row in tables["Synchronisation"])
