"""What a kernel may use from its module: functions that are jitted, and values that are tl.constexpr.

Anything else may change between compile and launch, or has no kernel to build (triton/compiler/code_generator.py,
global_lookup; triton/language/core.py, builtin).
"""

import ast
import re
from collections.abc import Iterable, Iterator

from triage.source.module import Edit, Module
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import binds, language, read_only_in

_FUNCTION = re.compile(r"<function (?:[\w.]+\.)?(\w+) at ")
_GLOBAL = re.compile(r"Cannot access global variable (\w+) from")


def jit_helper(subject: Subject) -> Iterator[Rewritten]:
    """Plain functions that the kernel calls, decorated as the kernel is. All at once: each would fail in its turn."""
    decorator = _jit(subject.module, subject.kernel)
    if decorator is None:
        return
    plain = [function for function in _called(subject) if not function.decorator_list]
    named = _FUNCTION.search(subject.scene.evidence.text)
    if not plain or (named and named[1] not in {function.name for function in plain}):
        return
    names = {function.name for function in plain}
    inside = {id(node) for function in (*plain, *_jitted(subject.module)) for node in ast.walk(function)}
    mentions = (node for node in ast.walk(subject.module.tree) if isinstance(node, ast.Name) and node.id in names)
    if any(id(node) not in inside for node in mentions):
        return  # Host code calls it, and could not any more.
    edits = [subject.module.before(function, f"{decorator}\n{' ' * function.col_offset}") for function in plain]
    yield from subject.rewritten(
        edits,
        f"decorate {', '.join(function.name for function in plain)} with {decorator}",
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
    reached: dict[str, ast.FunctionDef] = {}
    waiting = [subject.kernel]
    while waiting:
        for node in ast.walk(waiting.pop()):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in top and name not in reached:
                    reached[name] = top[name]
                    waiting.append(top[name])
    reached.pop(subject.kernel.name, None)
    return list(reached.values())


def _jitted(module: Module) -> list[ast.FunctionDef]:
    functions = [node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)]
    return [function for function in functions if _jit(module, function) is not None]


def global_constexpr(subject: Subject) -> Iterator[Rewritten]:
    """The global that the message names, and every other that jitted functions read alike, as tl.constexpr."""
    module = subject.module
    tl = language(module)
    named = _GLOBAL.search(subject.scene.evidence.text)
    if tl is None or named is None:
        return
    jitted = _jitted(module)
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
    names = sorted(values, key=lambda name: values[name].lineno)
    host = [name for name in names if not read_only_in(jitted, module.tree, name)]
    yield from subject.rewritten(
        edits,
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
    values: list[ast.expr] = []
    for node in ast.walk(module.tree):
        match node:
            case ast.Global(names=names) if name in names:
                return None
            case ast.AugAssign(target=ast.Name(id=target)) if target == name and node in module.tree.body:
                return None
            case ast.Assign(targets=targets, value=value) if node in module.tree.body:
                if any(binds(target, name) for target in targets):
                    # A value that several names share has no name of its own.
                    values += [value] if len(targets) == 1 and isinstance(targets[0], ast.Name) else [value, value]
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                values.append(value)
    return values[0] if len(values) == 1 and not isinstance(values[0], ast.Lambda) else None


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
