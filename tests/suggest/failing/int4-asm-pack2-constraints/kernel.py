import triton
import triton.language as tl


@triton.jit
def int4_to_fp16(q_ptr, out_ptr, n_words, BLOCK: tl.constexpr, PACK: tl.constexpr, TWO_OUT: tl.constexpr):
    """Magic-number conversion of unsigned nibbles to fp16, PACK bytes for each asm block."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(q_ptr + i, mask=i < n_words, other=0)
    if TWO_OUT:
        lo, hi = tl.inline_asm_elementwise(
            asm="""
            {
                .reg .b32 t0, t1;
                and.b32 t0, $4, 0x0f0f0f0f;
                shr.u32 t1, $4, 4;
                and.b32 t1, t1, 0x0f0f0f0f;
                prmt.b32 $0, t0, 0x64646464, 0x4140;
                prmt.b32 $1, t0, 0x64646464, 0x4342;
                prmt.b32 $2, t1, 0x64646464, 0x4140;
                prmt.b32 $3, t1, 0x64646464, 0x4342;
            }
            """,
            constraints="=r,=r,=r,=r,r",
            args=[q],
            dtype=(tl.float16, tl.float16),
            is_pure=True,
            pack=PACK,
        )
    else:
        lo = (q & 0xF).to(tl.float16) + 1024.0
        hi = ((q >> 4) & 0xF).to(tl.float16) + 1024.0
    w = tl.interleave(lo - 1024.0, hi - 1024.0)
    o = tl.program_id(0) * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(out_ptr + o, w, mask=o < n_words * 2)
