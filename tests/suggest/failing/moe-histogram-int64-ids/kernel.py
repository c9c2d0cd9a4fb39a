import triton
import triton.language as tl


@triton.jit
def expert_histogram(topk_ids_ptr, counts_ptr, num_assign, NUM_EXPERTS: tl.constexpr, BLOCK: tl.constexpr,
                     SCAN: tl.constexpr):
    """Counts tokens per expert; optionally turns the counts into exclusive offsets."""
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    ids = tl.load(topk_ids_ptr + offs, mask=offs < num_assign, other=0)
    hist = tl.histogram(ids, NUM_EXPERTS)
    e = tl.arange(0, NUM_EXPERTS)
    if SCAN:
        incl = tl.cumsum(hist, axis=0)
        hist = incl - hist
        tl.store(counts_ptr + pid * NUM_EXPERTS + e, hist)
    else:
        tl.atomic_add(counts_ptr + e, hist, mask=hist > 0)
