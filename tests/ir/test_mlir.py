"""Printed MLIR read as operations over lines: what is read prints back as it was, and removal stays in its lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.ir.mlir import Op, ParsedModule, UnreadableMlir, read
from triage.minimize.ir.edits import apply
from triage.minimize.ir.mlir.operations import without

MODULE = """\
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "a } in a string"} {
  tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %0:2 = scf.for %i = %c0 to %arg1 step %c0 iter_args(%a = %c0, %b = %arg1) -> (i32, i32)  : i32 {
      %1 = arith.addi %a, %b : i32
      scf.yield %1, %0 : i32, i32
    } {tt.num_stages = 2 : i32}
    %2 = "tt.reduce"(%0#1) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      tt.reduce.return %x : f32
    }) : (tensor<4xf32, #blocked>) -> f32
    scf.if %2 {
      tt.store %arg0, %0#0 : !tt.ptr<f32>
    } else {
      tt.print "%arg1 {" : %arg1 : i32
    }
    ttg.warp_specialize(%arg1) attributes {requestedRegisters = array<i32: 24>}
    default {
      ttg.warp_yield
    }
    partition0(%arg1: i32) num_warps(1) {
      %c0 = arith.constant 1 : i32
      %3 = arith.addi %c0, %arg1 : i32
      ttg.warp_return
    } : (i32) -> ()
    llvm.switch %2 : i8, ^bb2 [
      0: ^bb1,
      1: ^bb2
    ]
  ^bb1:  // pred: ^bb0
    tt.return
  ^bb2(%z: i32):  // 2 preds: ^bb0, ^bb1
    tt.return
  }
}

{-#
  external_resources: {
  }
#-}
"""


@pytest.fixture(scope="module")
def document() -> ParsedModule:
    return read(MODULE)


def named(document: ParsedModule, name: str) -> list[Op]:
    return [operation for operation in document.walk() if operation.name == name]


def test_what_is_read_prints_back(document: ParsedModule) -> None:
    assert document.text == MODULE


def test_operations_and_their_lines(document: ParsedModule) -> None:
    names = [operation.name for operation in document.walk()]
    assert names[-2:] == ["tt.func", "module"]
    assert len(names) == 19
    (loop,), (choice,), (jump,) = (named(document, name) for name in ("scf.for", "scf.if", "llvm.switch"))
    assert (loop.last - loop.first, len(loop.regions)) == (3, 1)
    assert (choice.last - choice.first, len(choice.regions)) == (4, 2)
    assert (jump.last - jump.first, jump.regions) == (3, [])


def test_partitions_belong_to_the_operation_above(document: ParsedModule) -> None:
    (special,) = named(document, "ttg.warp_specialize")
    assert len(special.regions) == 2
    assert document.lines[special.last].strip() == "} : (i32) -> ()"


def test_a_name_means_the_innermost_value(document: ParsedModule) -> None:
    outer, inner = (
        next(value for value in operation.results if value.name == "%c0")
        for operation in named(document, "arith.constant")
    )
    assert len(outer.uses) == 3
    assert [document.lines[line][start:end] for line, start, end in inner.uses] == ["%c0"]


def test_results_of_a_pack_are_apart(document: ParsedModule) -> None:
    (loop,) = named(document, "scf.for")
    assert [(value.name, len(value.uses)) for value in loop.results] == [("%0#0", 1), ("%0#1", 1)]


def test_text_in_strings_is_no_use(document: ParsedModule) -> None:
    (function,) = named(document, "tt.func")
    uses = function.regions[0].names["%arg1"].uses
    assert all("print" not in document.lines[line][:start].split('"')[0] or start > 20 for line, start, _ in uses)
    assert len([use for use in uses if "tt.print" in document.lines[use[0]]]) == 1


@pytest.mark.parametrize("text", ["}\n", "module {\n", "module {\n  a.b (\n}\n"])
def test_what_does_not_close_is_said(text: str) -> None:
    with pytest.raises(UnreadableMlir):
        read(text)


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Nested operations with strings that look like syntax."""
    words = st.sampled_from(
        ['"}"', '"%a {"', "{k = 1 : i32}", "[1, 2]", ": tensor<4x4xf32>", "-> i1", "#a", "dense<1>"]
    )

    def region(depth: int) -> list[str]:
        lines = []
        for _ in range(draw(st.integers(0, 3))):
            pad, rest = "  " * depth, " ".join(draw(st.lists(words, max_size=3)))
            kind = draw(st.integers(0, 3 if depth < 4 else 1))
            if kind == 0:
                lines.append(f"{pad}a.op {rest}")
            elif kind == 1:
                lines.append(f"{pad}%{draw(st.sampled_from('xyz'))} = a.op %x, %y {rest}")
            elif kind == 2:
                lines += [f"{pad}a.hold {rest} {{", *region(depth + 1), f"{pad}}} loc(#loc)"]
            else:
                lines += [f"{pad}scf.if %x {{", *region(depth + 1), f"{pad}}} else {{", *region(depth + 1), f"{pad}}}"]
        return lines

    return "\n".join(["#a = #b<{}>", "module {", *region(1), "}", ""])


@settings(max_examples=40, deadline=None)
@given(modules())
def test_whatever_is_read_prints_back(text: str) -> None:
    assert read(text).text == text


@settings(max_examples=40, deadline=None)
@given(modules(), st.data())
def test_removal_stays_in_its_lines(text: str, data: st.DataObject) -> None:
    document = read(text)
    operations = list(document.walk())
    gone = data.draw(st.sampled_from(operations))
    left = apply(document.lines, [without(gone)])
    assert left.split("\n") == document.lines[: gone.first] + document.lines[gone.last + 1 :]
    assert len(list(read(left).walk())) == len(operations) - len(list(gone.walk()))


@settings(max_examples=40, deadline=None)
@given(modules())
def test_uses_lie_where_the_name_stands(text: str) -> None:
    document = read(text)
    for operation in document.walk():
        for value in operation.results:
            for line, start, end in value.uses:
                assert document.lines[line][start:end] == value.name
