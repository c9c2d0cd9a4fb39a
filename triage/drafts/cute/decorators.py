"""Arguments that the decorators of a function state: those of a test, or of a command."""

from __future__ import annotations

import ast
from typing import Any

from triage.drafts.cute.expressions import Expressions
from triage.drafts.cute.values import FunctionValue, NameScope


def of_decorators(evaluator: Expressions, function: FunctionValue) -> dict[str, Any]:
    """The first values of each ``pytest.mark.parametrize`` of a test, and of each ``click.option``."""
    stated: dict[str, Any] = {}
    if isinstance(function.node, ast.Lambda):
        return stated
    frame = NameScope(function.module, {}, function.frame)
    for decorator in function.node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, rows, *_]):
                listed = evaluator.value(names, frame)
                texts = [each.strip() for each in listed.split(",")] if isinstance(listed, str) else listed
                values = evaluator.value(rows, frame)
                if not isinstance(values, list | tuple) or not values or not isinstance(texts, list | tuple):
                    continue
                first = values[0]
                row = [first] if len(texts) == 1 else first if isinstance(first, list | tuple) else []
                stated.update(zip(texts, row, strict=False))
            case ast.Call(
                func=ast.Attribute(attr="option"), args=[ast.Constant(value=str() as name), *_], keywords=words
            ):
                default = next((word.value for word in words if word.arg == "default"), None)
                if default is not None:
                    stated[name.lstrip("-").replace("-", "_")] = evaluator.value(default, frame)
    return stated
