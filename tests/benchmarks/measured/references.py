"""What each kernel computes, with torch: a function of the launch's tensors and scalars to its outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch.nn import functional

Reference: TypeAlias = Callable[[Any], dict[str, torch.Tensor]]
REFERENCES: dict[str, Reference] = {}
LN2 = math.log(2.0)


def reference(function: Reference) -> Reference:
    """Register a function under the kernel's name."""
    REFERENCES[function.__name__] = function
    return function


def _plain(*names: str) -> None:
    """c = a b, of kernels that only do that."""
    for name in names:
        REFERENCES[name] = lambda v: {"c_ptr": v.a_ptr.float() @ v.b_ptr.float()}


def _transposed(*names: str) -> None:
    """c = a b', B stored [N, K]."""
    for name in names:
        REFERENCES[name] = lambda v: {"c_ptr": v.a_ptr.float() @ v.b_ptr.float().T}


_plain(
    "grouped_matmul_fp16", "split_k_matmul", "batched_matmul_bf16", "persistent_matmul_fp16", "matmul_tma_fp16",
    "matmul_fp32_exact"
)  # fmt: skip
_transposed("matmul_tf32", "persistent_matmul_tma")


@reference
def linear_gelu_bf16(v: Any) -> dict[str, torch.Tensor]:
    y = v.x_ptr.float() @ v.w_ptr.float().T + v.bias_ptr.float()
    return {"y_ptr": functional.gelu(y) + v.residual_ptr.float()}


@reference
def weight_gradient_bf16(v: Any) -> dict[str, torch.Tensor]:
    return {"dw_ptr": v.x_ptr.float().T @ v.dy_ptr.float()}


@reference
def matmul_fp8_rowwise(v: Any) -> dict[str, torch.Tensor]:
    return {"c_ptr": v.a_ptr.float() @ v.b_ptr.float().T * v.a_scale_ptr[:, None] * v.b_scale_ptr[None, :]}


@reference
def matmul_fp8_blockwise(v: Any) -> dict[str, torch.Tensor]:
    a = v.a_ptr.float() * v.a_scale_ptr.repeat_interleave(128, 1)
    b = v.b_ptr.float() * v.b_scale_ptr.repeat_interleave(128, 0).repeat_interleave(128, 1)
    return {"c_ptr": a @ b.T}


@reference
def matmul_int8_scaled(v: Any) -> dict[str, torch.Tensor]:
    return {"c_ptr": v.a_ptr.float() @ v.b_ptr.float().T * v.a_scale_ptr[:, None] * v.b_scale_ptr[None, :]}


