"""Where a text says, in words or over two lines, that something failed."""

import pytest

from triage.logs import diagnose_text
from triage.logs.named_places import crashed_function
from triage.model.diagnosis import Kind


@pytest.mark.parametrize("place", ["(Sequence.h:275)", "at llvm/ADT/Sequence.h:275", "in `Sequence.h:275`"])
def test_an_assertion_that_is_told_is_where_the_text_says(place: str) -> None:
    diagnosis = diagnose_text(f"Triton 3.7.0, gfx950: LLVM `iota_range Begin <= End` assertion failed {place}\n")
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line) == ("Sequence.h", 275)


@pytest.mark.parametrize(
    "told",
    [
        "[BUG] ICE on `tl.dot` with 8 rows: an assertion 'tile is not met'\n\nIt still aborts at `Dialect.cpp:2696`.",
        'With triton 3.2 the build hits assertion "tile is not met" (Dialect.cpp:2696) in tl.dot',
        "tl.dot: assertion failed: `tile is not met`, at lib/Dialect/TritonGPU/IR/Dialect.cpp:2696",
        "tl.dot of 8 rows makes an assertion at lib/IR/Dialect.cpp:2696 fail",
    ],
)
def test_an_assertion_that_is_quoted_without_its_end(told: str) -> None:
    diagnosis = diagnose_text(f"{told}\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.ASSERTION, "Dialect.cpp", 2696)
    assert diagnosis.headline.startswith(("Assertion failed: tile is not met", "Assertion failed in Dialect.cpp: "))


def test_a_link_to_the_line_of_an_assertion() -> None:
    link = "[Sequence.h#L275](https://example.org/blob/main/lib/Sequence.h#L275)"
    diagnosis = diagnose_text(f"Triton 3.7.0: I get an assertion failure at {link}\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.ASSERTION, "Sequence.h", 275)


def test_of_several_files_none_is_the_assertions() -> None:
    diagnosis = diagnose_text(
        "Triton 3.7.0: LLVM `iota_range Begin <= End` assertion failed, see Sequence.h:275 and Pipeliner.cpp:31\n"
    )
    assert diagnosis is not None
    assert diagnosis.file is None


def test_an_assertion_of_a_title_is_where_it_is_cut_off_below() -> None:
    cut = "(Worker pid=9) /b/lib/Alloc.cpp:47: std::pair<A, B> mlir::triton::order(mlir::Attribute): Assertio"
    diagnosis = diagnose_text(f'# Server: Assertion: "layout is not supported"\' failed.\n\n(Worker pid=9) ok\n{cut}')
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Alloc.cpp", 47, "order")
    assert diagnosis.headline.endswith("layout is not supported")


def test_an_assertion_whose_marks_were_taken_for_those_of_code() -> None:
    said = (
        "`/b/lib/ToLLVM.cpp:726: void mlir::triton::(anonymous namespace)::lower(ModuleOp): Assertion ok(op) failed.`"
    )
    diagnosis = diagnose_text(f"The backward pass fails at {said}\n\ntriton 3.4\n")
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("ToLLVM.cpp", 726, "lower")


def test_a_frame_as_a_report_shortens_it() -> None:
    error = "triton.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376"
    diagnosis = diagnose_text(f"### Training fails\n```\n{error}\nops/rule/chunk_bwd.py:499 chunk_bwd_intra\n```\n")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("ops/rule/chunk_bwd.py", 499)


def test_an_assertion_in_a_cell_of_a_table() -> None:
    cell = 'fp16 | net | static llvm::X* llvm::X::Create(llvm::Ops,   int):   Assertion `ok(S) && "Invalid!"\'   failed'
    diagnosis = diagnose_text(f"type | model | error\n-- | -- | --\n{cell}\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.function) == (Kind.ASSERTION, "X::Create")
    assert diagnosis.headline == "Assertion failed in X::Create: Invalid!"


def test_a_line_of_a_part_of_a_file_is_counted_in_the_file() -> None:
    error = "within split at lower.mlir:21 offset :3:8: error: 'ttg.local_load' op has no layout"
    diagnosis = diagnose_text(f"triton-opt says:\n{error}\n")
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line, diagnosis.source.column) == ("lower.mlir", 23, 8)


def test_the_function_of_an_assertion_that_a_sentence_quotes() -> None:
    quoted = 'TaskId.cpp:187: mlir::doTaskId(...): Assertion attr.size() == 1 && "one partition" failed'
    diagnosis = diagnose_text(f"Triton's autoWS aborts:\n\n  `{quoted}`\n\nwith a tt.reduce.\n")
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("TaskId.cpp", 187, "doTaskId")


def test_an_error_that_is_wrapped_behind_its_severity() -> None:
    reason = "Rewrite for-op failed. Could not find PtrState of the loop."
    diagnosis = diagnose_text(f"#ttg.blocked\nkernel.py:232:28: error:\n  {reason}\nkernel.py:58:0: note: x\n")
    assert diagnosis is not None
    assert diagnosis.headline == reason
    assert diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("kernel.py", 232)


@pytest.mark.parametrize("shown", ["`TritonGPUPipeline`", "[`TritonGPUPipeline` on"])
def test_a_pipeline_that_is_wrapped_before_its_pass(shown: str) -> None:
    diagnosis = diagnose_text(f"RuntimeError: PassManager::run failed\nPipeline failed while executing\n{shown}\n")
    assert diagnosis is not None
    assert diagnosis.pass_name == "TritonGPUPipeline"


def test_a_limit_of_zero_is_no_limit() -> None:
    refused = "OutOfResources: out of resource: uni_sram Required: 0, Hardware limit: 0\n"
    diagnosis = diagnose_text(
        f"Pipeline failed while executing [TritonXPUUnrollControl on 'builtin.module']\n{refused}"
    )
    assert diagnosis is not None
    assert diagnosis.pass_name == "TritonXPUUnrollControl"


def test_a_header_that_a_build_by_make_lacks_is_the_builds() -> None:
    header = "k.c:11:10: fatal error: Python.h: No such file or directory\n"
    assert diagnose_text(f"{header}It is needed by Triton's launcher.\n") is not None
    assert diagnose_text(f"I install Triton, and `sudo make -j2 install` fails:\n{header}") is None


def test_what_triton_has_ptxas_assemble_behind_a_logger_s_prefix() -> None:
    told = "# V100 has compute capability sm70\n\n[turn 0 by somebody, continued]\n"
    line = "ptxas /tmp/tmpjbxlnipm.ptx, line 468; error   : Feature '.bf16' requires .target sm_80 or higher"
    diagnosis = diagnose_text(f"{told}ERROR 08-30 07:32:02 [model_rpc.py:95] {line}\n" * 2)
    assert diagnosis is not None
    assert diagnosis.kind is Kind.PTXAS


@pytest.mark.parametrize("program", ["python", "triton-opt", "npuc", "/opt/x/bin/triton-opt", "pytest"])
def test_a_verifier_s_error_above_an_assertion_that_is_cut_off(program: str) -> None:
    assertion = (
        f"{program}: /h/mlir/IR/StorageUniquerSupport.h:181: static ConcreteT mlir::detail::StorageUserBase"
        "<mlir::StridedLayoutAttr, mlir::Attribute>::get(mlir::MLIRContext *, Args &&...) [ConcreteT = mlir::Str"
    )
    diagnosis = diagnose_text(f"Triton on an NPU:\nerror: strides of the layout must not be zero\n{assertion}")
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line) == ("StorageUniquerSupport.h", 181)
    assert diagnosis.function == "StorageUserBase::get"


@pytest.mark.parametrize(
    ("told", "function"),
    [
        ("# `Segmentation Fault` in `triton::ir::builder::insert<triton::ir::instruction>`", "builder::insert"),
        ("Triton 3.3: segfault in mlir::triton::gpu::toLinearLayout when num_warps=8", "toLinearLayout"),
        ("triton crashes at `LayoutRematerialization::hoistConvertOnTopOfExtOrBroadcast`, with a segfault", "LayoutRema"
         "terialization::hoistConvertOnTopOfExtOrBroadcast"),
        ("The compiler of Triton segfaults, I think inside mlir::CallGraph::resolve", "CallGraph::resolve"),
        ("A segfault of triton: it crashed in A::f, or it crashed in B::g", None),
    ],
)  # fmt: skip
def test_a_crash_of_which_only_the_function_is_told(told: str, function: str | None) -> None:
    diagnosis = diagnose_text(f"{told}\n\nIs there a way around it?\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.function) == (Kind.SEGFAULT, function)


@pytest.mark.parametrize(
    ("told", "kind", "function"),
    [
        ("# Segfault in AxisInfo.cpp:47 with triton 3.3", Kind.SEGFAULT, None),
        ("A segfault of triton in mlir::gpu::getOrder(Attribute) (AxisInfo.cpp:47)", Kind.SEGFAULT, "getOrder"),
        ("[BUG] triton: UNREACHABLE executed!\nIt is `lib/Analysis/AxisInfo.cpp`, line 47", Kind.UNREACHABLE, None),
        ("Triton: LLVM ERROR: still has uses\nraised from lib/AxisInfo.cpp:47 (getOrder)", Kind.LLVM_FATAL, "getOrder"),
        ("Triton: assertion `x' failed at AxisInfo.cpp:47 in getOrder", Kind.ASSERTION, "getOrder"),
        ("Triton: an assertion triggers at AxisInfo.cpp:47 (getOrder): rank > 0", Kind.ASSERTION, "getOrder"),
        ("The assertion in `getOrder` (lib/AxisInfo.cpp, line 47) fires with triton", Kind.ASSERTION, "getOrder"),
        ("ASSERTION 'rank > 0' failed, lib/AxisInfo.cpp line 47, triton 3.1", Kind.ASSERTION, None),
        ("triton-opt aborts on `assert(rank > 0)` in lib/Analysis/AxisInfo.cpp#L47", Kind.ASSERTION, None),
    ],
)  # fmt: skip
def test_a_failure_of_the_compiler_s_code_is_where_the_text_says(told: str, kind: Kind, function: str | None) -> None:
    diagnosis = diagnose_text(f"{told}\n")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (kind, "AxisInfo.cpp", 47)
    assert diagnosis.function == function


def test_a_failure_has_the_location_of_another_print_of_it() -> None:
    diagnosis = diagnose_text(
        "Triton 3.4 prints\n```\nerror: 'tt.load' op operation destroyed but still has uses\n"
        "LLVM ERROR: operation destroyed but still has uses\n```\nand, without the cache,\n```\n"
        "/a/attention.py:17:26: error: 'tt.load' op operation destroyed but still has uses\n```\n"
    )
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.kind, diagnosis.source.line) == (Kind.LLVM_FATAL, 17)


def test_an_assertion_in_a_template_has_its_function_without_a_file() -> None:
    diagnosis = diagnose_text(
        "The error of my triton kernel is:\n\n`std::vector::reference std::vector<triton::info>::operator[]("
        "std::vector::size_type) [_Tp = triton::info, _Alloc = std::allocator<triton::info>]: "
        "Assertion '__n < this->size()' failed.`\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.function) == (Kind.ASSERTION, "vector::operator[]")


STACK = """Stack (most recent call first):
  File "/v/site-packages/triton/backends/amd/compiler.py", line 275 in make_ttgir
  File "/v/site-packages/triton/compiler/compiler.py", line 324 in compile
"""


@pytest.mark.parametrize(
    ("above", "kind"),
    [
        ("", Kind.UNKNOWN),
        ("# Segmentation fault\n\n", Kind.SEGFAULT),
        (
            "LLVM ERROR: Failed to compute parent layout for slice layout.\nFatal Python error: Aborted\n\n",
            Kind.LLVM_FATAL,
        ),
    ],
)
def test_the_frame_that_ran_when_the_process_ended(above: str, kind: Kind) -> None:
    diagnosis = diagnose_text(f"{above}{STACK}")
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.file, diagnosis.line, diagnosis.function) == (
        kind,
        "compiler.py",
        275,
        "make_ttgir",
    )


_SPELLINGS = (
    "{file}:212",
    "{file}#L212",
    "{file} line 212",
    "{file} (line 212)",
    "{file}(212)",
    "{file} L212",
    "{file} at line 212",
    "{file}, ln 212",
    "{file} [line 212]",
    "file {file}, line: 212",
    '"{file}":212',
    "line 212 of {file}",
    "line 212 in file `{file}`",
    "line number 212 in {file}",
    "line 212 ({file})",
    "L212 of {file}",
)


@pytest.mark.parametrize("spelling", _SPELLINGS)
def test_a_line_is_told_in_many_ways(spelling: str) -> None:
    native, kernel = spelling.format(file="lib/ToLLVM/ConvertLayout.cpp"), spelling.format(file="my_kernel.py")
    crashed = diagnose_text(f"The triton pass segfaults at {native} when num_stages=3.\n")
    assert crashed is not None
    assert (crashed.file, crashed.line) == ("ConvertLayout.cpp", 212)
    told = diagnose_text(f"Compiling my Triton kernel at {kernel} hits an assert and python dies with SIGABRT.\n")
    assert told is not None
    assert told.source is not None
    assert (told.source.file, told.source.line) == ("my_kernel.py", 212)


@pytest.mark.parametrize("told", ["assertion failure at", "Assertion failed in", "segfault in", "crashes in"])
def test_the_function_and_the_file_that_a_title_names(told: str) -> None:
    diagnosis = diagnose_text(
        f"# Triton: {told} mlir::triton::ColumnAction::apply in triton/lib/Tools/LinearLayout.cpp\n\nWith 3.7.\n"
    )
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.function) == ("LinearLayout.cpp", "ColumnAction::apply")


