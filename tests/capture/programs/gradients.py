"""Holds triage's backward passes against torch's own, on the host: gradients.py FOLDER_OF_THE_PROGRAM_PACKAGE."""

import importlib.util
import sys

import torch
import torch.nn.functional as F


def own_engine(folder):
    """The module on its own: it imports nothing else of triage."""
    spec = importlib.util.spec_from_file_location("backward", folder + "/fake/backward.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, unused):
        return x * factor, x + 1

    @staticmethod
    def backward(ctx, first, second):
        assert second is not None
        return first * 2 + second, None, None


class Lazy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return (0 if first is None else first * 2) + (0 if second is None else second * 3)


def squared(y):
    return y * y, y


def several(x, w, b):
    return F.layer_norm(F.gelu(x @ w + b), (4,)).pow(2).sum() + (x * b).mean()


PROBLEMS = {
    "broadcast": lambda x, w, b: ((x + b) * w[0]).sum(),
    "several": several,
    "shared": lambda x, w, b: sum(part.sum() for part in squared(x @ w)),
    "own function": lambda x, w, b: Doubled.apply(x @ w, 2, b)[0].sum() + (b * 3).sum(),
    "not materialized": lambda x, w, b: Lazy.apply(x @ w)[1].sum() * b.sum(),
    "views": lambda x, w, b: x.view(2, -1)[0].unfold(0, 4, 2).sum() + torch.cat([x, w]).transpose(0, 1)[1].sum() + b[0],
    "mixed types": lambda x, w, b: (x.half() @ w.half()).float().sum() + b.double().sum(),
    "checkpoint": lambda x, w, b: torch.utils.checkpoint.checkpoint(several, x, w, b, use_reentrant=False),
    "reentrant": lambda x, w, b: torch.utils.checkpoint.checkpoint(several, x, w, b, use_reentrant=True),
}
TWICE = ("broadcast", "several", "shared", "views")
"""Those whose gradients have a graph of their own."""


def leaves():
    torch.manual_seed(0)
    return [torch.randn(shape, requires_grad=True) for shape in ((6, 4), (4, 4), (4,))]


def by_backward(problem):
    given = leaves()
    problem(*given).backward()
    return [one.grad for one in given]


def by_grad(problem):
    given = leaves()
    return [*torch.autograd.grad(problem(*given), given[1:], allow_unused=True), given[0].grad]


def twice(problem):
    given = leaves()
    (first,) = torch.autograd.grad(problem(*given), given[:1], create_graph=True)
    return list(torch.autograd.grad((first * first).sum() + 0 * given[0].sum(), given[:1]))


def same(one, other):
    return (one is None) == (other is None) and (one is None or torch.allclose(one, other))


def main(folder):
    module = own_engine(folder)
    ways = {"backward": by_backward, "grad": by_grad, "twice": twice}
    asked = [(way, name) for way in ways for name in PROBLEMS if way == "backward" or name != "reentrant"]
    asked = [(way, name) for way, name in asked if way != "twice" or name in TWICE]
    expected = {one: ways[one[0]](PROBLEMS[one[1]]) for one in asked}
    module.replace_engine(torch)
    module._Graph.on_device = lambda self: True
    for one in asked:
        found = ways[one[0]](PROBLEMS[one[1]])
        print(*one, "same" if all(map(same, found, expected[one])) else "differs", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
