"""What a torch program under --compile-only can ask of the host and of the device, and goes on with."""

import threading

import numpy
import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask) + tl.load(y_ptr + offsets, mask), mask)


def results():
    x = torch.rand(98432, device="cuda")
    y = torch.rand_like(x)
    out = torch.empty_like(x)
    add[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel(), BLOCK=128)
    add[(1,)](x[1:], y, out, 7, BLOCK=128)
    print(out.shape, out.device, x.data_ptr() % 512, x[1:].data_ptr() - x.data_ptr())
    assert torch.allclose(out, x + y)
    torch.testing.assert_close(out.cpu(), (x + y).cpu())
    assert torch.max(torch.abs(out - x - y)).item() < 1e-3
    assert not torch.isnan(out).any()
    assert (out == x).all()
    print(out.cpu().numpy().sum(), torch.nonzero(out).shape)


def lengths():
    given = torch.tensor([3, 5, 8], device="cuda")
    ends = torch.cumsum(given, 0)
    ends[0] = 4
    print(ends.tolist(), given.max().item(), [one.item() for one in given[1:]], int(given.sum()))
    print(torch.cat([torch.arange(n) for n in given.tolist()]).sum())
    torch.use_deterministic_algorithms(True)
    print(torch.empty((), device="cuda").item(), torch.empty_like(ends).tolist())
    torch.use_deterministic_algorithms(False)
    print(torch.full((3,), 7, device="cuda").cpu(), bool(torch.ones((), device="cuda") > 0))


def host():
    torch.manual_seed(3)
    first = torch.rand(2)
    torch.manual_seed(3)
    torch.randn(8, device="cuda")
    print(torch.equal(first, torch.rand(2)), numpy.arange(3).sum(), torch.eye(2).inverse().tolist())


def training():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout(0.1), torch.nn.GELU(), torch.nn.Linear(64, 8))
    model = model.cuda().bfloat16().float()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        with torch.autocast("cuda", torch.bfloat16):
            out = torch.utils.checkpoint.checkpoint(model, torch.randn(32, 64, device="cuda"), use_reentrant=False)
        loss = torch.nn.functional.cross_entropy(out.float(), torch.randint(0, 8, (32,), device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(model[0].weight.grad.shape, model[0].weight.grad.device, f"{loss:.2f}")


def device():
    properties = torch.cuda.get_device_properties(0)
    print(torch.cuda.is_available(), torch.cuda.get_device_capability(), properties.multi_processor_count)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(torch.cuda.Stream()):
        start.record()
        end.record()
    torch.cuda.synchronize()
    generator = torch.Generator(device="cuda").manual_seed(1)
    print(start.elapsed_time(end), torch.randn(3, device="cuda", generator=generator).shape, generator.device)
    thread = threading.Thread(target=lambda: print(torch.zeros(2, device="cuda").tolist()))
    thread.start()
    thread.join()
    print(triton.testing.do_bench(lambda: torch.zeros(2, device="cuda"), quantiles=[0.5, 0.2, 0.8]))


if __name__ == "__main__":
    for one in (results, lengths, host, training, device):
        one()
    print("ends")
