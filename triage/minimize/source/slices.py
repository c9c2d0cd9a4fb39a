"""Slices of the kernel: one of its statements with everything that this one needs.

A failure is usually that of one operation, with the values that lead to it. Removing statements one by one finds it
slowly: hardly any can go before those that read what it assigns. So each statement is tried with nothing but what it
needs. What it assigns is stored, or the compiler would remove it as dead code.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from triage.frontends.frontend import frontend
from triage.minimize.problem import Subset
from triage.minimize.source.specimen import Specimen
from triage.minimize.source.view import SourcePatch, View
from triage.source.functions import parameters
from triage.source.module import Edit
from triage.source.names import scope

_COMPOUND = (ast.If, ast.For, ast.While, ast.With)


@dataclass(frozen=True)
class _Statement:
    """A statement of the kernel with its position: ``around`` are the compound statements that hold it, outermost
    first, and ``blocks`` the blocks of statements, the function's own first."""

    node: ast.stmt
    number: int
    around: tuple[int, ...]
    blocks: tuple[int, ...]

    @cached_property
    def reads(self) -> set[str]:
        """Names that it reads itself, without the statements in it."""
        names = {part.id for part in self._own if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        if isinstance(self.node, ast.AugAssign) and isinstance(self.node.target, ast.Name):
            names.add(self.node.target.id)
        return names

    @cached_property
    def writes(self) -> set[str]:
        """Names that it assigns itself."""
        return {part.id for part in self._own if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}

    @cached_property
    def _own(self) -> list[ast.AST]:
        if not isinstance(self.node, _COMPOUND):
            return list(ast.walk(self.node))
        parts = [part for part in ast.iter_child_nodes(self.node) if not isinstance(part, ast.stmt)]
        return [node for part in parts for node in ast.walk(part)]


class Dependences:
    """The statements of a kernel, and which of them each needs."""

    def __init__(self, kernel: ast.FunctionDef) -> None:
        self.statements: list[_Statement] = []
        self._blocks = 0
        self._add(kernel.body, (), ())
        self._writers: dict[str, list[_Statement]] = {}
        for statement in self.statements:
            for name in statement.writes:
                self._writers.setdefault(name, []).append(statement)

    def _add(self, block: list[ast.stmt], around: tuple[int, ...], blocks: tuple[int, ...]) -> None:
        self._blocks += 1
        blocks = (*blocks, self._blocks)
        for node in block:
            number = len(self.statements)
            self.statements.append(_Statement(node, number, around, blocks))
            if isinstance(node, _COMPOUND):
                for inner in (node.body, getattr(node, "orelse", [])):
                    self._add(inner, (*around, number), blocks)

    def needed(self, statement: _Statement) -> frozenset[int]:
        """The numbers of a statement, of all that it needs, and of what is around those."""
        needed: set[int] = set()
        waiting = [statement]
        while waiting:
            current = waiting.pop()
            if current.number in needed:
                continue
            needed.add(current.number)
            waiting += [self.statements[number] for number in current.around]
            for name in current.reads:
                waiting += self._reaching(current, name)
        return frozenset(needed)

    def _reaching(self, reader: _Statement, name: str) -> Iterator[_Statement]:
        """The assignments whose value a statement may read under a name."""
        writers = self._writers.get(name, [])
        loops = {number for number in reader.around if isinstance(self.statements[number].node, ast.For | ast.While)}
        # What is assigned in a block around the reader replaces whatever was assigned before.
        certain = [writer for writer in writers if writer.number < reader.number and writer.blocks[-1] in reader.blocks]
        last = certain[-1] if certain else None
        for writer in writers:
            if writer.number < reader.number:
                if last is None or writer.number >= last.number:
                    yield writer
            elif (common := loops & set(writer.around)) and not (last is not None and common <= set(last.around)):
                yield writer  # in the iteration before


def with_needed(view: View) -> list[Subset[Specimen]]:
    """For each statement of the kernel, what it needs and nothing else. What it assigns is stored through one of the
    kernel's pointers, where that can be written down."""
    if (kernel := view.kernel) is None:
        return []
    dependences, slices = Dependences(kernel), list[Subset[Specimen]]()
    pointer, store = _pointer(view, kernel), frontend(view.specimen.case.language).store
    for statement in dependences.statements:
        if isinstance(statement.node, (*_COMPOUND, ast.Return, ast.Pass)):
            continue
        needed = dependences.needed(statement)
        stores = [store(pointer, name) for name in sorted(statement.writes)] if store and pointer else []
        for text in stores or [""]:
            slices.append(Subset(needed, partial(_only, view, dependences, needed, statement.node, text)))
    return slices


def without_dependents(view: View) -> list[Subset[Specimen]]:
    """For each statement of the kernel, everything but this one and those that need it."""
    if (kernel := view.kernel) is None:
        return []
    dependences = Dependences(kernel)
    needs = [dependences.needed(statement) for statement in dependences.statements]
    everything, slices = frozenset(range(len(needs))), list[Subset[Specimen]]()
    for statement in dependences.statements:
        rest = everything - {number for number, needed in enumerate(needs) if statement.number in needed}
        slices.append(Subset(rest, partial(_only, view, dependences, rest)))
    return slices


def _only(
    view: View, dependences: Dependences, numbers: frozenset[int], after: ast.stmt | None = None, text: str = ""
) -> Specimen | None:
    """The specimen whose kernel has only some of its statements, and a text after one of them."""
    edits: list[Edit] = []
    for statement in dependences.statements:
        if statement.number not in numbers and numbers.issuperset(statement.around):
            edits.append(view.removal(statement.node))
    if after is not None and text:
        edits.append(view.module.after(after, f"\n{' ' * after.col_offset}{text}"))
    return view.apply([SourcePatch(tuple(edits))])


def _pointer(view: View, kernel: ast.FunctionDef) -> str | None:
    """A pointer among the kernel's arguments, to floating-point numbers if there is one."""
    case = view.specimen.case
    if "tl" not in scope(view.module.tree.body):
        return None
    types = {argument.arg: str(case.signature.get(argument.arg, "")) for argument in parameters(kernel)}
    pointers = [name for name, type_ in types.items() if type_.startswith("*")]
    pointers.sort(key=lambda name: not types[name].startswith(("*fp32", "*fp16", "*bf16")))
    return pointers[0] if pointers else None
