"""Dots, loops, literals, declarations and operators: what each recipe writes, and where it does not apply."""

from __future__ import annotations

from pathlib import Path

import pytest
from rewriting import HEAD, changed, proposed, write

SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}
CARRIED = "Loop-carried variable t has initial type <['64'], {}> but is re-assigned to <['64'], {}> in loop!"
BRANCH = "initial value for `t` is of type fp16[constexpr[64]], but the then block redefines it as fp32[constexpr[64]]"
PRECISION = "input_precision must be one of ('bf16x3', 'bf16x6', 'ieee', 'tf32'). Got tf32x3"
BOUND = "For loop bounds and step must all be ints, are (int32, fp32, int32)"
OFFSET = "invalid operands of type pointer<fp32> and triton.language.float32"
FMA = "'math.fma' op operand #0 must be floating-point-like, but got 'tensor<64xi32>'"
SPECIALIZED = "warp-specialized kernels requires num_warps to be a multiple of 4"

Row = tuple[str, str, str, list[list[str]]]

ROWS: list[Row] = [
    # recipe, message, the body of the kernel with >>> before the failing line, the changed lines of each variant
    ("dot-operands-one-type", "Both operands must be same dtype. Got fp32 and fp16", ">>>c = tl.dot(p * 2, v)",
     [["c = tl.dot((p * 2).to(v.dtype), v)"], ["c = tl.dot(p * 2, v.to(tl.float32))"]]),
    ("dot-operands-one-type", "Both operands must be same dtype. Got fp16 and fp32", ">>>c = tl.dot(p, tl.trans(v))",
     [["c = tl.dot(p, tl.trans(v).to(p.dtype))"], ["c = tl.dot(p.to(tl.float32), tl.trans(v))"]]),
    ("dot-operands-one-type", "First input (fp16) and second input (int8) must have the same dtype!",
     ">>>c = tl.dot(p, v)", [["c = tl.dot(p, v.to(p.dtype))"]]),
    ("dot-operands-one-type", "Both operands must be same dtype. Got fp32 and fp16",
     ">>>c = tl.dot(p, v)\nc = tl.dot(p, w, c)",
     [["c = tl.dot(p.to(v.dtype), v)", "c = tl.dot(p.to(w.dtype), w, c)"],
      ["c = tl.dot(p, v.to(p.dtype))", "c = tl.dot(p, w.to(p.dtype), c)"]]),
    ("dot-operands-one-type", "Both operands must be same dtype. Got fp32 and fp16", ">>>c = other(p, v)", []),
    ("dot-operand-turned", "input and other must have equal reduction dimensions", ">>>c = tl.dot(q, k.T)",
     [["c = tl.dot(q, k)"], ["c = tl.dot(tl.trans(q), k.T)"]]),
    ("loop-carried-type", CARRIED.format("fp16", "fp32"),
     "t = tl.zeros([64], tl.float16)\n>>>for i in range(n):\n    t += f(i)",
     [["t = tl.zeros([64], tl.float32)"], ["t = (t + f(i)).to(tl.float16)"]]),
    ("loop-carried-type", CARRIED.format("fp32", "fp16"),
     "t = f(0)\n>>>for i in range(n):\n    t = g(t) if n else t", [["t = (g(t) if n else t).to(tl.float32)"],
                                                                  ["t = f(0).to(tl.float16)"]]),
    ("loop-carried-type", "Loop-carried variable t has initial type int32 but is re-assigned to fp32 in loop!",
     "t = 0\n>>>while t < n:\n    t = t * f(t)",
     [["t = tl.full([], 0, tl.float32)"], ["t = (t * f(t)).to(tl.int32)"]]),
    ("loop-carried-type", "Loop-carried variable t has initial type fp32 but is re-assigned to <['64'], fp32> in loop!",
     "t = 0.0\n>>>for i in range(n):\n    t = t + f(i)", []),
    ("loop-carried-type", CARRIED.format("fp16", "fp32").replace("'64'], fp32", "'32'], fp32"),
     "t = f(0)\n>>>for i in range(n):\n    t = g(t)", []),
    ("loop-carried-type", BRANCH, "t = f(0)\n>>>if n > 1:\n    t = t * h",
     [["t = f(0).to(tl.float32)"], ["t = (t * h).to(tl.float16)"]]),
    ("dot-precision-offered", PRECISION, '>>>c = tl.dot(a, b, input_precision="tf32x3")',
     [['c = tl.dot(a, b, input_precision="ieee")'], ['c = tl.dot(a, b, input_precision="tf32")']]),
    ("dot-precision-offered", PRECISION, ">>>c = tl.dot(a, b, input_precision=n)", []),
    ("dot-precision-offered", "Only one of input_precision and allow_tf32 can be specified",
     '>>>c = tl.dot(a, b, input_precision="ieee", allow_tf32=True)',
     [['c = tl.dot(a, b, input_precision="ieee")'], ["c = tl.dot(a, b, allow_tf32=True)"]]),
    ("loop-option-left-out", SPECIALIZED, "for i in tl.range(0, n, (4), warp_specialize=True, num_stages=2):\n    f(i)",
     [["for i in tl.range(0, n, (4), num_stages=2):"], ["for i in tl.range(0, n, (4), warp_specialize=True):"]]),
    ("loop-option-left-out", SPECIALIZED, "for i in tl.range(0, n, warp_specialize=n):\n    f(i)", []),
    ("loop-option-left-out", SPECIALIZED, "for i in tl.range(0, n, warp_specialize=False):\n    f(i)", []),
    ("static-range-rolled", "The compile did not end within 120 s", "for i in tl.static_range(0, 64):\n    f(i)",
     [["for i in tl.range(0, 64):"]]),
    ("floor-division", BOUND, ">>>for i in range(n / 4):\n    f(i)",
     [["for i in range(n // 4):"], ["for i in range(tl.cdiv(n, 4)):"]]),
    ("floor-division", OFFSET, ">>>tl.store(x_ptr + (n / 2) * 4, f(n / 3))",
     [["tl.store(x_ptr + (n // 2) * 4, f(n / 3))"]]),
    ("floor-division", OFFSET, "h = n / 2\n>>>tl.store(x_ptr + h, 0.0)", [["h = n // 2"]]),
    ("floor-division", OFFSET, ">>>tl.store(x_ptr, f(n) / 2)", []),
    ("floor-division", OFFSET, ">>>tl.store(x_ptr + f(n / 2), 0.0)", []),
    ("fma-as-multiply-add", FMA, ">>>y = tl.fma(x, n + 1, -n) + 1", [["y = (x * (n + 1) + (-n)) + 1"]]),
    ("fma-as-multiply-add", FMA.replace("i32", "bf16"), ">>>y = tl.fma(x, n, n)", []),
    ("condition-as-boolean", "", '>>>tl.device_assert(x & 1, "odd")', [['tl.device_assert((x & 1) != 0, "odd")']]),
    ("condition-as-boolean", "", '>>>tl.device_assert(x > 1, "odd")', []),
    ("bitwise-atomic-as-integer", "", ">>>old = tl.atomic_or(y_ptr + n, 1.0)",
     [["old = tl.atomic_or((y_ptr + n).to(tl.pointer_type(tl.int32), bitcast=True), "
       "(1.0).to(tl.float32).to(tl.int32, bitcast=True)).to(tl.float32, bitcast=True)"]]),
    ("bitwise-atomic-as-integer", "", ">>>tl.atomic_or(n, 1.0)", []),
    ("descriptor-as-it-lies", "", ">>>d = tl.make_tensor_descriptor(x_ptr, [n, 8], [1, n], [16, 8])\n"
     "d.store([n, 0], d.load([0, 8]) + 1)",
     [["d = tl.make_tensor_descriptor(x_ptr, [8, n], [n, 1], [8, 16])", "d.store([0, n], (d.load([8, 0]).T + 1).T)"]]),
    ("descriptor-as-it-lies", "", ">>>d = tl.make_tensor_descriptor(x_ptr, [n, 8], [n, 4], [16, 8])\nd.load([0, 8])",
     []),
    ("descriptor-as-it-lies", "", ">>>d = tl.make_tensor_descriptor(x_ptr, [n, 8], [1, n], [16, 8])\nf(d)", []),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=[f"{number} {row[0]}" for number, row in enumerate(ROWS)])
