"""Records what an expression shows of the parameters in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from triage.drafts.device.terms import Term
from triage.drafts.device.uses import ElementUse, Use, Uses
from triage.drafts.jitted import Jitted, JittedFunctions
from triage.drafts.project_file import ProjectFile

MOST_TERMS = 60_000
"""Expressions to read of one kernel; the largest seen, with the functions that it calls, has 20,000."""


@dataclass
class KernelReader:
    functions: JittedFunctions
    scalars: frozenset[str]
    constants: frozenset[str]
    uses: Uses = field(default_factory=Uses)
    terms: int = 0
    looping: int = 0
    active: list[Jitted] = field(default_factory=list)
    results: dict[tuple[Jitted, tuple[Term, ...], tuple[tuple[str, Term], ...]], Term] = field(default_factory=dict)


class UseRecorder:
    """Records uses of parameters. ``depth``: calls between the kernel and this function."""

    def __init__(self, reader: KernelReader, file: ProjectFile, function: Jitted, depth: int) -> None:
        self.reader, self.file, self.function, self.depth = reader, file, function, depth
        self.names: dict[str, Term] = {}
        self.returned: list[Term] = []

    @property
    def uses(self) -> Uses:
        return self.reader.uses

    def where(self, node: ast.AST, what: str) -> str:
        line = f"{what} in line {getattr(node, 'lineno', self.function.node.lineno)}"
        return f"{line} of {self.function.name}" if self.depth else line

    def pointers(self, term: Term) -> list[str]:
        """Parameters that may be the address in a term, the likeliest first."""
        names = [name for name in term.addends if name not in self.reader.scalars]
        known = [name for name in names if self.uses.has(name, Use.ADDRESS)]
        plain = [name for name in names if not self.uses.has(name, Use.INTEGER)]
        order = [argument.arg for argument in (self.reader.active or [self.function])[0].arguments]
        return sorted(known or plain or names, key=lambda name: order.index(name) if name in order else len(order))

    def address(self, term: Term, node: ast.AST, what: str) -> str | None:
        """The parameter that an address begins at."""
        for element in term.elements:
            self.uses.element(element, ElementUse.ADDRESS, self.where(node, "part of an address"))
        pointers = self.pointers(term)
        if not pointers:
            return None
        self.uses.add(pointers[0], Use.ADDRESS, self.where(node, what))
        for name in term.scalars - {pointers[0]}:
            self.uses.add(name, Use.INTEGER, self.where(node, "part of an address"))
        return pointers[0]

    def integer(self, term: Term, node: ast.AST, what: str) -> None:
        for each in term.items or ():
            self.integer(each, node, what)
        for name in term.scalars:
            if not self.uses.has(name, Use.ADDRESS):
                self.uses.add(name, Use.INTEGER, self.where(node, what))
        if what in ("bound of the loop", "offset", "shape", "stride"):
            for element in term.elements:
                self.uses.element(element, ElementUse.ADDRESS, self.where(node, what))

    def floating(self, term: Term, node: ast.AST, other: Term) -> None:
        """The term meets a float, or what may be a float: so are the parameters in it, unless other uses say more."""
        if term.index:
            return
        for name in term.scalars:
            if other.is_float:
                self.uses.add(name, Use.FLOAT, self.where(node, "operation with floats"))
            elif other.type.startswith("elem:"):
                self.uses.weak_floats.setdefault(name, set()).add(other.type)

    def shape(self, term: Term, node: ast.AST) -> None:
        for each in term.items or ():
            self.shape(each, node)
        for name in term.scalars:
            self.uses.add(name, Use.SHAPE, self.where(node, "shape"))
            self.uses.add(name, Use.INTEGER, self.where(node, "shape"))

    def type_argument(self, term: Term, node: ast.AST) -> None:
        if term.parameter:
            self.uses.add(term.parameter, Use.DTYPE, self.where(node, "element type"))

    def element_of(self, term: Term, use: ElementUse, node: ast.AST, exact: bool = False) -> None:
        """Note a use of the elements that a term consists of; with ``exact`` only where it is unconverted elements."""
        if term.type.startswith("elem:"):
            self.uses.element(term.type.removeprefix("elem:"), use, self.where(node, use.value))
        elif not exact:
            for name in term.elements:
                self.uses.element(name, use, self.where(node, use.value))


def last_name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
