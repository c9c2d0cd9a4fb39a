"""Every way in which a compile ends, on real compilers: each is told apart, on every release.

The letters are those of the classes of failure: A front-end error, B pass failure with a diagnostic, C assertion in
a pass, D LLVM's own abort, E an error that is printed while the compile goes on, F ptxas or assembler, G over a limit
of the hardware, H no end, I only after fork.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace

import kernel_cases
import pytest
from conftest import Traces, compiler
from rows import one_in

from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.linker import find_lld
from triage.harness.request import Milestone, PartialCompile, Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.logs.outcomes import diagnose_outcome
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.gpus import TensorCore
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.model.releases import in_range
from triage.model.target import Target

Compile = Callable[..., "list[Outcome | Undecided]"]

CORE = ["3.2.0", "newest"]
"""The last that cannot recover from an assertion, and the newest."""
EVERY = ["3.0.0", "3.1.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0"]
releases = pytest.mark.parametrize(
    "version", [*CORE, *(pytest.param(version, marks=pytest.mark.slow) for version in EVERY)]
)
on_the_newest = pytest.mark.parametrize(
    "version", ["newest", *(pytest.param(version, marks=pytest.mark.slow) for version in [CORE[0], *EVERY])]
)
"""For what differs by release in nothing that another test does not show."""
NVIDIA = ["ttir", "ttgir", "llir", "ptx", "cubin"]
AMD = ["ttir", "ttgir", "llir", "amdgcn", "hsaco"]


def numbers(toolchain: Toolchain) -> tuple[int, int]:
    major, minor = toolchain.release.split(".")[:2]
    return int(major), int(minor)


def stages(outcome: Outcome) -> list[str]:
    return [done.stage.value for done in outcome.stages]


def diagnosis(outcome: Outcome, case: Case) -> Diagnosis:
    found = diagnose_outcome(outcome, case.path)
    assert found is not None
    return found


@pytest.fixture
def toolchain(version: str, release: Callable[[str], Toolchain]) -> Toolchain:
    return release(version)


@pytest.fixture
def compile_all(shared_engine: Engine, toolchains: Toolchains) -> Compile:
    return compiler(shared_engine, toolchains)


@pytest.fixture
def compile_one(compile_all: Compile) -> Callable[..., Outcome]:
    def compile_one(case: Case, toolchain: Toolchain, limits: Limits | None = None, observe: bool = False) -> Outcome:
        (result,) = compile_all([case], toolchain, limits, observe)
        assert isinstance(result, Outcome), result
        return result

    return compile_one


One = Callable[..., Outcome]


# --- what compiles, and what it uses ------------------------------------------------------------------------------


@on_the_newest
def test_a_good_compile_says_what_it_uses(compile_all: Compile, toolchain: Toolchain) -> None:
    cases = [
        kernel_cases.add(),
        kernel_cases.matmul(64, 16, 16, "cuda:90"),
        kernel_cases.matmul(16, 16, 16, "cuda:80"),
        kernel_cases.matmul(16, 16, 16, "hip:gfx942"),
        kernel_cases.matmul(16, 16, 16, "hip:gfx1100"),
    ]
    results = compile_all(cases, toolchain)
    classes = [TensorCore.NONE, TensorCore.WGMMA, TensorCore.MMA_SYNC, TensorCore.MFMA, TensorCore.WMMA]
    for case, result, tensor_core in zip(cases, results, classes, strict=True):
        assert isinstance(result, Outcome), (case.target, result)
        assert (result.status, result.stage, result.exit_code, result.signal) == (Status.OK, None, 0, None), case.target
        assert stages(result) == (NVIDIA if case.target.backend == "cuda" else AMD)
        assert all(0 < done.seconds < 60 for done in result.stages)
        assert result.resources is not None
        assert result.resources.tensor_core is tensor_core
        assert result.resources.registers is not None
        assert result.resources.spill_bytes == 0
        assert 0 < result.resources.registers <= 512
        assert (result.resources.shared_bytes > 0) == (tensor_core is not TensorCore.NONE)
        assert result.resources.threads == 4 * case.target.warp_size
        assert (result.drawbacks, result.notes) == ((), ()), case.target
        assert result.max_rss_bytes > 10 << 20
        assert result.environment["triton"] == toolchain.release
        assert result.environment["python"] == toolchain.python_version
        assert ("ptxas" in result.environment) == (case.target.backend == "cuda")


@pytest.mark.parametrize("version", ["newest"])
def test_spills_are_read_from_ptxas(compile_one: One, toolchain: Toolchain) -> None:
    """A tile of 128 by 64 floats in one warp is 256 accumulators a thread; a thread has 255 registers."""
    case = kernel_cases.matmul(128, 64, 16, "cuda:80", num_warps=1, num_stages=1)
    outcome = compile_one(case, toolchain)
    resources = outcome.resources
    assert resources is not None
    assert resources.registers
    assert resources.spill_bytes is not None
    assert resources.spill_bytes > 500
    assert outcome.drawbacks == (f"spills {resources.spill_bytes} B a thread",)


IDLE, EMULATES = "multiplies without tensor cores", "emulates tl.dot_scaled"
UNSPLIT = "is not warp-specialized"
SLOW = [
    (kernel_cases.dot("cuda:75"), ">=3.4", [IDLE]),
    (kernel_cases.block_scaled("cuda:90", size=64), ">=3.3", [EMULATES]),
    (kernel_cases.specialized("cuda:80", 16, 32), ">=3.4", [UNSPLIT]),
]
"""Legal, and slow, with the releases that compile it so."""
MORE = [
    (kernel_cases.dot("cuda:75"), "<3.3", []),
    (kernel_cases.dot("cuda:90"), "", []),
    (kernel_cases.dot("cuda:90", "fp32"), "", []),
    (kernel_cases.dot("cuda:90", "fp32", "tf32"), "", []),
    (kernel_cases.dot("hip:gfx942", "fp32"), ">=3.5", []),
    (kernel_cases.block_scaled("cuda:100"), ">=3.3,!=3.6.*", []),
    (kernel_cases.block_scaled("hip:gfx942"), ">=3.8", [EMULATES]),
    (kernel_cases.block_scaled("hip:gfx950"), ">=3.5", []),
    (kernel_cases.specialized("cuda:100", 128, 64), ">=3.4", []),
    (kernel_cases.specialized("hip:gfx942", 64, 32), ">=3.5", [UNSPLIT]),
]


@pytest.mark.parametrize("version", ["newest", *(pytest.param(version, marks=pytest.mark.slow) for version in EVERY)])
def test_what_is_legal_and_slow_is_noted(compile_all: Compile, toolchain: Toolchain, version: str) -> None:
    tried = [row for row in (SLOW if version == "newest" else [*SLOW, *MORE]) if in_range(toolchain.release, row[1])]
    results = compile_all([case for case, _, _ in tried], toolchain)
    for (case, _, expected), result in zip(tried, results, strict=True):
        assert isinstance(result, Outcome), (case.target, result)
        assert (result.status, list(result.drawbacks)) == (Status.OK, expected), (case.name, case.target, result.log)
        assert len(result.notes) == len(expected)


@pytest.mark.parametrize("target", one_in(6, ["cuda:70", "cuda:75", "cuda:86", "cuda:120", "cuda:89", "cuda:100"]))
@pytest.mark.parametrize("version", ["newest"])
def test_a_target_compiles(compile_one: One, toolchain: Toolchain, target: str) -> None:
    outcome = compile_one(kernel_cases.add(target), toolchain)
    assert (outcome.status, stages(outcome)) == (Status.OK, NVIDIA)


@pytest.mark.parametrize("version", [pytest.param("3.2.0", marks=pytest.mark.slow), "newest"])
def test_blackwell_has_tensor_cores_of_its_own(compile_one: One, toolchain: Toolchain) -> None:
    """Up to 3.2 the compiler does not know the target, and says so in an assertion."""
    outcome = compile_one(kernel_cases.matmul(128, 32, 16, "cuda:100"), toolchain)
    if numbers(toolchain) < (3, 3):
        assert (outcome.status, outcome.signal, outcome.stage) == (Status.CRASH, "SIGABRT", Stage.TTGIR)
        return
    assert outcome.resources is not None
    assert outcome.resources.tensor_core is TensorCore.TCGEN05
    assert outcome.resources.tensor_memory_columns


@pytest.mark.parametrize(
    "version",
    ["newest", *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.6.0", "3.7.1", "3.8.0"))],
)
def test_gluon_kernels_compile_and_fail(compile_all: Compile, toolchain: Toolchain) -> None:
    """There is no mma of fp16 operands with an fp64 accumulator; Gluon's front-end does not know that."""
    good, bad = compile_all([kernel_cases.gluon_mma("gl.float32"), kernel_cases.gluon_mma("gl.float64")], toolchain)
    assert isinstance(good, Outcome)
    assert isinstance(bad, Outcome)
    assert (good.status, good.resources and good.resources.tensor_core) == (Status.OK, TensorCore.MMA_SYNC)
    assert (bad.status, bad.stage) == (Status.ERROR, Stage.LLIR)
    assert "unsupported mma instruction" in diagnosis(bad, kernel_cases.gluon_mma("")).message.lower()


