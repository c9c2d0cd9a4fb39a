"""What the knowledge base says: every entry loads, names reproducers that exist, and claims its own failures only.

``SEEN`` holds what the reproducers' failures looked like on released wheels, cut to the fields and the piece of the
message that matter; ``TEXTS`` holds single lines as a log shows them, without a case. Each names the entry that must
come first, alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from triage.cases import reproducers
from triage.data import data_folder
from triage.knowledge import match
from triage.knowledge.entry import Entry
from triage.knowledge.load import load
from triage.logs import diagnose_text
from triage.model import case as cases
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.target import Target

FILES = sorted(data_folder("knowledge_base").glob("*.toml"))
ENTRIES: tuple[Entry, ...] = tuple(load(path) for path in FILES)

#: What issue 3 asks for, of entries and of reproducers.
LEAST_ENTRIES, LEAST_REPRODUCERS, LEAST_TARGETS = 60, 25, 5


@dataclass(frozen=True)
class Seen:
    """A diagnosis as a release gave it, and the entry that it is."""

    entry: str
    triton: str
    target: str
    diagnosis: Diagnosis
    options: dict[str, Any] = field(default_factory=dict)

    def case(self) -> Case:
        kind, _, arch = self.target.partition(":")
        return Case(
            Path(), "kernel.py", "kernel", cases.frozen(), target=Target(kind, arch), options=cases.frozen(self.options)
        )


def seen(
    entry: str,
    triton: str,
    target: str,
    *,
    kind: str,
    message: str,
    options: dict[str, Any] | None = None,
    **fields: Any,
) -> Seen:
    return Seen(entry, triton, target, Diagnosis(Kind(kind), message, message, **fields), options or {})


# fmt: off
SEEN: list[Seen] = [
    seen("amd-mfma-layout-shape", "3.9.0", "hip:gfx942", kind="frontend-error", stage="source",
         exception="CompilationError", message="AssertionError: invalid intrinsic shape ['24', '24', '8']"),
    seen("arange-bounds-not-constexpr", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="ValueError: arange's arguments must be of type tl.constexpr"),
    seen("atomic-add-bf16-old-release", "3.3.1", "hip:gfx942", kind="frontend-error", stage="source",
         exception="CompilationError", message="ValueError: atomic_add does not support bf16"),
    seen("atomic-type-unsupported", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="ValueError: atomic_or does not support int8"),
    seen("axis-out-of-range", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="ValueError: invalid axis 2. Expected -2 <= axis <"),
    seen("block-pointers-removed", "3.9.0", "cuda:90", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="NotImplementedError: Block pointers have been removed in favor of the tensor descriptor API"),
    seen("block-shape-not-power-of-two", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="ValueError: arange's range must be a power of 2"),
    seen("block-through-scalar-pointer", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="lueError: Value argument cannot be block type if pointer argument is not a block"),
    seen("break-or-continue", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="UnsupportedLanguageConstruct", message="unsupported AST node type: Break"),
    seen("broadcast-shapes", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="ValueError: Cannot make_shape_compatible: incompatible dimensions at index 0: 64 and 32"),
    seen("builtin-called-outside-kernel", "3.0.0", "cuda:80", kind="python-exception", stage="source",
         exception="AssertionError",
         message="is being called from a Triton function but is not a Triton function itself"),
    seen("builtin-called-outside-kernel", "3.9.0", "cuda:80", kind="python-exception", stage="source",
         exception="RuntimeError", message="RuntimeError: Unsupported function referenced: <function softplus at 0"),
    seen("cluster-batched-dot", "3.8.0", "cuda:90", kind="assertion", function="StorageUserBase::get",
         file="StorageUniquerSupport.h", pass_name="triton-nvidia-gpu-plan-cta", stage="ttgir",
         exception="RuntimeError",
         message="Assertion failed in StorageUserBase::get: BlockedEncodingAttr and CGALayout's fi"),
    seen("cluster-cross-cta-reduction", "3.2.0", "cuda:90", kind="assertion",
         function="ReduceOpConversion::matchAndRewrite", file="ReduceOpToLLVM.cpp",
         pass_name="convert-triton-gpu-to-llvm", stage="llir",
         message="iter&) const: Assertion `helper.isSupportedLayout() && \"Unexpected srcLayout",
         options={"num_ctas": 4}),
    seen("cluster-cross-cta-reduction", "3.6.0", "cuda:90", kind="assertion",
         function="ReduceOpConversion::matchAndRewrite", file="ReduceOpToLLVM.cpp",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="ter &) const: Assertion `helper.isReduceWithinCTA() && \"Unexpected srcLayout",
         options={"num_ctas": 4}),
    seen("cluster-gather-address-space", "3.7.1", "cuda:90", kind="mlir-diagnostic",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="'nvvm.mapa' op result #0 must be LLVM pointer in address space 0 or LLVM pointer in add"),
    seen("cluster-operand-split-along-k", "3.9.0", "cuda:90", kind="assertion",
         function="DotOpMmaSmemLoader::getDescriptor", file="MMAHelpers.h", pass_name="convert-triton-gpu-to-llvm",
         stage="llir", exception="RuntimeError",
         message="Assertion failed in DotOpMmaSmemLoader::getDescriptor: getReps(ll, shmemTileIn"),
    seen("cluster-requires-hopper", "3.2.0", "cuda:80", kind="ptxas", stage="cubin", exception="RuntimeError",
         message="ptxas: Feature '%clusterid' requires .target sm_9"),
    seen("cluster-requires-hopper", "3.9.0", "cuda:80", kind="python-exception", stage="source",
         exception="ValueError", message="ValueError: num_ctas > 1 requires NVIDIA SM90+ (H"),
    seen("cluster-reshape-moves-data", "3.9.0", "cuda:90", kind="assertion",
         function="ReshapeOpConversion::matchAndRewrite", file="ViewOpToLLVM.cpp",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="ersion::matchAndRewrite: !isExpensiveView(op.getSrc().getType(), op.getType())"),
    seen("cluster-scan", "3.8.0", "cuda:90", kind="assertion", function="AddPartialReduceOneWarp",
         file="ScanOpToLLVM.cpp", pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="Assertion failed in AddPartialReduceOneWarp: numScanBlocks * numParallelBlocks *"),
    seen("compile-does-not-end", "3.9.0", "cuda:80", kind="timeout", pass_name="convert-triton-gpu-to-llvm",
         stage="llir", message="The compile did not end within 60 s (stage llir)"),
    seen("constexpr-reassigned-in-loop", "3.2.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="AssertionError: cannot reasign constexpr START in the loop"),
    seen("constexpr-reassigned-in-loop", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="n.language.core.tensor'> but is now <class 'triton.language.core.constexpr'>"),
    seen("descriptor-block-too-small", "3.9.0", "cuda:90", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="Descriptor block shape must have at least 16 bytes in the last dimension"),
    seen("descriptor-last-dimension-strided", "3.9.0", "cuda:90", kind="frontend-error", stage="source",
         exception="CompilationError", message="ValueError: Tensor descriptor last dim must be 1 but got 1024"),
    seen("device-assert-condition-type", "3.0.0", "cuda:80", kind="assertion",
         function="AssertOpConversion::matchAndRewrite", file="AssertOpToLLVM.cpp",
         pass_name="convert-triton-gpu-to-llvm", stage="llir",
         message="ersion::matchAndRewrite: Unsupported type for assert"),
    seen("device-assert-condition-type", "3.2.0", "cuda:80", kind="mlir-diagnostic", pass_name="canonicalize",
         stage="ttir", exception="RuntimeError",
         message="'tt.assert' op operand #0 must be 1-bit signless integer or tensor of 1-bit signl"),
    seen("device-assert-condition-type", "3.9.0", "cuda:80", kind="mlir-diagnostic", stage="source",
         exception="RuntimeError",
         message="'tt.assert' op operand #0 must be 1-bit signless integer or tensor of 1-bit signl"),
    seen("dialect-of-another-backend", "3.9.0", "cuda:90", kind="llvm-fatal", stage="source",
         message="ave up: amdg.buffer_load created with unregistered dialect. If this is intended, pl"),
    seen("dot-inner-extents-differ", "3.2.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="expr[64], constexpr[32]] are not compatible for matmul (second…"),
    seen("dot-inner-extents-differ", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="AssertionError: input and other must have equal reduction dimensions"),
    seen("dot-input-precision-of-another-backend", "3.9.0", "hip:gfx942", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="AssertionError: input_precision must be one of ('bf16x3', 'bf16x6', 'ie"),
    seen("dot-operand-dtype-mismatch", "3.0.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="and second input (fp16) must have the same dtype!"),
    seen("dot-operand-dtype-mismatch", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="AssertionError: Both operands must be same dtype. Got fp32 and fp16"),
    seen("dot-scaled-format", "3.2.0", "cuda:120", kind="frontend-error", stage="source", exception="CompilationError",
         message="ValueError: Invalid float format: constexpr[fp16]."),
    seen("dot-tile-too-small", "3.9.0", "cuda:90", kind="frontend-error", stage="source", exception="CompilationError",
         message="AssertionError: Input shapes should have M >= 1, N >= 1 and K >= 32"),
    seen("dot-type-unsupported", "3.0.0", "cuda:90", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="AssertionError: Both operands must be either int8 or uint8. Operand type (int32)"),
    seen("dot-type-unsupported", "3.9.0", "cuda:90", kind="frontend-error", stage="source",
         exception="CompilationError", message="AssertionError: Unsupported lhs dtype int32"),
    seen("element-type-mismatch-when-packing", "3.2.0", "cuda:90", kind="mlir-diagnostic",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="invalid element type in packLLElements. Expected 'i8' but got '"),
    seen("element-type-mismatch-when-packing", "3.9.0", "cuda:90", kind="llvm-fatal",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="LLVM gave up: element type mismatch when packing elements for LLVM struct"),
    seen("extern-function-arguments", "3.9.0", "cuda:89", kind="frontend-error", stage="source",
         exception="CompilationError", message="KeyError: (triton.language.float16)"),
    seen("float-bitwise-atomic", "3.9.0", "hip:gfx1100", kind="mlir-diagnostic",
         pass_name="convert-triton-amdgpu-to-llvm", stage="llir", exception="RuntimeError",
         message="'llvm.atomicrmw' op expected LLVM IR integer type"),
    seen("fma-on-integers", "3.2.0", "cuda:80", kind="mlir-diagnostic", pass_name="canonicalize", stage="ttir",
         exception="RuntimeError",
         message="'math.fma' op operand #0 must be floating-point-like, but got 'tensor<256xi32"),
    seen("fma-on-integers", "3.9.0", "cuda:80", kind="mlir-diagnostic", stage="source", exception="RuntimeError",
         message="'math.fma' op operand #0 must be floating-point-like, but got 'tensor<256xi32"),
    seen("fp8-arithmetic", "3.2.0", "cuda:89", kind="frontend-error", stage="source", exception="CompilationError",
         message="TypeError: unexpected type fp8e5 and int32"),
    seen("fp8-arithmetic", "3.9.0", "cuda:89", kind="mlir-diagnostic", pass_name="convert-triton-gpu-to-llvm",
         stage="llir", exception="RuntimeError",
         message="'llvm.fcmp' op operand #0 must be floating point LLVM type or LLVM dialec"),
    seen("fp8-dot-k-too-small-unchecked", "3.0.0", "cuda:90", kind="unreachable", file="TritonGPUAttrDefs.cpp.inc",
         pass_name="tritongpu-accelerate-matmul", stage="ttgir",
         message="itonGPUAttrDefs.cpp.inc: unsupported shared memory layout for MMAv3"),
    seen("fp8-type-not-on-this-gpu", "3.0.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="AssertionError: fp8e4nv data type is not supported on CUDA arch < 89"),
    seen("fp8-type-not-on-this-gpu", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtype"),
    seen("global-variable-access", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="NameError: Cannot access global variable SCALE from within @jit'e"),
    seen("gluon-tensor-layout-invalid", "3.9.0", "hip:gfx1100", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="AssertionError: tensor shape and layout rank mismatch: shape=[512], layout=Blo"),
    seen("gpu-newer-than-compiler", "3.2.0", "cuda:120", kind="assertion", function="getMMAVersionSafe",
         file="AccelerateMatmul.cpp", pass_name="tritongpu-accelerate-matmul", stage="ttgir",
         message="ed in getMMAVersionSafe: computeCapability not supported"),
    seen("hopper-ws-data-partition", "3.9.0", "cuda:90", kind="unreachable", file="WSDataPartition.cpp",
         pass_name="nvgpu-warp-specialization", stage="ttgir", exception="RuntimeError",
         message="Reached code marked unreachable in WSDataPartition.cpp: Unexpected asyncTaskIds."),
    seen("hopper-ws-producer-load", "3.6.0", "cuda:90", kind="assertion", function="processProducerCommitOp",
         file="WSLowerToken.cpp", pass_name="nvgpu-warp-specialization", stage="ttgir", exception="RuntimeError",
         message="Assertion failed in processProducerCommitOp: false"),
    seen("hopper-ws-producer-load", "3.9.0", "cuda:90", kind="llvm-fatal", pass_name="nvgpu-warp-specialization",
         stage="ttgir", exception="RuntimeError", message="LLVM gave up: unsupported load type for producer commit"),
    seen("if-branch-type", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="expr[256]], but the then block redefines it as fp32[constexpr[256]]"),
    seen("incompatible-operand-types", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="invalid operands of type pointer<fp32> and triton"),
    seen("inline-asm-constraint-count", "3.9.0", "cuda:90", kind="unreachable", file="Error.h", stage="llir",
         message="unreachable in Error.h: number of input constraints does not match number of parameters"),
    seen("inline-asm-constraint-letter", "3.6.0", "cuda:90", kind="llvm-diagnostic", stage="ptx",
         message="LLVM: couldn't allocate output register for constraint 'v'"),
    seen("inline-asm-constraint-letter", "3.9.0", "cuda:90", kind="llvm-diagnostic", stage="ptx",
         message="LLVM: could not allocate output register for constraint 'v'"),
    seen("inline-asm-operand-number", "3.9.0", "cuda:80", kind="llvm-fatal", stage="ptx",
         message="LLVM gave up: Invalid $ operand number in inline asm string: 'add.s32 $0, $12;'"),
    seen("inline-asm-ptxas-syntax", "3.9.0", "cuda:90", kind="ptxas", stage="cubin", exception="PTXASError",
         message="ptxas: Unknown modifier '.s33'"),
    seen("integer-dot-without-tensor-cores", "3.9.0", "cuda:75", kind="mlir-diagnostic",
         pass_name="tritongpu-accelerate-matmul", stage="ttgir", exception="RuntimeError",
         message="'arith.extf' op operand #0 must be floating-point-like, but got 'tensor<32x32xi"),
    seen("layout-does-not-fit-launch", "3.9.0", "cuda:90", kind="mlir-diagnostic", stage="source",
         exception="RuntimeError", message="Result has an invalid layout: #ttg.blocked<{sizePerTh"),
    seen("loop-bound-type", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="TypeError: For loop bounds and step must all be ints, are (int32, fp32, int32"),
    seen("loop-carried-type", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="AssertionError: Loop-carried variable total has initial type <"),
    seen("math-function-needs-fp32", "3.9.0", "cuda:90", kind="frontend-error", stage="source",
         exception="CompilationError", message="ValueError: Expected dtype ['fp32', 'fp64'] but got bf16"),
    seen("mma-instruction-larger-than-tile", "3.6.0", "cuda:90", kind="assertion",
         function="DotOpMmaSmemLoader::build", file="MMAHelpers.h", pass_name="convert-triton-gpu-to-llvm",
         stage="llir", exception="RuntimeError",
         message="tOpMmaSmemLoader::build: Instruction shape is too large for the layout"),
    seen("mma-instruction-larger-than-tile", "3.9.0", "cuda:90", kind="mlir-diagnostic",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="struction shape [64, 16] is too large for the layout with block size [64, 8]"),
    seen("mma-k-width-too-small", "3.9.0", "cuda:89", kind="assertion",
         function="NvidiaMmaEncodingAttr::getRepForOperand", file="Dialect.cpp",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="gAttr::getRepForOperand: kWidth must be >= max(32 / bitwidth, 1) for this function to be"),
    seen("mma-layout-instr-shape-rank", "3.9.0", "cuda:90", kind="assertion", function="ArrayRef::operator[]",
         file="ArrayRef.h", pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="in ArrayRef::operator[]: Invalid index!"),
    seen("mma-to-mma-conversion", "3.1.0", "cuda:90", kind="assertion", function="getCvtOrder", file="Allocation.cpp",
         pass_name="allocate-shared-memory", stage="llir",
         message="n failed in getCvtOrder: mma -> mma layout conversion is only supported on Amp"),
    seen("mma-v2-types-unsupported", "3.6.0", "cuda:80", kind="mlir-diagnostic",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="Unsupported MMA instruction for the given mma type"),
    seen("mma-v2-types-unsupported", "3.9.0", "cuda:80", kind="mlir-diagnostic",
         pass_name="convert-triton-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="unsupported MMA instruction for the given operand/result types"),
    seen("name-not-defined", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="NameError: SCALE is not defined"),
    seen("pointer-expected", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="ValueError: Unsupported ptr type triton.language.int64 in"),
    seen("ptx-assembly-on-amd", "3.9.0", "hip:gfx942", kind="assembler", stage="hsaco", exception="RuntimeError",
         message="embler refused the code: invalid instruction: bfe.s32 v2, v2, 0, 4;"),
    seen("ptxas-bf16-needs-sm80", "3.2.0", "cuda:75", kind="ptxas", stage="cubin", exception="RuntimeError",
         message="ptxas: Feature '.bf16' requires .target sm_80 or higher"),
    seen("ptxas-feature-needs-newer-target", "3.9.0", "cuda:86", kind="ptxas", stage="cubin", exception="PTXASError",
         message="ptxas: Feature 'elect' requires .target sm_90 or higher"),
    seen("ptxas-instruction-not-on-target", "3.9.0", "cuda:120", kind="ptxas", stage="cubin", exception="PTXASError",
         message="nstruction 'wgmma.fence' not supported on .target 'sm_120a'"),
    seen("ptxas-too-old-for-gpu", "3.2.0", "cuda:120", kind="ptxas", stage="cubin", exception="RuntimeError",
         message="ptxas: Value 'sm_120' is not defined for option 'gpu-name'"),
    seen("reduce-not-accumulated", "3.6.0", "cuda:90", kind="assertion",
         function="TritonGPUOptimizeThreadLocalityPass::runOnOperation", file="OptimizeThreadLocality.cpp",
         pass_name="tritongpu-optimize-thread-locality", stage="ttgir", exception="RuntimeError",
         message="ityPass::runOnOperation: isa<BlockArgument>(accumOperand)"),
    seen("register-to-shared-transfer", "3.2.0", "cuda:90", kind="llvm-fatal", pass_name="convert-triton-gpu-to-llvm",
         stage="llir", message="LLVM gave up: Failed to emit transfer from register to shared"),
    seen("reshape-changes-size", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="ValueError: reshape() cannot change total number of elements in tensor"),
    seen("return-in-loop", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="UnsupportedLanguageConstruct",
         message="Cannot have `return` statements inside `while` or `for` statements in triton."),
    seen("setmaxnreg-needs-sm90", "3.9.0", "cuda:80", kind="llvm-fatal", stage="ptx",
         message="LLVM gave up: Cannot select: intrinsic %llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"),
    seen("shape-not-constexpr", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="peError: Shape element 0 must have type `constexpr[int]`, got `constexpr[<c"),
    seen("shared-memory-over-limit", "3.9.0", "hip:gfx942", kind="out-of-resources", stage="load",
         message="Out of shared memory: 131072 required, the ha"),
    seen("static-assert-failed", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompileTimeAssertionFailure", message="BLOCK must be at least 128"),
    seen("tcgen05-block-too-wide", "3.9.0", "cuda:100", kind="mlir-diagnostic", stage="source",
         exception="RuntimeError",
         message="'ttng.tc_gen5_mma' op The block size of the return operand must be less than or equal to 256"),
    seen("tcgen05-operand-shared-layout", "3.9.0", "cuda:100", kind="mlir-diagnostic", stage="source",
         exception="RuntimeError", message="ttng.tc_gen5_mma' op RHS operand must have a NVMMAShared encoding"),
    seen("tcgen05-tile-smaller-than-layout", "3.6.0", "cuda:100", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="RuntimeError: the allocation shape must be at least 128x128. Got 64, 128"),
    seen("tcgen05-tile-smaller-than-layout", "3.9.0", "cuda:100", kind="frontend-error", stage="source",
         exception="CompilationError", message="RuntimeError: the tensor shape must be at least 128x128. Got 64, 128"),
    seen("tensor-element-assignment", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError", message="NotImplementedError: __setitem__ is not supported in triton"),
    seen("tensor-slice", "3.9.0", "cuda:80", kind="frontend-error", stage="source", exception="CompilationError",
         message="ValueError: unsupported tensor index: <triton.language.core.s"),
    seen("tensor-too-many-elements", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="ueError: numel (2097152) exceeds triton maximum tensor numel (1048576)"),
    seen("tmem-register-layout", "3.9.0", "cuda:100", kind="mlir-diagnostic", stage="source", exception="RuntimeError",
         message="'ttng.tmem_load' op result"),
    seen("tuple-used-as-tensor", "3.9.0", "cuda:80", kind="frontend-error", stage="source",
         exception="CompilationError",
         message="constexpr[64]]'] of type <class 'triton.language.core.tuple'> to tensor"),
    seen("warp-specialization-no-partition", "3.6.0", "cuda:120", kind="mlir-diagnostic", pass_name="nvws-insert-aref",
         stage="ttgir", exception="RuntimeError", message="The pass NVWSInsertAref failed without a message"),
    seen("warp-specialization-warps", "3.9.0", "cuda:90", kind="mlir-diagnostic", stage="source",
         exception="RuntimeError", message="warp-specialized kernels requires num_warps to be a multiple of 4"),
    seen("warp-specialization-warps", "3.9.0", "cuda:120", kind="mlir-diagnostic", pass_name="nvws-lower-warp-group",
         stage="ttgir", exception="RuntimeError",
         message="warp-specialized kernels requires num_warps to be a multiple of 4"),
    seen("wgmma-operand-not-k-major", "3.9.0", "cuda:90", kind="assertion", function="WGMMAOpPattern::getPtxAsm",
         file="NVGPUToLLVMPass.cpp", pass_name="convert-nv-gpu-to-llvm", stage="llir", exception="RuntimeError",
         message="MMAOpPattern::getPtxAsm: WGMMA type or shape is not supported"),
    seen("wgmma-operand-shared-layout", "3.9.0", "cuda:90", kind="llvm-fatal", stage="source",
         message="to infer result type(s): unexpected operand layout for NvidiaMmaEncodingAttr v3"),
    seen("wgmma-tf32-mn-major-plain-loop", "3.2.0", "cuda:90", kind="assertion", function="WGMMAOpPattern::getPtxAsm",
         file="NVGPUToLLVMPass.cpp", pass_name="convert-nv-gpu-to-llvm", stage="llir",
         message="MMAOpPattern::getPtxAsm: WGMMA type or shape is not supported"),
    seen("wgmma-tile-rows", "3.9.0", "cuda:90", kind="mlir-diagnostic", stage="source", exception="RuntimeError",
         message="'ttng.warp_group_dot' op WGMMA result M dimension must be divisible by 64"),
    seen("while-condition-tensor", "3.2.0", "cuda:80", kind="assertion", function="cast", file="Casting.h",
         pass_name="canonicalize", stage="ttir", message="To = mlir::detail::TypedValue<mlir::IntegerType>"),
    seen("while-condition-tensor", "3.9.0", "cuda:80", kind="mlir-diagnostic", stage="source",
         exception="RuntimeError",
         message="'scf.condition' op operand #0 must be 1-bit signless integer, but got 'tensor<128xi1>"),
]
# fmt: on

# A line as a log shows it → the entry that comes first.
TEXTS: list[tuple[str, str]] = [
    ("ValueError: numel (2097152) exceeds triton maximum tensor numel (1048576)", "tensor-too-many-elements"),
    (
        "error: Maximum allowed number of elements is 1048576, but %6 = tt.make_range has more",
        "tensor-too-many-elements",
    ),
    ("ValueError: arange's range must be a power of 2", "block-shape-not-power-of-two"),
    ("AssertionError: lhs and rhs must have the same dtype!", "dot-operand-dtype-mismatch"),
    ("AssertionError: Input shapes should have M >= 1, N >= 1 and K >= 16", "dot-tile-too-small"),
    ("AssertionError: small blocks not supported!", "dot-tile-too-small"),
    ("AssertionError: cannot reassign constxpr n in the loop", "constexpr-reassigned-in-loop"),
    ("AssertionError: Mismatched type for x between then block (fp16) and else block (fp32)", "if-branch-type"),
    ("ValueError: Cannot broadcast, rank mismatch: ['1'], ['1', '1']", "broadcast-shapes"),
    (
        "ValueError: type fp8e4nv not supported in this architecture. The supported are ('fp8e5',)",
        "fp8-type-not-on-this-gpu",
    ),
    ("error: fp8e4nv data type is not supported on CUDA arch < 89", "fp8-type-not-on-this-gpu"),
    (
        "AssertionError: fp32 tensor descriptor block shape must have at least 8 columns, but got 4",
        "descriptor-block-too-small",
    ),
    ("AssertionError: strides must be 16-byte aligned", "descriptor-alignment"),
    ("IndexError: Function argument index out of range", "argument-attribute-index"),
    ("AttributeError: 'NoneType' object has no attribute 'to_ir'", "return-value-none"),
    ("AttributeError: 'Subscript' object has no attribute 'id'", "tensor-element-assignment"),
    ("RuntimeError: 0 active drivers ([]). There should only be one.", "no-gpu-driver"),
    ("RuntimeError: 2 active drivers ([<class 'a'>, <class 'b'>]). There should only be one.", "several-gpu-drivers"),
    ("RuntimeError: PassManager::run failed", "pass-failed-silently"),
    ("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", "ptxas-too-old-for-gpu"),
    ("error   : Feature '.bf16' requires .target sm_80 or higher", "ptxas-bf16-needs-sm80"),
    ("error   : Feature 'cp.async' requires .target sm_80 or higher", "ptxas-feature-needs-newer-target"),
    (
        "error   : Feature 'cvt with .e4m3x2/.e5m2x2' requires .target sm_89 or higher",
        "ptxas-fp8-conversion-needs-newer",
    ),
    ("error   : Feature 'cvt.bf16.f16' requires .target sm_90 or higher", "ptxas-fp8-conversion-needs-newer"),
    ("error   : Feature 'mbarrier' requires PTX ISA .version 7.0 or later", "ptxas-feature-needs-newer-ptx"),
    ("ptxas fatal   : Unsupported .version 8.6; current version is '8.5'", "ptxas-unsupported-ptx-version"),
    ("ptxas fatal   : (C7600) Register allocation failed with register count of '255'", "ptxas-out-of-registers"),
    ("ptxas fatal   : Unresolved extern function 'missing'", "ptxas-unresolved-function"),
    ("RuntimeError: `ptxas` failed with error code 4294967295:", "ptxas-failed-without-words"),
    ("PTXASError: PTXAS error: `ptxas` failed with error code -11", "ptxas-killed"),
    ("out of resource: shared memory, Required: 131072, Hardware limit: 101376.", "shared-memory-over-limit"),
    ("out of resource: triton_mm Required: 294912 Hardware limit:232448", "shared-memory-over-limit"),
    ("out of resource: tensor memory, Required: 768, Hardware limit: 512.", "tensor-memory-over-limit"),
    ("out of resource: threads, Required: 2048, Hardware limit: 1024.", "threads-over-limit"),
    ("RuntimeError: Triton Error [CUDA]: device kernel image is invalid", "driver-too-old-for-cubin"),
    ("RuntimeError: Triton Error [CUDA]: invalid argument", "launch-invalid-argument"),
    ("RuntimeError: Triton Error [CUDA]: misaligned address", "misaligned-address"),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "illegal-memory-access"),
    ("LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.tcgen05.wait.st", "tcgen05-needs-sm100"),
    ("LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32", "shuffle-needs-ptx60"),
    ("LLVM ERROR: Cannot select: intrinsic %llvm.amdgcn.mfma.f32.16x16x16f16", "instruction-not-on-target"),
    ("LLVM ERROR: mma16816 data type not supported", "mma16816-integer-operand"),
    ("LLVM ERROR: operation destroyed but still has uses", "value-destroyed-with-uses"),
    ("LLVM ERROR: pthread_join failed: Invalid argument", "llvm-thread-pool-after-fork"),
    ("UNREACHABLE executed: Unsupported conversion from f16 to f16", "float-conversion-not-implemented"),
    ("UNREACHABLE executed at /b/WSDataPartition.cpp:324!", "hopper-ws-data-partition"),
    ("error: operation scheduled before its operands", "pipeliner-order"),
    ("error: failed to legalize operation 'tt.load' that was explicitly marked illegal", "operation-not-legalized"),
    ("error: size mismatch when packing elements for LLVM struct expected 32 but got 64", "packed-size-mismatch"),
    ("'cute.copy' op src ptr alignment (64 bits) does not meet requirement (128 bits)", "cute-copy-alignment"),
    ("error: ran out of registers during register allocation in function 'kernel'", "llvm-out-of-registers"),
]

# An assertion as glibc prints it: file, function, expression → the entry that comes first.
ASSERTIONS: list[tuple[str, str, str, str]] = [
    (
        "Allocation.cpp",
        "getCvtOrder",
        '!(a && b) && "Unexpected mma -> mma layout conversion"',
        "mma-to-mma-conversion",
    ),
    (
        "AccelerateMatmul.cpp",
        "getMMAVersionSafe",
        'false && "computeCapability not supported"',
        "gpu-newer-than-compiler",
    ),
    ("Utility.cpp", "supportMMA", '(v == 1) && "Unexpected MMA layout version found"', "gpu-older-than-supported"),
    (
        "MMAv2.cpp",
        "convertDot",
        'm.count(t) && "Unsupported MMA instruction for the given mma type"',
        "mma-v2-types-unsupported",
    ),
    ("WSLowerToken.cpp", "processProducerCommitOp", "false", "hopper-ws-producer-load"),
    ("SoftwarePipeliner.cpp", "expandLoops", "verify(moduleOp).succeeded()", "pipelined-loop-does-not-verify"),
    ("ScanOpToLLVM.cpp", "AddPartialReduce", "n * m == srcValues.size()", "cluster-scan"),
    ("ArrayRef.h", "operator[]", 'Index < Length && "Invalid index!"', "list-index-out-of-range"),
    ("LinearLayout.cpp", "lstsq", "rank > 0", "linear-layout-assertion"),
]

# What is no failure that anybody knows.
UNKNOWN = [
    "",
    "loss 0.31 step 1200",
    "ValueError: could not convert string to float: 'abc'",
    "NameError: name 'foo' is not defined",
    "TypeError: forward() got an unexpected keyword argument 'mask'",
    "AttributeError: 'NoneType' object has no attribute 'shape'",
    "SyntaxError: invalid syntax",
    "ModuleNotFoundError: No module named 'numpy'",
    "LLVM ERROR: something that was never seen before",
    "/b/New.cpp:7: void neverSeen(): Assertion `answer == 42' failed.",
    "UNREACHABLE executed at /b/New.cpp:7!",
    "error: 'foo.bar' op makes no sense",
    "ptxas fatal   : the moon is in the wrong house",
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_entry_loads_and_says_something(path: Path) -> None:
    entry = load(path)
    assert entry.title.strip() == entry.title
    assert not entry.title.endswith(".")
    assert len(entry.cause) > len("too short to explain anything"), "the cause explains itself"
    assert all(url.startswith("https://github.com/") for url in entry.upstream)
    assert len(set(entry.reproducers)) == len(entry.reproducers)


def test_ids_are_unique_and_enough() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert len(set(ids)) == len(ids)
    assert len(ids) >= LEAST_ENTRIES


def test_every_reproducer_that_is_named_exists_and_every_one_is_named() -> None:
    named = {name for entry in ENTRIES for name in entry.reproducers}
    assert named == set(reproducers.names())


def test_the_reproducers_are_many_and_for_many_targets() -> None:
    found = [cases.load(data_folder("reproducers") / name / "case.json") for name in reproducers.names()]
    assert len(found) >= LEAST_REPRODUCERS
    assert len({str(case.target) for case in found}) >= LEAST_TARGETS
    assert any(case.target.backend == "hip" for case in found)


@pytest.mark.parametrize("name", reproducers.names())
def test_a_reproducer_is_small_and_says_what_it_shows(name: str) -> None:
    folder = data_folder("reproducers") / name
    case = cases.load(folder / "case.json")
    assert case.triton
    assert case.origin.get("title")
    assert (folder / case.file).read_text().startswith('"""')
    if found := reproducers.fixed(name):
        variant, change = found
        assert change
        assert variant.target == case.target


