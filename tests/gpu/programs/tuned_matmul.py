"""An fp32 matmul through TMA descriptors, autotuned over three configurations, checked against torch. With PRUNE=1 it
asks triage before it tunes.

The warp-specialized one aborts the compiler on releases where reproducers/wgmma-mn-major-warp-specialized fails.
"""

import os
import sys

import torch
import triton
import triton.language as tl


def config(m, n, k, specialized, warps, stages):
    values = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "WARP_SPECIALIZE": specialized}
    return triton.Config(values, num_warps=warps, num_stages=stages)


CONFIGS = [config(128, 128, 32, True, 4, 3), config(128, 128, 32, False, 8, 3), config(64, 128, 32, False, 4, 3)]


PRUNED = {}
if os.environ.get("PRUNE"):
    import triage

    PRUNED = {"prune_configs_by": {"early_config_prune": triage.early_config_prune}}


@triton.autotune(CONFIGS, key=["K"], **PRUNED)
@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    WARP_SPECIALIZE: tl.constexpr,
):
    row, column = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, K, BLOCK_K, warp_specialize=WARP_SPECIALIZE):
        accumulator = tl.dot(a_desc.load([row, k]), b_desc.load([k, column]), accumulator)
    c_desc.store([row, column], accumulator)


def main(size):
    torch.manual_seed(0)
    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))
    c = torch.empty(size, size, device="cuda")
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    matmul[lambda meta: (size // meta["BLOCK_M"], size // meta["BLOCK_N"])](a, b, c, size, size, size)
    torch.testing.assert_close(c, a @ b, rtol=2e-2, atol=0.5)
    failed = sum(timing[0] == float("inf") for timing in matmul.configs_timings.values())
    print(f"correct; {failed} of {len(CONFIGS)} configurations failed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2048)
