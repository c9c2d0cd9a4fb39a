"""A small language model whose norms, activations and loss are Triton kernels: training.py STEPS

Prints the loss at the end, and on standard error how long the first step and the others took.
"""

import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def rms_forward(x_ptr, w_ptr, y_ptr, r_ptr, N, EPS: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0).to(tl.float32)
    r = 1.0 / tl.sqrt(tl.sum(x * x, 0) / N + EPS)
    tl.store(r_ptr + row, r)
    w = tl.load(w_ptr + i, mask=i < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * N + i, x * r * w, mask=i < N)


@triton.jit
def rms_backward(x_ptr, w_ptr, r_ptr, dy_ptr, dx_ptr, dw_ptr, N, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * N + i, mask=i < N, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + i, mask=i < N, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + row)
    g = dy * w
    dx = r * g - x * (r * r * r / N) * tl.sum(g * x, 0)
    tl.store(dx_ptr + row * N + i, dx, mask=i < N)
    tl.atomic_add(dw_ptr + i, dy * x * r, mask=i < N)


@triton.jit
def swiglu_forward(g_ptr, u_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g, u = tl.load(g_ptr + i, mask=i < n).to(tl.float32), tl.load(u_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, g * tl.sigmoid(g) * u, mask=i < n)


@triton.jit
def swiglu_backward(g_ptr, u_ptr, dy_ptr, dg_ptr, du_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g, u = tl.load(g_ptr + i, mask=i < n).to(tl.float32), tl.load(u_ptr + i, mask=i < n).to(tl.float32)
    dy = tl.load(dy_ptr + i, mask=i < n).to(tl.float32)
    s = tl.sigmoid(g)
    tl.store(dg_ptr + i, dy * u * s * (1 + g * (1 - s)), mask=i < n)
    tl.store(du_ptr + i, dy * g * s, mask=i < n)


@triton.jit
def cross_entropy(x_ptr, t_ptr, loss_ptr, dx_ptr, N, SCALE, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=-float("inf")).to(tl.float32)
    top = tl.max(x, 0)
    e = tl.exp(x - top)
    total = tl.sum(e, 0)
    target = tl.load(t_ptr + row)
    tl.store(loss_ptr + row, tl.log(total) + top - tl.load(x_ptr + row * N + target).to(tl.float32))
    tl.store(dx_ptr + row * N + i, (e / total - (i == target).to(tl.float32)) * SCALE, mask=i < N)


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=w) for block in (1024, 4096) for w in (4, 8)], key=["n"])
@triton.jit
def step_kernel(p_ptr, g_ptr, m_ptr, n, lr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = 0.9 * tl.load(m_ptr + i, mask=i < n) + 0.1 * tl.load(g_ptr + i, mask=i < n)
    tl.store(m_ptr + i, m, mask=i < n)
    tl.store(p_ptr + i, tl.load(p_ptr + i, mask=i < n) - lr * m, mask=i < n)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, TRANS_A: tl.constexpr, TRANS_B: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        j = k + tl.arange(0, BK)
        if TRANS_A:
            a = tl.load(a_ptr + j[None, :] * M + m[:, None], mask=(m[:, None] < M) & (j[None, :] < K), other=0.0)
        else:
            a = tl.load(a_ptr + m[:, None] * K + j[None, :], mask=(m[:, None] < M) & (j[None, :] < K), other=0.0)
        if TRANS_B:
            b = tl.load(b_ptr + n[None, :] * K + j[:, None], mask=(n[None, :] < N) & (j[:, None] < K), other=0.0)
        else:
            b = tl.load(b_ptr + j[:, None] * N + n[None, :], mask=(n[None, :] < N) & (j[:, None] < K), other=0.0)
        accumulator = tl.dot(a, b, accumulator)
    tl.store(c_ptr + m[:, None] * N + n[None, :], accumulator, mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(a, b, trans_a=False, trans_b=False):
    m, k = a.shape[::-1] if trans_a else a.shape
    n = b.shape[0] if trans_b else b.shape[1]
    c = torch.empty(m, n, device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    matmul_kernel[grid](a.contiguous(), b.contiguous(), c, m, n, k, trans_a, trans_b, 64, 64, 32)
    return c


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return matmul(x, w.to(x.dtype), trans_b=True)

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        return matmul(dy, w.to(dy.dtype)), matmul(dy, x, trans_a=True).float()


class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        y, r = torch.empty_like(x), torch.empty(x.shape[0], device=x.device)
        ctx.block = triton.next_power_of_2(x.shape[1])
        rms_forward[(x.shape[0],)](x, w, y, r, x.shape[1], 1e-6, ctx.block)
        ctx.save_for_backward(x, w, r)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, r = ctx.saved_tensors
        dx, dw = torch.empty_like(x), torch.zeros_like(w)
        rms_backward[(x.shape[0],)](x, w, r, dy.contiguous(), dx, dw, x.shape[1], ctx.block)
        return dx, dw


class SwiGlu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, g, u):
        y = torch.empty_like(g)
        swiglu_forward[(triton.cdiv(g.numel(), 1024),)](g, u, y, g.numel(), 1024)
        ctx.save_for_backward(g, u)
        return y

    @staticmethod
    def backward(ctx, dy):
        g, u = ctx.saved_tensors
        dg, du = torch.empty_like(g), torch.empty_like(u)
        swiglu_backward[(triton.cdiv(g.numel(), 1024),)](g, u, dy.contiguous(), dg, du, g.numel(), 1024)
        return dg, du


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, targets):
        loss, dx = torch.empty(x.shape[0], device=x.device), torch.empty_like(x)
        block = triton.next_power_of_2(x.shape[1])
        cross_entropy[(x.shape[0],)](x, targets, loss, dx, x.shape[1], 1.0 / x.shape[0], block)
        ctx.save_for_backward(dx)
        return loss.mean()

    @staticmethod
    def backward(ctx, dloss):
        (dx,) = ctx.saved_tensors
        return dx * dloss, None


def step(weight, gradient, momentum):
    n = weight.numel()
    step_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](weight, gradient, momentum, n, 0.1)


def main(steps):
    torch.manual_seed(0)
    width, hidden, words, rows, layers = 1024, 2048, 4096, 4096, 6
    shapes = [shape for _ in range(layers) for shape in ((width,), (hidden, width), (hidden, width), (width, hidden))]
    shapes += [(words, width), (words, width)]
    weights = [torch.nn.Parameter(torch.randn(*shape, device="cuda") * 0.02 + (len(shape) == 1)) for shape in shapes]
    momenta = [torch.zeros_like(one) for one in weights]
    tokens = torch.randint(words, (rows + 1,), device="cuda")
    times = []
    for _ in range(steps):
        began = time.perf_counter()
        x = torch.nn.functional.embedding(tokens[:-1], weights[-1]).bfloat16()
        for layer in range(layers):
            norm, gate, up, down = weights[4 * layer : 4 * layer + 4]
            y = RmsNorm.apply(x, norm)
            x = x + Linear.apply(SwiGlu.apply(Linear.apply(y, gate), Linear.apply(y, up)), down)
        loss = Loss.apply(Linear.apply(x, weights[-2]), tokens[1:])
        loss.backward()
        with torch.no_grad():
            for weight, momentum in zip(weights, momenta, strict=True):
                step(weight, weight.grad, momentum)
                weight.grad = None
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    print(f"loss {loss.item():.2f}")
    print(f"first {times[0]:.3f} s, others {sum(times[1:]):.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]))
