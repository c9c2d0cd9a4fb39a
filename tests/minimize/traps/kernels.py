"""The frame that failures stand in: a kernel that compiles as long as none does, and its case."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from traps.failure import Failure
from triage.model.case import Case, frozen
from triage.model.language import Language
from triage.model.target import Target

_IMPORTS = "import triton\nimport triton.language as tl\n"
_GLUON_IMPORTS = """from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import mma_v2
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, warpgroup_mma
"""
_TYPES = {"x_ptr": "*fp32", "y_ptr": "*fp32", "i_ptr": "*i32", "h_ptr": "*fp16", "q_ptr": "*fp8e5", "n": "i32"}
_ALWAYS = ("x_ptr", "y_ptr", "n")
_FRAME = {
    "offsets": "offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
    "inside": "inside = offsets < n",
    "tile": "rows = tl.arange(0, 32)\ntile = rows[:, None] * 32 + rows[None, :]",
    "x": "x = tl.load(x_ptr + offsets, mask=inside, other=0.0)",
    "i": "i = tl.load(i_ptr + offsets, mask=inside, other=0)",
    "h": "h = tl.load(h_ptr + tile)",
    "q": "q = tl.load(q_ptr + tile)",
}
"""What a failure may read, in an order in which each line finds what it reads itself."""
_GLUON_FRAME = {
    "offsets": (
        "layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n"
        "offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)"
    ),
    "x": "x = gl.load(x_ptr + offsets, mask=offsets < n, other=0.0)",
}
_GLUON_LAST = "gl.store(y_ptr + offsets, x * 2.0, mask=offsets < n)"
_LAST = "tl.store(y_ptr + offsets, x, mask=inside)"


def opening(body: str, gluon: bool = False) -> str:
    """The lines of the frame that a body reads, and those that these read."""
    taken: list[str] = []
    for name, lines in reversed((_GLUON_FRAME if gluon else _FRAME).items()):
        if re.search(rf"(?<![\w.]){name}\b", "\n".join([*taken, body])):
            taken.insert(0, lines)
    return "\n".join(taken)


def _function(name: str, names: Iterable[str], body: str, gluon: bool) -> str:
    decorator, language = ("gluon.jit", "gl") if gluon else ("triton.jit", "tl")
    parameters = ", ".join([*names, f"BLOCK: {language}.constexpr", f"MODE: {language}.constexpr"])
    return f"@{decorator}\ndef {name}({parameters}):\n{textwrap.indent(body, '    ')}\n"


def helper(name: str, body: str, gluon: bool = False) -> tuple[str, str]:
    """A jitted function with this body, and its call from a kernel."""
    inner = f"{opening(body, gluon)}\n{body}".lstrip("\n")
    names = [argument for argument in _TYPES if re.search(rf"\b{argument}\b", inner)]
    text = _function(name, names, inner, gluon)
    return text, f"{name}({', '.join([*names, 'BLOCK', 'MODE'])})"


def kernel(
    lines: Sequence[str],
    used: Iterable[Failure],
    folder: Path,
    above: Sequence[str] = (),
    constexprs: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    target: str | None = None,
) -> Case:
    """The case of a kernel with these statements, written to ``folder``."""
    used = list(used)
    gluon = any(one.gluon for one in used)
    body = "\n".join([*lines, _GLUON_LAST if gluon else _LAST])
    whole = f"{opening(body, gluon)}\n{body}"
    every = "\n".join([whole, *above])
    names = [name for name in _TYPES if name in _ALWAYS or re.search(rf"\b{name}\b", every)]
    parts = [_GLUON_IMPORTS if gluon else _IMPORTS, *dict.fromkeys(one.above for one in used if one.above), *above]
    parts.append(_function("kernel", names, whole, gluon))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.py").write_text("\n\n".join(parts), encoding="utf-8")
    found = next((one.targets[0] for one in used if one.targets), "cuda:90")
    return Case(
        folder,
        "kernel.py",
        "kernel",
        frozen({name: (types or {}).get(name, _TYPES[name]) for name in names}),
        frozen({"BLOCK": 64, "MODE": True, **(constexprs or {})}),
        target=Target.parse(target or found),
        options=frozen(dict(options or {})),
        language=Language.GLUON if gluon else Language.TRITON,
    )
