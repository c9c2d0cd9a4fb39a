"""What is taken out of a module, with a judge that only looks for a word: the smallest module that has it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from words import problem

from triage.ir.mlir import ParsedModule, read
from triage.minimize.ir.edits import LinePatch, apply
from triage.minimize.ir.mlir import attributes, flow, forms, operations, partitions, reduce


def reduced(text: str, *words: str) -> str:
    def described(best: str) -> reduce.Description:
        return best, [(operation.name, ["i32"] * len(operation.results)) for operation in read(best).walk()]

    reduction = problem(text, reduce.measure, *words)
    reduce.reduce(reduction, described)
    return reduction.best


def after(text: str, propose: Callable[[ParsedModule], list[LinePatch]], *places: int) -> str:
    document = read(text)
    edits = propose(document)
    return apply(document.lines, [edits[place] for place in places] if places else edits)


FUNCTION = """\
module attributes {a.b = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %0 = arith.constant 1 : i32
    %1 = arith.addi %0, %n {tag} : i32 loc(#loc1)
    %2 = bad.operation %1 : i32
    tt.store %p, %2 : !tt.ptr<f32>
    tt.return
  }
}
"""
DESCRIBED = [
    ("arith.constant", ["i32"]),
    ("arith.addi", ["i32"]),
    ("bad.operation", ["i32"]),
    ("tt.store", []),
    ("tt.return", []),
    ("tt.func", []),
    ("builtin.module", []),
]


def test_what_is_left_is_the_word_and_what_holds_it() -> None:
    left = reduced(FUNCTION, "bad.operation", "tt.func")
    assert [line.split()[0] for line in left.split("\n") if line] == ["module", "tt.func", "%2", "tt.return", "}", "}"]
    assert "attributes" not in left
    assert "loc(" not in left
    assert "tt.divisibility" not in left


def test_what_gave_a_value_becomes_an_argument() -> None:
    document = read(FUNCTION)
    types = reduce.typed(document, DESCRIBED)
    addition = next(one for one in operations.from_arguments(document, types) if one.drop == ((3, 3),))
    text = apply(document.lines, [addition])
    assert "@k(%arg0: i32, %p: " in text
    assert "bad.operation %arg0 : i32" in text


def test_one_argument_a_type() -> None:
    document = read(FUNCTION)
    every = operations.from_arguments(document, reduce.typed(document, DESCRIBED))
    assert apply(document.lines, every).count("%arg0: i32") == 1


def test_types_are_laid_beside_what_is_printed() -> None:
    described = [("arith.constant", ["i32"]), ("hidden.end", []), *DESCRIBED[1:]]
    assert reduce.typed(read(FUNCTION), described)[3] == ["i32"]


def test_an_operand_of_the_same_type_takes_its_place() -> None:
    document = read(FUNCTION)
    types = reduce.typed(document, DESCRIBED)
    edits = operations.to_operands(document, types)
    assert "bad.operation %0 : i32" in apply(document.lines, [edit for edit in edits if edit.drop == ((3, 3),)])


CONSTANTS = [
    ("i32", "arith", "arith.constant 0 : i32"),
    ("i1", "arith", "arith.constant false"),
    ("tensor<4xi1>", "arith", "arith.constant dense<false> : tensor<4xi1>"),
    ("tensor<4x2xf16, #blocked>", "tt", "arith.constant dense<0.000000e+00> : tensor<4x2xf16, #blocked>"),
    ("tensor<4x!tt.ptr<f32>>", "tt", "ub.poison : tensor<4x!tt.ptr<f32>>"),
    ("!llvm.ptr", "llvm", "llvm.mlir.undef : !llvm.ptr"),
]


@pytest.mark.parametrize(("kind", "dialect", "text"), CONSTANTS)
def test_constants(kind: str, dialect: str, text: str) -> None:
    assert operations.constant(kind, dialect)[0] == text


FLOW = """\
module {
  tt.func @k(%c: i1, %n: i32) {
    %0 = scf.for %i = %n to %n step %n iter_args(%a = %n) -> (i32)  : i32 {
      %1 = arith.addi %a, %i : i32
      scf.yield %1 : i32
    }
    %2 = scf.if %c -> (i32) {
      scf.yield %0 : i32
    } else {
      scf.yield %n : i32
    }
    tt.print %2 : i32
    tt.return
  }
}"""


def test_a_loop_is_its_body_once() -> None:
    text = after(FLOW, flow.flattened, 0)
    assert "    %2 = scf.if" in text
    assert "%1 = arith.addi %n, %n : i32" in text
    assert "scf.yield %1 : i32" in text  # What the loop gave is what its body does.
    assert "scf.for" not in text


@pytest.mark.parametrize(("place", "value"), [(1, "%0"), (2, "%n")])
def test_a_choice_is_one_of_its_branches(place: int, value: str) -> None:
    assert f"tt.print {value} : i32" in after(FLOW, flow.flattened, place)


BLOCKS = """\
module {
  llvm.func @k(%c: i1, %n: i32) {
    llvm.cond_br %c, ^bb1(%n : i32), ^bb2
  ^bb1(%0: i32):  // pred: ^bb0
    a.b %0 : i32
    llvm.br ^bb2
  ^bb2:  // 2 preds: ^bb0, ^bb1
    llvm.return
  }
}"""


def test_a_jump_to_either_target() -> None:
    assert [re.findall(r"llvm\.br.*", after(BLOCKS, flow.straightened, place))[0] for place in (0, 1)] == [
        "llvm.br ^bb1(%n : i32)",
        "llvm.br ^bb2",
    ]


def test_blocks_nobody_jumps_to_go_and_neighbours_join() -> None:
    straight = after(BLOCKS, flow.straightened, 1)
    without = after(straight, flow.unreachable)
    assert "a.b" not in without
    assert after(after(BLOCKS, flow.straightened, 0), flow.merged, 0).split("\n")[2:4] == [
        "    a.b %n : i32",
        "    llvm.br ^bb2",
    ]


def test_what_is_only_reached_by_falling_through_is_joined() -> None:
    text = BLOCKS.replace("llvm.cond_br %c, ^bb1(%n : i32), ^bb2", "llvm.return").replace("(%0: i32)", "")
    assert after(text, flow.merged, 0).split("\n")[2] == "    a.b %0 : i32"


def test_arguments_and_entries_go_with_their_commas() -> None:
    text = "module {\n  tt.func @k(%a: i32 {x = 1 : i32, y}, %b: tensor<4x2xf32>, %c: i1) {\n    tt.return %b\n  }\n}"
    assert "@k(%b: tensor<4x2xf32>)" in after(text, attributes.function_arguments)
    assert "%a: i32," in after(text, attributes.dictionaries)
    assert "{y}" in after(text, attributes.entries, 0)
    assert "{x = 1 : i32}" in after(text, attributes.entries, 1)


def test_locations_go_and_nothing_else() -> None:
    text = '#loc1 = loc("a.py":1:2)\nmodule {\n  a.b "loc(x)" {c = 1} loc(callsite(#loc1 at "x(y"(#loc)))\n} loc(#loc)'
    assert attributes.without_locations(text) == 'module {\n  a.b "loc(x)" {c = 1}\n}'


PARTITIONS = """\
module {
  tt.func @k(%a: i32, %b: i64) {
    ttg.warp_specialize(%a, %b, %a) attributes {x = array<i32: 24>}
    default {
      ttg.warp_yield
    }
    partition0(%c: i32, %d: i64, %e: i32) num_warps(1) {
      a.b %e : i32
      ttg.warp_return
    } : (i32, i64, i32) -> ()
    tt.return
  }
}"""


def test_what_no_partition_uses_is_not_handed_to_it() -> None:
    lines = after(PARTITIONS, partitions.captures).split("\n")
    assert lines[2].strip() == "ttg.warp_specialize(%a) attributes {x = array<i32: 24>}"
    assert lines[6].strip() == "partition0(%e: i32) num_warps(1) {"
    assert lines[9].strip() == "} : (i32) -> ()"


def test_a_partition_in_the_place_of_all() -> None:
    text = PARTITIONS.replace("a.b %e", "%x = a.b %e, %d")
    assert after(text, partitions.inlined).split("\n")[2:4] == ["      %own_x = a.b %a, %b : i32", "    tt.return"]


def test_a_partition_goes_with_its_number_and_its_entries() -> None:
    second = "    partition1(%c: i32) num_warps(2) {\n      ttg.warp_return\n    } : (i32, i64, i32) -> ()"
    text = PARTITIONS.replace("    } : (i32, i64, i32) -> ()", "    }\n" + second).replace("24>", "24, 32>")
    first, last = (after(text, partitions.without_one, place) for place in (0, 1))
    assert "array<i32: 32>" in first
    assert "partition0(%c: i32) num_warps(2) {" in first
    assert "a.b" not in first
    assert "array<i32: 24>" in last
    assert "num_warps(2)" not in last
    for text in (first, last):
        assert len(read(text).text) == len(text)
        assert text.count("(i32, i64, i32) -> ()") == 1


SHAPES = """\
#a = #ttg.blocked<{sizePerThread = [1, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], warpsPerCTA = [2, 2], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  a.b : tensor<64x32xf16, #a> -> !ttg.memdesc<32x64xf16, #b>
  tt.make_range {end = 64 : i32, start = 0 : i32}
}"""


def test_a_dimension_is_halved_wherever_it_stands() -> None:
    texts = forms.smaller_shapes(SHAPES)
    assert any("tensor<32x32xf16" in one and "memdesc<32x32xf16" in one and "end = 32 : i32" in one for one in texts)
    assert any("tensor<32x32xf16" in one and "memdesc<32x64xf16" in one for one in texts)


def test_a_layout_in_the_place_of_another() -> None:
    assert any("#b" not in one and "memdesc<32x64xf16, #a>" in one for one in forms.other_layouts(SHAPES))


def test_fewer_warps_in_the_module_and_in_every_layout() -> None:
    (text,) = forms.fewer_warps(SHAPES)
    assert '"ttg.num-warps" = 2 : i32' in text
    assert re.findall(r"warpsPerCTA = (\[.*?\])", text) == ["[2, 1]", "[1, 2]"]


def test_smaller_numbers_and_fewer_fields() -> None:
    texts = forms.smaller_layouts(SHAPES)
    assert any("sizePerThread = [1, 2], warpsPerCTA = [4, 1]" in one for one in texts)
    assert any("#a = #ttg.blocked<{warpsPerCTA = [4, 1], order = [1, 0]}>" in one for one in texts)
