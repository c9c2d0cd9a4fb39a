"""Which names of its module a statement reads: dotted names, as far as the text spells them."""

import ast
from collections.abc import Iterator

from triage.source.names import bound, children, scope

Chain = tuple[str, ...]
"""The components of a dotted name: ("tl", "math", "exp")."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NONE: frozenset[str] = frozenset()


def reads(node: ast.AST, *, annotations: bool) -> frozenset[Chain]:
    """Dotted names that a node reads and neither it nor a function in it binds locally. ``annotations``: whether those
    of parameters are evaluated; from the future they are not."""
    return frozenset(_reads(node, _NONE, annotations))


def dotted(node: ast.AST) -> Chain | None:
    """The components of ``a.b.c``; None for any other expression."""
    components: list[str] = []
    while isinstance(node, ast.Attribute):
        components.append(node.attr)
        node = node.value
    return (node.id, *reversed(components)) if isinstance(node, ast.Name) else None


def _reads(node: ast.AST, local: frozenset[str], annotations: bool) -> Iterator[Chain]:
    match node:
        case ast.Name(id=name, ctx=context):
            if name not in local and isinstance(context, ast.Load):
                yield (name,)
        case ast.Attribute():
            if (chain := dotted(node)) is None:
                yield from _reads(node.value, local, annotations)
            elif chain[0] not in local:
                yield chain
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            for decorator in node.decorator_list:
                yield from _reads(decorator, local, annotations)
            yield from _parameters(node.args, local, annotations)
            if annotations and node.returns is not None:
                yield from _reads(node.returns, local, annotations)
            yield from _body(node.body, node.args, local, annotations)
        case ast.Lambda():
            yield from _parameters(node.args, local, annotations)
            yield from _body([node.body], node.args, local, annotations)
        case ast.Global(names=names):
            yield from ((name,) for name in names)
        case _:
            if isinstance(node, _COMPREHENSIONS):
                local = local | {name for part in node.generators for name in bound(part.target)}
            for child in children(node):
                yield from _reads(child, local, annotations)


def _parameters(arguments: ast.arguments, local: frozenset[str], annotations: bool) -> Iterator[Chain]:
    for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
        yield from _reads(default, local, annotations)
    for parameter in _all(arguments):
        if annotations and parameter.annotation is not None:
            yield from _reads(parameter.annotation, local, annotations)


def _body(
    body: list[ast.stmt] | list[ast.expr], arguments: ast.arguments, local: frozenset[str], annotations: bool
) -> Iterator[Chain]:
    inner = local | scope(body) | {parameter.arg for parameter in _all(arguments)}
    for statement in body:
        yield from _reads(statement, inner, annotations)


def _all(arguments: ast.arguments) -> list[ast.arg]:
    rest = [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]