# --- A: the front-end ---------------------------------------------------------------------------------------------


@on_the_newest
def test_a_front_end_error_has_the_line_of_the_kernel(compile_one: One, toolchain: Toolchain) -> None:
    case = kernel_cases.elementwise("wrong_shapes", "fp32")
    outcome = compile_one(case, toolchain)
    assert (outcome.status, outcome.stage, outcome.exit_code) == (Status.ERROR, Stage.SOURCE, 1)
    assert (outcome.signal, stages(outcome), outcome.resources) == (None, [], None)
    found = diagnosis(outcome, case)
    assert found.kind is Kind.FRONTEND_ERROR
    assert "64 and 128" in found.message
    assert found.source is not None
    text = case.path.read_text().splitlines()[found.source.line - 1]
    assert text.strip() == "tl.store(y_ptr + tl.arange(0, BLOCK), left + right)"
    assert text[found.source.column - 1 :].startswith("left") if found.source.column else False


# --- B: a pass fails with a diagnostic ----------------------------------------------------------------------------


@on_the_newest
def test_a_pass_failure_has_the_diagnostic_and_the_pass(compile_one: One, toolchain: Toolchain) -> None:
    case = kernel_cases.elementwise("float_xor", "fp64", "hip:gfx1100")
    outcome = compile_one(case, toolchain, observe=True)
    assert (outcome.status, outcome.stage, outcome.exit_code) == (Status.ERROR, Stage.LLIR, 1)
    assert (outcome.pipeline, stages(outcome)) == (True, ["ttir", "ttgir"])
    found = diagnosis(outcome, case)
    assert found.kind is Kind.MLIR_DIAGNOSTIC
    # 3.3 stumbles one instruction earlier.
    assert re.search(r"error: 'llvm\.(atomicrmw|zext)' op ", found.message)
    assert found.pass_name == "convert-triton-amdgpu-to-llvm"


