"""Messages of the same check that Triton's authors reworded from one release to the next.

Each entry is a normalised text of some release, and the text that it counts as. Only the same check in the same
function belongs here; where a release fails in another check, it is another bug. Collected by comparing
the messages of ``raise`` and ``assert`` in the same functions of neighbouring released wheels.
"""

from triage.logs.patterns import Rewordings

#: (the text as a regular expression, what it counts as); above each the function and the first release with the
#: newer wording.
REWORDINGS: tuple[tuple[str, str], ...] = (
    # semantic.py, dot: 3.2.
    (r"First input \(T\) and second input \(T\) must have the same dtype", "Both operands must be same dtype"),
    (r"Both operands must be same type\b", "Both operands must be same dtype"),
    (r"lhs and rhs must have the same dtype", "Both operands must be same dtype"),
    # semantic.py, dot: 3.2. The target's smallest tile.
    (r"All non-batch values in both first input shape .*", "Input shapes should have M >= N, N >= N and K >= N"),
    # semantic.py (AssertionError), then core.py (ValueError): 3.2.
    (r"T data type is not supported on CUDA arch < N", "type T not supported in this architecture"),
    # code_generator.py: 3.2.
    (r"mismatched type for NAME", "Mismatched type for NAME"),
    (r"ternary expression with", "Ternary expression with"),
    # semantic.py, _load_block_pointer: 3.3.
    (r"`tl\.int1` should be rewrited", "`tl.int1` should be rewritten"),
    # core.py, then semantic.py: 3.4. Columns became bytes.
    (
        r"(?:T )?tensor descriptor block shape must have at least \w+ columns",
        "Descriptor block shape must have at least N bytes in the last dimension",
    ),
    # code_generator.py, _verify_loop_carried_variable: 3.5; the first with 2.x's spelling.
    (r"canno[et] reass?ign conste?xpr", "cannot reassign constexpr"),
    (r"(Loop carried variable NAME changed type).*", r"\1"),
    # libtriton, TMEMLoadOp::verify: 3.6. The layouts went into notes.
    (r"'ttng.tmem_load' op result layout is not TMEM compatible", "'ttng.tmem_load' op result"),
    # amd/compiler.py, parse_options: 3.6.
    (r"num_ctas > \w+ not supported (?:for|on) .*", "num_ctas > N not supported on the target"),
    # gluon, AMDMFMALayout.verify: 3.6.
    (r"invalid intrinsic shape\b.*", "invalid intrinsic shape"),
    # libtriton, BlockedEncodingAttr::verify: 3.7.
    (r"BlockedEncodingAttr and CTALayout's fields", "BlockedEncodingAttr and CGALayout's fields"),
    # gluon, to_linear_layout: 3.7.
    (r"Expected a DistributedLayout(?:,| or) SharedLayout.*", "Expected a layout"),
    # code_generator.py, visit_FunctionDef: 3.8.
    (r"nested function definitions? (?:is|are) not .*", "nested function definitions are not allowed"),
    # libtriton, MMAv2.cpp: 3.8.
    (
        r"Unsupported MMA instruction for the given mma type",
        "unsupported MMA instruction for the given operand/result types",
    ),
    # gluon, AMD: 3.8. More layouts came to be accepted.
    (r"expected (ptr|offsets) type layout to be .*", r"expected \1 type layout to be distributed"),
    (r"Expected layout to be a PaddedSharedLayout\b.*", "Expected layout to be a shared one"),
    (r"accumulator tensor's layout must be .*", "accumulator tensor's layout must be an accepted one"),
    (r"e2m1 format expects instr_shape to be .*", "e2m1 format expects an accepted instr_shape"),
    # gluon, _compute_tmem_reg_layout: 3.8.
    (r"splitn requires at least one basis of .*", "splitn requires at least one basis of [N]"),
    # libtriton, TensorMemoryEncodingAttr: 3.9.
    (r"the allocation shape must be at least", "the tensor shape must be at least"),
    # semantic.py, fdiv: 3.9.
    (r"both operands of fdiv must have floating scalar type", "fdiv requires floating-point operands"),
    (r"fdiv requires floating-point operands after type promotion", "fdiv requires floating-point operands"),
    # gluon, hopper mbarrier.arrive: 3.9.
    (r"cta_mask must be", "multicast_cta must be"),
    # MLIR's two ways to say that a dialect is not loaded; AMD's dialect was renamed in 3.6.
    (
        r"Building op `(?:amdgpu|amdg)\.(\w{1,80})` but it isn't known in this MLIRContext.*",
        r"amdg.\1 created with unregistered dialect",
    ),
    (r"Building op `([\w.]{1,120})` but it isn't known in this MLIRContext.*", r"\1 created with unregistered dialect"),
)
_REWORDINGS = Rewordings(*REWORDINGS)


def reworded(text: str) -> str:
    """The text in the wording that it counts as."""
    return _REWORDINGS.apply(text)
