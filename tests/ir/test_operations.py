"""Which lines of a module are marked, and by what."""

from __future__ import annotations

import pytest

from triage.ir.operations import failing

MODULE = """#loc = loc("/x/kernel.py":3:0)
#loc7 = loc("/x/kernel.py":12:8)
module {
  tt.func public @kernel(%arg0: !tt.ptr<f32> loc("/x/kernel.py":3:0)) {
    %0 = tt.load %arg0 : !tt.ptr<f32> loc(#loc7)
    %1:2 = "tt.reduce"(%0) ({
    ^bb0(%a: f32, %b: f32):
      tt.reduce.return %a : f32 loc(#loc)
    }) {axis = 0 : i32} : (f32) -> (f32, f32) loc("/x/kernel.py":20:4)
    %2 = nvgpu.wgmma %0, %0 : (f32, f32) -> f32
    tt.return
  }
}"""


@pytest.mark.parametrize(
    ("message", "function", "place", "lines", "why"),
    [
        ("error: 'tt.load' op needs a mask", None, None, {4}, "the failing text names tt.load"),
        ("failed to legalize operation 'tt.reduce' that was explicitly marked illegal", None, None, {5}, "tt.reduce"),
        ("Assertion `x' failed.", "WGMMAOpPattern::getPtxAsm", None, {9}, "it failed in WGMMAOpPattern::getPtxAsm"),
        ("Assertion", "ReduceOpConversion::matchAndRewrite", None, {5}, "it failed in"),
        ("Assertion", None, ("kernel.py", 12), {4}, "of line 12 of kernel.py"),
        ("Assertion", None, ("kernel.py", 20), {5}, "of line 20 of kernel.py"),
        ("Assertion", None, ("kernel.py", 21), set(), ""),
        ("Assertion", "DotOperandEncodingAttr::getRepOrder", None, set(), ""),
        ("Assertion", "getOrder", ("other.py", 12), set(), ""),
        ("error: 'kernel.py' is 'x.y'", None, None, set(), ""),
    ],
)
def test_what_is_named_is_marked(
    message: str, function: str | None, place: tuple[str, int] | None, lines: set[int], why: str
) -> None:
    found = failing(MODULE, message, function, place)
    assert found.lines == lines
    assert why in found.why


def test_of_many_the_first_is_marked() -> None:
    found = failing("  %1 = tt.load %0\n" * 200, "'tt.load' op", None, None)
    assert (found.lines, found.why) == (frozenset({0}), "the failing text names tt.load; the first of 200")
