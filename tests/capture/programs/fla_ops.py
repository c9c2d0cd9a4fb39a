"""Calls what flash-linear-attention offers, forward and backward, and prints a line for each call.

fla_ops.py [ops] [modules] [layers]. Of what is autotuned, the first and the last configuration are compiled: there are
thousands.
"""

import inspect
import sys

import torch
from triton.runtime.autotuner import Autotuner

DEVICE = "cuda"
SHORT = {"T": 128, "H": 2, "K": 64, "V": 64}
_begin = Autotuner.__init__


def _trimmed(self, *given, **named):
    _begin(self, *given, **named)
    self.configs = self.configs[:1] + self.configs[1:][-1:]


Autotuner.__init__ = _trimmed

import fla.layers  # noqa: E402
import fla.modules  # noqa: E402
import fla.ops  # noqa: E402

LETTERS = {
    **dict.fromkeys(("q", "k", "v", "r", "a", "b", "p", "w", "gk", "gv", "x"), "BTHK"),
    **dict.fromkeys(("beta", "g_atk", "beta_atk", "log_alpha", "log_mu", "eta", "delta"), "BTH"),
    **dict.fromkeys(("g_cmp", "g_slc", "g_swa"), "BTH"),
    "u": "HK",
    "s": "BTHK",
    "lamb": "HK",
}
"""The shapes of arguments, by name; those of g differ."""
FULL_GATE = ("gla", "kda", "gsa", "hgrn", "wall")
OTHERS = {
    "layer_idx": 1,
    "num_layers": 4,
    "q_norm_eps": 1e-6,
    "k_norm_eps": 1e-6,
    "block_counts": 2,
    "block_size": 32,
    "window_size": 0,
}


def tensor(letters, dtype, sizes):
    shape = [{"B": 2, **sizes}[letter] for letter in letters]
    return torch.randn(shape, device=DEVICE, dtype=dtype, requires_grad=True)


def arguments(name, function, dtype, sizes):
    made = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        wanted = parameter.default is parameter.empty
        if parameter.name in ("g", "gk") and (wanted or "recurrent" in name or "chunk" in name):
            full = any(one in name for one in FULL_GATE) and "simple" not in name and "gated" not in name
            gate = tensor("BTHK" if full or parameter.name == "gk" else "BTH", dtype, sizes)
            if parameter.name == "gk" and not wanted and "gla" not in name:
                continue
            made[parameter.name] = torch.nn.functional.logsigmoid(gate)
        elif parameter.name in ("g_cmp", "g_slc", "g_swa", "beta") or (wanted and parameter.name in LETTERS):
            made[parameter.name] = tensor(LETTERS[parameter.name], dtype, sizes)
        elif parameter.name in OTHERS and (wanted or parameter.name.startswith("block")):
            made[parameter.name] = OTHERS[parameter.name]
        elif wanted:
            raise TypeError(f"{name}: no value for {parameter.name}")
    if name == "parallel_nsa":
        made["q"] = tensor("BTHK", dtype, {**sizes, "H": 32})
        made.update({one: tensor("BTH", dtype, {**sizes, "H": 32}) for one in ("g_cmp", "g_slc", "g_swa")})
    if name == "parallel_path_attn":
        made.update({one: made[one].detach().float().requires_grad_() for one in ("w", "beta")})
    return made


def ops():
    for name in sorted(fla.ops.__all__):
        function = getattr(fla.ops, name)
        for dtype, sizes in ((torch.bfloat16, SHORT), (torch.float16, {**SHORT, "K": 128, "T": 192})):
            if dtype is torch.float16 and not name.startswith(("chunk_gla", "chunk_simple", "fused_recurrent")):
                continue
            yield name, lambda name=name, f=function, d=dtype, s=sizes: f(**arguments(name, f, d, s))
    lengths = torch.tensor([0, 40, 128], device=DEVICE)
    for name in ("chunk_gla", "chunk_gated_delta_rule", "chunk_kda", "fused_recurrent_gla", "parallel_attn"):
        function = getattr(fla.ops, name)

        def varied(name=name, function=function):
            given = {
                one: value.detach()[:1].requires_grad_() if torch.is_tensor(value) else value
                for one, value in arguments(name, function, torch.bfloat16, SHORT).items()
            }
            return function(**given, cu_seqlens=lengths)

        yield name + " of several lengths", varied


