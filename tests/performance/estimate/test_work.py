"""What is read of TTIR: loops with their turns, products, loads by how they lie in memory, and what is computed."""

from __future__ import annotations

import pytest

from triage.performance.estimate.reader import read
from triage.performance.estimate.work import Body, WorkLoop

MATMUL = """
module {
  tt.func public @matmul(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<f32>, %K: i32) {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %stride = arith.constant dense<4096> : tensor<64x1xi32>
    %tall = arith.constant dense<4096> : tensor<32x1xi32>
    %pid = tt.get_program_id x : i32
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ks = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %columns = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %start = tt.splat %pid : i32 -> tensor<64xi32>
    %row = arith.addi %start, %rows : tensor<64xi32>
    %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %r2 = arith.muli %r1, %stride : tensor<64x1xi32>
    %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
    %k1 = tt.expand_dims %ks {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<64x32xi32>
    %ab = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %ao = arith.addi %r3, %k2 : tensor<64x32xi32>
    %ap = tt.addptr %ab, %ao : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %q1 = tt.expand_dims %ks {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %q2 = arith.muli %q1, %tall : tensor<32x1xi32>
    %q3 = tt.broadcast %q2 : tensor<32x1xi32> -> tensor<32x128xi32>
    %n1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %n2 = tt.broadcast %n1 : tensor<1x128xi32> -> tensor<32x128xi32>
    %bo = arith.addi %q3, %n2 : tensor<32x128xi32>
    %bb = tt.splat %b : !tt.ptr<f16> -> tensor<32x128x!tt.ptr<f16>>
    %bp = tt.addptr %bb, %bo : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
    %sum:2 = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero, %at = %ap) -> (@TYPES@)  : i32 {
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %y = tt.load %bp : tensor<32x128x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
      %next = tt.addptr %at, %k2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      scf.yield %d, %next : tensor<64x128xf32>, tensor<64x32x!tt.ptr<f16>>
    }
    %e = math.exp %sum#0 : tensor<64x128xf32>
    %cb = tt.splat %c : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>>
    tt.store %cb, %e : tensor<64x128x!tt.ptr<f32>>
    tt.return
  }
}
""".replace("@TYPES@", "tensor<64x128xf32>, tensor<64x32x!tt.ptr<f16>>")


def loop(ttir: str, **sizes: float) -> WorkLoop:
    work = read(ttir, sizes)
    assert work is not None
    (only,) = work.body.loops
    return only


def body(ttir: str) -> Body:
    work = read(ttir)
    assert work is not None
    return work.body


def test_a_loop_turns_as_often_as_its_bounds_say() -> None:
    assert loop(MATMUL, K=1024).trips == 32
    assert loop(MATMUL, K=1000).trips == 32  # The last turn is masked.
    assert loop(MATMUL).trips == 128  # Of a typical extent.


LOADED = MATMUL.replace("%K: i32", "%sizes: !tt.ptr<i32>").replace(
    "    %sum:2 =", "    %K = tt.load %sizes : !tt.ptr<i32>\n    %sum:2 ="
)


def test_a_bound_that_is_loaded_is_a_size_of_the_problem() -> None:
    assert loop(LOADED).trips == 128
    assert (
        loop(LOADED.replace("step %c32", "step %c64").replace("%c32 =", "%c64 =").replace(" 32 :", " 64 :")).trips == 64
    )


def test_from_one_loaded_offset_to_the_next_is_a_size_of_the_problem() -> None:
    between = LOADED.replace("    %sum:2 =", "    %from = tt.load %sizes : !tt.ptr<i32>\n    %sum:2 =")
    assert loop(between.replace("= %c0 to", "= %from to")).trips == 128


def test_a_product_is_read_with_what_feeds_it() -> None:
    found = loop(MATMUL)
    (dot,) = found.body.dots
    assert (dot.m, dot.n, dot.k, dot.a, dot.result) == (64, 128, 32, "f16", "f32")
    assert dot.a_from_memory
    assert [access.bytes for access in found.body.loads] == [64 * 32 * 2, 32 * 128 * 2]
    assert all(access.feeds_dot for access in found.body.loads)
    assert found.carried_bytes == 64 * 128 * 4


def test_rows_are_what_lies_side_by_side() -> None:
    assert [access.row_bytes for access in loop(MATMUL).body.loads] == [64, 256]


def test_what_all_blocks_read_is_told_from_what_one_reads() -> None:
    assert [access.by_all for access in loop(MATMUL).body.loads] == [False, True]


def test_special_functions_and_stores_are_counted() -> None:
    found = body(MATMUL)
    assert found.special == 64 * 128
    assert [access.bytes for access in found.stores] == [64 * 128 * 4]


@pytest.mark.parametrize("text", ["", "module {", "not IR at all", MATMUL[: len(MATMUL) // 2]])
def test_text_that_cannot_be_read_is_no_work(text: str) -> None:
    assert read(text) is None


POSITIONS = """
module {
  tt.func public @causal(%x: !tt.ptr<f32>, %T: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %at = arith.muli %pid, %c64 : i32
    %end = arith.addi %at, %c64 : i32
    scf.for %k = %c0 to %end step %c64  : i32 {
      %v = tt.splat %k : i32 -> tensor<64xi32>
      %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %q = tt.addptr %p, %v : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %l = tt.load %q : tensor<64x!tt.ptr<f32>>
    }
    tt.return
  }
}
"""


def test_a_loop_up_to_the_position_turns_half_as_often_on_average() -> None:
    assert loop(POSITIONS, **{"program_id.x": 15.5}).trips == 16.5
    assert loop(POSITIONS).trips == pytest.approx(32.5)


def test_the_end_of_a_block_lies_a_tile_behind_its_start() -> None:
    text = POSITIONS.replace(
        "    %end = arith.addi %at, %c64 : i32\n",
        "    %c1 = arith.constant 1 : i32\n    %n = arith.addi %pid, %c1 : i32\n    %end = arith.muli %n, %c64 : i32\n",
    )
    assert loop(text).trips == loop(POSITIONS).trips