# --- C: an assertion in a pass ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "version", [*(pytest.param(version, marks=pytest.mark.slow) for version in EVERY[:2]), "3.2.0"]
)
def test_an_assertion_kills_older_releases(compile_one: One, toolchain: Toolchain) -> None:
    case = documents.load(kernel_cases.REPRODUCERS / "wgmma-tf32-mn-major")
    outcome = compile_one(case, toolchain, observe=True)
    assert (outcome.status, outcome.stage, outcome.signal) == (Status.CRASH, Stage.LLIR, "SIGABRT")
    assert (outcome.exit_code, stages(outcome), outcome.errors) == (None, ["ttir", "ttgir"], ())
    found = diagnosis(outcome, case)
    assert (found.kind, found.function) == (Kind.ASSERTION, "WGMMAOpPattern::getPtxAsm")
    assert found.file == "NVGPUToLLVMPass.cpp"
    assert found.pass_name == "convert-nv-gpu-to-llvm"


@pytest.mark.parametrize(
    "version",
    ["newest", *(pytest.param(one, marks=pytest.mark.slow) for one in EVERY[3:])],
)
def test_newer_releases_turn_an_assertion_into_an_exception(compile_one: One, toolchain: Toolchain) -> None:
    case = documents.load(kernel_cases.REPRODUCERS / "wgmma-mn-major-warp-specialized")
    case = case.with_changes({"BLOCK_M": 64, "BLOCK_N": 16})  # It compiles in a third of the time.
    outcome = compile_one(case, toolchain, observe=True)
    found = diagnosis(outcome, case)
    assert (found.kind, found.function) == (Kind.ASSERTION, "WGMMAOpPattern::getPtxAsm")
    assert found.pass_name == "convert-nv-gpu-to-llvm"
    assert outcome.stage is Stage.LLIR
    # On 3.3 and 3.4 both are seen: it depends on the pass.
    assert (outcome.status, outcome.signal, outcome.exit_code) == (Status.ERROR, None, 1)
    assert outcome.errors


