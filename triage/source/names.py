"""Which names Python source binds, and which it reads although nothing can have bound them."""

import ast
import builtins
from collections.abc import Iterable, Iterator

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound(node: ast.AST) -> set[str]:
    """Names that a node or anything inside it binds."""
    return {name for child in ast.walk(node) for name in _binds(child)}


def unused_name(name: str, taken: set[str]) -> str:
    """``name`` with a number that makes it distinct from those taken."""
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
    """The names that one node by itself binds."""
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


def children(node: ast.AST) -> Iterator[ast.AST]:
    """``ast.iter_child_nodes`` without contexts, in a third of the time: a reducer calls this for every candidate."""
    for name in node._fields:
        value = getattr(node, name, None) if name != "ctx" else None
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    yield item


def scope(block: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind in their own scope: not in that of functions and classes that they define, nor, by
    ``global`` and ``nonlocal``, in one around them."""
    names: set[str] = set()
    elsewhere: set[str] = set()
    waiting = list(block)
    while waiting:
        node = waiting.pop()
        names.update(_binds(node))
        if isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere.update(node.names)
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef, *_OWN_SCOPE)):
            waiting += children(node)
    return names - elsewhere


class _Flow:
    """Walks a file from the top with the names bound so far. ``everywhere``: names that any function may read."""

    def __init__(self, everywhere: set[str]) -> None:
        self.everywhere = everywhere
        self.missing: set[str] = set()

    def block(self, block: Iterable[ast.stmt], known: set[str]) -> None:
        """Walk statements in order; the names that they bind are added to ``known``."""
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
                for child in children(node):
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
        local = scope(node.body) - arguments
        self.block(node.body, (self.everywhere | known | arguments) - local)

    def _read(self, node: ast.AST, known: set[str]) -> None:
        """Check every name that an expression reads; names that it binds itself, by ``:=``, are known within it."""
        waiting = [node]
        while waiting:
            current = waiting.pop()
            if isinstance(current, ast.Name):
                if isinstance(current.ctx, ast.Load) and current.id not in known:
                    self.missing.add(current.id)
            elif isinstance(current, _OWN_SCOPE):
                inner = known | bound(current)
                for child in children(current):
                    self._read(child, inner)
            else:
                if isinstance(current, ast.NamedExpr):
                    known |= scope([current.target])
                # In the order of the text: ``:=`` binds for everything after it.
                waiting += reversed(list(children(current)))
