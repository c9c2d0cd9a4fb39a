"""Flags, texts that choose a branch of the source, and constraints of inline PTX."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from triage.source.module import calls
from triage.suggest.cute.elements import is_dtype
from triage.suggest.cute.scene import CuteScene
from triage.suggest.cute.suspicion import suspicion
from triage.suggest.proposal import Move, Proposal

_CONSTRAINTS = re.compile(r"(?:[=+&]*[a-zA-Z](?:,|\Z)|[=+&]*\d(?:,|\Z)|~\{\w+\}(?:,|\Z))+")
"""``=r,r``: constraints of LLVM's inline assembly."""
_ASYNCHRONOUS = ("CopyG2SOp", "CopyBulkTensorTileG2SOp")
"""Operations that copy from global to shared memory without a thread waiting."""
_REGISTERS = "rlfdhbq"
"""Register classes of NVPTX: 32-bit, 64-bit, float, double, 16-bit, predicate, 128-bit (LLVM, NVPTXISelLowering)."""


def flags(scene: CuteScene) -> Iterator[Proposal]:
    """Every flag flipped; those that decide whether the failing line is compiled first."""
    for name, value in scene.values.items():
        if isinstance(value, bool):
            reach = scene.reach.get(name)
            guards = reach is not None and (reach.guards or reach.hops == 0)
            prior = (0.0 if guards else 0.6) + suspicion(scene, name)
            why = f"{name} {'off' if value else 'on'}{_through_registers(scene, name, value)}"
            yield Proposal({name: not value}, Move.FLAG, prior, 2, why)


def _through_registers(scene: CuteScene, name: str, value: bool) -> str:
    """What a flag costs that chooses another way to copy than the asynchronous one."""
    for node in ast.walk(scene.flow.tree):
        if isinstance(node, ast.If) and any(scene.flow.origin(part) == name for part in expressions(node.test)):
            chosen, left = (node.orelse, node.body) if value else (node.body, node.orelse)
            if (
                _asynchronous(left)
                and not _asynchronous(chosen)
                and any(calls(part, "make_copy_atom") for part in chosen)
            ):
                return ": the copy goes through registers, and is no longer asynchronous"
    return ""


def _asynchronous(statements: list[ast.stmt]) -> bool:
    return any(calls(statement, *_ASYNCHRONOUS) for statement in statements)


def expressions(node: ast.expr) -> list[ast.expr]:
    """An expression and all in it."""
    return [part for part in ast.walk(node) if isinstance(part, ast.expr)]


def texts(scene: CuteScene) -> Iterator[Proposal]:
    """Texts replaced by others that the source compares the parameter with, or chooses from."""
    for name, value in scene.values.items():
        if isinstance(value, str) and not is_dtype(value):
            known = [other for other in scene.flow.compared.get(name, ()) if isinstance(other, str)]
            for index, other in enumerate(other for other in known if other != value):
                prior = 0.3 + suspicion(scene, name) + 0.1 * index
                yield Proposal({name: other}, Move.TEXT, prior, 1.5, f"{name}={other!r}, which the source tests for")
            if value in known and len(known) == 1:
                prior = 0.8 + suspicion(scene, name)
                yield Proposal({name: "none"}, Move.TEXT, prior, 2, f"a {name} that no branch tests for")


def are_constraints(value: Any) -> bool:
    """A text that is the constraints of inline assembly."""
    return isinstance(value, str) and "=" in value and _CONSTRAINTS.fullmatch(value) is not None


def _in_register(part: str, register: str) -> str:
    held = part[-1] in f"{_REGISTERS}}}" or part[-1].isdigit()
    return part if held else part[:-1] + register


def assembly(scene: CuteScene) -> Iterator[Proposal]:
    """Constraints of inline PTX: operands in registers, and a single output.

    An operand that is known at run time only cannot be a constant (``n``, ``i``), and more outputs in the text than
    results of the operation end the process.
    """
    for name, value in scene.values.items():
        if not are_constraints(value):
            continue
        parts = value.split(",")
        outputs = [part for part in parts if part.startswith("=")]
        register = next((part[-1] for part in outputs if part[-1] in _REGISTERS), "r")
        single = [outputs[0], *(part for part in parts if not part.startswith("="))]
        held, both = ([_in_register(part, register) for part in each] for each in (parts, single))
        whys = ("operands in registers", "one output, as the operation has one result", "one output, and registers")
        for index, (other, why) in enumerate(zip((held, single, both), whys, strict=True)):
            if other != parts:
                yield Proposal({name: ",".join(other)}, Move.TEXT, -0.2 + 0.2 * index, 1, f"{name}: {why}")
