"""A small model that Inductor compiles, with one step of training; prints how far it is from eager."""

import torch


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.LayerNorm(512), torch.nn.Linear(512, 64)
    ).cuda()
    x = torch.randn(128, 256, device="cuda")
    compiled = torch.compile(model)
    loss = torch.nn.functional.log_softmax(compiled(x), -1).square().mean()
    loss.backward()
    eager = torch.nn.functional.log_softmax(model(x), -1).square().mean()
    print("close", torch.allclose(loss, eager, rtol=1e-3), sum(p.grad is not None for p in model.parameters()))


if __name__ == "__main__":
    main()
