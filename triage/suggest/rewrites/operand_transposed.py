"""Load a matrix operand with its axes exchanged, and use its transpose: K-major in shared memory instead of MN-major.

wgmma reads operands of other than 16-bit types K-major only (PTX ISA, wgmma.mma_async: imm-trans-a and imm-trans-b
are for .f16 and .bf16), and Triton's tcgen05 lowering asks the same of fp32. A tile keeps in shared memory the
order in which it was loaded, so the load decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from triage.suggest.rewrites.access import Exchange, exchange, is_load
from triage.suggest.rewrites.module import Edit, argument, assignments, called, uses
from triage.suggest.rewrites.recipe import Rewritten, Subject

_WHY = (
    "the operand is K-major in shared memory then, the one order that wgmma reads for types of other than 16 bits "
    "(PTX ISA, wgmma.mma_async: imm-trans-a and imm-trans-b are for .f16 and .bf16)"
)


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand of a dot: ``A`` or ``B``, the load behind it, and the transposition on the way, if any."""

    letter: str
    load: ast.Call
    transposition: ast.expr | None
    inner: ast.expr

    @property
    def k_major(self) -> bool:
        """True where the loaded tile's rows run along K. A load is contiguous along its last axis."""
        return (self.transposition is None) == (self.letter == "A")


def operand_transposed(subject: Subject) -> Iterator[Rewritten]:
    """All MN-major operands of the kernel's dots loaded the other way round; then each alone where there are two."""
    found = [operand for operand in _operands(subject) if not operand.k_major]
    choices = [found] if len(found) == 1 else [found, *([operand] for operand in found)]
    for chosen in choices:
        if chosen and (rewritten := _rewritten(subject, chosen)) is not None:
            yield rewritten


def _operands(subject: Subject) -> list[_Operand]:
    found: dict[int, _Operand] = {}
    for dot in ast.walk(subject.kernel):
        if called(dot) not in ("dot", "dot_scaled") or not isinstance(dot, ast.Call):
            continue
        places = (("A", 0, ("input", "lhs")), ("B", 1 if called(dot) == "dot" else 3, ("other", "rhs")))
        for letter, place, names in places:
            operand = _behind(subject, letter, argument(dot, place, *names))
            if operand is not None:
                found.setdefault(id(operand.load), operand)
    return list(found.values())


def _behind(subject: Subject, letter: str, value: ast.expr | None) -> _Operand | None:
    """Follow names, transpositions and casts from a dot's operand to its load."""
    transposition: ast.expr | None = None
    inner = value
    for _ in range(8):
        if value is None:
            return None
        if is_load(subject, value) and isinstance(value, ast.Call):
            return _Operand(letter, value, transposition, value if transposition is None else inner or value)
        under = _transposed(value)
        if under is not None:
            if transposition is not None:
                return None
            transposition, value = value, under
            inner = under
        elif isinstance(value, ast.Name):
            made = assignments(subject.kernel, value.id)
            value = made[0].value if len(made) == 1 else None
        elif called(value) == "to" and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            value = value.func.value
        else:
            return None
    return None


def _transposed(node: ast.expr) -> ast.expr | None:
    """What is transposed by ``x.T``, ``x.trans()``, ``tl.trans(x)`` or ``tl.permute(x, (1, 0))``; else None."""
    match node:
        case ast.Attribute(value=value, attr="T"):
            return value
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr="trans"), args=[value]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="trans"), args=[]):
            return value
        case ast.Call(func=ast.Attribute(attr="permute" | "trans"), args=[value, *axes]):
            numbers = [child.value for axis in axes for child in ast.walk(axis) if isinstance(child, ast.Constant)]
            return value if numbers == [1, 0] else None
    return None


def _rewritten(subject: Subject, operands: list[_Operand]) -> Rewritten | None:
    module = subject.module
    edits: list[Edit] = []
    exchanges: list[Exchange] = []
    for operand in operands:
        found = exchange(subject, operand.load)
        if found is None:
            return None
        exchanges.append(found)
        edits += [*found.edits, *_turned(subject, operand)]
    text = module.edited(edits)
    if text is None:
        return None
    letters = " and ".join(dict.fromkeys(operand.letter for operand in operands))
    turned = [found.argument or letters for found in exchanges if found.stored_transposed]
    signature = dict(chain.from_iterable(found.signature.items() for found in exchanges))
    caller = ""
    if turned:
        names = " and ".join(dict.fromkeys(turned))
        caller = f"{names} must hold the transposed matrix, contiguous along K (made once, with .T.contiguous())"
        if signature:
            caller += "; its descriptor with the block " + ", ".join(
                type_.partition("[")[2].partition("]")[0] for type_ in signature.values()
            )
    return Rewritten(
        text,
        f"load {letters} with its axes exchanged and use the transpose in tl.dot, so that it is K-major",
        _WHY,
        caller=caller,
        changes=signature,
        transposed=tuple(found.argument for found in exchanges if found.stored_transposed and found.argument),
    )


def _turned(subject: Subject, operand: _Operand) -> list[Edit]:
    """The transposition that undoes the exchange: one that is there is dropped, else one is added at the load."""
    module = subject.module
    around = operand.transposition
    if around is None or not _only_use(subject, operand):
        return [module.after(operand.load, ".T")]
    (start, end), (inner_start, inner_end) = module.span(around), module.span(operand.inner)
    return [Edit(start, inner_start, ""), Edit(inner_end, end, "")]


def _only_use(subject: Subject, operand: _Operand) -> bool:
    """What is transposed is the load itself, or a name that is read nowhere else."""
    inner = operand.inner
    return not isinstance(inner, ast.Name) or len(uses(subject.kernel, inner.id)) == 1