@pytest.mark.parametrize("told", ["on an L4 in my_kernel.py", "my_kernel.py (L40)", "my_kernel.py, L40S, torch 2.5"])
def test_a_gpu_is_no_line(told: str) -> None:
    diagnosis = diagnose_text(f"Compiling my Triton kernel hits an assert and python dies with SIGABRT: {told}\n")
    assert diagnosis is not None
    assert diagnosis.source is None


def test_a_call_that_failed_is_where_it_did() -> None:
    said = "mlir::triton::LinearLayout::reshapeOuts(...) failed."
    assert crashed_function([said]) == {"function": "LinearLayout::reshapeOuts", "file": None}
    assert crashed_function([said, "mlir::triton::gpu::toLinearLayout() failed"]) is None


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("the assertion at attn_fwd.py:162 does not hold", 162),
        ("the check in `pkg/attn_fwd.py:162` rejects this GPU", 162),
        ("there is a TODO for this in pkg/attn_fwd.py:162", None),
    ],
)
def test_a_sentence_says_which_line_failed(told: str, line: int | None) -> None:
    title = "# triton: an exception in the kernel of attention\n\n"
    diagnosis = diagnose_text(f"{title}AssertionError: Only SM 10.x is supported\n\nOn a B300 {told}.\n")
    assert diagnosis is not None
    assert (diagnosis.source and diagnosis.source.line) == line


def test_a_title_names_the_file_alone_and_the_text_its_path() -> None:
    diagnosis = diagnose_text(
        "# triton: assertion at attn_fwd.py:162 (there is a fix)\n\n"
        "AssertionError: Only SM 10.x is supported\n\nThe check in `pkg/attn_fwd.py:162` rejects this GPU.\n"
    )
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("pkg/attn_fwd.py", 162)
