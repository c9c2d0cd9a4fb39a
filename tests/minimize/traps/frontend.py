"""What Triton's front end and the first verification refuse: all at stage ``source``."""

from __future__ import annotations

from traps.failure import Failure, failures

_HELPER = """@triton.jit
def {name}(value, factor):
    return value * factor"""

FRONTEND = failures(
    Failure("arange-power", "{v} = tl.arange(0, 96)", "arange's range must be a power of 2"),
    Failure("arange-runtime", "{v} = tl.arange(0, n)", "arange's arguments must be of type tl.constexpr"),
    Failure("broadcast", "{v} = x + tl.arange(0, BLOCK // 2)", "Cannot make_shape_compatible: incompatible dimensions"),
    Failure("broadcast-to", "{v} = tl.broadcast_to(x, [BLOCK * 2])", "Cannot broadcast, the expanded size"),
    Failure("dot-rank", "{v} = tl.dot(h, x)", "input and other must have equal ranks"),
    Failure("dot-int32", "{v} = tl.dot(h.to(tl.int32), h.to(tl.int32))", "Unsupported lhs dtype int32"),
    Failure("dot-types", "{v} = tl.dot(h, h.to(tl.float32))", "Both operands must be same dtype"),
    Failure("dot-precision", '{v} = tl.dot(h, h, input_precision="exact")', "input_precision must be one of"),
    Failure("branch-type", "{v} = x\nif n > 1000:\n    {v} = {v}.to(tl.float64)", "but the then block redefines it as"),
    Failure("loop-type", "{v} = x\nfor step in range(n):\n    {v} = {v}.to(tl.float64)", "is re-assigned to"),
    Failure(
        "offset-float", "{v} = tl.load(x_ptr + x)", "invalid operands of type pointer<fp32> and triton.language.float32"
    ),
    Failure("undefined", "{v} = x * weight", "weight is not defined"),
    Failure("undefined-call", "{v} = tl.rsqrt_approximate(x)", "has no attribute 'rsqrt_approximate'"),
    Failure("global", "{v} = x * LIMIT", "Cannot access global variable LIMIT", above="LIMIT = 4"),
    Failure("load-integer", "{v} = tl.load(i)", "Unsupported ptr type .* in `tl.load`"),
    Failure("store-integer", "tl.store(i, 1)", "Unsupported ptr type .* in `tl.store`"),
    Failure("mask-block", "{v} = tl.load(x_ptr, mask=inside)", "Mask argument cannot be block type if pointer"),
    Failure("other-alone", "{v} = tl.load(x_ptr + offsets, other=1.0)", "`other` cannot be provided without `mask`"),
    Failure("cache-modifier", '{v} = tl.load(x_ptr + offsets, cache_modifier=".xx")', "Unsupported cache modifier"),
    Failure("eviction", '{v} = tl.load(x_ptr + offsets, eviction_policy="last")', "Unsupported eviction policy"),
    Failure("semantic", '{v} = tl.atomic_add(i_ptr + offsets, i, sem="weak")', "Memory semantic weak not supported"),
    Failure("scope", '{v} = tl.atomic_add(i_ptr + offsets, i, scope="grid")', "Memory semantic grid not supported"),
    Failure("reshape", "{v} = tl.reshape(h, [32, 16])", r"reshape\(\) cannot change total number of elements"),
    Failure("axis", "{v} = tl.sum(h, axis=2)", "invalid axis 2"),
    Failure("expand", "{v} = tl.expand_dims(x, 3)", "invalid axis 3"),
    Failure("permute", "{v} = tl.permute(h, [1, 0, 2])", "permute dims must have the same length as input shape"),
    Failure("permute-twice", "{v} = tl.permute(h, [1, 1])", "permute dims must be a permutation of"),
    Failure(
        "static-assert",
        'tl.static_assert(BLOCK >= 512, "the block is too narrow for this")',
        r"(?m)(?:Error|Failure):?.*the block is too narrow|^the block is too narrow",
        mended='tl.static_assert(BLOCK >= 1, "the block is too narrow for this")',
    ),
    Failure(
        "static-assert-wide",
        'tl.static_assert(BLOCK < 8, "the block is too wide for that")',
        r"(?m)(?:Error|Failure):?.*the block is too wide|^the block is too wide",
        mended='tl.static_assert(BLOCK > 8, "the block is too wide for that")',
    ),
    Failure("set-element", "x[0] = 1.0", "__setitem__ is not supported in triton"),
    Failure("slice", "{v} = x[0:8]", "unsupported tensor index"),
    Failure("break", "for step in range(n):\n    tl.store(y_ptr, step)\n    break", "unsupported AST node type: Break"),
    Failure("continue", "for step in range(n):\n    tl.store(y_ptr, step)\n    continue", "AST node type: Continue"),
    Failure(
        "return-if-in-loop", "for step in range(n):\n    if step > 3:\n        return", "Cannot have `return` state"
    ),
    Failure("lambda", "{v} = (lambda value: value)(x)", "unsupported AST node type: Lambda"),
    Failure("try", "try:\n    {v} = x\nfinally:\n    {v} = x", "unsupported AST node type: Try"),
    Failure(
        "descriptor-stride",
        "{v} = tl.make_tensor_descriptor(x_ptr, [n, n], [1, 1024], [16, 16])",
        "Tensor descriptor last dim must be 1",
    ),
    Failure(
        "descriptor-row",
        "{v} = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [16, 2])",
        "Descriptor block shape must have at least 16 bytes",
    ),
    Failure("atomic-or", "{v} = tl.atomic_or(x_ptr.to(tl.pointer_type(tl.int8)) + offsets, 1)", "atomic_or does not"),
    Failure(
        "atomic-add", "{v} = tl.atomic_add(x_ptr.to(tl.pointer_type(tl.int8)) + offsets, 1)", "atomic_add does not"
    ),
    Failure("missing", "{v} = scaled(x)", "missing a required argument", above=_HELPER.format(name="scaled")),
    Failure("too-many", "{v} = weighed(x, 2, 3)", "too many positional", above=_HELPER.format(name="weighed")),
    Failure("keyword", "{v} = shifted(x, 2, by=3)", "unexpected keyword", above=_HELPER.format(name="shifted")),
    Failure("and-pointer", "{v} = x_ptr & 1", "invalid operands of type pointer<fp32> and triton.language.int32"),
    Failure("bitcast", "{v} = x.to(tl.int16, bitcast=True)", "Cannot bitcast data-type of size 32"),
    Failure("program-axis", "{v} = tl.program_id(3)", "program_id axis must be 0, 1, or 2"),
    Failure("programs-axis", "{v} = tl.num_programs(4)", "num_programs axis must be 0, 1, or 2"),
    Failure("split", "{v}, rest = tl.split(x)", "expected last dimension to be 2 for split"),
    Failure("fp8e4nv", "{v} = x.to(tl.float8e4nv)", "fp8e4nv not supported in this", targets=("cuda:80", "cuda:86")),
    # The verifier's, over the whole module, when the front end is done.
    Failure("verify-fma", "{v} = tl.fma(i, i, i)\ntl.store(i_ptr + offsets, {v})", r"'math.fma' op operand #0"),
    Failure("verify-assert", 'tl.device_assert(x, "zero")', "'tt.assert' op operand #0", options={"debug": True}),
    Failure("verify-while", "{v} = i\nwhile {v} > 1:\n    {v} = {v} // 2\ntl.store(i_ptr + offsets, {v})", "scf.cond"),
    Failure(
        "helper-plain", "{v} = plain(x)", "Unsupported function referenced", above="def plain(value):\n    return value"
    ),
)
