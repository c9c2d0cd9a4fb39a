"""Constraint strings of inline assembly that are parameters.

LLVM wants one input constraint a tensor, and a register class as wide as the element. The assembly's own text is the
user's program: nothing is suggested about it.
"""

from __future__ import annotations

from collections.abc import Iterator

from triage.suggest.candidate import Move, Proposal
from triage.suggest.scene import Scene

_CLASSES = {"cuda": "rfhld", "hip": "vs"}
"""Register classes by backend: NVPTX 32-bit, float, 16-bit, 64-bit, double; AMDGPU vector and scalar."""


def assembly(scene: Scene) -> Iterator[Proposal]:
    """As many inputs as tensors; then other register classes."""
    for call in scene.source.asm_calls:
        value = scene.case.constexprs.get(call.constraints)
        if not isinstance(value, str):
            continue
        parts = [part.strip() for part in value.split(",") if part.strip()]
        inputs = [part for part in parts if not part.startswith(("=", "~"))]
        if inputs and len(inputs) != call.inputs:
            yield Proposal(
                {call.constraints: _with_inputs(parts, inputs, call.inputs)},
                Move.TEXT,
                -0.8,
                2,
                f"{call.inputs} tensors go in, so {call.inputs} input constraints",
            )
        for index, letter in enumerate(_CLASSES.get(scene.case.target.backend, "")):
            other = ",".join(_with_class(part, letter) for part in parts)
            why = f"operands in registers of class {letter!r}"
            yield Proposal({call.constraints: other}, Move.TEXT, 1.5 + 0.2 * index, 2.5, why)


def _with_inputs(parts: list[str], inputs: list[str], count: int) -> str:
    """Keep outputs and clobbers in place; drop the last inputs, or repeat the last one."""
    outputs = [part for part in parts if part.startswith("=")]
    clobbers = [part for part in parts if part.startswith("~")]
    padded = [*inputs[:count], *[inputs[-1]] * (count - len(inputs))]
    return ",".join([*outputs, *padded, *clobbers])


def _with_class(part: str, letter: str) -> str:
    if part.startswith("~") or part.lstrip("=&").isdigit():
        return part  # a clobber, or an input tied to an output by number
    return part[: len(part) - len(part.lstrip("=&"))] + letter