def test_what_is_written(row: Row, tmp_path: Path) -> None:
    recipe, message, body, expected = row
    marked = ["    " + line for line in body.splitlines()]
    text = HEAD + "def kernel(x_ptr, y_ptr, n):\n" + "\n".join(marked) + "\n"
    case = write(tmp_path, text.replace(">>>", ""), SIGNATURE, {})
    at = next((line.split(">>>")[1] for line in marked if ">>>" in line), None)
    found = proposed(recipe, case, message, at=at)
    assert [[after for _, after in changed(case, rewritten)] for rewritten in found] == expected


SAYS_NOTHING = {"fma-as-multiply-add", "condition-as-boolean", "bitwise-atomic-as-integer", "descriptor-as-it-lies",
                "loop-option-left-out", "static-range-rolled"}  # fmt: skip
"""Recipes after which the kernel computes what it was meant to, bit by bit."""


@pytest.mark.parametrize("row", [row for row in ROWS if row[3]], ids=lambda row: row[0])
def test_how_results_differ_is_said(row: Row, tmp_path: Path) -> None:
    recipe, message, body, _ = row
    text = HEAD + "def kernel(x_ptr, y_ptr, n):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n"
    case = write(tmp_path, text.replace(">>>", ""), SIGNATURE, {})
    at = next((line.split(">>>")[1] for line in body.splitlines() if ">>>" in line), None)
    for rewritten in proposed(recipe, case, message, at=at):
        assert rewritten.change and rewritten.why
        exact = "to fp32" in rewritten.change or "back to fp32" in rewritten.change or "int8" in message
        assert bool(rewritten.results) != (recipe in SAYS_NOTHING) or exact


