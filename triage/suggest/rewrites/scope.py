"""Where in a file a recipe may work, and how it spells what it inserts: the failing calls, and the file's own names.

The failing line may be a helper's. A recipe that edits expressions therefore looks at every function of the file that
holds a failing line, and not at the kernel alone.
"""

import ast
from collections.abc import Collection, Iterator

from triage.source.dtypes import element_type
from triage.source.module import Edit, Module, called, uses
from triage.suggest.rewrites.recipe import Subject

_LANGUAGES = ("triton.language", "triton.experimental.gluon.language")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
"""Expressions that take ``.to(…)`` without parentheses."""
_READS = ("load", "load_tensor_descriptor", "descriptor_load", "_experimental_descriptor_load", "atomic_add")
"""What these give back is data; a pointer among their arguments is not what the address starts from."""


def language(module: Module) -> str | None:
    """The file's name for ``triton.language`` (or Gluon's), usually ``tl``. None where it imports neither."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name in _LANGUAGES:
                        return alias.asname or alias.name
            case ast.ImportFrom(module=str(package), names=names):
                for alias in names:
                    if f"{package}.{alias.name}" in _LANGUAGES:
                        return alias.asname or alias.name
    return None


def imported_names(module: Module) -> frozenset[str]:
    """Names that the file's imports bind: a call through one of them is a function's, not a tensor's method."""
    imports = [node for node in ast.walk(module.tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return frozenset((alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names)


def is_method(module: Module, call: ast.Call) -> bool:
    """``x.sum(…)`` of a value ``x``, and not ``tl.sum(…)``."""
    if not isinstance(call.func, ast.Attribute):
        return False
    root: ast.expr = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return not (isinstance(root, ast.Name) and root.id in imported_names(module))


def functions(subject: Subject) -> list[ast.FunctionDef]:
    """The innermost functions that hold a failing line, the kernel where none does."""
    holding = [
        node for node in ast.walk(subject.module.tree) if isinstance(node, ast.FunctionDef) and subject.failing(node)
    ]
    inner = [
        outer for outer in holding if not any(function is not outer and within(function, outer) for function in holding)
    ]
    return inner or [subject.kernel]


def failing_calls(subject: Subject, names: Collection[str]) -> list[ast.Call]:
    """Calls of any of these names on the failing lines: the one at the failing column alone where the compiler names
    that. In the order of the text."""
    calls = [
        node
        for function in functions(subject)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and called(node) in names and subject.failing(node)
    ]
    location = subject.scene.diagnosis.source
    if location is not None and location.column is not None:
        exact = [node for node in calls if (node.lineno, node.col_offset + 1) == (location.line, location.column)]
        if len(exact) == 1:
            return exact
    return sorted(calls, key=lambda node: (node.lineno, node.col_offset))


def within(node: ast.AST, outer: ast.AST) -> bool:
    """``node`` is ``outer`` or a part of it."""
    return any(child is node for child in ast.walk(outer))


def binds(target: ast.AST, name: str) -> bool:
    """A statement's target is a name, or has it among others."""
    return any(isinstance(child, ast.Name) and child.id == name for child in ast.walk(target))


def read_only_in(outer: Collection[ast.AST], tree: ast.AST, name: str) -> bool:
    """Nothing in the tree reads a name but what is inside these nodes."""
    inside = {id(child) for node in outer for child in ast.walk(node)}
    return all(id(use) in inside for use in uses(tree, name))


def behind(module: Module, node: ast.expr, text: str) -> tuple[Edit, ...]:
    """``.to(…)`` or the like behind a whole expression, which gets parentheses where it needs them."""
    start, end = module.span(node)
    if isinstance(node, _ATOMS):
        return (Edit(end, end, text),)
    return Edit(start, start, "("), Edit(end, end, f"){text}")


def sources(function: ast.FunctionDef, value: ast.expr | None) -> Iterator[ast.AST]:
    """Everything that a value is computed from inside the function: its own nodes, and those of each statement that
    gives a name in it its value."""
    seen: set[str] = set()
    waiting: list[ast.AST] = [value] if value is not None else []
    while waiting:
        for child in ast.walk(waiting.pop()):
            yield child
            if isinstance(child, ast.Name) and child.id not in seen:
                seen.add(child.id)
                waiting += binders(function, child.id)


def binders(function: ast.FunctionDef, name: str) -> list[ast.expr]:
    """The values of all statements that bind a local name, tuple targets and walrus included."""
    bound_values: list[ast.expr] = []
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                if any(binds(target, name) for target in targets):
                    bound_values.append(value)
            case ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr():
                if isinstance(node.target, ast.Name) and node.target.id == name and node.value is not None:
                    bound_values.append(node.value)
            case ast.For(target=bound, iter=value) | ast.comprehension(target=bound, iter=value):
                if binds(bound, name):
                    bound_values.append(value)
    return bound_values


def root(subject: Subject, value: ast.expr | None) -> str | None:
    """The kernel's pointer or descriptor argument that an address is computed from; None where there is none, or
    more than one (a conditional address, a helper's own parameter)."""
    parameters = {parameter.arg for parameter in (*subject.kernel.args.posonlyargs, *subject.kernel.args.args)}
    starts: set[str] = set()
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
                starts.add(node.id)
            waiting += binders(subject.kernel, node.id)
        waiting += ast.iter_child_nodes(node)
    return starts.pop() if len(starts) == 1 else None


def element(subject: Subject, argument: str | None) -> str:
    """The element type of a pointer or descriptor argument, as signatures spell it; "" for none."""
    return element_type(subject.scene.case.signature.get(argument or "", ""))