def layers():
    for name in sorted(fla.layers.__all__):
        for mode in ("chunk", "fused_recurrent"):
            kind = getattr(fla.layers, name)
            parameters = inspect.signature(kind.__init__).parameters
            if mode != "chunk" and "mode" not in parameters:
                continue

            def call(kind=kind, parameters=parameters, mode=mode):
                given = {"hidden_size": 256, "num_heads": 4, "layer_idx": 0, "mode": mode}
                layer = kind(**{one: value for one, value in given.items() if one in parameters})
                layer = layer.to(DEVICE, torch.bfloat16)
                x = torch.randn(2, 128, 256, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
                return layer(x)

            yield f"{name} {mode}", call


def modules():
    def x(*shape):
        return torch.randn(*shape, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)

    def on_device(module):
        return module.to(DEVICE, torch.bfloat16)

    m = fla.modules
    for name in ("LayerNorm", "RMSNorm"):
        kind = getattr(m, name)
        yield name, lambda kind=kind: on_device(kind(256))(x(64, 256))
        yield name + " residual", lambda kind=kind: on_device(kind(256))(x(64, 256), x(64, 256), prenorm=True)
    for name in ("LayerNormLinear", "RMSNormLinear"):
        kind = getattr(m, name)
        yield name, lambda kind=kind: on_device(kind(256))(x(64, 256), x(64, 256), None)
    for name in ("FusedLayerNormGated", "FusedRMSNormGated", "FusedLayerNormSwishGate", "FusedRMSNormSwishGate"):
        kind = getattr(m, name)
        yield name, lambda kind=kind: on_device(kind(256))(x(64, 256), x(64, 256))
    yield "GroupNorm", lambda: on_device(m.GroupNorm(4, 256))(x(64, 256))
    yield "L2Norm", lambda: on_device(m.L2Norm(64))(x(2, 64, 4, 64))
    yield "GatedMLP", lambda: on_device(m.GatedMLP(256))(x(2, 64, 256))
    yield "RotaryEmbedding", lambda: on_device(m.RotaryEmbedding(64))(x(2, 64, 4, 64), x(2, 64, 4, 64))
    yield "ShortConvolution", lambda: on_device(m.ShortConvolution(256, 4, activation="silu"))(x(2, 64, 256))
    yield "TokenShift", lambda: m.token_shift.token_shift(x(2, 64, 256))
    yield "FusedBitLinear", lambda: on_device(m.FusedBitLinear(256, 128))(x(2, 64, 256))
    target = torch.randint(0, 1000, (64,), device=DEVICE)
    yield "FusedCrossEntropyLoss", lambda: m.FusedCrossEntropyLoss()(x(64, 1000), target)
    yield "FusedKLDivLoss", lambda: m.FusedKLDivLoss()(x(64, 256), *(x(n, 256).detach() for n in (64, 1000, 1000)))
    yield "FusedLinearCrossEntropyLoss", lambda: m.FusedLinearCrossEntropyLoss()(x(64, 256), target, x(1000, 256))


def backward(found):
    outputs = [one for one in (found if isinstance(found, (tuple, list)) else (found,)) if torch.is_tensor(one)]
    total = sum(one.float().sum() for one in outputs if one.requires_grad)
    if torch.is_tensor(total):
        total.backward()


def main():
    failed = 0
    for part in sys.argv[1:] or ("ops", "modules"):
        for name, call in globals()[part]():
            try:
                backward(call())
                print("ok", name, flush=True)
            except Exception as error:
                failed += 1
                print("left", name, type(error).__name__, str(error)[:200].replace("\n", " "), flush=True)
    print("ends,", failed, "left")


if __name__ == "__main__":
    main()
