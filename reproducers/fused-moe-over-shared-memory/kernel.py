"""A mixture-of-experts product whose tiles were chosen on a data-center GPU: three copies of 128x64 and 64x256
elements take 144 KiB of shared memory, and a block of a workstation GPU has 99 KiB.

The arguments are those of the fused MoE kernels that vLLM and SGLang launch, so that their tables of configurations
can be compiled with it. Each program multiplies a tile of tokens, all routed to one expert, by that expert's weights.
"""

import triton
import triton.language as tl


@triton.jit
def tile_of_program(rows, columns, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    """Row and column of the program's tile: columns within groups of rows, so that weights stay in the cache."""
    across = tl.cdiv(columns, BLOCK_SIZE_N)
    group = tl.program_id(0) // (GROUP_SIZE_M * across)
    inside = tl.program_id(0) % (GROUP_SIZE_M * across)
    height = tl.minimum(tl.cdiv(rows, BLOCK_SIZE_M) - group * GROUP_SIZE_M, GROUP_SIZE_M)
    return group * GROUP_SIZE_M + inside % height, inside // height


@triton.jit
def fused_moe_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    b_bias_ptr,
    a_scale_ptr,
    b_scale_ptr,
    topk_weights_ptr,
    sorted_token_ids_ptr,
    expert_ids_ptr,
    num_tokens_post_padded_ptr,
    N,
    K,
    EM,
    num_valid_tokens,
    stride_am,
    stride_ak,
    stride_be,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    stride_asm,
    stride_ask,
    stride_bse,
    stride_bsk,
    stride_bsn,
    stride_bbe,
    stride_bbn,
    group_n: tl.constexpr,
    group_k: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    SPLIT_K: tl.constexpr,
    MUL_ROUTED_WEIGHT: tl.constexpr,
    top_k: tl.constexpr,
    compute_type: tl.constexpr,
    use_fp8_w8a8: tl.constexpr,
    use_int8_w8a8: tl.constexpr,
    use_int8_w8a16: tl.constexpr,
    per_channel_quant: tl.constexpr,
    HAS_BIAS: tl.constexpr,
):
    is_quantized: tl.constexpr = use_fp8_w8a8 or use_int8_w8a8
    by_block: tl.constexpr = is_quantized and group_k > 0 and group_n > 0
    row, column = tile_of_program(EM, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    if row * BLOCK_SIZE_M >= tl.load(num_tokens_post_padded_ptr):
        return
    token = tl.load(sorted_token_ids_ptr + row * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M).to(tl.int64))
    is_valid = token < num_valid_tokens
    expert = tl.load(expert_ids_ptr + row).to(tl.int64)
    outputs = column * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + token[:, None] * stride_cm + outputs[None, :] * stride_cn
    inside = is_valid[:, None] & (outputs[None, :] < N)
    if expert == -1:
        tl.store(c_ptrs, tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=compute_type), mask=inside)
        return

    weights = outputs.to(tl.int64) % N
    step = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (token[:, None] // top_k) * stride_am + step[None, :] * stride_ak
    b_ptrs = b_ptr + expert * stride_be + step[:, None] * stride_bk + weights[None, :] * stride_bn
    a_scales = a_scale_ptr + (token // top_k) * stride_asm
    b_scales = b_scale_ptr + expert * stride_bse
    if by_block:
        b_scales += weights // group_n * stride_bsn
    elif use_int8_w8a16:
        b_scale = tl.load(b_scales + weights * stride_bsn)[None, :]
    elif is_quantized and per_channel_quant:
        b_scale = tl.load(b_scales + weights * stride_bsn)[None, :]
        a_scale = tl.load(a_scales, mask=is_valid, other=0.0)[:, None]
    elif is_quantized:
        a_scale = tl.load(a_scale_ptr)
        b_scale = tl.load(b_scale_ptr + expert)

    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        left = K - k * BLOCK_SIZE_K
        a = tl.load(a_ptrs, mask=is_valid[:, None] & (step[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=step[:, None] < left, other=0.0)
        if by_block:
            at = k * BLOCK_SIZE_K // group_k
            a_part = tl.load(a_scales + at * stride_ask, mask=is_valid, other=0.0)
            b_part = tl.load(b_scales + at * stride_bsk)
            total += tl.dot(a, b) * a_part[:, None] * b_part[None, :]
        elif use_int8_w8a16:
            total = tl.dot(a, b.to(compute_type), acc=total)
        elif use_fp8_w8a8:
            total = tl.dot(a, b, acc=total)
        else:
            total += tl.dot(a, b)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk

    if HAS_BIAS:
        total += tl.load(b_bias_ptr + expert * stride_bbe + weights * stride_bbn)[None, :]
    if MUL_ROUTED_WEIGHT:
        total *= tl.load(topk_weights_ptr + token, mask=is_valid, other=0.0)[:, None]
    if use_int8_w8a16:
        total *= b_scale
    elif is_quantized and not by_block:
        total *= a_scale * b_scale
    tl.store(c_ptrs, total.to(compute_type), mask=inside)


@triton.jit
def fused_moe_kernel_gptq_awq(
    a_ptr,
    b_ptr,
    c_ptr,
    b_scale_ptr,
    b_zp_ptr,
    topk_weights_ptr,
    sorted_token_ids_ptr,
    expert_ids_ptr,
    num_tokens_post_padded_ptr,
    N: tl.constexpr,
    K: tl.constexpr,
    EM,
    num_valid_tokens,
    stride_am,
    stride_ak,
    stride_be,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    stride_bse,
    stride_bsk,
    stride_bsn,
    stride_bze,
    stride_bzk,
    stride_bzn,
    block_k_diviable: tl.constexpr,
    group_size: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    SPLIT_K: tl.constexpr,
    MUL_ROUTED_WEIGHT: tl.constexpr,
    top_k: tl.constexpr,
    compute_type: tl.constexpr,
    has_zp: tl.constexpr,
    use_int4_w4a16: tl.constexpr,
    use_int8_w8a16: tl.constexpr,
):
    packed: tl.constexpr = 2 if use_int4_w4a16 else 1
    zero: tl.constexpr = 8 if use_int4_w4a16 else 128
    row, column = tile_of_program(EM, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    if row * BLOCK_SIZE_M >= tl.load(num_tokens_post_padded_ptr):
        return
    token = tl.load(sorted_token_ids_ptr + row * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M).to(tl.int64))
    is_valid = token < num_valid_tokens
    expert = tl.load(expert_ids_ptr + row).to(tl.int64)
    outputs = column * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + token[:, None] * stride_cm + outputs[None, :] * stride_cn
    inside = is_valid[:, None] & (outputs[None, :] < N)
    if expert == -1:
        tl.store(c_ptrs, tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=compute_type), mask=inside)
        return

    weights = outputs.to(tl.int64) % N
    step = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (token[:, None] // top_k) * stride_am + step[None, :] * stride_ak
    b_ptrs = b_ptr + expert * stride_be + (step[:, None] // packed) * stride_bk + weights[None, :] * stride_bn

    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        left = K - k * BLOCK_SIZE_K
        a = tl.load(a_ptrs, mask=is_valid[:, None] & (step[None, :] < left), other=0.0)
        b = tl.load(b_ptrs)
        if use_int4_w4a16:
            b = (b >> ((step[:, None] % 2) * 4)) & 0xF
        group = (step[:, None] + k * BLOCK_SIZE_K) // group_size
        s_ptrs = b_scale_ptr + expert * stride_bse + weights[None, :] * stride_bsn + group * stride_bsk
        z_ptrs = b_zp_ptr + expert * stride_bze + (weights[None, :] // packed) * stride_bzn + group * stride_bzk
        if block_k_diviable:
            scale = tl.load(s_ptrs).to(tl.float32)
        else:
            scale = tl.load(s_ptrs, mask=step[:, None] < left, other=0.0).to(tl.float32)
        if has_zp:
            point = tl.load(z_ptrs, mask=step[:, None] < left, other=0)
            if use_int4_w4a16:
                point = (point >> ((weights[None, :] % 2) * 4)) & 0xF
            b = ((b.to(tl.float32) - point.to(tl.float32)) * scale).to(compute_type)
        else:
            b = ((b.to(tl.float32) - zero) * scale).to(compute_type)
        total = tl.dot(a, b, acc=total)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K // packed * stride_bk

    if MUL_ROUTED_WEIGHT:
        total *= tl.load(topk_weights_ptr + token, mask=is_valid, other=0.0)[:, None]
    tl.store(c_ptrs, total.to(compute_type), mask=inside)