# --- D: LLVM gives up ---------------------------------------------------------------------------------------------


@on_the_newest
def test_llvms_own_abort_takes_the_process_on_every_release(compile_one: One, toolchain: Toolchain) -> None:
    case = kernel_cases.assembly("add.s32 $0, $12;", "=r,r")
    outcome = compile_one(case, toolchain)
    assert (outcome.status, outcome.stage, outcome.signal) == (Status.CRASH, Stage.PTX, "SIGABRT")
    assert (outcome.exit_code, outcome.pipeline) == (None, False)
    assert stages(outcome) == ["ttir", "ttgir", "llir"]
    found = diagnosis(outcome, case)
    assert (found.kind, found.pass_name) == (Kind.LLVM_FATAL, None)
    assert "Invalid $ operand number in inline asm string" in found.message


@on_the_newest
def test_an_unreachable_in_a_pass(compile_one: One, toolchain: Toolchain) -> None:
    case = kernel_cases.assembly("mov.b32 $0, $1;", "=r")
    outcome = compile_one(case, toolchain)
    assert (outcome.status, outcome.stage, outcome.signal) == (Status.CRASH, Stage.LLIR, "SIGABRT")
    assert diagnosis(outcome, case).kind is Kind.UNREACHABLE


# --- E: printed, and gone on --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "target"),
    [
        pytest.param("newest", "cuda:89", marks=pytest.mark.slow),
        pytest.param("3.6.0", "cuda:90", marks=pytest.mark.slow),
        pytest.param("3.6.0", "cuda:120", marks=pytest.mark.slow),
        pytest.param("3.8.0", "cuda:90", marks=pytest.mark.slow),
    ],
)
def test_a_binary_beyond_its_shared_memory_is_suspect(
    compile_all: Compile, release: Callable[[str], Toolchain], name: str, target: str
) -> None:
    """ptxas reuses a register that still holds a part of the address; with more warps it needs none."""
    case = documents.load(kernel_cases.REPRODUCERS / "ptxas-shared-address")
    case = replace(case, target=Target.parse(target))
    wrong, right = compile_all([case, replace(case, options={"num_warps": 8})], release(name))
    assert isinstance(wrong, Outcome)
    assert isinstance(right, Outcome)
    assert (wrong.status, wrong.stage, wrong.exit_code, wrong.resources) == (Status.SUSPECT, Stage.CUBIN, 0, None)
    found = diagnosis(wrong, case)
    assert (found.kind, found.signature) == (Kind.PTXAS, "v2|ptxas|cubin|beyond shared memory")
    assert found.source is not None
    assert found.source.text is not None
    assert "tl.store" in found.source.text
    assert right.status is Status.OK


@releases
@pytest.mark.parametrize("target", ["cuda:90", pytest.param("hip:gfx942", marks=pytest.mark.slow)])
def test_an_error_that_is_only_printed_is_not_a_good_compile(
    compile_one: One, toolchain: Toolchain, target: str
) -> None:
    """Up to 3.7 LLVM's error handler calls exit(1); 3.8 and 3.9 return a binary that is bad, and cache it."""
    case = kernel_cases.assembly("mov.b32 $0, $1;", "=x,r", target)
    outcome = compile_one(case, toolchain)
    assembler_stage = Stage.PTX if target == "cuda:90" else Stage.AMDGCN
    assert (outcome.stage, outcome.signal, outcome.resources) == (assembler_stage, None, None)
    found = diagnosis(outcome, case)
    assert found.kind is Kind.LLVM_DIAGNOSTIC
    assert "allocate output register for constraint 'x'" in found.message
    if numbers(toolchain) >= (3, 8):
        assert (outcome.status, outcome.exit_code) == (Status.SUSPECT, 0)
        assert outcome.cache_key
        assert stages(outcome) == (NVIDIA if target == "cuda:90" else AMD)
    else:
        assert (outcome.status, outcome.exit_code, outcome.errors) == (Status.CRASH, 1, ())
        assert outcome.cache_key is None


