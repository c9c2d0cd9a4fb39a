"""What fails later than the front end: in a pass, in LLVM, in an assembler, or at a limit of the target."""

from __future__ import annotations

from traps.failure import Failure, failures


def _assembly(name: str, text: str, says: str, constraints: str = "=r,r", targets: tuple[str, ...] = ()) -> Failure:
    lines = (
        f'{{v}} = tl.inline_asm_elementwise("{text}", "{constraints}", [i], dtype=tl.int32, is_pure=True, pack=1)\n'
        "tl.store(i_ptr + offsets, {v}, mask=inside)"
    )
    return Failure(name, lines, says, targets=targets or ("cuda:90", "cuda:80"))


_LONG = "mov.b32 $0, $1; " * 8

LATER = failures(
    # In ConvertTritonGPUToLLVM.
    Failure("fp8-sum", "tl.store(y_ptr + tl.arange(0, 32), tl.sum(q, axis=1))", "element type mismatch when packing"),
    Failure("fp8-sort", "tl.store(q_ptr + offsets, tl.sort(tl.load(q_ptr + offsets)))", "'llvm.fcmp' op operand #0"),
    Failure(
        "cluster-gram",
        "wide = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]\n"
        "{v} = tl.load(h_ptr + wide)\ntl.store(y_ptr + wide, tl.dot({v}, tl.trans({v})))",
        r"getReps\(ll, shmemTileInv\)",
        targets=("cuda:90",),
        options={"num_ctas": 2},
    ),
    Failure(
        "int8-sm75",
        "{v} = tl.dot(h.to(tl.int8), h.to(tl.int8))\ntl.store(i_ptr + tile, {v})",
        "'arith.extf' op operand #0",
        targets=("cuda:75",),
    ),
    # In LLVM.
    _assembly("asm-count", "add.s32 $0, $1, $1;", "number of input constraints does not match", "=r,r,r"),
    _assembly("asm-letter", "mov.b32 $0, $1;", "could not allocate output register for constraint 'v'", "=v,v"),
    _assembly("asm-input-letter", "mov.b32 $0, $1;", "unknown asm constraint 'v'", "=r,v"),
    _assembly("asm-operand", "add.s32 $0, $12;", r"Invalid \$ operand number in inline asm string"),
    _assembly("asm-unterminated", "add.s32 $0, ${1;", r"Bad \$\{\} expression in inline asm string"),
    _assembly("asm-bad-operand", "add.s32 $0, $x;", r"Bad \$ operand number in inline asm string"),
    # Long enough for what differs to come late.
    _assembly("asm-long-x", _LONG + "add.s32 $0, $x;", r"Bad \$ operand number in inline asm.*, \$x;'"),
    _assembly("asm-long-y", _LONG + "add.s32 $0, $y;", r"Bad \$ operand number in inline asm.*, \$y;'"),
    # In ptxas.
    _assembly("ptx-modifier", "add.s33 $0, $1, $1;", r"error +: Unknown modifier '\.s33'"),
    _assembly("ptx-near", "add.s35 $0, $1, $1;", r"error +: Unknown modifier '\.s35'"),
    _assembly("ptx-name", "frob.s32 $0, $1;", "error +: Not a name of any known instruction: 'frob'"),
    _assembly("ptx-count", "add.s32 $0, $1;", "error +: Arguments mismatch for instruction 'add'"),
    _assembly("ptx-types", "add.f32.s32 $0, $1, $1;", "error +: Unexpected instruction types specified for 'add'"),
    _assembly("ptx-missing", "mov.b32 $0;", "error +: Arguments mismatch for instruction 'mov'"),
    _assembly(
        "ptx-twice", "{ .reg .b32 t; .reg .b32 t; mov.b32 $0, $1; }", "error +: Duplicate definition of variable 't'"
    ),
    _assembly("ptx-label", "bra nowhere_at_all; mov.b32 $0, $1;", "error +: Unknown symbol 'nowhere_at_all'"),
    _assembly("ptx-space", "ld.global.shared.b32 $0, [$1];", "error +: Unexpected number of state spaces"),
    _assembly("ptx-syntax", "mov.b32 $0 $1;", "fatal +: Parsing error near"),
    _assembly(
        "ptx-elect",
        "{ .reg .pred p; elect.sync _|p, $1; selp.b32 $0, 1, 0, p; }",
        "error +: Feature 'elect' requires .target sm_90",
        targets=("cuda:86", "cuda:80"),
    ),
    _assembly(
        "ptx-fence",
        "wgmma.fence.sync.aligned; mov.b32 $0, $1;",
        "error +: Instruction 'wgmma.fence' ",
        targets=("cuda:86", "cuda:80"),
    ),
    # In the assembler for AMD.
    _assembly("amd-instruction", "bfe.s32 $0, $1, 0, 4;", "error: invalid instruction", "=v,v", ("hip:gfx942",)),
    _assembly("amd-operand", "v_mov_b32 $0", "error: too few operands for instruction", "=v,v", ("hip:gfx942",)),
    _assembly("amd-modifier", "v_mov_b32 $0, $1 frob:1", "error: not a valid operand", "=v,v", ("hip:gfx942",)),
    _assembly(
        "amd-symbol", "v_mov_b32 $0, nowhere", "cannot be used against symbol 'nowhere'", "=v,v", ("hip:gfx942",)
    ),
    Failure(
        "amd-float-xor",
        "tl.atomic_xor(x_ptr + offsets, x, mask=inside)",
        "'llvm.atomicrmw' op",
        targets=("hip:gfx942",),
    ),
    # Limits of the target, which only a launch would meet.
    Failure(
        "over-shared",
        "long = tl.arange(0, 65536)\n{v} = tl.gather(tl.load(x_ptr + long), tl.load(i_ptr + long), 0)\n"
        "tl.store(y_ptr + long, {v})",
        "shared memory[:,]",
        targets=("cuda:80",),
        options={"num_warps": 32},
        at_launch=True,
    ),
    Failure("cluster-sm80", "pass", "num_ctas > 1 requires NVIDIA SM90", options={"num_ctas": 2}),
    Failure("over-threads", "pass", "threads[:,]", options={"num_warps": 64}, at_launch=True),
    Failure("over-cluster", "pass", "cluster blocks[:,]", options={"num_ctas": 32}, at_launch=True),
)
