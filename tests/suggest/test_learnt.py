"""What the neighbours that failed say, together."""

from __future__ import annotations

from typing import Any

from triage.model.report import SuggestionKind, Tried
from triage.suggest.learnt import learnt


def tried(changes: dict[str, Any], *, same: bool = True, compiled: bool = False) -> Tried:
    kind = SuggestionKind.TOOLCHAIN if "triton" in changes else SuggestionKind.CONFIG
    if compiled:
        return Tried(changes, kind, True)
    return Tried(changes, kind, False, "v2|a" if same else "v2|b", "the first" if same else "another", same)


def test_values_are_gathered_by_parameter_and_those_that_cannot_help_come_first() -> None:
    found = [
        tried({"num_warps": 8}),
        tried({"num_warps": 2}, compiled=True),
        tried({"BLOCK_N": 64}),
        tried({"BLOCK_N": 16}),
        tried({"triton": "3.9.0"}),
        tried({"num_warps": 1}, same=False),
    ]
    assert learnt(found) == (
        "fails the same with BLOCK_N=16, 64",
        "fails the same with num_warps=8",
        "fails differently with num_warps=1: another",
        "fails the same on 3.9.0",
    )


def test_where_nothing_helps_that_is_said() -> None:
    found = [tried({"BLOCK_N": 16}), tried({"BLOCK_N": 64, "num_warps": 8}), tried({"num_stages": 1})]
    assert learnt(found)[0] == "all 3 configurations fail the same, whatever BLOCK_N, num_warps, num_stages"


def test_nothing_tried_nothing_learnt() -> None:
    assert learnt([]) == ()