# --- F: the assembler refuses -------------------------------------------------------------------------------------


@on_the_newest
def test_ptxas_refuses_what_inline_assembly_said(compile_one: One, toolchain: Toolchain) -> None:
    case = kernel_cases.assembly("frobnicate.s32 $0, $1;", "=r,r")
    outcome = compile_one(case, toolchain)
    assert (outcome.status, outcome.stage, outcome.exit_code) == (Status.ERROR, Stage.CUBIN, 1)
    assert stages(outcome) == ["ttir", "ttgir", "llir", "ptx"]
    found = diagnosis(outcome, case)
    assert (found.kind, "frobnicate" in found.message) == (Kind.PTXAS, True)


@on_the_newest
def test_amds_assembler_refuses_what_inline_assembly_said(compile_one: One, toolchain: Toolchain) -> None:
    case = kernel_cases.assembly("frobnicate $0, $1", "=v,v", "hip:gfx942")
    outcome = compile_one(case, toolchain)
    assert (outcome.status, outcome.stage, outcome.exit_code) == (Status.ERROR, Stage.HSACO, 1)
    found = diagnosis(outcome, case)
    assert (found.kind, "frobnicate" in found.message) == (Kind.ASSEMBLER, True)


# --- G: over a limit of the hardware ------------------------------------------------------------------------------


TOO_MANY_STAGES = kernel_cases.matmul(32, 32, 128, "cuda:80", num_stages=12)


@on_the_newest
@pytest.mark.parametrize(
    ("case", "resource", "limit"),
    [
        (TOO_MANY_STAGES, "shared memory", 166912),
        (kernel_cases.matmul(64, 64, 32, num_warps=64), "threads", 1024),
    ],
    ids=["shared memory", "threads"],
)
def test_a_binary_that_no_gpu_of_the_target_can_load(
    compile_one: One, toolchain: Toolchain, case: Case, resource: str, limit: int
) -> None:
    outcome = compile_one(case, toolchain)
    assert (outcome.status, outcome.stage, outcome.exit_code) == (Status.ERROR, Stage.LOAD, 1)
    assert stages(outcome) == NVIDIA
    found = diagnosis(outcome, case)
    assert (found.kind, found.resource, found.limit) == (Kind.OUT_OF_RESOURCES, resource, limit)
    assert found.required is not None
    assert found.required > limit


@on_the_newest
@pytest.mark.parametrize(
    ("until", "done"),
    [
        pytest.param(until, done, id=str(until), marks=marks)
        for until, done, marks in [
            (Milestone.ALLOCATED, 2, pytest.mark.slow),
            (Milestone.CONVERTED, 2, ()),
            (Stage.LLIR, 3, pytest.mark.slow),
        ]
    ],
)
def test_a_compile_goes_no_further_than_it_is_asked_to(
    shared_engine: Engine, toolchain: Toolchain, until: Stage | Milestone, done: int
) -> None:
    """What the metadata say of its resources is known by then; the answer is nobody else's."""
    case = TOO_MANY_STAGES
    [attempt] = shared_engine.run([Request(case, toolchain, action=PartialCompile(until))])
    outcome = attempt.result
    assert isinstance(outcome, Outcome)
    assert stages(outcome) == NVIDIA[:done]
    assert (outcome.status, outcome.stage) == (Status.ERROR, Stage.LOAD)
    assert diagnosis(outcome, case).resource == "shared memory"
    assert outcome.over_limit == "shared memory: 180224 > 166912"


