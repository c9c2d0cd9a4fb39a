import triton
import triton.language as tl


@triton.jit
def splitk_reduce_tma(part_ptr, out_ptr, M, N, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                      KIND: tl.constexpr):
    """Adds split-K partial tiles into the output with TMA reductions."""
    pm = tl.program_id(0) * BM
    pn = tl.program_id(1) * BN
    s = tl.program_id(2)
    src = tl.make_tensor_descriptor(part_ptr, [SPLIT, M, N], [M * N, N, 1], [1, BM, BN])
    dst = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [BM, BN])
    tile = src.load([s, pm, pn]).reshape(BM, BN)
    tile = tile.to(out_ptr.dtype.element_ty)
    if KIND == "add":
        dst.atomic_add([pm, pn], tile)
    elif KIND == "max":
        dst.atomic_max([pm, pn], tile)
    elif KIND == "xor":
        dst.atomic_xor([pm, pn], tile)
    else:
        dst.store([pm, pn], tile)