GLOBAL = "Cannot access global variable SCALE from within @jit'ed function."


@pytest.mark.parametrize(
    "before, after",
    [
        ("SCALE = 0.5\n", "SCALE = tl.constexpr(0.5)\n"),
        (
            "SCALE = -2 ** 3\nSHIFT = 1\nNAMES = [1]\n",
            "SCALE = tl.constexpr(-2 ** 3)\nSHIFT = tl.constexpr(1)\nNAMES = [1]\n",
        ),
        ("SCALE: float = 0.5\n", "SCALE: float = tl.constexpr(0.5)\n"),
        ("SCALE = 0.5\nSCALE = 1.0\n", None),
        ("SCALE = 0.5\n\n\ndef set():\n    global SCALE\n    SCALE = 1\n", None),
        ("from settings import SCALE\n", None),
    ],
)  # fmt: skip
def test_globals(before: str, after: str | None, tmp_path: Path) -> None:
    body = "@triton.jit\ndef kernel(x_ptr):\n    tl.store(x_ptr, SCALE + SHIFT + NAMES)\n"
    imports = "import triton\nimport triton.language as tl\n"
    case = write(tmp_path, imports + before + body, {"x_ptr": "*fp32"}, {})
    found = proposed("global-constexpr", case, GLOBAL)
    assert [rewritten.text for rewritten in found] == ([imports + after + body] if after else [])


def test_a_global_that_host_code_reads_is_said(tmp_path: Path) -> None:
    text = HEAD + "def kernel(x_ptr):\n    tl.store(x_ptr, SCALE)\n\n\nSCALE = 2\nGRID = SCALE * 2\n"
    [rewritten] = proposed("global-constexpr", write(tmp_path, text, {"x_ptr": "*fp32"}, {}), GLOBAL)
    assert "SCALE" in rewritten.caller


HELPER = "import triton\nimport triton.language as tl\n\n\ndef helper(x):\n    return x + 1\n\n\n"
CALLER = "@triton.jit(debug=True)\ndef kernel(x_ptr):\n    tl.store(x_ptr, helper(1.0))\n"


def test_helpers_are_decorated_as_the_kernel_is(tmp_path: Path) -> None:
    case = write(tmp_path, HELPER + CALLER, {"x_ptr": "*fp32"}, {})
    [rewritten] = proposed("jit-helper", case, "Unsupported function referenced: <function helper at 0x7f>")
    assert rewritten.text == HELPER.replace("def helper", "@triton.jit\ndef helper") + CALLER


@pytest.mark.parametrize(
    "text, message",
    [
        (HELPER + CALLER + "\n\nprint(helper(1))\n", "Unsupported function referenced: <function helper at 0x7f>"),
        (HELPER + CALLER, "Unsupported function referenced: <function other at 0x7f>"),
        (HELPER.replace("def helper", "@cache\ndef helper") + CALLER, "Unsupported function referenced"),
    ],
    ids=["host code calls it", "another function is meant", "it is decorated"],
)
def test_helpers_that_are_left_alone(text: str, message: str, tmp_path: Path) -> None:
    assert proposed("jit-helper", write(tmp_path, text, {"x_ptr": "*fp32"}, {}), message) == []