# --- H: no end in sight -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [pytest.param("3.0.0", marks=pytest.mark.slow), "newest"])
def test_a_compile_without_an_end_stops_at_the_limit(shared_engine: Engine, toolchain: Toolchain) -> None:
    requests = [
        Request(kernel_cases.matmul(512, 512, 512, num_warps=1), toolchain, Limits(1.0, 6 << 30), tag="endless"),
        Request(kernel_cases.add(), toolchain, tag="good"),
    ]
    results = {attempt.request.tag: attempt.result for attempt in shared_engine.run(requests)}
    endless, good = results["endless"], results["good"]
    assert isinstance(endless, Outcome)
    assert (endless.status, endless.exit_code, endless.signal) == (Status.TIMEOUT, None, None)
    assert endless.limit_s == 1.0
    assert 0.9 < endless.duration_s < 4
    assert endless.stage in (Stage.TTGIR, Stage.LLIR)
    assert diagnosis(endless, kernel_cases.add()).kind is Kind.TIMEOUT
    assert isinstance(good, Outcome)
    assert good.status is Status.OK


def test_what_runs_at_the_deadline_is_given_up(
    shared_engine: Engine, toolchains: Toolchains, shared_traces: Traces
) -> None:
    requests = [
        Request(kernel_cases.matmul(512, 512, 512, num_warps=1), toolchains.default(), Limits(60, 6 << 30)),
        Request(kernel_cases.add(), toolchains.default()),
    ]
    began = time.monotonic()
    shared_engine.deadline.until = began + 0.8
    try:
        assert [attempt.request for attempt in shared_engine.run(requests)] in ([], requests[1:])
        assert time.monotonic() - began < 3
        assert list(shared_engine.run(requests)) == []
    finally:
        shared_engine.deadline.until = math.inf
    shared_traces.assert_no_strays()
    assert [attempt.request for attempt in shared_engine.run(requests[1:])] == requests[1:]


# --- I: only after fork -------------------------------------------------------------------------------------------


@on_the_newest
def test_an_abort_that_a_fresh_process_does_not_show_is_no_failure(compile_one: One, toolchain: Toolchain) -> None:
    outcome = compile_one(kernel_cases.only_after_fork(), toolchain)
    assert (outcome.status, stages(outcome)) == (Status.OK, NVIDIA)
    assert outcome.notes == ("failed once in a forked process (SIGABRT), compiles in a fresh one",)


@pytest.mark.parametrize("version", ["newest"])
def test_a_real_crash_is_confirmed_once_and_not_again(
    engine: Engine, toolchains: Toolchains, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second look costs a fresh process; a bug that has been confirmed is not looked at again."""
    compile_all = compiler(engine, toolchains)
    fresh: list[str] = []
    start = Engine._start_fresh
    monkeypatch.setattr(Engine, "_start_fresh", lambda *it: (fresh.append("run"), start(*it))[1])
    case = kernel_cases.assembly("add.s32 $0, $12;", "=r,r")
    first = compile_all([case], toolchain)
    again = compile_all([replace(case, options={"num_warps": 8}), replace(case, options={"num_warps": 2})], toolchain)
    assert [one.signal for one in first + again if isinstance(one, Outcome)] == ["SIGABRT"] * 3
    assert len(fresh) == 1


# --- AMD's linker -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.2.0"])
def test_amd_kernels_of_older_releases_are_linked_by_a_newer_triton(compile_one: One, toolchain: Toolchain) -> None:
    """They link with ld.lld, which few machines have; the newest Triton has it built in."""
    outcome = compile_one(kernel_cases.add("hip:gfx942"), toolchain)
    assert (outcome.status, stages(outcome)) == (Status.OK, AMD)


@pytest.mark.skipif(find_lld() is not None, reason="this machine has an ld.lld")
def test_without_any_linker_triage_says_what_is_missing(toolchains: Toolchains, traces: object) -> None:
    with Engine(jobs=1, spare=list) as engine:
        (attempt,) = engine.run([Request(kernel_cases.add("hip:gfx942"), toolchains.resolve("3.2.0"))])
    assert isinstance(attempt.result, Undecided)
    assert "Install lld, or set TRITON_HIP_LLD_PATH" in attempt.result.reason
    assert "\n" not in attempt.result.reason
