"""The order in which a module is made smaller."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from triage.ir.mlir import ParsedModule, Unreadable, read
from triage.minimize.ir.edits import Edit
from triage.minimize.ir.mlir import attributes, flow, forms, operations, partitions
from triage.minimize.ir.mlir.operations import Types
from triage.minimize.ir.search import Search, Size

Description = tuple[str, Sequence[tuple[str, Sequence[str]]]]
Describe = Callable[[str], Description | None]
"""A module as its release prints it, with each operation's name and types of results, in the order in which they end;
None where it could not be had."""

_OPERATION = re.compile(r'^\s*(?:%[^=]*= )?"?[a-z_][\w]*\.?[\w.]*"?', re.MULTILINE)
_ALIAS = re.compile(r"^([#!][\w$.-]+) = (.*)$", re.MULTILINE)


def measure(text: str) -> Size:
    """Operations, mentions of values, characters, and how large its shapes and layouts are."""
    return len(_OPERATION.findall(text)), text.count("%"), len(text), forms.magnitude(text)


def count(text: str) -> int:
    """Operations of a module; its lines where it cannot be read."""
    try:
        return sum(1 for _ in read(text).walk())
    except Unreadable:
        return len(_OPERATION.findall(text))


def reduce(search: Search, describe: Describe, told: Callable[[str], None]) -> None:
    """Until nothing more can be taken out. Raises BudgetUsed; ``search.best`` holds then too."""
    reduction = _Reduction(search, describe, told)
    reduction.begin()
    search.until_nothing(reduction.round)
    reduction.end()


class _Reduction:
    def __init__(self, search: Search, describe: Describe, told: Callable[[str], None]) -> None:
        self._search, self._describe, self._told = search, describe, told
        self._known: tuple[str, Types] = ("", {})

    def begin(self) -> None:
        """What is large and means nothing."""
        self._search.take_if_alike(attributes.without_locations(self._search.best))
        self._as_printed()

    def round(self) -> None:
        """Everything once."""
        self._told("operations")
        self._edits(operations.unused)
        self._edits(lambda document: operations.from_arguments(document, self._types(document)))
        self._told("control flow")
        self._edits(partitions.without_one, chunks=False)
        self._edits(flow.flattened)
        self._edits(flow.ended)
        self._edits(flow.straightened)
        self._edits(flow.unreachable)
        self._edits(flow.merged)
        self._edits(partitions.inlined, chunks=False)
        self._told("values")
        self._edits(self._to_operands)
        for choice in range(2):
            self._edits(partial(self._to_constants, choice=choice))
        self._edits(operations.unused)
        self._told("arguments and attributes")
        self._edits(partitions.captures)
        self._edits(operations.unused)
        self._edits(attributes.function_arguments)
        self._edits(operations.merged_arguments)
        self._edits(attributes.dictionaries)
        self._edits(attributes.entries)
        self._edits(attributes.unused_aliases)
        self._told("shapes and layouts")
        self._search.first(forms.smaller_shapes)
        self._search.first(forms.other_layouts)
        self._search.first(forms.smaller_layouts)
        self._search.first(forms.fewer_warps)

    def end(self) -> None:
        """The names and the order that the release itself prints, where its text is not longer."""
        self._as_printed()

    def _as_printed(self) -> None:
        found = self._describe(self._search.best)
        if found is not None:
            self._search.take_if_alike(attributes.without_locations(found[0]))

    def _edits(self, propose: Callable[[ParsedModule], list[Edit]], chunks: bool = True) -> None:
        def read_first(text: str) -> list[Edit]:
            try:
                return propose(read(text))
            except Unreadable:
                return []

        self._search.edits(read_first, chunks)

    def _to_operands(self, document: ParsedModule) -> list[Edit]:
        types = self._types(document)
        return operations.to_operands(document, types, operations.kinds(document, types))

    def _to_constants(self, document: ParsedModule, choice: int) -> list[Edit]:
        return operations.to_constants(document, self._types(document), choice)

    def _types(self, document: ParsedModule) -> Types:
        """By the line of each operation. What is asked of the release is asked once a text."""
        text = document.text
        if self._known[0] != text:
            found = self._describe(text)
            self._known = (text, typed(document, found[1]) if found is not None else {})
        return self._known[1]


def typed(document: ParsedModule, described: Sequence[tuple[str, Sequence[str]]]) -> Types:
    """The described types, laid beside the operations of the text. The description may hold more operations than are
    printed (ends of blocks, partitions); from where they cannot be brought together, nothing is known."""
    aliases = _ALIAS.findall(document.text)

    def short(kind: str) -> str:
        for name, value in aliases:
            kind = kind.replace(value, name)
        return kind

    found: dict[int, list[str]] = {}
    at = 0
    for operation in document.walk():
        while at < len(described) and not _named(described[at][0], operation.name):
            at += 1
        if at == len(described):
            break
        types = described[at][1]
        if len(types) == len(operation.results):
            found[operation.first] = [short(kind) for kind in types]
        at += 1
    return found


def _named(full: str, printed: str) -> bool:
    """Inside of some operations the printer leaves the dialect out."""
    return full == printed or full.rpartition(".")[2] == printed
