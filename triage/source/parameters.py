"""Facts about a kernel's parameters, read from the syntax tree; nothing is run.

A parameter travels: ``f(x, BLOCK)`` inside the kernel makes ``f``'s own ``N`` another name for ``BLOCK``. So every
function of the file carries a map from its names to the kernel's, and all facts are stated in the kernel's names.
A file that does not parse, or does not hold the kernel, yields no facts; no rule may depend on having them.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from triage.source.functions import defaults, parameters
from triage.source.module import argument, called
from triage.source.roles import ParameterRole, RoleKind, roles

_SHAPE_CALLS = {
    "arange", "zeros", "full", "reshape", "view", "broadcast_to", "make_block_ptr", "make_tensor_descriptor",
    "allocate_shared_memory", "allocate_tensor_memory", "make_tensor_desc",
}  # fmt: skip
"""Calls whose integer arguments become the shape of a tensor."""

_POSITIONAL = {
    ("dot", 3): "input_precision",
    ("dot_scaled", 2): "lhs_format",
    ("dot_scaled", 5): "rhs_format",
    ("inline_asm_elementwise", 1): "constraints",
}
"""Positional arguments that name an enumeration, as (function, index)."""


@dataclass(frozen=True, slots=True)
class AsmCall:
    """One inline-assembly call: the parameter that holds its constraints, and how many tensors go in and come out."""

    constraints: str
    inputs: int


@dataclass(slots=True)
class KernelSource:
    """Facts by the kernel's parameter names.

    ``keywords`` are the keyword arguments a parameter is passed as; ``compared`` the constants it is compared with;
    ``shape_names`` the parameters in tensor shapes; ``shapes`` what each dimension of a layout parameter's tensor is
    called; ``defaults`` the values written in the signature; ``stored`` and ``loaded`` the pointers by use; ``roles``
    what each parameter means; ``decides`` those that a condition reads; ``descriptors`` the pointer and the block
    (numbers, or names of parameters) of each tensor descriptor that the kernel makes; ``dots`` is true where there is a
    ``tl.dot``.
    """

    keywords: dict[str, set[str]] = field(default_factory=dict)
    compared: dict[str, list[Any]] = field(default_factory=dict)
    shape_names: set[str] = field(default_factory=set)
    shapes: dict[str, dict[int, str]] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    asm_calls: list[AsmCall] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    roles: Mapping[str, ParameterRole] = field(default_factory=dict)
    decides: set[str] = field(default_factory=set)
    descriptors: list[tuple[str, tuple[int | str, ...]]] = field(default_factory=list)
    dots: bool = False
    _names_by_line: dict[int, set[str]] = field(default_factory=dict)
    _guards: list[tuple[int, int, set[str]]] = field(default_factory=list)

    def kind(self, name: str) -> RoleKind:
        """What a parameter means; ``UNKNOWN`` where the source cannot be read."""
        role = self.roles.get(name)
        return role.kind if role is not None else RoleKind.UNKNOWN

    def guards(self, line: int) -> set[str]:
        """Parameters in the conditions around a line: what decides whether the line is compiled at all."""
        inside = (names for first, last, names in self._guards if first <= line <= last)
        return set().union(*inside)

    def names_on(self, line: int) -> set[str]:
        """Parameters used in the statement that a line belongs to."""
        return self._names_by_line.get(line, set())


def read(source: str, kernel: str) -> KernelSource:
    """Parse a file's text and gather the facts about one kernel."""
    facts = KernelSource()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return facts
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    if kernel not in functions:
        return facts
    for parameter, default in defaults(functions[kernel]):
        if isinstance(default, ast.Constant):
            facts.defaults[parameter.arg] = default.value
    for name, renamed in reachable(functions, kernel).items():
        _FactsVisitor(facts, renamed).read(functions[name])
    facts.roles = roles(source, kernel)
    return facts


def reachable(functions: Mapping[str, ast.FunctionDef], kernel: str) -> dict[str, dict[str, str]]:
    """The functions a kernel calls, each with its parameters' names in the kernel (the first call decides)."""
    renames: dict[str, dict[str, str]] = {kernel: {name: name for name in _names(functions[kernel])}}
    waiting = [kernel]
    while waiting:
        caller = waiting.pop(0)
        for callee, positional, keywords in _calls(functions[caller]):
            if callee not in functions or callee in renames:
                continue
            bound = {**dict(zip(_names(functions[callee]), positional, strict=False)), **keywords}
            caller_renames = renames[caller]
            renames[callee] = {
                parameter: caller_renames[value.id]
                for parameter, value in bound.items()
                if isinstance(value, ast.Name) and value.id in caller_renames
            }
            waiting.append(callee)
    return renames


def _names(function: ast.FunctionDef) -> list[str]:
    return [parameter.arg for parameter in parameters(function)]


