import triton
import triton.language as tl


@triton.jit
def codebook_lookup(code_ptr, book_ptr, out_ptr, n, VEC: tl.constexpr, ENTRIES: tl.constexpr, BLOCK: tl.constexpr,
                    AXIS: tl.constexpr, IDX: tl.constexpr):
    """Decodes vector-quantised weights: out[i, :] = book[code[i], :], the codebook is held in registers."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.arange(0, VEC)
    c = tl.arange(0, ENTRIES)
    code = tl.load(code_ptr + i, mask=i < n, other=0).to(IDX)
    if AXIS == 0:
        book = tl.load(book_ptr + c[:, None] * VEC + v[None, :])
        idx = tl.broadcast_to(code[:, None], [BLOCK, VEC])
        w = tl.gather(book, idx, 0)
        tl.store(out_ptr + i[:, None] * VEC + v[None, :], w, mask=i[:, None] < n)
    else:
        book = tl.load(book_ptr + v[:, None] * ENTRIES + c[None, :])
        idx = tl.broadcast_to(code[None, :], [VEC, BLOCK])
        w = tl.gather(book, idx, 1)
        tl.store(out_ptr + v[:, None] * n + i[None, :], w, mask=i[None, :] < n)
