"""With dumped IR: the pass, the operation and the user's line that were being lowered."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text

ASSERTION = (
    "python: /b/lib/Conversion/{file}:31: virtual mlir::LogicalResult {{anonymous}}::{function}(int) const: "
    "Assertion `false' failed.\n"
)
DUMP = """\
// -----// IR Dump Before Canonicalizer (canonicalize) ('builtin.module' operation) //----- //
#loc = loc("/home/user/other.py":1:1)
    %0 = tt.reduce %1 : tensor<4xf32> loc(#loc)
// -----// IR Dump Before {header} ('builtin.module' operation) //----- //
#loc = loc("/home/user/k.py":3:0)
#loc1 = loc(unknown)
module {{
  tt.func public @kernel(%arg0: !tt.ptr<f32> loc("/home/user/k.py":3:0)) {{
    %cst = arith.constant dense<0.0> : tensor<128xf32> loc(#loc1)
    %1 = "tt.reduce"(%cst) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32 loc(unknown), %b: f32 loc(unknown)):
      tt.reduce.return %a : f32 loc(#loc9)
    }}) : (tensor<128xf32>) -> f32 loc(#loc9)
    %2 = ttg.convert_layout %cst : tensor<128xf32> -> tensor<128xf32> loc(#loc4)
    %3 = ttg.convert_layout %cst : tensor<128xf32> -> tensor<128xf32> loc(#loc5)
    %4 = tt.dot %2, %3 : tensor<128xf32> loc(#loc4)
    tt.return loc(#loc1)
  }} loc(#loc)
}} loc(#loc)
#loc4 = loc("/home/user/k.py":7:9)
#loc5 = loc("acc"(#loc6))
#loc6 = loc("/home/user/k.py":9:9)
#loc7 = loc("/opt/venv/lib/python3.11/site-packages/triton/language/standard.py":290:36)
#loc8 = loc("/home/user/k.py":12:20)
#loc9 = loc(callsite(#loc7 at #loc8))
"""
HEADERS = [
    "ConvertTritonGPUToLLVM (convert-triton-gpu-to-llvm)",
    "ConvertTritonGPUToLLVM: convert-triton-gpu-to-llvm{compute-capability=90 ptx-version=88}",
]
LOWERED = [
    ("ReduceOpToLLVM.cpp", "ReduceOpConversion::matchAndRewrite", 12, ("while lowering tt.reduce (k.py:12)",)),
    ("ViewOpToLLVM.cpp", "convertDot", 7, ("while lowering tt.dot (k.py:7)",)),
    ("ConvertLayoutOpToLLVM.cpp", "lowerIt", None, ("while lowering ttg.convert_layout (k.py:7, k.py:9)",)),
    ("Utility.cpp", "supportMMA", None, ()),
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(("file", "function", "line", "notes"), LOWERED)
def test_what_was_being_lowered(
    header: str, file: str, function: str, line: int | None, notes: tuple[str, ...]
) -> None:
    found = diagnose_text(DUMP.format(header=header) + "\n" + ASSERTION.format(file=file, function=function))
    assert found is not None
    assert found.pass_name == "convert-triton-gpu-to-llvm"
    assert (found.source and found.source.line) == line
    assert found.notes == notes


def test_the_operation_that_the_message_names() -> None:
    found = diagnose_text(DUMP.format(header=HEADERS[0]) + "error: 'tt.dot' op bad\n")
    assert found is not None
    assert (found.source and found.source.line, found.notes) == (7, ("while lowering tt.dot (k.py:7)",))


def test_what_the_compiler_said_itself_stands() -> None:
    found = diagnose_text(DUMP.format(header=HEADERS[0]) + "k.py:99:1: error: 'tt.dot' op bad\n")
    assert found is not None
    assert (found.source and found.source.line, found.notes) == (99, ("while lowering tt.dot",))


LLVM_DUMPS = [
    ("*** IR Dump Before NVPTX DAG->DAG Selection (nvptx-isel) ***", "NVPTX DAG->DAG Selection"),
    ("; *** IR Dump Before InstCombinePass on kernel ***", "InstCombinePass"),
]


@pytest.mark.parametrize(("header", "name"), LLVM_DUMPS)
def test_a_pass_of_llvms(header: str, name: str) -> None:
    found = diagnose_text(f"{header}\nLLVM ERROR: Cannot select: intrinsic %llvm.nvvm.x\n")
    assert found is not None
    assert found.pass_name == name


def test_a_reproducer_of_one_pass_names_it() -> None:
    text = 'LLVM ERROR: bad\nmodule {}\n{-#\n      pipeline: "builtin.module(tritongpu-pipeline{num-stages=3})",\n#-}\n'
    found = diagnose_text(text)
    assert found is not None
    assert found.pass_name == "tritongpu-pipeline"
