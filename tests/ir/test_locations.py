"""Locations with their aliases followed, and the user's one of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triage.ir.locations import aliases, is_alias, printed_locations, resolved, users_location
from triage.model.diagnosis import SourceLocation

TEXT = """\
#loc = loc("/home/user/k.py":3:0)
#loc1 = loc(unknown)
module {
} loc(#loc)
#loc2 = loc("/venv/site-packages/triton/language/standard.py":290:36)
#loc3 = loc("/home/user/k.py":12:20)
#loc4 = loc(callsite(#loc2 at #loc3))
#loc5 = loc("acc"(#loc4))
#loc6 = loc(callsite(#loc6 at #loc6))
"""
KERNEL, LIBRARY = (
    SourceLocation("/home/user/k.py", 12, 20),
    SourceLocation("/venv/site-packages/triton/language/standard.py", 290, 36),
)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("#loc3", [KERNEL]),
        ("#loc4", [LIBRARY, KERNEL]),
        ("#loc5", [LIBRARY, KERNEL]),
        ("#loc1", []),
        ("#loc99", []),
        ('callsite("a.py":1:2 at #loc3)', [SourceLocation("a.py", 1, 2), KERNEL]),
    ],
)
def test_aliases_are_followed(location: str, expected: list[SourceLocation]) -> None:
    assert resolved(location, aliases(TEXT)) == expected


def test_aliases_that_refer_to_themselves_end() -> None:
    assert resolved("#loc6", aliases(TEXT)) == []
    doubled = {f"#loc{n}": f'callsite(#loc{n + 1} at #loc{n + 1}) "a":1:1' for n in range(100)}
    assert len(resolved("#loc0", doubled)) < 500


def test_the_first_definition_of_an_alias_counts() -> None:
    known = aliases(TEXT + '#loc3 = loc("/other.py":1:1)\n')
    assert resolved("#loc3", known) == [KERNEL]


def test_the_users_location_is_the_innermost_outside_of_triton() -> None:
    assert users_location([LIBRARY, KERNEL]) == KERNEL
    assert users_location([LIBRARY]) == LIBRARY
    assert users_location([]) is None
    helper = replace(LIBRARY, file="/env/site-packages/torch/_inductor/runtime/triton_helpers.py")
    assert users_location([helper, KERNEL]) == KERNEL
    on_windows = replace(LIBRARY, file=r"C:\\env\\Lib\\site-packages\\triton\\language\\standard.py")
    assert users_location([on_windows, KERNEL]) == KERNEL


def test_what_a_text_prints() -> None:
    assert printed_locations('loc(callsite("s.py":256:15 at "k.py":20:24)): error') == (
        SourceLocation("s.py", 256, 15),
        SourceLocation("k.py", 20, 24),
    )
    assert [is_alias(line) for line in TEXT.splitlines()] == [True, True, False, False] + [True] * 5


def test_standard_input_is_no_file() -> None:
    assert printed_locations('loc("-":0:0): error: expected an attribute') == ()
