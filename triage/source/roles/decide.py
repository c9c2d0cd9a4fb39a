"""From the uses of a parameter to its role."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from triage.source.functions import parameters
from triage.source.module import Module, called, read_counts
from triage.source.roles.addresses import record_addresses
from triage.source.roles.interpret import Interpreter
from triage.source.roles.role import Axis, ParameterRole, RoleKind
from triage.source.roles.uses import Note, ParameterUse, ParameterUses

_OF_THE_DATA = (
    ParameterUse.SHAPE,
    ParameterUse.STRIDE,
    ParameterUse.BOUND,
    ParameterUse.DIVIDES,
    ParameterUse.ARITHMETIC,
    ParameterUse.NUMBERED,
    ParameterUse.RESULT,
    ParameterUse.COUNTED,
    ParameterUse.COVERS,
)
"""ParameterUses that make a parameter a size of the data whatever else it is used for."""
_PERHAPS_OF_THE_DATA = (
    ParameterUse.STRIDE_OF_POSITION,
    ParameterUse.TRIPS,
    ParameterUse.BOUND_OF_POSITION,
    ParameterUse.DIVIDES_POSITION,
    ParameterUse.OFFSET,
)
"""ParameterUses that make a parameter a size of the data where nothing steps by it."""


@lru_cache(maxsize=32)
def roles(source: str, kernel: str) -> Mapping[str, ParameterRole]:
    """The role of each parameter of a kernel, from the text of its file; empty where it cannot be read."""
    module = Module.parse(source)
    if module is None:
        return {}
    functions = {node.name: node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)}
    if kernel not in functions:
        return {}
    annotated = parameters(functions[kernel])
    uses = ParameterUses(
        frozenset(arg.arg for arg in annotated if arg.annotation and "constexpr" in ast.unparse(arg.annotation))
    )
    Interpreter(functions, uses).run(functions[kernel])
    _declared(functions[kernel], module.tree, uses)
    record_addresses(uses)
    read = read_counts(functions[kernel].body)
    return {
        name: _role(name, uses) if read[name] else ParameterRole(RoleKind.UNUSED, why="the kernel never reads it")
        for name in (parameter.arg for parameter in parameters(functions[kernel]))
    }


def _role(parameter: str, uses: ParameterUses) -> ParameterRole:
    def first(*kinds: ParameterUse) -> Note | None:
        return next((note for kind in kinds for note in uses.of(parameter, kind)), None)

    def role(kind: RoleKind, note: Note, axis: Axis = Axis.NONE, masked_by: str = "") -> ParameterRole:
        return ParameterRole(kind, axis, note.use.value, note.line, masked_by)

    for kind, evidence in (
        (RoleKind.LAYOUT, (ParameterUse.LAYOUT,)),
        (RoleKind.PIPELINE, (ParameterUse.PIPELINE, ParameterUse.BUFFERS)),
        (RoleKind.DTYPE, (ParameterUse.DTYPE,)),
    ):
        if note := first(*evidence):
            return role(kind, note)
    axis = _axis(uses, parameter)
    step = first(ParameterUse.STEP_GRID, ParameterUse.STEP_LOOP)
    if step and first(ParameterUse.TUNED):
        return role(RoleKind.TILE, step, axis)
    extents = uses.of(parameter, ParameterUse.EXTENT)
    if extents and not uses.moves and not first(*_OF_THE_DATA) and not all(note.by for note in extents):
        why = "one program computes the whole block, and nothing shows whether the data has more"
        return ParameterRole(RoleKind.UNKNOWN, why=why, line=extents[0].line)
    if extents:
        masks = [note.by for note in extents]
        masked_by = ", ".join(dict.fromkeys(masks)) if all(masks) else ""
        if note := first(*_OF_THE_DATA):
            masked_by = ""
        return role(RoleKind.PROBLEM, extents[0], masked_by=masked_by)
    if (note := first(ParameterUse.ORDER)) and not step:
        return role(RoleKind.GROUP, note)
    if note := first(*_OF_THE_DATA):
        return role(RoleKind.PROBLEM, note)
    if note := first(ParameterUse.SHARES):
        return role(RoleKind.GROUP, note)
    if step and axis is Axis.GRID and (note := first(ParameterUse.REDUCED)):
        return role(RoleKind.PROBLEM, note)
    if step and first(ParameterUse.TENSOR, ParameterUse.TRIPS, ParameterUse.COUNT):
        return role(RoleKind.TILE, step, axis)
    if note := first(*_PERHAPS_OF_THE_DATA):
        return role(RoleKind.PROBLEM, note)
    if step:
        return role(RoleKind.TILE, step, axis)
    if (note := first(ParameterUse.COUNT)) and first(ParameterUse.TENSOR):
        return role(RoleKind.TILE, note)
    if note := first(ParameterUse.CONDITION, ParameterUse.MODE):
        return role(RoleKind.FLAG, note)
    if note := first(ParameterUse.COUNT):
        return role(RoleKind.PROBLEM, note)
    return ParameterRole(RoleKind.UNKNOWN, why="the kernel does not show what it is used for")


def _axis(uses: ParameterUses, parameter: str) -> Axis:
    grid, loop = uses.of(parameter, ParameterUse.STEP_GRID), uses.of(parameter, ParameterUse.STEP_LOOP)
    return Axis.BOTH if grid and loop else Axis.GRID if grid else Axis.LOOP if loop else Axis.NONE


def _declared(kernel: ast.FunctionDef, tree: ast.Module, uses: ParameterUses) -> None:
    """What decorators say: names that an autotuner chooses, and sizes that the host rounds up."""
    for decorator in kernel.decorator_list:
        function = called(decorator)
        if not isinstance(decorator, ast.Call):
            continue
        if function == "autotune":
            written = [node for node in ast.walk(decorator) if called(node) == "Config"]
            for config in written or [node for node in ast.walk(tree) if called(node) == "Config"]:
                keys = (
                    config.args[0].keys
                    if isinstance(config, ast.Call) and config.args and isinstance(config.args[0], ast.Dict)
                    else []
                )
                tuned = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
                uses.add(tuned, ParameterUse.TUNED, decorator.lineno)
        elif function == "heuristics" and decorator.args and isinstance(decorator.args[0], ast.Dict):
            for key, value in zip(decorator.args[0].keys, decorator.args[0].values, strict=True):
                if isinstance(key, ast.Constant) and any(called(node) == "next_power_of_2" for node in ast.walk(value)):
                    uses.add([str(key.value)], ParameterUse.COVERS, value.lineno)
