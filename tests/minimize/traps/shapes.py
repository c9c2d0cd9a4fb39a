"""Ways for a second failure to stand near the first: where it is, and what brings it to light."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traps.failure import Failure
from traps.kernels import helper, kernel
from triage.model.case import Case


@dataclass(frozen=True, slots=True)
class Placed:
    """Statements of the kernel, helpers above it, and the configuration: of the whole (``whole``), and that in which
    the second failure shows (``rest``), as arguments of :func:`traps.kernels.kernel`."""

    lines: list[str]
    above: list[str] = field(default_factory=list)
    whole: dict[str, Any] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)


Shape = Callable[[str, str, bool], Placed]
"""From the statements of both failures, and whether the kernel is Gluon's."""


def _block(head: str, body: str) -> str:
    return f"{head}\n{textwrap.indent(body, '    ')}"


def _after(first: str, second: str, gluon: bool) -> Placed:
    return Placed([first, second])


def _before(first: str, second: str, gluon: bool) -> Placed:
    return Placed([second, first])


def _other_branch(first: str, second: str, gluon: bool) -> Placed:
    lines = [_block("if MODE:", first), _block("else:", second)]
    return Placed(lines, rest={"constexprs": {"MODE": False}})


def _first_branch(first: str, second: str, gluon: bool) -> Placed:
    lines = [_block("if MODE:", second), _block("else:", first)]
    return Placed(lines, whole={"constexprs": {"MODE": False}})


def _behind_return(first: str, second: str, gluon: bool) -> Placed:
    return Placed([first, "if MODE:\n    return", second], rest={"constexprs": {"MODE": False}})


def _in_callee(first: str, second: str, gluon: bool) -> Placed:
    text, call = helper("below", second, gluon)
    return Placed([first, call], [text])


def _from_callee(first: str, second: str, gluon: bool) -> Placed:
    text, call = helper("above", first, gluon)
    return Placed([call, second], [text])


def _within_callee(first: str, second: str, gluon: bool) -> Placed:
    text, call = helper("inside_of", f"{first}\n{second}", gluon)
    return Placed([call], [text])


def _two_callees(first: str, second: str, gluon: bool) -> Placed:
    one, call_one = helper("one", first, gluon)
    other, call_other = helper("other", second, gluon)
    return Placed([call_one, call_other], [other, one])


def _behind_loop(first: str, second: str, gluon: bool) -> Placed:
    return Placed([_block("for trip in range(n):", first), second])


def _in_loop(first: str, second: str, gluon: bool) -> Placed:
    return Placed([first, _block("for trip in range(n):", second)])


def _same_loop(first: str, second: str, gluon: bool) -> Placed:
    return Placed([_block("for trip in range(n):", f"{first}\n{second}")])


def _small_block(first: str, second: str, gluon: bool) -> Placed:
    return Placed([_block("if BLOCK < 64:", second), first], rest={"constexprs": {"BLOCK": 32}})


def _large_block(first: str, second: str, gluon: bool) -> Placed:
    lines = [_block("if BLOCK >= 64:", first), _block("else:", second)]
    return Placed(lines, rest={"constexprs": {"BLOCK": 32}})


def _few_warps(first: str, second: str, gluon: bool) -> Placed:
    lines = [_block("if tl.extra.cuda.num_warps() < 8:", second), first]
    return Placed(lines, whole={"options": {"num_warps": 8}})


def _plain_type(first: str, second: str, gluon: bool) -> Placed:
    lines = [_block("if y_ptr.dtype.element_ty == tl.float32:", second), first]
    return Placed(lines, whole={"types": {"y_ptr": "*fp64"}})


SHAPES: dict[str, Shape] = {
    "after": _after,
    "before": _before,
    "other-branch": _other_branch,
    "first-branch": _first_branch,
    "behind-return": _behind_return,
    "in-callee": _in_callee,
    "from-callee": _from_callee,
    "within-callee": _within_callee,
    "two-callees": _two_callees,
    "behind-loop": _behind_loop,
    "in-loop": _in_loop,
    "same-loop": _same_loop,
    "small-block": _small_block,
    "large-block": _large_block,
    "few-warps": _few_warps,
    "plain-type": _plain_type,
}


@dataclass(frozen=True, slots=True)
class Trap:
    """``first`` shows; ``second`` shows as soon as the first is gone. ``shape``: one of ``SHAPES``; ``expression`` for
    both in one; ``rebind-NAME`` where the first is what gives NAME its value, which the second reads. ``settings`` and
    ``settings_rest`` go on top of the shape's configuration. ``triton``: None for the one beside triage."""

    first: Failure
    second: Failure
    shape: str
    settings: dict[str, Any] = field(default_factory=dict)
    settings_rest: dict[str, Any] = field(default_factory=dict)
    triton: str | None = None

    @property
    def name(self) -> str:
        """For people, and for ``pytest -k``."""
        return f"{self.first.name}+{self.second.name}+{self.shape}"

    def whole(self, folder: Path) -> Case:
        """With both."""
        return self._case(folder, self.first.lines, rest=False)

    def rest(self, folder: Path) -> Case:
        """With the second alone."""
        return self._case(folder, "pass", rest=True)

    def mended(self, folder: Path) -> Case:
        """With the second, and the first in words that do not fail."""
        assert self.first.mended is not None
        return self._case(folder, self.first.mended, rest=True)

    def _case(self, folder: Path, first: str, rest: bool) -> Case:
        one, other = first.replace("{v}", "first"), self.second.lines.replace("{v}", "second")
        gluon = self.first.gluon or self.second.gluon
        if self.shape == "expression":
            value = self.first.value if first != "pass" else "0"
            placed = Placed([f"tl.store(y_ptr + offsets, ({value}) + ({self.second.value}))"])
        elif self.shape.startswith("rebind-"):
            name = self.shape.removeprefix("rebind-")
            # The frame gives the name its value first: what the second reads when the first is gone.
            placed = Placed([f"{name} = {self.first.value}" if first != "pass" else "pass", other])
        else:
            placed = SHAPES[self.shape](one, other, gluon)
        given = {**(placed.rest if rest else placed.whole), **self.settings}
        if rest:
            given = {**given, "options": {}, **self.settings_rest}
        asked = {**self.second.options, **({} if rest else self.first.options), **given.pop("options", {})}
        return kernel(placed.lines, [self.first, self.second], folder, placed.above, options=asked, **given)