@pytest.mark.parametrize("one", SEEN, ids=lambda one: f"{one.entry}@{one.triton}")
def test_a_failure_that_was_seen_is_its_entry_alone(one: Seen) -> None:
    found = match(one.diagnosis, ENTRIES, one.case(), one.triton)
    assert [each.id for each in found][:1] == [one.entry]
    assert len(found) == 1 or found[0].confidence > found[1].confidence


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_line_of_a_log_is_its_entry_alone(text: str, expected: str) -> None:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    found = match(diagnosis, ENTRIES, None)
    assert [each.id for each in found][:1] == [expected]
    assert len(found) == 1 or found[0].confidence > found[1].confidence


@pytest.mark.parametrize(("file", "function", "expression", "expected"), ASSERTIONS)
def test_an_assertion_is_its_entry_alone(file: str, function: str, expression: str, expected: str) -> None:
    line = f"python: /b/lib/{file}:12: void mlir::{function}(int): Assertion `{expression}' failed."
    diagnosis = diagnose_text(line)
    assert diagnosis is not None
    found = match(diagnosis, ENTRIES, None)
    assert [each.id for each in found][:1] == [expected]
    assert len(found) == 1 or found[0].confidence > found[1].confidence


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_nobody_knows_matches_nothing(text: str) -> None:
    diagnosis = diagnose_text(text)
    assert diagnosis is None or match(diagnosis, ENTRIES, None) == []
