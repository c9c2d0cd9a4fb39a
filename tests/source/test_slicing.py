"""Which lines of the user's files a kernel reaches.

In the sources below, ``#+`` ends a line that stays, ``#= TEXT`` one that becomes TEXT with the same indentation; all
others become blank, and no line moves. A last line ``#> TEXT`` stands for an import that is appended."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triage.model.errors import InputError
from triage.source.module import diff, transferred
from triage.source.slicing import Slice, Unsliceable, slice_kernel

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


def texts(cut: Slice) -> dict[str, str]:
    """The files of a slice that are not empty."""
    return {path.as_posix(): text.decode() for path, text in cut.texts.items() if text.strip()}


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


@pytest.mark.parametrize("title", CASES)
def test_only_what_a_kernel_reaches_stays(title: str, tmp_path: Path) -> None:
    expected = written(tmp_path, CASES[title])
    file = next(name for name in reversed(expected) if "def kernel" in expected[name] or "kernel =" in expected[name])
    cut = slice_kernel(tmp_path / file, "kernel")
    assert cut.file == Path(file)
    result = texts(cut)
    assert result == {name: text for name, text in expected.items() if text.strip()}
    for text in result.values():
        compile(text, "slice", "exec")


def test_a_kernel_that_cannot_be_cut_out_says_why(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(
        "import triton\n\ndef make(SIZE):\n    TWICE = 2 * SIZE\n    @triton.jit\n    def kernel():\n        TWICE\n"
        "    return kernel\n\ndef first():\n    @triton.jit\n    def same(): pass\n\ndef second():\n    @triton.jit\n"
        "    def same(): pass\n"
    )
    with pytest.raises(Unsliceable, match=r"kernel.py:3: .* inside the function 'make'.* the parameter 'SIZE'"):
        slice_kernel(file, "kernel")
    with pytest.raises(Unsliceable, match="'same' is defined inside 2 functions, in lines 12, 16"):
        slice_kernel(file, "same")
    with pytest.raises(InputError, match="defines no function 'other'"):
        slice_kernel(file, "other")


KERNEL = "import triton #+\n{} #+\n\n@triton.jit #+\ndef kernel(): #+\n    helper() #+\n"
HELPER = "import triton #+\nimport torch\n@triton.jit #+\ndef helper(): #+\n    pass #+\n"


@pytest.mark.parametrize(
    ("statement", "kernel", "helper", "in_slice"),
    [
        ("from .tools import helper", "pkg/sub/kernel.py", "pkg/sub/tools.py", "sub/kernel.py"),
        ("from ..tools import helper", "pkg/sub/kernel.py", "pkg/tools.py", "pkg/sub/kernel.py"),
        ("from pkg.sub.tools import helper", "pkg/sub/kernel.py", "pkg/sub/tools.py", "pkg/sub/kernel.py"),
        ("from pkg.tools import helper", "pkg/sub/deep/kernel.py", "pkg/tools.py", "pkg/sub/deep/kernel.py"),
        ("from tools import helper", "scripts/kernel.py", "scripts/tools.py", "kernel.py"),
        ("from tools import helper", "pkg/03-kernel.py", "on_path/tools.py", "03-kernel.py"),
        ("from lib.tools import helper", "benchmarks/kernel.py", "src/lib/tools.py", "kernel.py"),
    ],
    ids=["relative", "above", "absolute", "deep", "sibling", "PYTHONPATH", "checkout"],
)
def test_modules_without_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, kernel: str, helper: str, in_slice: str
) -> None:
    """Folders without ``__init__.py``: imports begin where the file's own imports find what they name."""
    expected = written(tmp_path, {kernel: KERNEL.format(statement), helper: HELPER, "pyproject.toml": ""})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "on_path"))
    cut = slice_kernel(tmp_path / kernel, "kernel")
    assert cut.file == Path(in_slice)
    assert set(cut.sources.values()) == {tmp_path / kernel, tmp_path / helper}
    assert {cut.texts[path].decode() for path in cut.sources} == {expected[kernel], expected[helper]}
    packages = {path.parent for path in cut.texts if path.name == "__init__.py"}
    assert packages == {folder for path in cut.sources for folder in path.parents if folder.name}


def test_installed_packages_beside_the_kernel_s_are_others(tmp_path: Path) -> None:
    statement = "from other import helper"
    names = {"site-packages/pkg/kernel.py": KERNEL.format(statement), "site-packages/other.py": HELPER}
    written(tmp_path, {**names, "site-packages/pkg/__init__.py": "", "site-packages/pkg/logging.py": "helper = 1"})
    cut = slice_kernel(tmp_path / "site-packages" / "pkg" / "kernel.py", "kernel")
    assert sorted(path.as_posix() for path in cut.texts) == ["pkg/__init__.py", "pkg/kernel.py"]


def test_a_file_that_python_cannot_read_is_told_as_python_tells_it(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_bytes(b"import triton\nNAME = '\xe9'\n\n@triton.jit\ndef kernel(): pass\n")
    with pytest.raises(
        InputError, match=r"kernel.py:2: SyntaxError: \(unicode error\) 'utf-8' codec can't decode byte"
    ):
        slice_kernel(file, "kernel")


def test_what_a_kernel_imports_and_cannot_be_parsed_stays_as_it_is(tmp_path: Path) -> None:
    written(tmp_path, {"kernel.py": KERNEL.format("from tools import helper")})
    (tmp_path / "tools.py").write_bytes(b"def helper(:\n\xe9")
    cut = slice_kernel(tmp_path / "kernel.py", "kernel")
    assert cut.texts[Path("tools.py")] == b"def helper(:\n\xe9"


def test_a_change_of_a_slice_is_shown_as_a_patch_of_the_user_s_file(tmp_path: Path) -> None:
    written(tmp_path, CASES["host code goes"])
    whole = (tmp_path / "kernel.py").read_text()
    before = slice_kernel(tmp_path / "kernel.py", "kernel").texts[Path("kernel.py")].decode()
    after = before.replace("    return x * BLOCK\n", "    y = x * BLOCK\n    return y\n").replace(
        "BLOCK: tl.constexpr = 128\n", "BLOCK: tl.constexpr = 64\n"
    )
    patched = transferred(before, after, whole)
    assert patched == whole.replace("return x * BLOCK", "y = x * BLOCK\n    return y").replace("128", "64")
    assert "OTHER = torch.zeros(3)" in diff(whole, patched, "kernel.py")
    assert transferred(before, after, whole + "\n") == after
