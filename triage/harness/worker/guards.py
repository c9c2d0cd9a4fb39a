"""Which lines of a source do without an import that fails."""

import ast
import linecache
from typing import Dict, Iterator, List, Tuple

_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_ranges: Dict[str, List[Tuple[int, int]]] = {}


def handles_absence(file: str, line: int) -> bool:
    """Whether an import in this line may fail: it is tried, and what handles the failure raises nothing."""
    if file not in _ranges:
        try:
            tree = ast.parse("".join(linecache.getlines(file)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        _ranges[file] = [(body[0].lineno, body[-1].end_lineno or body[-1].lineno) for body in _tried(tree)]
    return any(first <= line <= last for first, last in _ranges[file])


def _tried(tree: ast.AST) -> Iterator[List[ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(handler))
                if not raises and (handler.type is None or _catches(handler.type)):
                    yield node.body
        elif isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and "suppress" in _names(call.func) and any(map(_catches, call.args)):
                    yield node.body


def _catches(caught: ast.expr) -> bool:
    return not _CAUGHT.isdisjoint(_names(caught))


def _names(node: ast.AST) -> List[str]:
    """The last parts of names in an expression."""
    inner = ast.walk(node)
    return [n.id if isinstance(n, ast.Name) else n.attr for n in inner if isinstance(n, (ast.Name, ast.Attribute))]