@reference
def expert_matmul(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr[v.row_ptr.long()].float().reshape(-1, v.ROWS_OF_EXPERT, v.K)
    blocks = [rows @ v.w_ptr[expert].float().T for rows, expert in zip(x, v.expert_ptr.tolist(), strict=True)]
    return {"y_ptr": torch.cat(blocks)}


@reference
def int4_weight_matmul(v: Any) -> dict[str, torch.Tensor]:
    shifts = torch.arange(0, 32, 4, device=v.w_ptr.device, dtype=torch.int32)
    w = ((v.w_ptr[:, None, :] >> shifts[None, :, None]) & 15).reshape(v.K, v.N).float() - 8
    w = (w.half() * v.scale_ptr.repeat_interleave(v.GROUP, 0)).float()
    return {"y_ptr": v.x_ptr.float() @ w}


@reference
def int8_weight_matmul(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": v.x_ptr.float() @ v.w_ptr.float().T * v.scale_ptr[None, :]}


@reference
def gated_linear_fp16(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr.float()
    return {"y_ptr": functional.silu(x @ v.gate_ptr.float()) * (x @ v.up_ptr.float())}


@reference
def block_scaled_matmul(v: Any) -> dict[str, torch.Tensor]:
    a = v.a_ptr.float() * torch.exp2(v.a_scale_ptr.float() - 127).repeat_interleave(32, 1)
    b = v.b_ptr.float() * torch.exp2(v.b_scale_ptr.float() - 127).repeat_interleave(32, 1)
    return {"c_ptr": a @ b.T}


@reference
def matrix_vector_fp16(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": v.a_ptr.float() @ v.x_ptr.float()}


@reference
def nearest_centroid(v: Any) -> dict[str, torch.Tensor]:
    """The label's distance, as nearly equal ones may be labelled either way."""
    distance = v.norm_ptr[None, :] - 2.0 * (v.x_ptr.float() @ v.c_ptr.float().T)
    return {"label_ptr": distance.argmin(1)}


@reference
def conv2d_nhwc(v: Any) -> dict[str, torch.Tensor]:
    x, w = v.x_ptr.permute(0, 3, 1, 2).float(), v.w_ptr.permute(3, 2, 0, 1).float()
    return {"y_ptr": functional.conv2d(x, w, padding=1).permute(0, 2, 3, 1)}


def _softmax2(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool = False) -> torch.Tensor:
    score = q.float() @ k.float().transpose(-1, -2) * scale * LN2
    if causal:
        score.masked_fill_(torch.ones_like(score, dtype=torch.bool).triu_(1), -math.inf)
    return score


@reference
def attention_d128(v: Any) -> dict[str, torch.Tensor]:
    score = _softmax2(v.q_ptr, v.k_ptr, v.scale)
    return {"o_ptr": score.softmax(-1) @ v.v_ptr.float(), "lse_ptr": score.logsumexp(-1) / LN2}


@reference
def causal_attention_bf16(v: Any) -> dict[str, torch.Tensor]:
    k, value = (x.repeat_interleave(v.GROUP, 0) for x in (v.k_ptr, v.v_ptr))
    return {"o_ptr": _softmax2(v.q_ptr, k, v.scale, causal=True).softmax(-1) @ value.float()}


@reference
def attention_padded_d80(v: Any) -> dict[str, torch.Tensor]:
    q, k, value = (x.transpose(1, 2) for x in (v.q_ptr, v.k_ptr, v.v_ptr))
    return {"o_ptr": (_softmax2(q, k, v.scale).softmax(-1) @ value.float()).transpose(1, 2)}


@reference
def decode_attention_gqa(v: Any) -> dict[str, torch.Tensor]:
    return {"o_ptr": _softmax2(v.q_ptr, v.k_ptr, v.scale).softmax(-1) @ v.v_ptr.float()}


@reference
def paged_attention_decode(v: Any) -> dict[str, torch.Tensor]:
    table = v.table_ptr.long()
    k, value = (x[table].flatten(1, 2).transpose(1, 2) for x in (v.k_ptr, v.v_ptr))
    out = _softmax2(v.q_ptr[:, :, None, :], k, v.scale).softmax(-1) @ value.float()
    return {"o_ptr": out[:, :, 0, :]}


def _backward(v: Any, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    weight = torch.exp(_softmax2(v.q_ptr, v.k_ptr, v.scale, causal) - v.lse_ptr[..., None] * LN2)
    return weight, weight * (v.do_ptr.float() @ v.v_ptr.float().transpose(-1, -2) - v.delta_ptr[..., None])


@reference
def attention_backward_kv(v: Any) -> dict[str, torch.Tensor]:
    weight, dscore = _backward(v, causal=False)
    dk = dscore.transpose(-1, -2) @ v.q_ptr.float() * (v.scale * LN2)
    return {"dv_ptr": weight.transpose(-1, -2) @ v.do_ptr.float(), "dk_ptr": dk}


@reference
def attention_backward_q(v: Any) -> dict[str, torch.Tensor]:
    return {"dq_ptr": _backward(v, causal=True)[1] @ v.k_ptr.float() * (v.scale * LN2)}


@reference
def linear_attention_chunks(v: Any) -> dict[str, torch.Tensor]:
    score = v.q_ptr.float() @ v.k_ptr.float().transpose(-1, -2)
    return {"o_ptr": score.tril_() @ v.v_ptr.float()}


@reference
def rms_norm_rows(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr.float()
    return {"y_ptr": x * torch.rsqrt(x.square().mean(1, keepdim=True) + v.eps) * v.w_ptr.float()}


@reference
def add_norm_quantise(v: Any) -> dict[str, torch.Tensor]:
    total = v.x_ptr.float() + v.residual_ptr.float()
    y = total * torch.rsqrt(total.square().mean(1, keepdim=True) + v.eps) * v.w_ptr.float()
    scale = y.abs().amax(1) / 127
    return {"sum_ptr": total, "q_ptr": torch.floor(y / scale[:, None] + 0.5), "scale_ptr": scale}


@reference
def layer_norm_backward(v: Any) -> dict[str, torch.Tensor]:
    dy, normal = v.dy_ptr.float(), (v.x_ptr.float() - v.mean_ptr[:, None]) * v.rstd_ptr[:, None]
    scaled = dy * v.w_ptr.float()
    dx = scaled - normal * (normal * scaled).mean(1, keepdim=True) - scaled.mean(1, keepdim=True)
    return {"dx_ptr": dx * v.rstd_ptr[:, None], "dw_ptr": (dy * normal).sum(0), "db_ptr": dy.sum(0)}


@reference
def softmax_backward(v: Any) -> dict[str, torch.Tensor]:
    y, dy = v.y_ptr.float(), v.dy_ptr.float()
    return {"dx_ptr": y * (dy - (y * dy).sum(1, keepdim=True))}


@reference
def cross_entropy(v: Any) -> dict[str, torch.Tensor]:
    x = v.logit_ptr.float()
    lse = x.logsumexp(1)
    return {"lse_ptr": lse, "loss_ptr": lse - x.gather(1, v.label_ptr.long()[:, None])[:, 0]}


@reference
def column_sums(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": v.x_ptr.float().sum(0)}


@reference
def row_cumulative_sum(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": v.x_ptr.float().cumsum(1)}


@reference
def linear_recurrence(v: Any) -> dict[str, torch.Tensor]:
    out, last = torch.empty_like(v.x_ptr), torch.zeros_like(v.x_ptr[:, 0])
    for t in range(v.T):
        last = v.a_ptr[:, t] * last + v.x_ptr[:, t]
        out[:, t] = last
    return {"h_ptr": out}


@reference
def top_of_row(v: Any) -> dict[str, torch.Tensor]:
    return {"value_ptr": v.x_ptr.float().amax(1)}


@reference
def sort_rows(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": v.x_ptr.sort(1).values}


@reference
def rotary_embedding(v: Any) -> dict[str, torch.Tensor]:
    low, high = v.x_ptr.float().split(v.HALF, -1)
    cos, sin = v.cos_ptr[:, None, :], v.sin_ptr[:, None, :]
    return {"y_ptr": torch.cat((low * cos - high * sin, high * cos + low * sin), -1)}


@reference
def swiglu_rows(v: Any) -> dict[str, torch.Tensor]:
    gate, up = v.x_ptr.float().split(v.columns, -1)
    return {"y_ptr": functional.silu(gate) * up}


@reference
def transpose_cast(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": v.x_ptr.T}


@reference
def embedding_rows(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": v.table_ptr[v.index_ptr.long()]}


@reference
def histogram_bytes(v: Any) -> dict[str, torch.Tensor]:
    return {"count_ptr": torch.bincount(v.x_ptr.int(), minlength=v.BINS)}


@reference
def adam_step(v: Any) -> dict[str, torch.Tensor]:
    g = v.g_ptr.float()
    m = v.beta1 * v.m_ptr + (1 - v.beta1) * g
    second = v.beta2 * v.v_ptr + (1 - v.beta2) * g * g
    return {"out_ptr": v.p_ptr - v.rate * m / (second.sqrt() + v.eps)}


@reference
def quantise_fp8_groups(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr.float()
    scale = x.abs().amax(1).clamp(min=1e-6) / 448
    return {"q_ptr": x / scale[:, None], "scale_ptr": scale}


@reference
def causal_conv1d(v: Any) -> dict[str, torch.Tensor]:
    x, w = functional.pad(v.x_ptr.float(), (0, 0, 3, 0)), v.w_ptr.float()
    return {"y_ptr": functional.silu(sum(x[:, tap : tap + v.T] * w[tap] for tap in range(4)))}


@reference
def low_rank_linear(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr.float()
    return {"y_ptr": x @ v.w_ptr.float().T + x @ v.down_ptr.float().T @ v.up_ptr.float()}


@reference
def router_softmax(v: Any) -> dict[str, torch.Tensor]:
    return {"p_ptr": (v.x_ptr.float() @ v.w_ptr.float()).softmax(1)}


@reference
def manhattan_distances(v: Any) -> dict[str, torch.Tensor]:
    return {"d_ptr": torch.cdist(v.a_ptr, v.b_ptr, p=1.0)}


@reference
def attention_window_d64(v: Any) -> dict[str, torch.Tensor]:
    score = _softmax2(v.q_ptr, v.k_ptr, v.scale, causal=True)
    score.masked_fill_(torch.ones_like(score[0], dtype=torch.bool).tril_(-v.WINDOW), -math.inf)
    return {"o_ptr": score.softmax(-1) @ v.v_ptr.float()}


@reference
def attention_fp8_d128(v: Any) -> dict[str, torch.Tensor]:
    return {"o_ptr": _softmax2(v.q_ptr, v.k_ptr, v.scale).softmax(-1) @ v.v_ptr.float().transpose(-1, -2)}


@reference
def column_normalise(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr.float()
    return {"y_ptr": (x - x.mean(0)) * torch.rsqrt(x.var(0, correction=0) + v.eps)}


@reference
def selective_scan(v: Any) -> dict[str, torch.Tensor]:
    x, dt, b, c = (t.float() for t in (v.x_ptr, v.dt_ptr, v.b_ptr, v.c_ptr))
    h, out = torch.zeros_like(dt[:, 0, :, None] * v.a_ptr), torch.empty_like(x)
    for t in range(v.T):
        h = torch.exp(dt[:, t, :, None] * v.a_ptr) * h + (dt[:, t] * x[:, t])[:, :, None] * b[:, t, None, :]
        out[:, t] = (h * c[:, t, None, :]).sum(-1)
    return {"y_ptr": out}


@reference
def gelu_backward_bias(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr.float()
    pdf = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    dx = v.dy_ptr.float() * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * pdf)
    return {"dx_ptr": dx, "db_ptr": dx.sum(0)}


@reference
def transpose_add_fp16(v: Any) -> dict[str, torch.Tensor]:
    return {"y_ptr": (v.x_ptr.float() + v.z_ptr.float()).T}


@reference
def embedding_gradient(v: Any) -> dict[str, torch.Tensor]:
    dw = torch.zeros(v.dw_ptr.shape, device=v.dw_ptr.device)
    return {"dw_ptr": dw.index_add_(0, v.index_ptr.long(), v.dy_ptr.float())}


@reference
def sparse_rows(v: Any) -> dict[str, torch.Tensor]:
    total = torch.zeros(v.y_ptr.shape, device=v.y_ptr.device)
    for i in range(v.PER_ROW):
        total += v.value_ptr[:, i, None] * v.x_ptr[v.index_ptr[:, i].long()].float()
    return {"y_ptr": total}


@reference
def max_pool_nhwc(v: Any) -> dict[str, torch.Tensor]:
    x = v.x_ptr.permute(0, 3, 1, 2).float()
    return {"y_ptr": functional.max_pool2d(x, 3, stride=2, padding=1).permute(0, 2, 3, 1)}


@reference
def body_forces(v: Any) -> dict[str, torch.Tensor]:
    at = torch.stack((v.x_ptr, v.y_ptr, v.z_ptr), 1)
    rows = [torch.rsqrt((at - each).square().sum(2) + v.softening).sum(1) for each in at[:, None].split(64)]
    return {"out_ptr": torch.cat(rows)}
