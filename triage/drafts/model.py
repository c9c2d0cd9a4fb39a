"""What the source of a project shows of its kernels: each parameter with the values that it may take, and why.

Nothing here is certain. A value carries its basis, so that the reader of a verdict on a drafted case sees what it
rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from triage.model.language import Language


class Basis(str, Enum):
    """What a value rests on, the most reliable first."""

    USER = "given"
    """The user stated it."""
    CONFIG = "autotune configuration"
    HEURISTIC = "heuristic"
    LAUNCH = "launch"
    ANNOTATION = "annotation"
    DEFAULT = "default"
    USE = "use"
    """How the kernel, or a function that it calls, uses the parameter."""
    NAME = "name"
    ASSUMED = "assumed"

    @property
    def rank(self) -> int:
        """0 for the most reliable."""
        return list(Basis).index(self)


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a parameter may take.

    ``value``: the type of an argument in Triton's syntax (``*fp16``, ``i32``) where the parameter is passed at run
    time; a JSON value where it is a constant of the compile: each value of a constexpr parameter (``tl.float16`` names
    Triton's object, as in a case), and for others an integer (1: what the launcher makes of a stride of 1) or None.
    ``where``: ``address in line 41``, ``launch in ops/norm.py:88``. ``exact``: False where a launch shows what is
    passed (a size of a tensor), but not its value. ``constant``: a constant of the compile, also of a parameter that
    may be passed at run time.
    """

    value: Any
    basis: Basis
    where: str
    exact: bool = True
    constant: bool = False

    def __str__(self) -> str:
        return f"{self.value}, {self.where}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a jitted function.

    ``candidates``: best first; empty where nothing is known (``unknown``: why). ``constructor``: of the constructor of
    a class that is a kernel. ``divisible``: the divisor in elements or bytes that a launch would state (16, or 1 for
    none); None where nothing is known, which means 16 for pointers and 1 for others. ``optional``: a launch may pass
    None. ``innermost_stride``: the launcher makes it a constant where it is 1, which it nearly always is. ``tuned``: an
    autotune configuration or a heuristic sets it, so launches do not pass it. ``has_default``: a launch may leave it
    out.
    """

    name: str
    constexpr: bool
    candidates: tuple[Value, ...]
    divisible: int | None = None
    optional: bool = False
    innermost_stride: bool = False
    tuned: bool = False
    constructor: bool = False
    has_default: bool = False
    unknown: str = ""

    @property
    def best(self) -> Value:
        """The first candidate. Raises IndexError where there is none."""
        return self.candidates[0]


@dataclass(frozen=True, slots=True)
class JitFunction:
    """A function that is compiled for a GPU.

    ``launched``: False for a function that only other jitted functions call. ``configs``: the source of each autotune
    configuration, as far as it is written out. ``heuristics``: the parameters that heuristics set. ``options``: what a
    launch states of ``num_warps`` and the like. ``launches``: where it is launched. ``launched_with``: what each launch
    passes, where launches are configurations of their own. ``target``: the GPU that its source is written for, where it
    shows that. ``tuners``: what its file calls the objects that have its configurations: itself, or autotuners that
    wrap it under other names. ``obstacle``: why it cannot be cut out of its file, where that fails. ``unsupported``:
    why a case cannot state how it is launched.
    """

    file: Path
    name: str
    line: int
    language: Language
    launched: bool
    parameters: tuple[Parameter, ...]
    configs: tuple[str, ...] = ()
    heuristics: tuple[str, ...] = ()
    options: Mapping[str, Value] = field(default_factory=dict)
    launches: tuple[str, ...] = ()
    launched_with: tuple[Mapping[str, Value], ...] = ()
    target: Value | None = None
    tuners: tuple[str, ...] = ()
    obstacle: str | None = None
    unsupported: str | None = None
