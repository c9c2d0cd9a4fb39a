"""Comments and docstrings removed; neutral names for an anonymous result."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from triage.minimize.source.specimen import Specimen
from triage.minimize.source.tidy import tidied
from triage.minimize.source.view import SourcePatch, View
from triage.model.case import Frozen, frozen
from triage.source.functions import parameters, stored_names
from triage.source.module import Edit
from triage.source.names import scope

KERNEL, CLASS = "kernel", "Kernel"
"""The names of a kernel in an anonymous result."""


def stripped(specimen: Specimen) -> Specimen:
    """The specimen without comments and docstrings."""
    view = View.of(specimen)
    if view is None:
        return specimen
    edits = [
        view.removal(node.body[0])
        for node in ast.walk(view.module.tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None
    ]
    text = view.module.edited(edits) or specimen.text
    return replace(specimen, text=tidied(_without_comments(text)))


def _without_comments(text: str) -> str:
    lines = text.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    for row, column in [token.start for token in reversed(tokens) if token.type == tokenize.COMMENT]:
        before = lines[row - 1][:column].rstrip()
        lines[row - 1 : row] = [before] if before else []
    return "\n".join(lines)


def renamed(specimen: Specimen) -> Specimen:
    """The specimen with its kernel named ``kernel``, helpers ``f0``, arguments ``a0`` and local names ``x0``,
    numbered in the order of the text; a class that is the kernel is ``Kernel``, its methods and attributes ``m0``."""
    view = View.of(specimen)
    if view is None or view.kernel is None or view.definition is None:
        return specimen
    names = _Names.of(view)
    edits = [edit for function in names.functions for edit in names.edits(function)]
    edits.append(names.definition(view.definition))
    text = view.module.edited(sorted(set(edits), key=lambda edit: edit.start))
    if text is None:
        return specimen
    case, arguments = specimen.case, names.local[id(view.kernel)]
    constructed = names.local[id(view.constructor)] if view.constructor is not None else {}

    def with_new_names(values: Frozen, table: Mapping[str, str]) -> Frozen:
        return frozen({table.get(name, name): value for name, value in values.items()})

    changed = replace(
        case,
        name=names.globals[case.name],
        signature=with_new_names(case.signature, arguments),
        constexprs=with_new_names(case.constexprs, arguments),
        divisible=with_new_names(case.divisible, arguments),
        construct=with_new_names(case.construct, constructed),
        origin=frozen(),
        inputs=frozen(),
    )
    return replace(specimen, text=text, case=changed)


@dataclass(frozen=True)
class _Names:
    """New names by old ones: of what the file defines, of the ``members`` of the kernel's class, and what is ``local``
    to each function, by identity. ``objects``: what each method calls its object."""

    view: View
    functions: tuple[ast.FunctionDef, ...]
    globals: Mapping[str, str]
    members: Mapping[str, str]
    local: Mapping[int, Mapping[str, str]]
    objects: Mapping[int, str]

    @classmethod
    def of(cls, view: View) -> _Names:
        definition = view.definition
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        methods = [node for node in body if isinstance(node, ast.FunctionDef)]
        objects = {
            id(method): parameters(method)[0].arg
            for method in methods
            if parameters(method) and not any("static" in ast.unparse(each) for each in method.decorator_list)
        }
        functions = tuple(sorted({*view.functions, *methods}, key=lambda function: function.lineno))
        helpers = [each.name for each in functions if each not in methods and each is not definition]
        globals_ = {name: f"f{number}" for number, name in enumerate(helpers)}
        if definition is not None:
            globals_[definition.name] = CLASS if isinstance(definition, ast.ClassDef) else KERNEL
        members = [method.name for method in methods if not method.name.startswith("__")]
        members += [
            node.attr
            for method in methods
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_of(node, objects, method)
        ]
        unchanged = scope(view.module.tree.body) - globals_.keys()
        local = {}
        for function in functions:
            own = [argument.arg for argument in parameters(function)][id(function) in objects :]
            arguments = _numbered("a", own)
            stored = sorted(stored_names(function), key=lambda node: (node.lineno, node.col_offset))
            others = _numbered("x", [node.id for node in stored if node.id not in arguments])
            local[id(function)] = {**{old: new for old, new in others.items() if old not in unchanged}, **arguments}
        return cls(view, functions, globals_, _numbered("m", members), local, objects)

    def edits(self, function: ast.FunctionDef) -> Iterator[Edit]:
        """The edits of a function: its own name, and all that it names."""
        module, table = self.view.module, {**self.globals, **self.local[id(function)]}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in table:
                yield module.replace(node, table[node.id])
            elif isinstance(node, ast.arg) and node.arg in table:
                start, _ = module.span(node)
                yield Edit(start, start + len(node.arg), table[node.arg])
            elif isinstance(node, ast.Attribute) and node.attr in self.members and _is_of(node, self.objects, function):
                _, end = module.span(node)
                yield Edit(end - len(node.attr), end, self.members[node.attr])
            elif isinstance(node, ast.Call):
                called = self._called(node.func, function)
                for keyword in node.keywords if called is not None else ():
                    if keyword.arg is not None and keyword.arg in self.local[id(called)]:
                        start, _ = module.span(keyword)
                        yield Edit(start, start + len(keyword.arg), self.local[id(called)][keyword.arg])
        new = self.members.get(function.name) if id(function) in self.objects else self.globals.get(function.name)
        if new is not None and function is not self.view.definition:
            yield self._name(function, "def", new)

    def definition(self, node: ast.FunctionDef | ast.ClassDef) -> Edit:
        """The edit of the kernel's own name."""
        return self._name(node, "class" if isinstance(node, ast.ClassDef) else "def", self.globals[node.name])

    def _name(self, node: ast.FunctionDef | ast.ClassDef, keyword: str, new: str) -> Edit:
        start = self.view.specimen.text.index(node.name, self.view.module.span(node)[0] + len(keyword))
        return Edit(start, start + len(node.name), new)

    def _called(self, node: ast.expr, caller: ast.FunctionDef) -> ast.FunctionDef | None:
        """The function of the file that an expression names, of the kernel's class too."""
        for function in self.functions:
            is_method = id(function) in self.objects
            if isinstance(node, ast.Name) and not is_method and node.id == function.name:
                return function
            if isinstance(node, ast.Attribute) and is_method and node.attr == function.name:
                return function if _is_of(node, self.objects, caller) else None
        return None


def _is_of(node: ast.Attribute, objects: Mapping[int, str], method: ast.FunctionDef) -> bool:
    """Whether it is an attribute of the method's object."""
    return isinstance(node.value, ast.Name) and node.value.id == objects.get(id(method))


def _numbered(prefix: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{prefix}{number}" for number, name in enumerate(dict.fromkeys(names))}


def strings(view: View) -> list[SourcePatch]:
    """Empty every string."""
    return [
        view.replacing(node, '""')
        for function in view.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    ]
