"""An autotuned kernel of which some configurations strike down the process: autotunes.py HOW [BLOCK…] [+ HOW …]

With PRUNE=1 in the environment it asks triage before it tunes.
"""

import os
import sys

import toolbox
import triton
import triton.language as tl

PRUNED = {}
toolbox.launches_nothing()
if os.environ.get("PRUNE"):
    import triage

    PRUNED = {"prune_configs_by": {"early_config_prune": triage.early_config_prune}}


@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def kernel(x_ptr, n, HOW: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if BLOCK >= 128:
        toolbox.strike(HOW)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1, mask=offsets < n)


def main(how, *blocks):
    configs = [triton.Config({"BLOCK": int(block)}, num_warps=2) for block in blocks or (64, 128, 256)]
    tuned = triton.autotune(configs, key=["n"], **PRUNED)(kernel)
    try:
        for length in (1024, 100000):
            tuned[(1,)](toolbox.Tensor(), length, how)
            # With one configuration left, newer releases time nothing.
            timings = getattr(tuned, "configs_timings", {})
            print("best", tuned.best_config.kwargs, {one.kwargs["BLOCK"]: timing[0] for one, timing in timings.items()})
    except Exception as error:
        print("raised", [kind.__name__ for kind in type(error).__mro__][:-3], error)


for arguments in " ".join(sys.argv[1:]).split(" + "):
    main(*arguments.split())
