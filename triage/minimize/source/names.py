"""Names that are read where nothing can have given them a value: the commonest way for a candidate to be worthless."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound(node: ast.AST) -> set[str]:
    """Names that a statement, all that is in it included, gives a value."""
    return {name for child in ast.walk(node) for name in _binds(child)}


def free(name: str, taken: set[str]) -> str:
    """A name like that one that is not taken."""
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def undefined(tree: ast.Module) -> set[str]:
    """Names read before any statement above them can have bound them. Globals may be bound anywhere in the file; a
    star import may bind anything."""
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in tree.body):
        return set()
    flow = _Flow({*_BUILTINS, *scope(tree.body)})
    flow.block(tree.body, set(flow.everywhere))
    return flow.missing


def _binds(node: ast.AST) -> Iterable[str]:
    """What one node by itself gives a value."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(alias.asname or alias.name).partition(".")[0] for alias in names]
        case ast.ExceptHandler(name=str(name)) | ast.arg(arg=name):
            return (name,)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return (name,)
    return ()


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """As ``ast.iter_child_nodes``, at half the time: this runs for every candidate."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    yield item


def scope(block: Iterable[ast.AST]) -> set[str]:
    """What statements bind in their own scope: not in that of the functions and classes that they define."""
    found: set[str] = set()
    waiting = list(block)
    while waiting:
        node = waiting.pop()
        found.update(_binds(node))
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, *_OWN_SCOPE)):
            waiting += _children(node)
    return found


class _Flow:
    """Follows a file from the top, with what is bound so far. ``everywhere``: what any function may read."""

    def __init__(self, everywhere: set[str]) -> None:
        self.everywhere = everywhere
        self.missing: set[str] = set()

    def block(self, block: Iterable[ast.stmt], known: set[str]) -> None:
        """Statements in their order; what they bind is added to ``known``."""
        for statement in block:
            self._statement(statement, known)

    def _statement(self, node: ast.AST, known: set[str]) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, known)
            case ast.ClassDef():
                known.add(node.name)
            case ast.Assign():
                self._read(node.value, known)
                self._targets(node.targets, known)
            case ast.AugAssign():
                self._read(node.value, known)
                if isinstance(node.target, ast.Name) and node.target.id not in known:
                    self.missing.add(node.target.id)
                self._targets([node.target], known)
            case ast.AnnAssign():
                self._read(node.annotation, known)
                if node.value is not None:
                    self._read(node.value, known)
                self._targets([node.target], known)
            case ast.For() | ast.AsyncFor():
                self._read(node.iter, known)
                self._targets([node.target], known)
                self.block([*node.body, *node.orelse], known)
            case _:
                known.update(scope([node.pattern]) if isinstance(node, ast.match_case) else _binds(node))
                for child in _children(node):
                    if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                        self._statement(child, known)
                        continue
                    self._read(child, known)
                    if isinstance(child, ast.withitem):
                        known |= scope([child])

    def _targets(self, targets: Iterable[ast.expr], known: set[str]) -> None:
        for target in targets:
            self._read(target, known)
            known |= scope([target])

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, known: set[str]) -> None:
        for outside in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self._read(outside, known)
        arguments = {child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg)}
        for child in ast.walk(node.args):
            if isinstance(child, ast.arg) and child.annotation is not None:
                self._read(child.annotation, known)
        known.add(node.name)
        declared = {name for child in ast.walk(node) if isinstance(child, ast.Global) for name in child.names}
        local = scope(node.body) - declared - arguments
        self.block(node.body, (self.everywhere | known | arguments) - local)

    def _read(self, node: ast.AST, known: set[str]) -> None:
        """Every name that an expression reads; what it binds itself, by ``:=``, counts as known within it."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if isinstance(one, ast.Name):
                if isinstance(one.ctx, ast.Load) and one.id not in known:
                    self.missing.add(one.id)
            elif isinstance(one, _OWN_SCOPE):
                inner = known | bound(one)
                for child in _children(one):
                    self._read(child, inner)
            else:
                if isinstance(one, ast.NamedExpr):
                    known |= scope([one.target])
                # In the order of the text: ``:=`` binds for what stands behind it.
                waiting += reversed(list(_children(one)))
