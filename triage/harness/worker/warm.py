"""One tiny kernel whose compile pays Triton's one-time costs (cache key, targets, passes) in the server.

Measured on 3.9.0: a fork of a process that has compiled one kernel for the target takes 70 ms for a small kernel,
one that has only imported Triton 509 ms.
"""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def triage_warm_up(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """A 16x16x16 dot: touches the matrix path of every target."""
    rows = tl.arange(0, BLOCK)
    offsets = rows[:, None] * BLOCK + rows[None, :]
    product = tl.dot(tl.load(x_ptr + offsets), tl.load(y_ptr + offsets))
    tl.store(z_ptr + offsets, product)


CASE = {
    "language": "triton",
    "signature": {"x_ptr": "*fp16", "y_ptr": "*fp16", "z_ptr": "*fp32"},
    "constexprs": {"BLOCK": 16},
    "divisible": {"x_ptr": 16, "y_ptr": 16, "z_ptr": 16},
}
