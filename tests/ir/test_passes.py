"""Headers of dumps in every release's spelling, the module behind them, and reproducers."""

from __future__ import annotations

import pytest

from triage.ir import passes
from triage.ir.passes import Header, PassInput

MODULE = '#blocked = #ttg.blocked<{}>\nmodule attributes {"ttg.num-warps" = 4 : i32} {\n  tt.func @k() {\n  }\n}\n'
LATER = MODULE.replace("@k", "@later")
OLD = "// -----// IR Dump Before ConvertNVGPUToLLVM (convert-nv-gpu-to-llvm) ('builtin.module' operation) //----- //"
NEW = "// -----// IR Dump Before ConvertTritonGPUToLLVM: convert-triton-gpu-to-llvm{compute-capability=90} //----- //"
NESTED = (
    "// -----// IR Dump Before (anonymous namespace)::Canonicalizer (canonicalize) ('tt.func' operation: @k) //----- //"
)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (OLD, "convert-nv-gpu-to-llvm"),
        (NEW, "convert-triton-gpu-to-llvm"),
        (NESTED.replace("(anonymous namespace)::", ""), "canonicalize"),
        ("// -----// IR Dump Before SCFToControlFlowPass: convert-scf-to-cf //----- //", "convert-scf-to-cf"),
        ("// -----// IR Dump Before mlir::triton::Foo<Bar> (foo) //----- //", "foo"),
    ],
)
def test_every_spelling_of_a_header(header: str, expected: str) -> None:
    seen = passes.last_pass(f"noise\n{header}\n{MODULE}")
    assert seen is not None
    assert (seen.pass_name, seen.module) == (expected, MODULE)


def test_the_last_header_counts_and_what_follows_the_module_does_not() -> None:
    log = f"{OLD}\n{MODULE}\n{NEW}\n{LATER}#loc = loc(unknown)\nkernel.py:3:4: error: bad\nStack dump:\n"
    seen = passes.last_pass(log)
    assert seen is not None
    assert seen.pass_name == "convert-triton-gpu-to-llvm"
    assert seen.module == LATER + "#loc = loc(unknown)\n"


@pytest.mark.parametrize("log", ["", "no header\n", "// -----// IR Dump After Foo (foo) //----- //\n"])
def test_a_log_without_a_dump(log: str) -> None:
    assert passes.last_pass(log) is None


def test_a_header_at_the_very_end() -> None:
    seen = passes.last_pass(OLD)
    assert seen is not None
    assert seen.module == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("// -----// IR Dump Before Foo ('builtin.module' operation) //----- //", Header("Foo", None)),
        ("*** IR Dump Before NVPTX DAG->DAG Selection (nvptx-isel) ***", Header("NVPTX DAG->DAG Selection", None)),
        ("; *** IR Dump Before InstCombinePass on kernel ***", Header("InstCombinePass", None)),
        ("2025-03-01 // -----// IR Dump Before Foo: foo{a=1} //----- //", Header("Foo", "foo")),
        ("IR Dump Before anything else", None),
        ("// -----// IR Dump After Foo (foo) //----- //", None),
    ],
)
def test_a_header_of_either_pass_manager(line: str, expected: Header | None) -> None:
    assert passes.header(line) == expected


def test_a_header_inside_a_line_or_without_an_argument_is_not_a_pass() -> None:
    quoted = f"he wrote {OLD}\n{MODULE}"
    unnamed = f"// -----// IR Dump Before Foo ('builtin.module' operation) //----- //\n{MODULE}"
    assert passes.last_pass(quoted + unnamed) is None
    assert passes.last_pass(f"{NEW}\n{LATER}{quoted}{unnamed}") == PassInput("convert-triton-gpu-to-llvm", LATER)


def test_many_headers_take_time_in_proportion() -> None:
    assert passes.last_pass(passes.HEADER * 100_000) is None
    assert passes.last_pass(f"{passes.HEADER}\n" * 100_000) is None


def test_a_module_with_locations_ends_with_them() -> None:
    module = '#loc = loc("k.py":1:0)\nmodule {\n} loc(#loc)\n#loc1 = loc(unknown)\n'
    seen = passes.last_pass(f"{OLD}\n{module}error: bad\n")
    assert seen is not None
    assert seen.module == module


def test_a_reproducer_reads_back() -> None:
    step = PassInput("tritongpu-pipeline", MODULE)
    text = passes.reproducer(step)
    read = passes.reproduced(text)
    assert read is not None
    assert (read.pass_name, read.module.strip(), read.reproducer) == (step.pass_name, MODULE.strip(), text)
    assert passes.reproduced(text.replace("tritongpu-pipeline", "canonicalize{a=1},cse")) is None


def test_the_text_of_the_first_dump() -> None:
    assert passes.first_dump(f"noise\n{OLD}\n{MODULE}{NEW}\n{LATER}").partition("\n")[2] == MODULE


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("builtin.module(canonicalize{a=1 b={c=2}},cse)", "canonicalize,cse"),
        ("any(canonicalize,cse)\n", "canonicalize,cse"),
        ('  pipeline: "builtin.module(cse)",\n  disable_threading: true', "cse"),
        ("cse", "cse"),
        ("builtin.module()", None),
        ("", None),
    ],
)
def test_the_passes_of_a_pipeline(printed: str, expected: str | None) -> None:
    pipeline = passes.pipeline(printed)
    assert (pipeline and passes.without_options(pipeline)) == expected


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [("a{b{c},d", "a{b,d"), ("a}{b}", "a}"), ("{" * 50_000 + "}" * 50_000 + "a", "a"), ("{" * 3, "{{{")],
    ids=["open", "closed", "nested", "only open"],
)
def test_braces_of_options_need_not_match(pipeline: str, expected: str) -> None:
    assert passes.without_options(pipeline) == expected
