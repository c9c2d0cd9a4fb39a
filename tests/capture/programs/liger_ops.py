"""Calls what liger-kernel offers, forward and backward, in several types and shapes; prints a line for each call."""

import torch
from liger_kernel.chunked_loss import LigerFusedLinearDPOLoss, LigerFusedLinearORPOLoss
from liger_kernel.transformers import functional as liger
from liger_kernel.transformers.grpo_loss import triton_grpo_loss

DEVICE = "cuda"


def tensor(*shape, dtype=torch.float32, grad=True):
    return torch.randn(*shape, device=DEVICE, dtype=dtype, requires_grad=grad)


def labels(n, classes):
    made = torch.randint(0, classes, (n,), device=DEVICE)
    made[::7] = -100
    return made


def ops(dtype, n, d):
    def made(*shape, grad=True):
        return tensor(*shape, dtype=dtype, grad=grad)

    vocabulary = 4 * d + 8
    probabilities = torch.softmax(made(n, vocabulary, grad=False).float(), -1).to(dtype)
    logs = torch.log_softmax(made(n, vocabulary).float(), -1)
    angles = made(1, 16, 64, grad=False)
    heads = (2, 4, 16, 64)
    yield "rms_norm", lambda: liger.liger_rms_norm(made(n, d), made(d), 1e-6)
    yield "rms_norm gemma", lambda: liger.liger_rms_norm(made(n, d), made(d), 1e-6, 1.0, "gemma", False)
    yield "fused_add_rms_norm", lambda: liger.liger_fused_add_rms_norm(made(n, d), made(n, d), made(d), 1e-6)
    yield "modulated_rms_norm", lambda: liger.liger_modulated_rms_norm(made(2, n, d), made(d), made(2, d), made(2, d))
    yield "poly_norm", lambda: liger.liger_poly_norm(made(n, d), made(3), made())
    yield "layer_norm", lambda: liger.liger_layer_norm(made(n, d), made(d), made(d), 1e-5)
    yield "group_norm", lambda: liger.liger_group_norm(made(2, 16, d), made(16), made(16), 16, 4, 1e-5)
    yield "swiglu", lambda: liger.liger_swiglu(made(n, d), made(n, d))
    yield "geglu", lambda: liger.liger_geglu(made(n, d), made(n, d))
    yield "relu_squared", lambda: liger.liger_relu_squared(made(n, d))
    yield "softmax", lambda: liger.liger_softmax(made(n, d))
    yield "sparsemax", lambda: liger.liger_sparsemax(made(n, d))
    yield "dyt", lambda: liger.liger_dyt(made(n, d), made(1), made(d), made(d))
    yield "rope", lambda: liger.liger_rope(made(*heads), made(*heads), angles, angles)
    yield (
        "qwen2vl_mrope",
        lambda: liger.liger_qwen2vl_mrope(
            made(*heads), made(*heads), made(3, 2, 16, 64, grad=False), made(3, 2, 16, 64, grad=False), [8, 12, 12]
        ),
    )
    yield "cross_entropy", lambda: liger.liger_cross_entropy(made(n, vocabulary), labels(n, vocabulary))
    yield (
        "cross_entropy with all",
        lambda: liger.liger_cross_entropy(
            made(n, vocabulary), labels(n, vocabulary), weight=made(vocabulary, grad=False).float().abs(),
            label_smoothing=0.1, lse_square_scale=1e-4, softcap=30.0, return_z_loss=True,
        ).loss,
    )  # fmt: skip
    yield (
        "fused_linear_cross_entropy",
        lambda: liger.liger_fused_linear_cross_entropy(made(n, d), made(vocabulary, d), labels(n, vocabulary)),
    )
    yield "kl_div", lambda: liger.liger_kl_div(logs, probabilities.float())
    yield "jsd", lambda: liger.liger_jsd(logs, logs.detach())
    yield "jsd beta", lambda: liger.liger_jsd(logs, logs.detach(), labels(n, vocabulary), 0.1)
    yield "tvd", lambda: liger.liger_tvd(torch.softmax(made(n, vocabulary), -1), probabilities)
    yield (
        "fused_linear_jsd",
        lambda: liger.liger_fused_linear_jsd(made(n, d), made(vocabulary, d), made(n, d), made(vocabulary, d)),
    )
    yield (
        "fused_linear_kl_div",
        lambda: liger.liger_fused_linear_kl_div(made(n, d), made(vocabulary, d), probabilities),
    )
    scores, filters = (2, 4, 32, 32), (4, 4, 3, 3)
    yield "multi_token", lambda: liger.liger_multi_token_attention(made(*scores), made(*filters), padding=1)
    qkv = [made(2, 4, 64, 64) for _ in "qkv"]
    yield "neighborhood_attention", lambda: liger.liger_fused_neighborhood_attention(*qkv)
    yield "attn_res", lambda: liger.liger_attn_res(made(3, 2, 16, d), made(d), made(d))
    yield (
        "grpo",
        lambda: triton_grpo_loss(
            made(2, 33, vocabulary), made(2, 32, grad=False).float(), made(2, 32, grad=False).float(),
            torch.randint(0, vocabulary, (2, 32), device=DEVICE), made(2, grad=False).float(),
            torch.ones(2, 32, dtype=torch.int32, device=DEVICE),
        )[0],
    )  # fmt: skip
    chosen = torch.randint(0, vocabulary, (2, 16), device=DEVICE)
    dpo = LigerFusedLinearDPOLoss(compiled=False, use_ref_model=False)
    yield "dpo", lambda: dpo(made(vocabulary, d), made(2, 16, d), chosen)[0]
    yield "orpo", lambda: LigerFusedLinearORPOLoss(compiled=False)(made(vocabulary, d), made(2, 16, d), chosen)[0]


def backward(found):
    outputs = [one for one in (found if isinstance(found, tuple) else (found,)) if torch.is_tensor(one)]
    total = sum(one.float().sum() for one in outputs if one.requires_grad)
    if torch.is_tensor(total):
        total.backward()


def main():
    failed = 0
    shapes = [(torch.float32, 64, 512), (torch.bfloat16, 48, 1024), (torch.float16, 33, 300)]
    for dtype, n, d in shapes:
        for name, call in ops(dtype, n, d):
            try:
                backward(call())
                print("ok", name, dtype, flush=True)
            except Exception as error:
                failed += 1
                print("left", name, dtype, type(error).__name__, str(error)[:200].replace("\n", " "), flush=True)
    print("ends,", failed, "left")


if __name__ == "__main__":
    main()
