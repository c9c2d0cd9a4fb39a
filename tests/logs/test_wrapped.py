"""Text that was wrapped at a width says what it said before."""

from __future__ import annotations

import textwrap

import pytest
from rows import each_row

from triage.logs import diagnose_text
from triage.logs.wrapped import unwrapped

FRAMES = '  File "/opt/v/lib/python3.12/site-packages/triton/backends/amd/compiler.py", line {line}, in {function}\n'
#: What programs print, and the file, line, function and pass that it tells.
PRINTED: list[tuple[str, str | None, int | None, str | None, str | None]] = [
    (
        "python/pkg/srt/mem_cache/triton_ops/cache_move.py:98:0: note: Pipeline failed while executing "
        "[`TritonAMDGPUCanonicalizePointers` on 'tt.func' operation: @store_kernel]: reproducer",
        "cache_move.py", 98, None, "TritonAMDGPUCanonicalizePointers",
    ),
    (
        "/srv/models/kernels/attention/paged_decode.py:31:20: error: 'ttg.convert_layout' op requires the same shape "
        "for all operands and results, which these do not have",
        "paged_decode.py", 31, None, None,
    ),
    (
        "python: /project/lib/Conversion/TritonGPUToLLVM/ReduceOpToLLVM.cpp:316: mlir::LogicalResult "
        "ReduceOp::matchFast(mlir::triton::ReduceOp) const: Assertion `false && \"Unexpected srcLayout\"' failed.",
        "ReduceOpToLLVM.cpp", 316, "ReduceOp::matchFast", None,
    ),
    (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007fdd4d367740 (most recent call first):\n"
        + FRAMES.format(line="300", function="make_ttgir").replace(", in", " in")
        + FRAMES.format(line="279", function="compile").replace(", in", " in"),
        "compiler.py", 300, "make_ttgir", None,
    ),
    (
        "Traceback (most recent call last):\n" + FRAMES.format(line="101", function="hash")
        + "    key = self.fn.cache_key\nAttributeError: 'InterpretedFunction' object has no attribute 'cache_key'\n",
        "compiler.py", 101, "hash", None,
    ),
    (
        'loc(callsite(callsite("/opt/conda/lib/python3.9/site-packages/triton/language/core.py":1398:21 at '
        '"/w/06-fused-attention.py":52:35) at "/w/06-fused-attention.py":167:67)): error: \'triton_gpu.cmpf\' op '
        "requires the same encoding for all operands and results",
        "06-fused-attention.py", 52, None, None,
    ),
    (
        "Unsupported conversion from bf16 to f16\nUNREACHABLE executed at "
        "/project/lib/Conversion/TritonGPUToLLVM/ElementwiseOpToLLVM.cpp:816!",
        "ElementwiseOpToLLVM.cpp", 816, None, None,
    ),
]  # fmt: skip


def wrapped(text: str, width: int) -> str:
    lines = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)


@pytest.mark.parametrize("width", [72, 80, 88, 100])
@pytest.mark.parametrize("around", ["{}\n", "On Triton 3.4:\n```\n{}\n```\nAny idea?\n"])
@each_row(PRINTED)
def test_a_place_survives_wrapping(row: tuple[str, str, int, str, str], around: str, width: int) -> None:
    text, file, line, function, name = row
    diagnosis = diagnose_text(around.format(wrapped(text, width)))
    assert diagnosis is not None
    place = diagnosis.source or diagnosis
    assert str(place.file).endswith(file)
    assert place.line == line
    assert function is None or diagnosis.function == function
    assert name is None or diagnosis.pass_name == name


WIDE = "/w/k.py:31:20: error: 'tt.dot' op expects operands of one type, which these are not"


@each_row(
    [
        # another line of a program's
        f"{WIDE}\nTraceback (most recent",
        f"{WIDE}\n/w/k.py:8:0: note: called",
        f"{WIDE}\n    x = tl.dot(a, b)",
        f"{WIDE}\nE   x = tl.dot(a, b)",
        f"{WIDE}\nsuggestion: cast them",
        # somebody's words
        "RuntimeError: no kernel image is available for execution on the device in this\nWhat is this?",
        f"{WIDE}\nFound 1 error in 1 file",
        # not wrapped there
        "/w/k.py:31:20: error: 'tt.dot' op bad\nwhile compiling",
        "/w/k.py:31:20: error: 'tt.dot' op bad\nwhile compiling the kernel that has a name of more words than the line",
        '  File "/w/k.py", line 3, in f\ng()',
    ]
)
def test_what_was_not_wrapped_stays(text: str) -> None:
    assert unwrapped(text) == text


@pytest.mark.parametrize("broken", ["Pipeline failed\nwhile executing", "Pipeline failed while\nexecuting"])
def test_the_end_of_a_pipeline_is_whole_at_any_width(broken: str) -> None:
    ends = f"/srv/ops.py:31:0: note: {broken} [`TritonGPUPipeline` on 'builtin.module' operation]: x\n"
    launched = 'Traceback (most recent call last):\n  File "/srv/serve.py", line 9, in go\n    k[g](x)\n'
    diagnosis = diagnose_text(f"{ends}{launched}RuntimeError: PassManager::run failed\n")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("/srv/ops.py", 31)
    assert diagnosis.pass_name == "TritonGPUPipeline"


def test_a_terminal_cuts_words_at_its_width() -> None:
    line = (
        "  0%|          | 0/40 [00:00<?, ?it/s]C:\\app\\Lib\\site-packages\\attn\\kernel_of_blocks.py:35:23: error: "
        "'tt.fp_to_fp' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<16x16xi8>'"
    )
    for width in (64, 90, 100):
        cut = "\n".join(line[start : start + width] for start in range(0, len(line), width))
        diagnosis = diagnose_text(f"{cut}\n    q = tl.dot(a, b)\n        ^\n")
        assert diagnosis is not None
        assert diagnosis.source is not None
        assert (diagnosis.source.file.rpartition("\\")[2], diagnosis.source.line) == ("kernel_of_blocks.py", 35)
        assert diagnosis.headline.endswith("tensor<16x16xi8>'")


def test_a_wide_terminal_cuts_below_a_progress_bar() -> None:
    file = '"C:\\\\app\\\\Lib\\\\site-packages\\\\attn\\\\kernel_of_blocks.py"'
    bar = f"  0%|{' ' * 300}"[:140] + "| 0/1 [00:00<?, ?it/s]"
    width = len(bar) + 2
    line = (
        f"loc(callsite({file}:35:23 at {file}:115:55)): error: 'tt.fp_to_fp' op operand #0 must be ranked tensor of "
        "floating-point values, but got 'tensor<128x128xi8, #triton_gpu.dot_op<{opIdx = 0, parent = #triton_gpu.blocked"
        "<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], CTAsPerCGA = [1, 1], "
        "CTASplitNum = [1, 1], CTAOrder = [1, 0], order = [1, 0]}>}>>'"
    )
    cut = "\n".join([f"{bar}l", *(line[start : start + width] for start in range(1, len(line), width))])
    diagnosis = diagnose_text(f"{cut}\n{bar} \nTraceback (most recent call last):\n    samples = model.generate(\n")
    assert diagnosis is not None
    assert diagnosis.source is not None
    assert (diagnosis.source.file.rpartition("\\")[2], diagnosis.source.line) == ("kernel_of_blocks.py", 35)
