"""A launch of a kernel of ``kernels/``, and which of its configurations are timed.

A launch has one problem (element types, sizes, grid) and a space of configurations. Every size is a multiple of every
tile, so that a configuration changes the time and nothing else. Sizes are such that the best configuration takes 0.05
to 0.5 ms on an H100.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from triage.model import launch_plan

Configuration: TypeAlias = dict[str, int | bool]
"""Constexprs of the space and Triton's options, by name."""

OPTIONS = ("num_warps", "num_stages")
TRITON = "3.6.0"
WARPS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Array:
    """A pointer argument: element type, shape in expressions, and fill (see ``triage/model/inputs.py``)."""

    element: str
    shape: tuple[str | int, ...]
    fill: dict[str, Any]


def array(element: str, *shape: str | int, **fill: Any) -> Array:
    """``array("i32", "rows", fill="randint", high="columns")``."""
    return Array(element, shape, fill)


def zeros(element: str, *shape: str | int) -> Array:
    """An output, or what the kernel adds to."""
    return Array(element, shape, {"fill": "zeros"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One kernel with one problem.

    ``arguments`` in the kernel's order: an Array, an integer or an expression (i32), a float (fp32). ``fixed`` are
    constexprs of the problem, ``space`` the values of each dimension of the configuration. ``accumulates``: the kernel
    adds to its outputs, which therefore start as zeros. ``tolerance`` is relative to the largest magnitude of an
    output; a share ``stray`` of the elements may differ more, where ties are broken either way.
    """

    file: str
    name: str
    arguments: dict[str, Array | int | float | str]
    grid: tuple[str | int, ...]
    outputs: tuple[str, ...]
    space: dict[str, tuple[int | bool, ...]]
    fixed: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    tolerance: float = 0.01
    stray: float = 0.0
    accumulates: bool = False
    flops: str | None = None
    sample: int = 90

    @property
    def held_out(self) -> bool:
        """One kernel in five, by a hash of its name: never used to develop or tune a model of cost."""
        return int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 5 == 0

    @property
    def whole(self) -> bool:
        """Whether the sample is the space: then a search can be followed wherever it goes."""
        return self.sample >= math.prod(len(values) for values in self.space.values())

    def configurations(self) -> list[Configuration]:
        """A sample of the space, the same on each call."""
        points = [dict(zip(self.space, values, strict=True)) for values in itertools.product(*self.space.values())]
        random.Random(self.name).shuffle(points)
        return points[: self.sample]

    def signature(self) -> dict[str, str]:
        """Argument names and Triton's types."""
        return {name: _type(value) for name, value in self.arguments.items()}

    def inputs(self) -> dict[str, Any]:
        """The field ``inputs`` of a case."""
        document: dict[str, Any] = {
            "sizes": self.sizes,
            "arguments": {name: _argument(value) for name, value in self.arguments.items()},
            "grid": list(self.grid),
            "outputs": list(self.outputs),
            "tolerance": self.tolerance,
        }
        return {**document, "flops": self.flops} if self.flops else document

    def divisible(self) -> dict[str, int]:
        """What the JIT specializes on: pointers, and integers that are multiples of 16."""
        signature = self.signature()
        constexprs = {**self.fixed, **self.configurations()[0]}
        values = launch_plan.resolve(self.inputs(), signature, constexprs, {}).scalars
        integers = [name for name, type_ in signature.items() if type_ == "i32" and int(values[name]) % 16 == 0]
        return dict.fromkeys([name for name, type_ in signature.items() if type_.startswith("*")] + integers, 16)

    def case(self, configuration: Configuration) -> dict[str, Any]:
        """A case document."""
        constexprs = {name: value for name, value in configuration.items() if name not in OPTIONS}
        return {
            "schema": "triton-triage/case/1",
            "language": "triton",
            "kernel": {"file": self.file, "name": self.name},
            "signature": self.signature(),
            "constexprs": {**self.fixed, **constexprs},
            "divisible": self.divisible(),
            "target": "cuda:90",
            "toolchain": {"triton": TRITON},
            "options": {name: value for name, value in configuration.items() if name in OPTIONS},
            "inputs": self.inputs(),
        }


def _type(value: Array | int | float | str) -> str:
    if isinstance(value, Array):
        return f"*{value.element}"
    return "fp32" if isinstance(value, float) else "i32"


def _argument(value: Array | int | float | str) -> Any:
    return {"shape": list(value.shape), **value.fill} if isinstance(value, Array) else value