def _calls(function: ast.FunctionDef) -> Iterator[tuple[str, list[ast.expr], dict[str, ast.expr]]]:
    """Plain calls ``f(a, b)``, and Gluon's warp-specialization pairs ``(f, (a, b))``."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                yield name, node.args, {word.arg: word.value for word in node.keywords if word.arg}
            case ast.Tuple(elts=[ast.Name(id=name), ast.Tuple(elts=arguments)]):
                yield name, arguments, {}


class _FactsVisitor(ast.NodeVisitor):
    """Walks one function and adds to the facts, under the kernel's names."""

    def __init__(self, facts: KernelSource, renames: Mapping[str, str]) -> None:
        self.facts = facts
        self.renames = renames

    def read(self, function: ast.FunctionDef) -> None:
        for statement in function.body:
            self.visit(statement)

    def names(self, node: ast.AST) -> set[str]:
        return {self.renames[name] for name in _all_names(node) if name in self.renames}

    def name(self, node: ast.AST | None) -> str | None:
        return self.renames.get(node.id) if isinstance(node, ast.Name) else None

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._lines(node)
        super().visit(node)

    def _lines(self, statement: ast.stmt) -> None:
        # Of a compound statement only its head is the line's own; its body consists of statements of their own.
        body = getattr(statement, "body", None)
        heads = [
            child
            for child in ast.iter_child_nodes(statement)
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        last = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
        names = set().union(*(self.names(head) for head in heads))
        for line in range(statement.lineno, max(last, statement.lineno) + 1):
            self.facts._names_by_line.setdefault(line, set()).update(names)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        if names := self.names(node.test):
            self.facts.decides |= names
            self.facts._guards.append((node.lineno, node.end_lineno or node.lineno, names))
        self.generic_visit(node)

    visit_IfExp = visit_If  # noqa: N815 - the name that ast.NodeVisitor looks up

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for name in filter(None, map(self.name, sides)):
            constants = self.facts.compared.setdefault(name, [])
            for value in (value for side in sides for value in _constants(side)):
                if value not in constants:
                    constants.append(value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = called(node)
        self.facts.dots |= function == "dot"
        for keyword in node.keywords:
            if keyword.arg and (name := self.name(keyword.value)):
                self.facts.keywords.setdefault(name, set()).add(keyword.arg)
        for index, value in enumerate(node.args):
            if (function, index) in _POSITIONAL and (name := self.name(value)):
                self.facts.keywords.setdefault(name, set()).add(_POSITIONAL[function, index])
        if function in _SHAPE_CALLS:
            for value in [*node.args, *(word.value for word in node.keywords)]:
                self.facts.shape_names |= self.names(value)
        match function:
            case "inline_asm_elementwise":
                self._assembly(node)
            case "make_tensor_descriptor":
                self._descriptor(node)
            case "load" if node.args:
                self.facts.loaded |= self.names(node.args[0])
            case _ if node.args and (function == "store" or function.startswith("atomic_")):
                self.facts.stored |= self.names(node.args[0])
        self._layout_shape(function, node)
        self.generic_visit(node)

    def _layout_shape(self, function: str, node: ast.Call) -> None:
        """``allocate(dtype, [M, K], LAYOUT)`` and ``arange(0, M, layout=SliceLayout(1, LAYOUT))``."""
        values = [*node.args, *(word.value for word in node.keywords)]
        if function == "arange":
            extent = self.name(values[1]) if len(values) > 1 else None
            for value in values[2:]:
                match value:
                    case ast.Call(args=[ast.Constant(value=int(sliced)), parent]) if extent:
                        if called(value) == "SliceLayout" and (layout := self.name(parent)) and sliced in (0, 1):
                            self.facts.shapes.setdefault(layout, {}).setdefault(1 - sliced, extent)
                    case ast.Name() if extent and (layout := self.name(value)):
                        self.facts.shapes.setdefault(layout, {}).setdefault(0, extent)
            return
        shape = next(
            (v.elts for v in values if isinstance(v, ast.List | ast.Tuple) and any(map(self.name, v.elts))), []
        )
        extents = {axis: name for axis, value in enumerate(shape) if (name := self.name(value))}
        layouts = [name for value in values if (name := self.name(value)) and name not in extents.values()]
        for layout in layouts:
            for axis, extent in extents.items():
                self.facts.shapes.setdefault(layout, {}).setdefault(axis, extent)

    def _assembly(self, node: ast.Call) -> None:
        constraints, inputs = self.name(argument(node, 1, "constraints")), argument(node, 2, "args")
        if constraints and isinstance(inputs, ast.List | ast.Tuple):
            self.facts.asm_calls.append(AsmCall(constraints, len(inputs.elts)))

    def _descriptor(self, node: ast.Call) -> None:
        pointer, block = self.name(argument(node, 0, "base")), argument(node, 3, "block_shape")
        if pointer is None or not isinstance(block, ast.List | ast.Tuple):
            return
        extents = [next(_constants(extent), None) or self.name(extent) for extent in block.elts]
        if all(isinstance(extent, int | str) for extent in extents):
            self.facts.descriptors.append((pointer, tuple(extent for extent in extents if extent is not None)))


def _all_names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _constants(node: ast.expr) -> Iterator[Any]:
    values = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    for value in values:
        if isinstance(value, ast.Constant):
            yield value.value
