"""The kernel argument that an address starts from."""

from __future__ import annotations

import ast

from triage.source.module import called
from triage.suggest.rewrites.recipe import Subject
from triage.suggest.rewrites.scope import binders

_READS = ("load", "load_tensor_descriptor", "descriptor_load", "_experimental_descriptor_load", "atomic_add")
"""What these give back is data; a pointer among their arguments is not what the address starts from."""


def root(subject: Subject, value: ast.expr | None) -> str | None:
    """The kernel's pointer or descriptor argument that an address is computed from; None where there is none, or
    more than one (a conditional address, a helper's own parameter)."""
    parameters = {parameter.arg for parameter in (*subject.kernel.args.posonlyargs, *subject.kernel.args.args)}
    found: set[str] = set()
    seen: set[str] = set()
    waiting: list[ast.AST] = [value] if value is not None else []
    while waiting:
        node = waiting.pop()
        if called(node) in _READS:
            continue
        if isinstance(node, ast.Name) and node.id not in seen:
            seen.add(node.id)
            type_ = str(subject.scene.case.signature.get(node.id, ""))
            if node.id in parameters and type_.startswith(("*", "tensordesc<")):
                found.add(node.id)
            waiting += binders(subject.kernel, node.id)
        waiting += ast.iter_child_nodes(node)
    return found.pop() if len(found) == 1 else None


def element(subject: Subject, argument: str | None) -> str:
    """The element type of a pointer or descriptor argument, as signatures spell it; "" for none."""
    type_ = str(subject.scene.case.signature.get(argument, "")) if argument else ""
    return type_.lstrip("*").removeprefix("tensordesc<").partition("[")[0]
