"""Sources with what a kernel in them reaches.

``#+`` ends a line that stays, ``#= TEXT`` one that becomes TEXT with the same indentation; all others become blank, and
no line moves. A last line ``#> TEXT`` stands for an import that is appended."""

from __future__ import annotations

import re
from pathlib import Path

_MARK = re.compile(r" *#(?:(\+)|= (.*))$")


def written(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """Write marked sources without their marks; their expected texts in a slice."""
    expected = {}
    for name, marked in files.items():
        lines, stays = [], []
        text, _, appended = marked.strip("\n").partition("\n#> ")
        for line in text.split("\n"):
            mark = _MARK.search(line)
            plain = _MARK.sub("", line)
            lines.append(plain)
            indent = plain[: len(plain) - len(plain.lstrip())]
            stays.append("" if mark is None else plain if mark[1] else indent + mark[2])
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        expected[name] = "\n".join([*stays, f"{appended}\n" if appended else ""])
    return expected


HEAD = """
import triton #+
"""
LANGUAGE = HEAD + "import triton.language as tl #+\n"

CASES: dict[str, dict[str, str]] = {
    "host code goes": {
        "kernel.py": """
import os
import torch
import triton #+
import triton.language as tl #+

# A comment.
BLOCK: tl.constexpr = 128 #+
OTHER = torch.zeros(3)


@triton.jit #+
def helper(x): #+
    return x * BLOCK #+


@triton.jit #+
def kernel(x_ptr): #+
    tl.store(x_ptr, helper(1)) #+


def launch(x: torch.Tensor):
    kernel[(1,)](x)


assert torch.cuda.is_available()
"""
    },
    "a name that is deleted": {
        "kernel.py": """
import os #+
import triton #+
import triton.language as tl #+

for _name in ("FIRST", "SECOND"): #+
    _unset = {"0"}
    os.environ[_name] = "64" #+
del _name, _unset
BLOCK: tl.constexpr = int(os.environ["FIRST"]) #+


@triton.jit #+
def kernel(x_ptr): #+
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0) #+
"""
    },
    "what decorators read": {
        "kernel.py": HEAD
        + """
from functools import reduce, partial #= from functools import partial

WARPS = [4, 8] #+
configs = [] #+
for warps in WARPS: #+
    configs.append(triton.Config({}, num_warps=warps)) #+
    print(warps)


def even(arguments): #+
    return arguments["n"] % SIZE == 0 #+


def prune(configs, arguments): #+
    return [c for c in configs if keep(c)] #+


def keep(c): #+
    return True #+


SIZE = 2 #+


@triton.heuristics({"EVEN": even, "F": lambda arguments: partial(int)}) #+
@triton.autotune(configs=configs, key=["n"], prune_configs_by={"early_config_prune": prune}) #+
@triton.jit #+
def kernel(x_ptr, n, EVEN: tl.constexpr, F: tl.constexpr): #+
    pass #+
"""
    },
    "several bindings of a name keep their order": {
        "kernel.py": HEAD
        + """
import sys #+

if sys.platform == "x": #+
    helper = None #+
    other = 1
elif sys.platform == "y": #+
    from x import helper, other #= from x import helper
else: #+
    @triton.jit #+
    def helper(): #+
        pass #+


@triton.jit #+
def first(): #+
    helper() #+


def wrapped(fn): #+
    return fn #+


kernel = triton.jit(first) #+
kernel = wrapped(kernel) #+
"""
    },
    "an alternative import": {
        "kernel.py": HEAD
        + """
try: #+
    from triton.language.extra.libdevice import rsqrt, tanh #+
    print("found") #+

    def unused():
        pass
except (ImportError, ModuleNotFoundError): #+
    from triton.language.math import tanh #+
    other = 1
finally: #+
    done = True #= pass


@triton.jit #+
def kernel(): #+
    tanh(1.0) #+
"""
    },
    "branches without what is reached": {
        "kernel.py": HEAD
        + """
NEW = triton.__version__ > "3" #+
if NEW: #+
    other = 1 #= pass
elif triton.__version__ > "2": #+
    X = 2 #+
elif host():
    other = 2
else:
    other = 3

while NEW: #+
    Y = 2 #+
    break #+


@triton.jit #+
def kernel(): #+
    X + Y #+
"""
    },
    "names of one line": {
        "kernel.py": HEAD
        + """
A = 1; B = C #+
C = 2 #+
if A: D = 1 #+
if A: E = 1
a, b = 1, ( #+
    2, #+
) #+


@triton.jit #+
def kernel(): #+
    A + D + a #+
"""
    },
    "through the package's modules": {
        "pkg/__init__.py": """
from .host import launch
from .ops.kernel import kernel
import torch
VERSION = 1 #+
""",
        "pkg/ops/__init__.py": "raise ImportError\n",
        "pkg/ops/kernel.py": """
from __future__ import annotations #+
import triton #+
from .. import VERSION as v, host #= from .. import VERSION as v
from ..utils import helper, scale #= from ..utils import helper
import pkg.constants as c #+
import pkg.numbers, pkg.constants #= import pkg.numbers
from pkg import constants #+

@triton.jit #+
def kernel(x: host.Type): #+
    helper(c.BLOCK, pkg.numbers.ONE, v, constants.TWO) #+
""",
        "pkg/utils/__init__.py": """
from .scalars import * #= from .scalars import helper
from .tensors import *
""",
        "pkg/utils/scalars.py": """
from ._more import * #= from ._more import helper
__all__ = ["helper"]
""",
        "pkg/utils/_more.py": """
import triton #+
import pkg.host

@triton.jit #+
def helper(a, b, c): #+
    return a #+

@triton.jit
def scale(a):
    return a
""",
        "pkg/utils/tensors.py": "def other(): pass",
        "pkg/constants.py": "BLOCK = 1 #+\nTWO = 2 #+\nTHREE = 3",
        "pkg/numbers.py": "ONE = 1 #+",
        "pkg/host.py": "import torch",
        "other.py": "BLOCK = 2",
    },
    "lazily imported names": {
        "pkg/__init__.py": """
import importlib
_WHERE = {"helper": ".ops.tools", "other": "pkg.host"}

def __getattr__(name):
    return getattr(importlib.import_module(_WHERE[name], __name__), name)
#> from pkg.ops.tools import helper
""",
        "pkg/ops/__init__.py": "",
        "pkg/ops/tools.py": "import triton #+\n@triton.jit #+\ndef helper(): pass #+",
        "pkg/kernel.py": """
import triton #+
from pkg import helper #+

@triton.jit #+
def kernel(): #+
    helper() #+
""",
    },
    "modules as values of names": {
        "pkg/__init__.py": "",
        "pkg/a.py": """
import triton #+
import pkg.b as b #+
from pkg import c #+
import pkg #+

@triton.jit #+
def kernel(): #+
    b.x(c.y, pkg.b.z) #+
""",
        "pkg/b.py": "x = 1 #+\ny = 2\nz = 3 #+",
        "pkg/c.py": "x = 1\ny = d.e.z #+\nimport pkg.d as d #+",
        "pkg/d/__init__.py": "from .f import g\n#> import pkg.d.e",
        "pkg/d/e.py": "z = 3 #+",
        "pkg/d/f.py": "import pkg.d.e",
    },
    "imports inside functions, and modules as objects": {
        "pkg/__init__.py": "",
        "pkg/kernel.py": """
import triton #+
import pkg.options as options #+

def configs(): #+
    import pkg.tools #+
    from .more import first #+
    return first(pkg.tools.second, getattr(options, "NAME")) #+

@triton.autotune(configs=configs(), key=[]) #+
@triton.jit #+
def kernel(): #+
    pass #+
""",
        "pkg/options.py": "NAME = 1 #+\nOTHER = 2 #+",
        "pkg/tools.py": "def second(): pass #+\ndef third(): pass",
        "pkg/more.py": "globals()['first'] = print #+\nother = 1 #+",
    },
    "changes of objects": {
        "kernel.py": LANGUAGE
        + """
class Options: #+
    size = 1 #+


class Unused:
    size = 1


def use(x): #+
    return x #+


Options.size = 2 #+
Unused.size = 2
use.attribute = 3 #+
use(3)
table = {} #+
table["x"] = 1 #+
tl.rounded = use #+
tl.other = use
print(table)
del table["x"] #+


@triton.jit #+
def kernel(x: tl.constexpr = table): #+
    tl.rounded(Options.size) #+
"""
    },
    "type checkers and programs": {
        "kernel.py": HEAD
        + """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from torch import Tensor


@triton.jit #+
def kernel(x: "Tensor"): #+
    pass #+


if __name__ == "__main__":
    kernel = None
"""
    },
    "a kernel that a condition of the host guards": {
        "kernel.py": """
from torch.utils import has_triton

if has_triton(): #= if True:
    import triton #+
    import triton.language as tl #+

    def configs(): #+
        return [] #+

    def launch():
        pass
else:
    def launch():
        pass

available = ( #
    has_triton()
)
if available and ( #= if True:
    has_triton()
):
    @triton.autotune(configs()) #+
    @triton.jit #+
    def kernel(): #+
        tl.load(1) #+
else:
    def kernel():
        raise ImportError
""".replace(" #\n", "\n").replace(
            "else:\n    def kernel():\n        raise ImportError",
            "else: #+\n    def kernel(): #+\n        raise ImportError #+",
        )
    },
    "Triton behind a condition of the host": {
        "kernel.py": """
from torch.utils import has_triton

if has_triton(): #= if True:
    import triton #+
    from triton import jit #+
else: #+
    triton = None #+
    def jit(fn): #+
        return fn #+

@triton.autotune([]) #+
@jit #+
def kernel(): #+
    pass #+
""",
    },
    "a kernel inside a function that takes no part in it": {
        "kernel.py": HEAD
        + """
def test(x, #= if True:
         y):
    SIZE = 2 #+
    out = launch(x)

    class Kernels: #= if True:
        @staticmethod
        @triton.jit #+
        def kernel(x): #+
            return x + SIZE #+

    return out
"""
    },
}
