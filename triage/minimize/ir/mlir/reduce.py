"""The order in which an MLIR module is reduced."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from triage.ir.mlir import ParsedModule, UnreadableMlir, read
from triage.minimize.ir.edits import LinePatch, TextProblem, sweep, take_first
from triage.minimize.ir.mlir import attributes, flow, forms, operations, partitions
from triage.minimize.ir.mlir.operations import Types
from triage.minimize.problem import Size

Description = tuple[str, Sequence[tuple[str, Sequence[str]]]]
Describe = Callable[[str], Description | None]
"""A module as its release prints it, with the name and result types of each operation, in the order in which they end;
None where the release cannot read it."""
_Pass = Callable[[ParsedModule], list[LinePatch]]

_OPERATION = re.compile(r'^\s*(?:%[^=]*= )?"?[a-z_][\w]*\.?[\w.]*"?', re.MULTILINE)
_ALIAS = re.compile(r"^([#!][\w$.-]+) = (.*)$", re.MULTILINE)


def measure(text: str) -> Size:
    """Operations, mentions of values, characters, and the magnitude of shapes and layouts."""
    return len(_OPERATION.findall(text)), text.count("%"), len(text), forms.magnitude(text)


def count(text: str) -> int:
    """Operations of a module, by its lines where it cannot be parsed."""
    try:
        return sum(1 for _ in read(text).walk())
    except UnreadableMlir:
        return len(_OPERATION.findall(text))


def reduce(problem: TextProblem, describe: Describe) -> None:
    """Reduce until nothing more can be removed. Raises BudgetUsed, EnvironmentFault."""
    reduction = _ModuleReduction(problem, describe)
    problem.attempt(attributes.without_locations(problem.best))
    reduction.as_printed()
    problem.rounds(reduction.round)
    reduction.as_printed()


class _ModuleReduction:
    def __init__(self, problem: TextProblem, describe: Describe) -> None:
        self._problem, self._describe = problem, describe
        self._described: tuple[str, Types] = ("", {})

    def round(self, first: bool) -> None:
        """Run every pass once."""
        problem, sweep = self._problem, self._sweep
        problem.step("operations")
        sweep(operations.unused, self._typed(operations.from_arguments))
        problem.step("control flow")
        sweep(partitions.without_one, chunks=False)
        sweep(flow.flattened, flow.ended, flow.straightened, flow.unreachable, flow.merged)
        sweep(partitions.inlined, chunks=False)
        problem.step("values")
        constants = [self._typed(partial(operations.to_constants, choice=choice)) for choice in range(2)]
        sweep(self._typed(operations.to_operands), *constants, operations.unused)
        problem.step("arguments and attributes")
        sweep(partitions.captures, operations.unused, attributes.function_arguments, operations.merged_arguments)
        sweep(attributes.dictionaries, attributes.entries, attributes.unused_aliases)
        problem.step("shapes and layouts")
        take_first(problem, forms.smaller_shapes, forms.other_layouts, forms.smaller_layouts, forms.fewer_warps)

    def as_printed(self) -> None:
        """Take the names and the order that the release itself prints, where that text is not longer."""
        description = self._describe(self._problem.best)
        if description is not None:
            self._problem.attempt(attributes.without_locations(description[0]))

    def _sweep(self, *passes: _Pass, chunks: bool = True) -> None:
        def on_text(propose: _Pass) -> Callable[[str], list[LinePatch]]:
            def proposed(text: str) -> list[LinePatch]:
                try:
                    return propose(read(text))
                except UnreadableMlir:
                    return []

            return proposed

        sweep(self._problem, *map(on_text, passes), chunks=chunks)

    def _typed(self, propose: Callable[[ParsedModule, Types], list[LinePatch]]) -> _Pass:
        return lambda document: propose(document, self._types(document))

    def _types(self, document: ParsedModule) -> Types:
        """Types by the line of each operation. The release is asked once a text."""
        text = document.text
        if self._described[0] != text:
            description = self._describe(text)
            self._described = (text, typed(document, description[1]) if description is not None else {})
        return self._described[1]


def typed(document: ParsedModule, described: Sequence[tuple[str, Sequence[str]]]) -> Types:
    """The described types, matched with the operations of the text. The description may contain more operations than
    are printed (terminators, partitions); after the first that cannot be matched, no types are known."""
    aliases = _ALIAS.findall(document.text)

    def short(kind: str) -> str:
        for name, value in aliases:
            kind = kind.replace(value, name)
        return kind

    types_by_line: dict[int, list[str]] = {}
    at = 0
    for operation in document.walk():
        while at < len(described) and not _named(described[at][0], operation.name):
            at += 1
        if at == len(described):
            break
        types = described[at][1]
        if len(types) == len(operation.results):
            types_by_line[operation.first] = [short(kind) for kind in types]
        at += 1
    return types_by_line


def _named(full: str, printed: str) -> bool:
    """Inside some operations the printer omits the dialect."""
    return full == printed or full.rpartition(".")[2] == printed
