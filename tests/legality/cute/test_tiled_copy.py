"""Tiled copies of CuTe: the verdict of every case is the one of CuTe DSL's verifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cute_environment import ask, newest
from tiled_copy_cases import cases

from triage.legality import dtypes
from triage.legality.algebra.layout import read
from triage.legality.algebra.swizzle import Swizzle
from triage.legality.vector_copy import tiled
from triage.legality.violation import Violation

RECORDED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tiled_copies.json").read_text())
"""Answers of CuTe DSL 4.8.1 to the first cases of another seed."""
WORDS = {
    "vector-copy.alignment": "ptr alignment",
    "vector-copy.contiguity": "cannot vectorize",
    "vector-copy.swizzle": "to be LayoutType",
    "vector-copy.width": "cp_size",
    "vector-copy.element": "bits_per_element",
    "vector-copy.space": "based memref",
    "vector-copy.partition": "unable to partition",
}
"""What the verifier says of each rule."""


def side(of: dict[str, Any]) -> tiled.CopyTensor:
    swizzle = Swizzle(*of["swizzle"]) if of["swizzle"] else None
    tiler = tuple(of["tiler"]) if of["tiler"] else None
    return tiled.CopyTensor(read(of["layout"]), of["alignment"], of["space"], swizzle, tiler)


def violations(case: dict[str, Any]) -> list[Violation]:
    return tiled.violations(
        bits=case["bits"],
        dtype=dtypes.parse(case["dtype"]),
        source=side(case["source"]),
        destination=side(case["destination"]),
        threads=read(case["threads"]),
        values=read(case["values"]),
        atom=case["atom"],
    )


def disagreement(case: dict[str, Any], answer: dict[str, Any]) -> str:
    """In what the rule differs from CuTe DSL; "" where they agree."""
    broken, error = violations(case), answer.get("error")
    if (error is None) != (not broken):
        return f"{case}: {error}, but {broken}"
    # Of a swizzled layout whose strides are not powers of two the rule refuses partitions that CuTe DSL makes.
    if error not in (None, "died") and [violation.rule for violation in broken] != ["vector-copy.partition"]:
        words = [WORDS[violation.rule] for violation in broken if violation.rule in WORDS]
        if words and not any(word in error for word in words):
            return f"{case}: {error}, but {broken}"
    return ""


def test_recorded_verdicts() -> None:
    assert len(RECORDED) >= 200
    assert [text for row in RECORDED if (text := disagreement(row["case"], row["answer"]))] == []


@pytest.mark.slow
def test_enumeration_against_the_verifier() -> None:
    asked = list(cases(2400, seed=2))
    answers = ask(newest(), asked)
    assert [text for case, answer in zip(asked, answers, strict=True) if (text := disagreement(case, answer))] == []


TRANSPOSED = {
    "dtype": "bf16",
    "atom": "async",
    "bits": 128,
    "source": {"layout": "(128,64):(1,128)", "alignment": 16, "space": "gmem", "swizzle": None, "tiler": None},
    "destination": {"layout": "(128,64):(64,1)", "alignment": 16, "space": "smem", "swizzle": None, "tiler": None},
    "threads": "(16,16):(16,1)",
    "values": "(8,1):(1,8)",
}


@pytest.mark.parametrize(
    ("changes", "legal"),
    [
        ({}, False),
        ({"bits": 64}, False),
        ({"bits": 32, "values": "(2,1):(1,2)"}, False),
        ({"bits": 16, "values": "(1,1):(1,1)"}, False),
        ({"source": {**TRANSPOSED["source"], "alignment": 128}}, False),  # type: ignore[dict-item]
        ({"destination": {**TRANSPOSED["source"], "space": "smem"}}, True),  # type: ignore[dict-item]
        ({"dtype": "f32", "bits": 32, "values": "(1,1):(1,1)"}, True),
        ({"atom": "universal", "bits": 16, "destination": {**TRANSPOSED["destination"], "space": "rmem"}}, True),  # type: ignore[dict-item]
    ],
    ids=str,
)
def test_the_transposed_copy_and_its_remedies(changes: dict[str, Any], legal: bool) -> None:
    assert (violations({**TRANSPOSED, **changes}) == []) == legal


UNPARTITIONED = {
    "source": {**TRANSPOSED["source"], "space": "smem"},  # type: ignore[dict-item]
    "destination": {**TRANSPOSED["destination"], "layout": "(128,64):(1,136)", "swizzle": (3, 3, 3)},  # type: ignore[dict-item]
    "threads": "(1,64):(64,1)",
    "values": "(1,2):(2,1)",
}


@pytest.mark.parametrize(
    ("atom", "bits", "rules"),
    [
        ("async", 16, ["width", "space", "partition"]),
        ("universal", 8, ["element", "partition"]),
        ("async", 0, ["width"]),
        ("universal", 24, ["width"]),
    ],
)
def test_a_width_that_an_atom_may_have_hides_no_other_violation(atom: str, bits: int, rules: list[str]) -> None:
    broken = violations({**TRANSPOSED, **UNPARTITIONED, "atom": atom, "bits": bits})
    assert [violation.rule.removeprefix("vector-copy.") for violation in broken] == rules


def test_legal_bits_of_a_dynamic_stride() -> None:
    values, threads = read("(1,8):(8,1)"), read("(16,8):(8,1)")
    smem = tiled.CopyTensor(read("(128,64):(64,1)"), 128, "smem")
    for text, legal in (("?{8}", (16, 32, 64, 128)), ("?{4}", (16, 32, 64)), ("?", (16,))):
        source = tiled.CopyTensor(read(f"(128,64):({text},1)"))
        copy = {"dtype": dtypes.parse("f16"), "source": source, "destination": smem}
        assert tiled.legal_bits(threads=threads, values=values, **copy) == legal  # type: ignore[arg-type]
