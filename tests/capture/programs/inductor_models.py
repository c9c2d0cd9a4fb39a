"""Small models that torch compiles: a training step of each, in two types, and operations of many sorts."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.RMSNorm(width)])
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norms[1](x))


def conv():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.SiLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    )  # fmt: skip


def mlp():
    return nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 10))


def step(model, x, y, optimizer):
    optimizer.zero_grad()
    out = model(x)
    loss = out.square().mean() if y is None else F.cross_entropy(out.float(), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, x, y):
    model, x, y = model.cuda(), x.cuda(), None if y is None else y.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    compiled = torch.compile(model)
    for _ in range(2):
        step(compiled, x, y, optimizer)
    with torch.autocast("cuda", torch.bfloat16):
        step(compiled, x, y, optimizer)


@torch.compile(mode="max-autotune-no-cudagraphs")
def product(a, b):
    return torch.relu(a @ b)


@torch.compile
def operations(x):
    return (
        x.softmax(-1), x.cumsum(0), x.sort(-1)[0], torch.topk(x, 3)[0], x.argmax(-1),
        F.layer_norm(x, (x.shape[-1],)), torch.var_mean(x, 1), F.dropout(x, 0.5), x.half().to(torch.float8_e4m3fn),
    )  # fmt: skip


def main():
    train(mlp(), torch.randn(32, 128), torch.randint(0, 10, (32,)))
    train(Attention(), torch.randn(2, 128, 64), None)
    train(conv(), torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,)))
    for dtype in (torch.float16, torch.float32):
        product(torch.randn(512, 256, device="cuda", dtype=dtype), torch.randn(256, 512, device="cuda", dtype=dtype))
    operations(torch.randn(64, 300, device="cuda"))
    print("ends")


if __name__ == "__main__":
    main()
