"""What a kernel may use from its module: functions that are jitted, and values that are tl.constexpr.

Anything else may change between compile and launch, or has no kernel to build (triton/compiler/code_generator.py,
global_lookup; triton/language/core.py, builtin).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from triage.source.module import Edit, Module
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import language, within

_FUNCTION = re.compile(r"<function (?:[\w.]+\.)?(\w+) at ")
_GLOBAL = re.compile(r"Cannot access global variable (\w+) from")


def jit_helper(subject: Subject) -> Iterator[Rewritten]:
    """Plain functions that the kernel calls, decorated as the kernel is. All at once: each would fail in its turn."""
    decorator = _jit(subject.module, subject.kernel)
    if decorator is None:
        return
    plain = [one for one in _called(subject) if not one.decorator_list]
    named = _FUNCTION.search(subject.scene.evidence.text)
    if not plain or (named and named[1] not in {one.name for one in plain}):
        return
    if any(_used_outside(subject.module, one.name, plain) for one in plain):
        return  # Host code calls it, and could not any more.
    edits = [subject.module.before(one, f"{decorator}\n{' ' * one.col_offset}") for one in plain]
    text = subject.module.edited(edits)
    if text is not None:
        names = ", ".join(one.name for one in plain)
        yield Rewritten(
            text,
            f"decorate {names} with {decorator}",
            "a kernel may call functions of the language and jitted ones; a plain one has no kernel to build",
        )


def _jit(module: Module, function: ast.FunctionDef) -> str | None:
    """The decorator that makes a function a kernel, as the file writes it; None where it has none."""
    for decorator in function.decorator_list:
        bare = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = bare.attr if isinstance(bare, ast.Attribute) else bare.id if isinstance(bare, ast.Name) else ""
        if name == "jit":
            return f"@{module.segment(bare)}"
    return None


def _called(subject: Subject) -> list[ast.FunctionDef]:
    """Functions of the file's top level that the kernel calls by name, and those that they call, in turn."""
    top = {node.name: node for node in subject.module.tree.body if isinstance(node, ast.FunctionDef)}
    found: dict[str, ast.FunctionDef] = {}
    waiting = [subject.kernel]
    while waiting:
        for node in ast.walk(waiting.pop()):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in top and name not in found:
                    found[name] = top[name]
                    waiting.append(top[name])
    found.pop(subject.kernel.name, None)
    return list(found.values())


def _used_outside(module: Module, name: str, plain: Iterable[ast.FunctionDef]) -> bool:
    """Something else than jitted functions, and those that are about to be, reads the name."""
    inside = [*plain, *(node for node in _functions(module) if _jit(module, node) is not None)]
    return any(
        isinstance(node, ast.Name) and node.id == name and not any(within(node, one) for one in inside)
        for node in ast.walk(module.tree)
    )


def _functions(module: Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)]


def global_constexpr(subject: Subject) -> Iterator[Rewritten]:
    """The global that the message names, and every other that jitted functions read alike, as tl.constexpr."""
    module = subject.module
    tl = language(module)
    named = _GLOBAL.search(subject.scene.evidence.text)
    if tl is None or named is None:
        return
    jitted = [node for node in _functions(module) if _jit(module, node) is not None]
    read = {name for function in (*jitted, subject.kernel) for name in _free(function)}
    values: dict[str, ast.expr] = {}
    for name in read | {named[1]}:
        value = _value(module, name)
        if value is not None and (name == named[1] or _plain(value)):
            values[name] = value
    if named[1] not in values or not _imported_before(module, tl, values.values()):
        return
    edits: list[Edit] = []
    for value in values.values():
        edits += [module.before(value, f"{tl}.constexpr("), module.after(value, ")")]
    text = module.edited(edits)
    if text is None:
        return
    names = sorted(values, key=lambda name: values[name].lineno)
    host = [name for name in names if any(_read_by_host(module, name, jitted))]
    yield Rewritten(
        text,
        f"make {', '.join(names)} tl.constexpr",
        "a kernel reads a global only where it cannot change between compile and launch",
        caller=f"host code that uses {', '.join(host)} gets a constexpr; .value is the number" if host else "",
    )


def _free(function: ast.FunctionDef) -> set[str]:
    """Names that a function reads and does not bind."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - bound


def _value(module: Module, name: str) -> ast.expr | None:
    """What the file's top level gives a name, where it does so once and no function changes it."""
    found: list[ast.expr] = []
    for node in ast.walk(module.tree):
        match node:
            case ast.Global(names=names) if name in names:
                return None
            case ast.AugAssign(target=ast.Name(id=target)) if target == name and node in module.tree.body:
                return None
            case ast.Assign(targets=targets, value=value) if node in module.tree.body:
                if any(isinstance(child, ast.Name) and child.id == name for one in targets for child in ast.walk(one)):
                    # A value that several names share has no name of its own.
                    found += [value] if len(targets) == 1 and isinstance(targets[0], ast.Name) else [value, value]
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                found.append(value)
    return found[0] if len(found) == 1 and not isinstance(found[0], ast.Lambda) else None


def _plain(value: ast.expr) -> bool:
    """A number or a text, written out or computed from such."""
    return all(
        isinstance(node, ast.Constant | ast.UnaryOp | ast.BinOp | ast.operator | ast.unaryop)
        for node in ast.walk(value)
    )


def _imported_before(module: Module, tl: str, values: Iterable[ast.expr]) -> bool:
    """The language's name is bound above every value."""
    first = min(
        (node.lineno for node in module.tree.body if isinstance(node, ast.Import | ast.ImportFrom)
         and any((alias.asname or alias.name) == tl for alias in node.names)),
        default=None,
    )  # fmt: skip
    return first is not None and all(first < value.lineno for value in values)


def _read_by_host(module: Module, name: str, jitted: Iterable[ast.FunctionDef]) -> Iterator[bool]:
    inside = list(jitted)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield not any(within(node, function) for function in inside)
