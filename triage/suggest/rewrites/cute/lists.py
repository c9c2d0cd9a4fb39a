"""Lists of Python that are indexed by a run-time value: tensors in registers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triage.source.module import assignments, entries
from triage.suggest.rewrites.cute.subject import CuteSubject
from triage.suggest.rewrites.cute.types import type_of
from triage.suggest.rewrites.recipe import Rewritten


def list_in_registers(subject: CuteSubject) -> Iterator[Rewritten]:
    """A list that is written out, as a tensor in registers with the same values."""
    for statement in subject.failing:
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                yield from _held(subject, node.value.id, subject.function_of(node))


def _held(subject: CuteSubject, name: str, function: ast.FunctionDef | None) -> Iterator[Rewritten]:
    sets = assignments(function, name) if function is not None else []
    cute = subject.alias("cutlass.cute")
    for assigned in sets:
        values = entries(assigned.value)
        dtype = next((type_ for value in values if (type_ := type_of(subject, value))), None)
        held = subject.fragment(f"{cute}.make_layout({len(values)})", dtype) if dtype else None
        if not values or held is None or cute is None or not subject.whole_lines([assigned]):
            continue
        if any(type_of(subject, value) == f"{subject.alias('cutlass')}.Float32" for value in values):
            held = subject.fragment(f"{cute}.make_layout({len(values)})", f"{subject.alias('cutlass')}.Float32")
        indent = f"\n{subject.indent(assigned)}"
        texts = (subject.module.segment(value) for value in values)
        lines = [f"{name} = {held}", *(f"{name}[{index}] = {text}" for index, text in enumerate(texts))]
        yield from subject.rewritten(
            [subject.module.replace(assigned, indent.join(lines))],
            f"hold {name} in registers",
            "a list of Python exists while tracing; a run-time value indexes a tensor",
        )
