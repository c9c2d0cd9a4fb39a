"""The cells of a session with ``%load_ext triage``: run as a program, in a terminal's shell; read, for a notebook."""

import sys
from pathlib import Path

KERNEL = """\
SCALE = tl.constexpr(2)
@triton.jit
def helper(x):
    return x * SCALE

@triton.jit
def kernel(x_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    %s
    tl.store(x_ptr + offsets, helper(tl.load(x_ptr + offsets)) + 1)
"""
TUNED = """\
@triton.autotune([triton.Config({"BLOCK": block}) for block in (64, 128)], key=[])
@triton.jit
def tuned(x_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if BLOCK == 64:
        toolbox.strike(HOW)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)
tuned[(1,)](toolbox.Tensor(), "abort")
tuned.best_config.kwargs["BLOCK"]
"""
BESIDE = """\
import triton
import triton.language as tl
@triton.jit
def reloaded(x_ptr):
    tl.store(x_ptr + tl.arange(0, %d), 1.0)
"""
LAUNCH = "kernel[(1,)](toolbox.Tensor(), {!r}, 64);"
WRITE = "import pathlib, time; time.sleep(0.01); _ = pathlib.Path('helpers_of_cells.py').write_text({!r})"
CELLS = {
    "load": "%load_ext triage",
    "import": "import toolbox, triton, triton.language as tl\ntoolbox.launches_nothing()",
    "define": KERNEL % "toolbox.strike(HOW)",
    "good": LAUNCH.format(None),
    "abort": LAUNCH.format("abort"),
    "redefine": KERNEL % "pass",
    "mended": LAUNCH.format("abort"),
    "misspelt": KERNEL % "tl.store(x_ptr, missing)",
    "raises": LAUNCH.format("abort"),
    "tuned": TUNED,
    "other": "1 / 0",
    "write": WRITE.format(BESIDE % 48),
    "autoreload": "%load_ext autoreload\n%autoreload 2\nimport helpers_of_cells",
    "reloads": "helpers_of_cells.reloaded[(1,)](toolbox.Tensor());",
    "rewrite": WRITE.format(BESIDE % 64),
    "reloaded": "helpers_of_cells.reloaded[(1,)](toolbox.Tensor());",
    "unload": "%unload_ext triage",
    "define again": KERNEL % "toolbox.strike(HOW)",
    "unguarded": LAUNCH.format("raise"),
    "load again": "%load_ext triage",
    "guarded again": LAUNCH.format("segfault"),
}


def main():
    from IPython.core.interactiveshell import InteractiveShell

    sys.path[:0] = [str(Path(__file__).parent), "."]
    shell = InteractiveShell.instance(colors="nocolor")
    for name, cell in CELLS.items():
        print(f"[{name}]", flush=True)
        result = shell.run_cell(cell, store_history=True)
        print("success" if result.success else "failure", flush=True)


if __name__ == "__main__":
    main()
