"""``cp.async`` against the assemblers: every size, operator, prefetch and number of bytes to read."""

from __future__ import annotations

from itertools import product

import pytest
from ptx_assembler import errors
from rows import one_in

from triage.legality import cp_async
from triage.model.target import Target

TARGETS = (70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
CACHES = ("ca", "cg", "cs", "cv")
SIZES = (0, 1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 17, 24, 32)
READ = (None, 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 32)
PREFETCHES = (None, 32, 64, 128, 256, 512)


@pytest.mark.parametrize("capability", one_in(4, TARGETS))
def test_every_combination(capability: int) -> None:
    asked = list(product(CACHES, SIZES, READ, PREFETCHES))
    lines = [
        f"cp.async.{cache}.shared.global{'' if prefetch is None else f'.L2::{prefetch}B'} [s], [a], {size}"
        f"{'' if read is None else f', {read}'};"
        for cache, size, read, prefetch in asked
    ]
    refused = errors(lines, ".reg .b64 a; .reg .b32 s;", capability)
    target = Target("cuda", str(capability))
    wrong = [
        (one, refused.get(place, "taken"))
        for place, one in enumerate(asked)
        if (not cp_async.violations(bytes=one[1], cache=one[0], src_bytes=one[2], prefetch=one[3], target=target))
        != (place not in refused)
    ]
    assert wrong == []
    assert (len(refused) < len(asked)) == (capability >= 80)


def test_what_is_wrong_is_named() -> None:
    target = Target("cuda", "80")
    [violation] = cp_async.violations(bytes=8, cache="cg", target=target)
    assert (violation.rule, violation.allowed) == ("cp-async.bytes", (16,))
    assert ".ca copies them" in violation.message
    [violation] = cp_async.violations(bytes=16, src_bytes=20, target=target)
    assert (violation.parameter, violation.nearest) == ("src_bytes", (16,))
    [violation] = cp_async.violations(bytes=16, alignment=8, target=target)
    assert (violation.parameter, violation.allowed) == ("alignment", (16,))
    assert cp_async.violations(bytes=16, alignment=32, target=target) == []
    [violation] = cp_async.violations(bytes=16, target=Target("cuda", "75"))
    assert violation.parameter == "target"
